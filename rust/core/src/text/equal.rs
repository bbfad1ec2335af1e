//! The form two texts share when they are equal but for case, width, white space and
//! the punctuation of prose.
//!
//! Punctuation that carries meaning stays: `C++`, `C#`, `-5`, `1.5`, `v2.1`, `!=`,
//! `--force`, `10:30`, `src/lib.rs`. What only sets text (quotes, brackets, commas,
//! full stops, bullets, emphasis) separates words, and next to CJK it vanishes, since
//! there a space separates nothing. Idempotent; linear.

use icu_normalizer::ComposingNormalizer;

use super::classes::{Class, class, is_tag};
use super::normal::{fold_onto, is_settled, prepare};

/// Returns the normal form of `text`: equal forms mean equal statements.
///
/// ```
/// use doxa_core::text::normalize;
/// assert_eq!(normalize("Use  ＡＰＩ v2.1, “now”!"), "use api v2.1 now");
/// assert_eq!(normalize("使用 Python 开发。"), "使用python开发");
/// assert_ne!(normalize("C++"), normalize("C"));
/// ```
#[must_use]
pub fn normalize(text: &str) -> String {
    let (mut between, mut folded) = (String::new(), String::new());
    if text.is_ascii() {
        folded.push_str(text);
        folded.make_ascii_lowercase();
    } else if is_settled(text) {
        fold_onto(text, &mut folded, &mut between);
    } else {
        let mut prepared = String::new();
        prepare(text, &mut between, &mut prepared);
        fold_onto(&prepared, &mut folded, &mut between);
    }
    let mut form = Form::new(folded.len());
    form.read(&folded);
    if form.out.is_empty() {
        // Nothing but punctuation: then it is what the text says.
        return folded.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if form.out.is_ascii() || ComposingNormalizer::new_nfkc().is_normalized(&form.out) {
        return form.out;
    }
    // Characters that met when what was between them vanished.
    ComposingNormalizer::new_nfkc().normalize(&form.out).into_owned()
}

/// What stands on one side of a run of signs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// White space, prose punctuation, the edge of the text.
    Gap,
    Letter,
    Digit,
    Cjk,
}

impl Side {
    fn is_word(self) -> bool {
        matches!(self, Self::Letter | Self::Digit)
    }
}

struct Form {
    out: String,
    gap: bool,
    after_cjk: bool,
    /// The last character is a star that stands free.
    after_star: bool,
    /// Something of this line is in `out`.
    line: bool,
}

impl Form {
    fn new(capacity: usize) -> Self {
        Self {
            out: String::with_capacity(capacity),
            gap: false,
            after_cjk: false,
            after_star: false,
            line: false,
        }
    }

    fn read(&mut self, text: &str) {
        let mut chars = text.char_indices().peekable();
        let mut before = Side::Gap;
        let mut digits = Digits::default();
        while let Some((at, c)) = chars.next() {
            let kind = class(c);
            if c == ',' && digits.group_follows(&text[at + 1..]) {
                continue;
            }
            digits.see(c);
            if is_sign(c) {
                let mut end = at + c.len_utf8();
                while let Some(&(next, _)) = chars.peek().filter(|(_, c)| is_sign(*c)) {
                    end = next + 1;
                    chars.next();
                }
                digits = Digits::default();
                let after = chars.peek().map_or(Side::Gap, |&(_, c)| side(c));
                if run_of_stars(&text[at..end]) && !(before.is_word() && after.is_word()) {
                    self.star(text, at, end);
                    before = Side::Gap;
                    continue;
                }
                if before == Side::Gap && self.after_cjk {
                    // The gap will vanish, since it is next to CJK.
                    before = Side::Cjk;
                }
                self.signs(&text[at..end], before, after, &text[end..]);
                before = Side::Gap;
                continue;
            }
            match kind {
                Class::Space | Class::Other if c == '\u{200d}' || is_tag(c) => self.out.push(c),
                Class::Space | Class::Other => {
                    self.gap = true;
                    self.line &= !matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
                }
                // A mark without a letter says nothing.
                Class::Mark if self.out.is_empty() || self.gap => self.gap = true,
                Class::Mark => self.out.push(c),
                Class::Symbol if is_bullet(c) && !self.line => self.gap = true,
                Class::Punct if is_empty_pair(&text[at..], before) && !text[..at].ends_with('"') => {
                    chars.next();
                    self.push_all(&text[at..at + 2]);
                }
                Class::Punct => self.punctuation(c, before, chars.peek().map(|&(_, c)| c)),
                _ => self.push(c, kind == Class::Cjk),
            }
            before = if kind == Class::Mark { before } else { side(c) };
        }
    }

    /// Adds a character that stays.
    fn push(&mut self, c: char, cjk: bool) {
        if self.gap && !self.out.is_empty() && !self.after_cjk && (!cjk || self.after_star) {
            self.out.push(' ');
        }
        self.gap = false;
        self.after_star = false;
        self.after_cjk = cjk;
        self.line = true;
        self.out.push(c);
    }

    fn push_all(&mut self, signs: &str) {
        signs.chars().for_each(|c| self.push(c, false));
    }

    /// Punctuation that is no sign: it separates, with few exceptions.
    fn punctuation(&mut self, c: char, before: Side, next: Option<char>) {
        let after = next.map_or(Side::Gap, side);
        match c {
            '\'' if before == Side::Letter && after == Side::Letter => self.push(c, false),
            ',' if before == Side::Digit && after == Side::Digit => self.push(c, false),
            '\u{2013}' if before == Side::Digit && after == Side::Digit => self.push('-', false),
            '\u{301c}' if before == Side::Digit && after == Side::Digit => self.push('~', false),
            '\u{2030}' | '\u{2031}' | '§' => self.push(c, false),
            '\u{2032}' | '\u{2033}' if before == Side::Digit => self.push(c, false),
            _ => self.gap = true,
        }
    }

    /// A star that touches something is emphasis or a bullet, and goes. One that stands
    /// free within a line is an operator, and keeps its spaces, even next to CJK.
    fn star(&mut self, text: &str, at: usize, end: usize) {
        let blank = |c: Option<char>| c.is_none_or(|c| class(c) == Class::Space);
        let free = blank(text[..at].chars().next_back()) && blank(text[end..].chars().next());
        if free && self.line && end - at < 4 {
            self.gap = true;
            self.after_cjk = false;
            self.push_all(&text[at..end]);
            self.after_star = true;
        }
        self.gap = true;
    }

    /// A run of ASCII signs between `before` and `after`: keeps what means something.
    fn signs(&mut self, run: &str, before: Side, after: Side, rest: &str) {
        let kept = match (before, after) {
            (a, b) if a.is_word() && b.is_word() => between_words(run, a, b),
            (Side::Letter | Side::Digit, _) => run.trim_end_matches(['.', '!', '?', ':', '-', '*', '~']),
            (_, Side::Letter | Side::Digit) => before_word(run, before, after),
            _ => self.free(run, rest),
        };
        if kept.is_empty() {
            self.gap = true;
            return;
        }
        let at = kept.as_ptr() as usize - run.as_ptr() as usize;
        self.gap |= at > 0;
        self.push_all(kept);
        self.gap = at + kept.len() < run.len();
    }

    /// Signs that touch no word: operators stay, the marks of lists, headings, tables,
    /// rules and dashes go.
    fn free<'r>(&self, run: &'r str, rest: &str) -> &'r str {
        if run == "-" {
            let number = self.out.ends_with(|c: char| c.is_ascii_digit())
                && rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
            return if number { run } else { "" };
        }
        let bytes = run.as_bytes();
        let same = bytes.iter().all(|b| *b == bytes[0]);
        let structural = !self.line && same;
        let ruled = same && (matches!(bytes[0], b'-' | b'~') || bytes.len() > 3);
        let prose = bytes.iter().all(|b| matches!(b, b'.' | b'!' | b'?' | b':'));
        if structural || ruled || prose || run == "|" { "" } else { run }
    }
}

/// `[]`, `{}`, `""`: brackets around nothing are a value. After a word `()` is a call.
fn is_empty_pair(text: &str, before: Side) -> bool {
    match text.as_bytes() {
        [b'[', b']', ..] | [b'{', b'}', ..] => true,
        [b'(', b')', ..] => !before.is_word(),
        [b'"', b'"', rest @ ..] => !before.is_word() && !rest.starts_with(b"\""),
        _ => false,
    }
}

fn run_of_stars(run: &str) -> bool {
    run.bytes().all(|b| b == b'*')
}

/// Signs between two words or numbers.
fn between_words(run: &str, before: Side, after: Side) -> &str {
    let digits = before == Side::Digit && after == Side::Digit;
    let prose = match run {
        "." | "-" => false,
        ":" => after != Side::Digit,
        _ if run.bytes().all(|b| b == b'.' || b == b'-') => !digits,
        _ => run.bytes().all(|b| matches!(b, b'!' | b'?')),
    };
    if prose { "" } else { run }
}

/// Signs before a word, after a gap or CJK: `.net`, `-5`, `--force`, `*.py`, `!x`.
fn before_word(run: &str, before: Side, after: Side) -> &str {
    let run = match run.trim_start_matches([':', '?']) {
        "" => run,
        rest => rest,
    };
    let bytes = run.as_bytes();
    let same = bytes.iter().all(|b| *b == bytes[0]);
    let prose = match bytes[0] {
        b'*' | b'?' | b':' => same,
        b'.' => same && run.len() > 1,
        b'-' => same && run.len() > 2,
        b'!' => before == Side::Cjk || (same && run.len() > 1),
        b'~' => after != Side::Digit && same,
        _ => false,
    };
    if prose { "" } else { run }
}

fn side(c: char) -> Side {
    match class(c) {
        Class::Letter | Class::Upper | Class::Underscore => Side::Letter,
        Class::Digit => Side::Digit,
        Class::Cjk => Side::Cjk,
        _ => Side::Gap,
    }
}

fn is_sign(c: char) -> bool {
    matches!(
        c,
        '.' | '-'
            | '/'
            | '\\'
            | ':'
            | '@'
            | '&'
            | '='
            | '+'
            | '*'
            | '#'
            | '?'
            | '%'
            | '~'
            | '$'
            | '<'
            | '>'
            | '!'
            | '|'
            | '^'
    )
}

fn is_bullet(c: char) -> bool {
    matches!(c, '\u{25a0}'..='\u{25ff}' | '\u{2023}' | '\u{2043}')
}

/// Follows a number, to tell the commas that group its thousands.
#[derive(Default)]
struct Digits {
    run: usize,
    grouped: bool,
    broken: bool,
}

impl Digits {
    fn see(&mut self, c: char) {
        if c.is_ascii_digit() {
            self.run += 1;
        } else {
            // After a letter, a point or a comma of another kind no group begins.
            self.broken = c == ',' || class(c).is_word();
            self.run = 0;
            self.grouped = false;
        }
    }

    /// True where the comma before `rest` groups thousands; it is then dropped.
    fn group_follows(&mut self, rest: &str) -> bool {
        let head = if self.grouped { self.run == 3 } else { (1..=3).contains(&self.run) && !self.broken };
        let digits = rest.bytes().take(4).take_while(u8::is_ascii_digit).count();
        let tail = rest.as_bytes().get(3).copied();
        let ends = digits == 3 && tail.is_none_or(|b| !b.is_ascii_alphabetic());
        if head && ends {
            self.run = 0;
            self.grouped = true;
        }
        head && ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn equal(a: &str, b: &str) -> bool {
        normalize(a) == normalize(b)
    }

    #[test]
    fn case_width_space_and_prose_punctuation_do_not_count() {
        for (a, b) in [
            ("Hello, World!", "hello world"),
            ("The  API\n is (mostly) stable.", "the api is mostly stable"),
            ("“Quoted” text…", "quoted text"),
            ("使用 Python 开发，很快！", "使用python开发很快"),
            ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
            ("Cafe\u{301}", "CAFÉ"),
            ("**bold** and `code`", "bold and code"),
            ("**加粗**的字", "加粗的字"),
            ("see **“bold”** words", "see bold words"),
            ("- a bullet", "a bullet"),
            ("# Heading", "heading"),
            ("1,000 rows", "1000 rows"),
            ("it’s", "it's"),
            ("Note: this", "note this"),
            ("\"\"\"doc\"\"\" text", "doc text"),
            ("call foo() now", "call foo now"),
            ("温度：-5", "温度 -5"),
            ("Really?! Yes", "really yes"),
        ] {
            assert!(equal(a, b), "{a:?} {b:?}: {:?} {:?}", normalize(a), normalize(b));
        }
    }

    #[test]
    fn punctuation_that_carries_meaning_counts() {
        for (a, b) in [
            ("C", "C++"),
            ("C", "C#"),
            ("C#", "C++"),
            ("use .NET", "use net"),
            ("-5", "5"),
            ("1.5", "15"),
            ("1.5", "1 5"),
            ("v2.1", "v21"),
            ("a != b", "a = b"),
            ("a!=b", "a=b"),
            ("a != b", "a b"),
            ("50%", "50"),
            ("--force", "force"),
            ("10:30", "1030"),
            ("a/b", "ab"),
            ("x > 5", "x < 5"),
            ("~5", "5"),
            ("$5", "5"),
            ("€5", "$5"),
            ("5 - 3", "5 3"),
            ("2 * 3", "2 3"),
            ("gives [] then", "gives {} then"),
            ("gives () then", "gives then"),
            ("is \"\" now", "is now"),
            ("int[] x", "int x"),
            ("乘 * 除", "乘除"),
            ("10⁵", "105"),
            ("1½", "11/2"),
            ("*.py", "py"),
            ("👍", "👎"),
            ("foo_bar", "foobar"),
            ("a && b", "a || b"),
            ("5‰", "5%"),
            ("1,5", "15"),
            ("!!!", "???"),
        ] {
            assert!(!equal(a, b), "{a:?} {b:?}: {:?}", normalize(a));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn normalising_twice_changes_nothing(text in "[a-cA-C0-9 .,:;!?'\"()\\[\\]{}*#@&=+~<>|%$^_/\\\\\\-\n的北，。！·–½²☃●]{0,24}") {
            let once = normalize(&text);
            prop_assert_eq!(normalize(&once), once);
        }

        #[test]
        fn any_text_normalises_to_a_fixed_point(text in "\\PC{0,24}") {
            let once = normalize(&text);
            prop_assert_eq!(normalize(&once), once);
        }
    }
}
