//! Where an identifier falls apart: paths, dotted names, `snake_case`, `CamelCase`,
//! versions, numbers with a unit, contractions.
//!
//! Works on prepared text whose case is still that of the author, and yields byte
//! ranges. A whole is never among its own parts. Every byte lies in at most five
//! ranges, so the cost is linear.

use super::classes::{Class, class_at};

/// What a range is, which decides about its stem and flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartKind {
    /// A word of letters: may be a function word, may have a stem.
    Word,
    /// Anything else.
    Code,
    /// The letters of a dotted acronym, to be joined (`U.S.` gives `us`).
    Acronym,
    /// A grouped number, to be written without commas (`1,000` gives `1000`).
    Grouped,
}

/// The parts of one chunk; used again for the next.
#[derive(Default)]
pub struct Parts {
    ranges: Vec<(usize, usize, PartKind)>,
}

impl Parts {
    /// The ranges found by the last `split`, in text order, wholes before their parts.
    pub fn ranges(&self) -> &[(usize, usize, PartKind)] {
        &self.ranges
    }

    /// Finds the parts of `text[start..end]`.
    pub fn split(&mut self, text: &str, start: usize, end: usize) {
        self.ranges.clear();
        let bytes = text.as_bytes();
        let mut segment = start;
        let strong = bytes[start..end].iter().map(|&byte| is_strong(byte));
        for (at, cut) in (start..=end).zip(strong.chain([true])) {
            if cut {
                if segment < at {
                    self.segment(text, segment, at, (start, end));
                }
                segment = at + 1;
            }
        }
    }

    fn push(&mut self, range: (usize, usize), kind: PartKind, within: (usize, usize)) {
        if range.0 < range.1 && range != within {
            self.ranges.push((range.0, range.1, kind));
        }
    }

    /// A stretch between strong separators: `mod.rs` in `src/text/mod.rs`.
    fn segment(&mut self, text: &str, start: usize, end: usize, chunk: (usize, usize)) {
        let bytes = text.as_bytes();
        let trimmed = trim(bytes, start, end);
        if trimmed.0 >= trimmed.1 {
            self.push((start, end), PartKind::Code, chunk);
            return;
        }
        if is_acronym(text, trimmed.0, trimmed.1) {
            self.push((start, end), PartKind::Code, chunk);
            self.ranges.push((trimmed.0, trimmed.1, PartKind::Acronym));
            return;
        }
        let single = !(trimmed.0..trimmed.1).any(|at| is_weak(bytes, at));
        if single {
            self.atom(text, trimmed, chunk);
            return;
        }
        self.push((start, end), PartKind::Code, chunk);
        let mut atom = trimmed.0;
        for at in trimmed.0..=trimmed.1 {
            if at == trimmed.1 || is_weak(bytes, at) {
                if atom < at {
                    self.atom(text, (atom, at), chunk);
                }
                atom = at + 1;
            }
        }
    }

    /// A stretch without separators: a word, a number, `CamelCase`, `v2.1`, `don't`.
    fn atom(&mut self, text: &str, (start, end): (usize, usize), chunk: (usize, usize)) {
        let after = &text.as_bytes()[end..];
        let letter = text.as_bytes()[start].is_ascii_alphabetic();
        if letter && end - start == 1 && (after.starts_with(b"++") || after.starts_with(b"#")) {
            // The C of C++ and C# is another language.
            return;
        }
        let shape = Shape::of(text, start, end);
        let kind = if shape.digits == 0 { PartKind::Word } else { PartKind::Code };
        self.push((start, end), kind, chunk);
        if shape.apostrophe {
            self.contraction(text, start, end);
        } else if shape.commas {
            self.ranges.push((start, end, PartKind::Grouped));
        } else if shape.dots > 0 {
            self.version(text, start, end);
        } else if shape.humps {
            self.camel(text, start, end);
        } else if shape.transitions == 1 {
            self.letters_and_digits(text, start, end);
        }
    }

    /// `they're` gives `they`, `l'eau` gives `eau`; `don't` has no parts.
    fn contraction(&mut self, text: &str, start: usize, end: usize) {
        let mut piece = start;
        let pieces = text[start..end].split('\'').map(|s| {
            let range = (piece, piece + s.len());
            piece = range.1 + 1;
            range
        });
        let pieces: smallvec::SmallVec<[(usize, usize); 4]> = pieces.collect();
        if let [first, last] = pieces[..] {
            let tail = &text[last.0..last.1];
            if tail.eq_ignore_ascii_case("t") {
                return;
            }
            let clitic = ["ll", "re", "ve", "d", "m"];
            if clitic.iter().any(|c| tail.eq_ignore_ascii_case(c)) {
                self.push(first, PartKind::Word, (0, 0));
                return;
            }
        }
        for piece in pieces {
            if piece.1 - piece.0 > 1 {
                self.push(piece, PartKind::Word, (0, 0));
            }
        }
    }

    /// `v3.11.7` gives `v3`, `3.11.7`, `3.11`; `python3.11` also `python`; `3.14` nothing.
    fn version(&mut self, text: &str, start: usize, end: usize) {
        let bytes = text.as_bytes();
        let number = (start..end).find(|&at| bytes[at].is_ascii_digit()).unwrap_or(end);
        let dots: smallvec::SmallVec<[usize; 4]> = (number..end).filter(|&at| bytes[at] == b'.').collect();
        let Some(&first) = dots.first() else { return };
        if number > start {
            if text[start..number].chars().nth(1).is_some() {
                self.push((start, number), PartKind::Word, (0, 0));
            }
            self.push((start, first), PartKind::Code, (0, 0));
            self.push((number, end), PartKind::Code, (0, 0));
        }
        if let Some(&second) = dots.get(1) {
            self.push((number, second), PartKind::Code, (0, 0));
        }
    }

    /// `HTTPServer2` gives `http`, `server2`; a part of one letter is left out.
    fn camel(&mut self, text: &str, start: usize, end: usize) {
        let mut piece = start;
        let mut at = start;
        let mut before = Class::Other;
        while at < end {
            let Some((class, len)) = class_at(text, at) else {
                break;
            };
            let next = class_at(text, at + len).filter(|_| at + len < end);
            let hump = class == Class::Upper
                && at > piece
                && (before != Class::Upper || next.is_some_and(|(c, _)| c == Class::Letter))
                && !is_plural_tail(text, at, end);
            if hump {
                self.camel_piece(text, piece, at);
                piece = at;
            }
            before = class;
            at += len;
        }
        if piece > start {
            self.camel_piece(text, piece, end);
        }
    }

    fn camel_piece(&mut self, text: &str, start: usize, end: usize) {
        if text[start..end].chars().nth(1).is_some() {
            let digits = text[start..end].bytes().any(|b| b.is_ascii_digit());
            let kind = if digits { PartKind::Code } else { PartKind::Word };
            self.push((start, end), kind, (0, 0));
        }
    }

    /// `sha256` gives `sha`, `256`; `3kg` gives `3`, `kg`; `v2` gives `2`.
    fn letters_and_digits(&mut self, text: &str, start: usize, end: usize) {
        let mut at = start;
        let mut first = None;
        while let Some((class, len)) = class_at(text, at).filter(|_| at < end) {
            let digit = class == Class::Digit;
            if *first.get_or_insert(digit) != digit && class != Class::Mark {
                break;
            }
            at += len;
        }
        for (range, digits) in [((start, at), first == Some(true)), ((at, end), first == Some(false))] {
            if digits {
                self.push(range, PartKind::Code, (0, 0));
            } else if text[range.0..range.1].chars().nth(1).is_some() {
                self.push(range, PartKind::Word, (0, 0));
            }
        }
    }
}

/// Separators that cut a path, an address or a key and its value.
fn is_strong(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\' | b':' | b'@' | b'&' | b'=' | b'?' | b'%' | b'~' | b'$')
}

/// Separators inside a name. A dot between digits belongs to the number.
fn is_weak(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        b'-' | b'_' | b'+' | b'#' => true,
        b'.' => {
            let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
            !(at > 0 && digit(at - 1) && digit(at + 1))
        }
        _ => false,
    }
}

/// Leaves out separators at both ends (`__init__`, `-5`, `.net`, `c++`).
fn trim(bytes: &[u8], mut start: usize, mut end: usize) -> (usize, usize) {
    let edge = |b: u8| matches!(b, b'-' | b'_' | b'.' | b'+' | b'#' | b'\'' | b',');
    while start < end && edge(bytes[start]) {
        start += 1;
    }
    while start < end && edge(bytes[end - 1]) {
        end -= 1;
    }
    (start, end)
}

/// Single letters joined by dots: `u.s`, `e.g`.
fn is_acronym(text: &str, start: usize, end: usize) -> bool {
    let mut at = start;
    let mut letters = 0;
    loop {
        let Some((class, len)) = class_at(text, at).filter(|_| at < end) else {
            return false;
        };
        if !class.is_letter() {
            return false;
        }
        letters += 1;
        at += len;
        if at == end {
            return letters > 1;
        }
        if text.as_bytes()[at] != b'.' {
            return false;
        }
        at += 1;
    }
}

/// The last capital of `URLs` starts no hump.
fn is_plural_tail(text: &str, at: usize, end: usize) -> bool {
    let rest = &text.as_bytes()[at..end];
    rest.len() == 2 && rest[1] == b's' && at > 1 && text.as_bytes()[at - 1].is_ascii_uppercase()
}

/// What one pass over an atom sees.
struct Shape {
    digits: usize,
    dots: usize,
    transitions: usize,
    humps: bool,
    apostrophe: bool,
    commas: bool,
}

impl Shape {
    fn of(text: &str, start: usize, end: usize) -> Self {
        let mut shape =
            Self { digits: 0, dots: 0, transitions: 0, humps: false, apostrophe: false, commas: false };
        let mut before = None;
        let mut at = start;
        while let Some((class, len)) = class_at(text, at).filter(|_| at < end) {
            match text.as_bytes()[at] {
                b'\'' => shape.apostrophe = true,
                b'.' => shape.dots += 1,
                b',' => shape.commas = true,
                _ => {}
            }
            let digit = class == Class::Digit;
            shape.digits += usize::from(digit);
            if digit || class.is_letter() {
                shape.transitions += usize::from(before.is_some_and(|b| b != digit));
                before = Some(digit);
            }
            shape.humps |= class == Class::Upper && at > start;
            at += len;
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        let mut parts = Parts::default();
        parts.split(text, 0, text.len());
        parts.ranges().iter().map(|&(s, e, _)| &text[s..e]).collect()
    }

    #[test]
    fn identifiers_fall_into_their_parts() {
        assert_eq!(parts("snake_case"), ["snake", "case"]);
        assert_eq!(parts("HTTPServer"), ["HTTP", "Server"]);
        assert_eq!(parts("src/text/mod.rs"), ["src", "text", "mod.rs", "mod", "rs"]);
        assert_eq!(parts("a.b-c"), ["a", "b", "c"]);
        assert_eq!(parts("__init__"), ["init"]);
        assert_eq!(parts("getUser_name"), ["getUser", "get", "User", "name"]);
        assert_eq!(parts("word"), Vec::<&str>::new());
    }

    #[test]
    fn numbers_and_versions_keep_their_value() {
        assert_eq!(parts("v2.1"), ["v2", "2.1"]);
        assert_eq!(parts("3.14"), Vec::<&str>::new());
        assert_eq!(parts("1.2.3"), ["1.2"]);
        assert_eq!(parts("python3.11"), ["python", "python3", "3.11"]);
        assert_eq!(parts("2024-01-15"), ["2024", "01", "15"]);
        assert_eq!(parts("sha256"), ["sha", "256"]);
        assert_eq!(parts("3kg"), ["3", "kg"]);
        assert_eq!(parts("a1b2c3"), Vec::<&str>::new());
        assert_eq!(parts("-5"), ["5"]);
    }

    #[test]
    fn contractions_and_acronyms_are_words() {
        assert_eq!(parts("don't"), Vec::<&str>::new());
        assert_eq!(parts("They're"), ["They"]);
        assert_eq!(parts("l'eau"), ["eau"]);
        assert_eq!(parts("U.S"), ["U.S"]);
        assert_eq!(parts("URLs"), Vec::<&str>::new());
    }
}
