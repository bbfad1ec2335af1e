//! Words and compounds in text that separates its words.
//!
//! A *piece* is a word by Unicode rules, or several that stand together without space
//! (`a/b.c`, `foo-bar`, `user@host`), or a symbol. Its *parts* are what a person would
//! also ask for: the words between connectors, the humps of `CamelCase`, digits apart
//! from letters.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::chars::is_symbol;

/// A piece of a run, by bytes.
pub struct Piece {
    pub start: usize,
    pub end: usize,
    /// Whether it holds letters or digits.
    pub word: bool,
}

/// Characters that join words into a compound where they stand between two of them.
const CONNECTORS: &[u8] = b"/._:@-+#~=&\\";
/// Connectors in a row that still join (`://`).
const MAX_CONNECTORS: usize = 3;

/// The next piece at or after byte `from`.
pub fn next_piece(run: &str, from: usize) -> Option<Piece> {
    let bytes = run.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        let b = bytes[at];
        if b.is_ascii_alphanumeric() {
            return Some(compound(run, at));
        }
        if b.is_ascii() {
            if b == b'.' && dotted_name(bytes, at) {
                return Some(Piece { start: at, ..compound(run, at + 1) });
            }
            at += 1;
            continue;
        }
        let cluster = run[at..].graphemes(true).next().unwrap_or_default();
        let first = cluster.chars().next()?;
        if first.is_alphanumeric() {
            return Some(compound(run, at));
        }
        if is_symbol(first) {
            return Some(Piece { start: at, end: at + cluster.len(), word: false });
        }
        at += cluster.len();
    }
    None
}

/// Whether a dot begins a name such as `.NET`: after a space, before a letter.
fn dotted_name(bytes: &[u8], at: usize) -> bool {
    let free = at == 0 || bytes[at - 1].is_ascii_whitespace() || b"(\"'`[".contains(&bytes[at - 1]);
    free && bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic)
}

/// The compound that begins at a letter or digit.
fn compound(run: &str, start: usize) -> Piece {
    let mut end = word_end(run, start);
    loop {
        let joined = connectors(run, end);
        let Some(next) = joined else { break };
        end = word_end(run, next);
    }
    Piece { start, end: signed_end(run.as_bytes(), start, end), word: true }
}

/// The end of the Unicode word that begins at `start`.
fn word_end(run: &str, start: usize) -> usize {
    let bytes = run.as_bytes();
    let mut end = start;
    while end < bytes.len() && (bytes[end].is_ascii_alphanumeric() || bytes[end] == b'_') {
        end += 1;
    }
    if end < bytes.len() && !bytes[end].is_ascii() {
        let word = run[start..].split_word_bounds().next().map_or(0, str::len);
        return end.max(start + word.max(1));
    }
    end
}

/// Where the next word of a compound begins, if connectors join it to what ends at `end`.
fn connectors(run: &str, end: usize) -> Option<usize> {
    let bytes = run.as_bytes();
    let mut at = end;
    while at < bytes.len() && at - end < MAX_CONNECTORS && CONNECTORS.contains(&bytes[at]) {
        at += 1;
    }
    if at == end {
        at = inner_mark(run, end)?;
    }
    let next = run.get(at..)?.chars().next()?;
    next.is_alphanumeric().then_some(at)
}

/// The end of an apostrophe between letters or of a comma between digits.
fn inner_mark(run: &str, end: usize) -> Option<usize> {
    let mark = run[end..].chars().next()?;
    let before = *run.as_bytes().get(end.checked_sub(1)?)?;
    let after = run.as_bytes().get(end + mark.len_utf8())?;
    let letters = before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
    let digits = before.is_ascii_digit() && after.is_ascii_digit();
    match mark {
        '\'' | '\u{2019}' if letters => Some(end + mark.len_utf8()),
        ',' if digits => Some(end + 1),
        _ => None,
    }
}

/// The end with the sign of a name such as `C++` or `F#`.
fn signed_end(bytes: &[u8], start: usize, end: usize) -> usize {
    let short = end - start <= 2 && bytes[start].is_ascii_alphabetic();
    if short && bytes[end..].starts_with(b"++") {
        return end + 2;
    }
    if short && bytes.get(end) == Some(&b'#') {
        return end + 1;
    }
    end
}

/// Splits a piece into the parts that are terms of their own.
///
/// One part that is the whole piece means that there is nothing to split.
pub fn parts(piece: &str, out: &mut Vec<Range<usize>>) {
    if piece.bytes().any(|b| b == b'\'') || piece.contains('\u{2019}') {
        return apostrophe(piece, out);
    }
    let mut start = 0;
    let mut before = Class::Connector;
    let mut humps = 0; // capitals in a row
    for (at, c) in piece.char_indices() {
        let class = class_of(c);
        let cut = match (before, class) {
            (Class::Connector, _) => false,
            (_, Class::Connector) => true,
            (Class::Digit, Class::Digit) => false,
            (Class::Digit, _) | (_, Class::Digit) => true,
            (Class::Lower, Class::Upper) => true,
            (Class::Upper, Class::Lower) if humps > 1 => {
                let last = at - piece[..at].chars().next_back().map_or(1, char::len_utf8);
                if last > start {
                    out.push(start..last);
                    start = last;
                }
                false
            }
            _ => false,
        };
        if cut && at > start {
            out.push(start..at);
        }
        if cut || before == Class::Connector {
            start = at;
        }
        humps = if class == Class::Upper { humps + 1 } else { 0 };
        before = class;
    }
    if before != Class::Connector && start < piece.len() {
        out.push(start..piece.len());
    }
}

/// A possessive or a contraction: the whole, and the word before `'s`.
fn apostrophe(piece: &str, out: &mut Vec<Range<usize>>) {
    let (cut, _) = piece.char_indices().rfind(|&(_, c)| c == '\'' || c == '\u{2019}').unwrap_or((0, ' '));
    let ending = piece[cut..].trim_start_matches(['\'', '\u{2019}']);
    if cut > 0 && (ending.eq_ignore_ascii_case("s") || ending.len() > 2) {
        out.push(0..cut);
        if ending.len() > 2 {
            out.push(piece.len() - ending.len()..piece.len());
        }
    } else {
        out.push(0..piece.len());
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Connector,
}

fn class_of(c: char) -> Class {
    if c.is_ascii_digit() {
        Class::Digit
    } else if c.is_uppercase() {
        Class::Upper
    } else if c.is_ascii() && !c.is_ascii_alphabetic() {
        Class::Connector
    } else {
        Class::Lower
    }
}
