//! One pass over prepared text that finds words, identifiers, runs of CJK, emoji,
//! numbers with a sign, and operators, and hands them to [`Terms`] as terms.

use super::classes::{Class, class_at, is_regional, is_skin_tone, is_tag};
use super::compound::PartKind;
use super::{Language, TermKind, Terms, function_words};

/// Operators that are terms wherever they stand.
const OPERATORS: [&str; 17] =
    ["!=", "!==", "&&", "+=", "-=", "->", ":=", "<-", "<=", "<>", "==", "===", "=>", "=~", ">=", "|>", "||"];

/// Adds the terms of `text`, which is ASCII or prepared, to `to`.
pub fn scan(text: &str, language: Language, to: &mut Terms) {
    let mut scanner = Scanner { text, bytes: text.as_bytes(), language, to, word_end: usize::MAX };
    let mut at = 0;
    while let Some((class, len)) = class_at(text, at) {
        at = match class {
            Class::Letter | Class::Upper | Class::Digit | Class::Mark | Class::Underscore => {
                match scanner.plain_end(at) {
                    Some(end) => {
                        scanner.word(at, end);
                        scanner.word_end = end;
                        end
                    }
                    None => scanner.chunk(at, at),
                }
            }
            Class::Cjk => scanner.run(at),
            Class::Emoji => scanner.emoji(at, len),
            Class::Symbol => scanner.symbol(at, len),
            Class::Punct => scanner.punctuation(at, len),
            Class::Space | Class::Other => at + len,
        };
    }
}

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    language: Language,
    to: &'t mut Terms,
    /// Where the last chunk ended: punctuation there is glued to a word.
    word_end: usize,
}

impl Scanner<'_> {
    fn class(&self, at: usize) -> Class {
        class_at(self.text, at).map_or(Class::Space, |(class, _)| class)
    }

    /// The end of an ASCII word, with or without a capital, that a space or the end of the
    /// text follows: most words need no more than this.
    #[inline]
    fn plain_end(&self, start: usize) -> Option<usize> {
        let rest = self.bytes[start + 1..].iter();
        let end = start + 1 + rest.take_while(|b| b.is_ascii_lowercase()).count();
        let ascii = self.bytes[start].is_ascii_alphabetic();
        let free = self.bytes.get(end).is_none_or(|b| matches!(b, b' ' | b'\n'));
        (ascii && free).then_some(end)
    }

    /// A word or an identifier whose first word character is at `from`; it begins at
    /// `start`, before that where it has a sigil. Returns its end.
    fn chunk(&mut self, start: usize, from: usize) -> usize {
        let mut plain = start == from;
        let mut ascii = true;
        let mut at = from;
        let mut word = from;
        let mut url = false;
        loop {
            while let Some((class, len)) = class_at(self.text, at) {
                match class {
                    Class::Letter => {}
                    Class::Mark => {}
                    Class::Upper => plain &= at == word,
                    Class::Digit | Class::Underscore => plain = false,
                    _ => break,
                }
                ascii &= len == 1;
                at += len;
            }
            let Some(next) = self.connector(at, word, &mut url) else {
                break;
            };
            plain &= !self.bytes[at].is_ascii() || self.bytes[at] == b'"';
            word = next;
            at = next;
        }
        let end = self.suffix(at, word);
        plain &= end == at;
        if plain {
            self.word(start, end);
        } else {
            self.compound(start, end, ascii);
        }
        self.word_end = end + self.possessive(end);
        self.word_end
    }

    /// Length of a possessive or contracted `'s`: grammar, and no part of the word, so
    /// that `Anna's` is found by `Anna`.
    fn possessive(&self, at: usize) -> usize {
        match &self.bytes[at..] {
            [b'\'', b's' | b'S', ..] if !self.class(at + 2).is_word() => 2,
            _ => 0,
        }
    }

    fn word(&mut self, start: usize, end: usize) {
        self.to.push_folded(&self.text[start..end], TermKind::Whole);
        self.to.flag_english();
        self.to.stem_last(self.language);
    }

    fn compound(&mut self, start: usize, end: usize, ascii: bool) {
        let to = &mut *self.to;
        let base = to.push_folded(&self.text[start..end], TermKind::Whole);
        let mut parts = std::mem::take(&mut to.parts);
        parts.split(self.text, start, end);
        let contraction = self.bytes[start..end].contains(&b'\'');
        if contraction {
            to.flag_english();
        }
        let only_letters = self.text[start..end].bytes().all(|b| b.is_ascii_alphabetic() || b == b'\'');
        if only_letters {
            to.stem_last(self.language);
        }
        for &(from, till, kind) in parts.ranges() {
            match kind {
                PartKind::Acronym | PartKind::Grouped => {
                    let at = to.bytes.len();
                    for piece in self.text[from..till].split(['.', ',']) {
                        // Only the commas of a grouped number go; its decimal point stays.
                        super::fold_onto(piece, &mut to.bytes, &mut to.scratch);
                        let dot = from
                            + (piece.as_ptr() as usize - self.text[from..till].as_ptr() as usize)
                            + piece.len();
                        if kind == PartKind::Grouped && self.bytes.get(dot) == Some(&b'.') && dot < till {
                            to.bytes.push('.');
                        }
                    }
                    to.push_range(at, to.bytes.len(), TermKind::Part);
                    continue;
                }
                _ if ascii => to.push_range(base + from - start, base + till - start, TermKind::Part),
                _ => {
                    to.push_folded(&self.text[from..till], TermKind::Part);
                }
            }
            if kind == PartKind::Word {
                to.flag_english();
                to.stem_last(self.language);
            }
        }
        to.parts = parts;
    }

    /// Where the next word of the same chunk starts, if what stands at `at` joins two.
    fn connector(&self, at: usize, word: usize, url: &mut bool) -> Option<usize> {
        let first = *self.bytes.get(at)?;
        if !is_connector(first) || at == word {
            return self.inner_mark(at, word);
        }
        let mut end = at + 1;
        while end < at + 5 && self.bytes.get(end).is_some_and(|&b| is_connector(b)) {
            end += 1;
        }
        let next = self.class(end);
        if !next.is_word() || next == Class::Mark {
            return None;
        }
        let before = self.bytes[at - 1];
        let single_letter = at - word == 1 && before.is_ascii_alphabetic();
        let run = &self.bytes[at..end];
        let joins = match run {
            b"." | b"-" | b":" | b"@" | b"&" | b"=" | b"+" | b"/" | b"\\" | b"::" | b"\\\\" => true,
            b"'" => next.is_letter() && !before.is_ascii_digit() && self.possessive(at) == 0,
            b"," => self.groups_thousands(at, word),
            b"++" => next == Class::Digit && !before.is_ascii_digit(),
            b"#" => *url || (single_letter && next == Class::Digit),
            b"://" => {
                *url = true;
                true
            }
            _ => {
                (run.contains(&b'/') && run.iter().all(|b| matches!(b, b'/' | b'.')) && run != b"//")
                    || (*url && run.len() <= 3 && !run.contains(&b','))
            }
        };
        joins.then_some(end)
    }

    /// Punctuation that joins letters of one word in some scripts: the Catalan middle
    /// dot, and the quotation mark and gershayim of Hebrew abbreviations.
    fn inner_mark(&self, at: usize, word: usize) -> Option<usize> {
        let mark = self.text[at..].chars().next()?;
        if at == word || !matches!(mark, '"' | '\u{b7}' | '\u{5f3}' | '\u{5f4}' | '\u{2027}') {
            return None;
        }
        let next = at + mark.len_utf8();
        let before = self.text[..at].chars().next_back()?;
        let after = self.text[next..].chars().next()?;
        let hebrew = |c: char| matches!(c, '\u{5d0}'..='\u{5ea}');
        let joins = match mark {
            '"' => hebrew(before) && hebrew(after),
            _ => super::class(before).is_letter() && super::class(after).is_letter(),
        };
        joins.then_some(next)
    }

    /// `1,000,000`: one to three digits, then groups of exactly three.
    fn groups_thousands(&self, comma: usize, word: usize) -> bool {
        let digit = |at: usize| self.bytes.get(at).is_some_and(u8::is_ascii_digit);
        let before = comma - word;
        let first = word == 0 || self.bytes[word - 1] != b',';
        let head = (first && (1..=3).contains(&before)) || before == 3;
        head && (word..comma).all(digit)
            && (comma + 1..comma + 4).all(digit)
            && !digit(comma + 4)
            && !(self.class(comma + 4).is_word())
    }

    /// `c++`, `f#`, `50%`: what belongs to the word it follows. Returns the end.
    fn suffix(&self, at: usize, word: usize) -> usize {
        if at == word {
            return at;
        }
        let rest = &self.bytes[at..];
        let before = self.bytes[at - 1];
        let len = if rest.starts_with(b"++") && before.is_ascii_alphabetic() {
            2
        } else if rest.starts_with(b"#") && at - word == 1 && before.is_ascii_alphabetic()
            || rest.starts_with(b"%") && before.is_ascii_digit()
        {
            1
        } else {
            return at;
        };
        let free = !self.class(at + len).is_word()
            && !self.bytes.get(at + len).is_some_and(|&b| matches!(b, b'+' | b'#'));
        if free { at + len } else { at }
    }

    /// A run of an unspaced script: bigrams of characters, each with its marks.
    fn run(&mut self, start: usize) -> usize {
        let mut end = start;
        while let Some((Class::Cjk | Class::Mark, len)) = class_at(self.text, end) {
            end += len;
        }
        let to = &mut *self.to;
        let base = to.bytes.len();
        to.bytes.push_str(&self.text[start..end]);
        // The last two characters, as ranges of `bytes`.
        let mut before: Option<(usize, usize)> = None;
        let mut last = (base, base);
        let mut bigrams = 0;
        for (at, c) in self.text[start..end].char_indices().chain([(end - start, '一')]) {
            if at == 0 || super::class(c) == Class::Mark {
                continue;
            }
            last = (last.1, base + at);
            if let Some((first, middle)) = before {
                if bigrams == 0 {
                    to.push_run(first, middle, TermKind::Character);
                }
                to.push_run(first, last.1, TermKind::Whole);
                to.push_run(last.0, last.1, TermKind::Character);
                bigrams += 1;
            }
            before = Some(last);
        }
        if bigrams == 0 {
            to.push_run(last.0, last.1, TermKind::Whole);
        }
        end
    }

    /// One pictograph with its tones, joiners and tags, or a flag.
    fn emoji(&mut self, start: usize, len: usize) -> usize {
        let char_at = |at: usize| self.text[at..].chars().next();
        let mut end = start + len;
        if char_at(start).is_some_and(is_regional) {
            if let Some(c) = char_at(end).filter(|&c| is_regional(c)) {
                end += c.len_utf8();
            }
        } else {
            while let Some(c) = char_at(end) {
                let joined = char_at(end + c.len_utf8())
                    .filter(|_| c == '\u{200d}')
                    .filter(|&next| super::class(next) == Class::Emoji && !is_regional(next));
                if let Some(next) = joined {
                    end += c.len_utf8() + next.len_utf8();
                } else if is_skin_tone(c) || is_tag(c) || super::class(c) == Class::Mark {
                    end += c.len_utf8();
                } else {
                    break;
                }
            }
        }
        self.to.push_folded(&self.text[start..end], TermKind::Whole);
        end
    }

    fn symbol(&mut self, start: usize, len: usize) -> usize {
        let end = self.marks(start + len);
        self.to.push_folded(&self.text[start..end], TermKind::Whole);
        end
    }

    fn marks(&self, mut at: usize) -> usize {
        while let Some((Class::Mark, len)) = class_at(self.text, at) {
            at += len;
        }
        at
    }

    /// Punctuation: a sigil before a word, an operator, or nothing.
    fn punctuation(&mut self, start: usize, len: usize) -> usize {
        let end = self.marks(start + len);
        if end > start + len {
            // A keycap such as #⃣, or a mark that found no letter.
            self.to.push_folded(&self.text[start..end], TermKind::Whole);
            return end;
        }
        if !is_operator(self.bytes[start]) {
            return start + len;
        }
        let mut end = start + 1;
        while self.bytes.get(end).is_some_and(|&b| is_operator(b)) {
            end += 1;
        }
        if self.marks(end) > end {
            // The last sign of the run is a keycap: leave it to the next turn.
            end -= 1;
        }
        let run = &self.text[start..end];
        let glued = self.word_end == start;
        let next = self.class(end);
        if !glued && is_sigil(run, next) {
            return self.chunk(start, end);
        }
        let free = !glued && !next.is_word();
        if OPERATORS.contains(&run) || (free && self.is_free_operator(start, run)) {
            self.to.push_folded(run, TermKind::Whole);
        }
        end
    }

    /// Operators that stand by themselves; the marks of prose, lists, headings, tables
    /// and rules are none.
    fn is_free_operator(&self, start: usize, run: &str) -> bool {
        let bytes = run.as_bytes();
        if run.len() > 4 || bytes.iter().all(|b| matches!(b, b'-' | b'.' | b'!' | b'?' | b':' | b'|')) {
            return false;
        }
        let spaced = |class: Class| matches!(class, Class::Space | Class::Cjk);
        let line_start = self.text[..start]
            .bytes()
            .rev()
            .take(16)
            .find(|b| !matches!(b, b' ' | b'\t'))
            .is_none_or(|b| b == b'\n' || b == b'\r');
        let structural = line_start
            && self.text.len() > run.len()
            && bytes.iter().all(|b| *b == bytes[0])
            && matches!(bytes[0], b'#' | b'*' | b'+' | b'>' | b'=' | b'~');
        let before = self.text[..start].chars().next_back().map_or(Class::Space, super::class);
        !structural && spaced(before) && spaced(self.class(start + run.len()))
    }
}

impl Terms {
    fn push_run(&mut self, start: usize, end: usize, kind: TermKind) {
        self.push_range(start, end, kind);
        if let Some(last) = self.entries.last_mut().filter(|_| kind == TermKind::Whole) {
            let term = &self.bytes[last.start..last.start + last.len as usize];
            last.function = function_words::is_chinese(term);
        }
    }
}

fn is_connector(byte: u8) -> bool {
    matches!(
        byte,
        b'.' | b'-'
            | b'/'
            | b'\\'
            | b':'
            | b'@'
            | b'&'
            | b'='
            | b'+'
            | b'\''
            | b','
            | b'#'
            | b'?'
            | b'%'
            | b'~'
            | b'$'
    )
}

fn is_operator(byte: u8) -> bool {
    matches!(
        byte,
        b'+' | b'-'
            | b'*'
            | b'/'
            | b'='
            | b'<'
            | b'>'
            | b'!'
            | b'&'
            | b'|'
            | b'^'
            | b'~'
            | b'%'
            | b'@'
            | b'#'
            | b'$'
            | b'?'
            | b':'
            | b'\\'
            | b'.'
    )
}

/// `.net`, `-5`, `--force`, `@name`, `#12`, `$HOME`.
fn is_sigil(run: &str, next: Class) -> bool {
    match run {
        "." | "--" => next.is_letter(),
        "-" => next.is_letter() || next == Class::Digit,
        "@" | "#" | "$" => next.is_word() && next != Class::Mark,
        _ => false,
    }
}
