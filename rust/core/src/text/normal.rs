//! Compatibility normalisation and case folding, with nothing lost on the way.
//!
//! `prepare` gives NFKC with default ignorables removed and a few look-alikes unified
//! (apostrophes, hyphens, the minus and fraction signs). What plain NFKC would glue
//! into another number is kept apart: `10⁵` becomes `10^5` and not `105`, `1½` becomes
//! `1 1/2` and not `11/2`. Joiners inside emoji stay, since they carry meaning.
//! ASCII text needs none of this and never comes here.

use std::fmt::{self, Write};

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizer;

use super::classes::{Class, class, is_ignorable, is_tag};

/// True where `text` is made of characters that `prepare` would leave as they are, in
/// any order: ASCII, Latin-1 and Cyrillic letters, the commonest Han, kana and Hangul
/// and their full stops. A quick test, not a complete one.
pub fn is_settled(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = if text.is_ascii() { bytes.len() } else { 0 };
    while at < bytes.len() {
        at += match bytes[at] {
            0..=0x7f => 1,
            0xc3 if bytes[at + 1] >= 0x80 => 2, // U+00C0..00FF
            0xd0 => 2,                          // U+0400..043F
            0xd1 if bytes[at + 1] < 0xa0 => 2,  // U+0440..045F
            0xe4 if bytes[at + 1] >= 0xb8 => 3, // U+4E00..4FFF
            0xe5..=0xe9 => 3,                   // U+5000..9FFF
            0xea if bytes[at + 1] >= 0xb0 => 3, // U+AC00..AFFF
            0xeb | 0xec => 3,                   // U+B000..CFFF
            0xe3 if bytes[at + 1] == 0x81 && bytes[at + 2] > 0x80 => 3, // U+3041..307F
            0xe3 if bytes[at + 1] == 0x83 && bytes[at + 2] < 0xbb => 3, // U+30C0..30FA
            0xe3 if bytes[at + 1] == 0x80 && matches!(bytes[at + 2], 0x81 | 0x82) => 3,
            _ => return false,
        };
    }
    true
}

/// Writes the prepared form of `text` to `to` (cleared first); `between` is scratch.
pub fn prepare(text: &str, between: &mut String, to: &mut String) {
    between.clear();
    to.clear();
    filter(text, between);
    // Writing to a String cannot fail.
    let _ = ComposingNormalizer::new_nfkc().normalize_to(between, &mut Unify(to));
}

/// Appends the case folding of `piece`, a part of prepared text, to `to`.
pub fn fold_onto(piece: &str, to: &mut String, scratch: &mut String) {
    let start = to.len();
    if piece.is_ascii() {
        to.push_str(piece);
        if piece.bytes().any(|b| b.is_ascii_uppercase()) {
            to[start..].make_ascii_lowercase();
        }
        return;
    }
    let _ = writeable::Writeable::write_to(&CaseMapper::new().fold(piece), to);
    let nfkc = ComposingNormalizer::new_nfkc();
    if !nfkc.is_normalized(&to[start..]) {
        scratch.clear();
        let _ = nfkc.normalize_to(&to[start..], scratch);
        to.truncate(start);
        to.push_str(scratch);
    }
}

/// Copies `text` without ignorables and keeps digits of another kind apart.
fn filter(text: &str, to: &mut String) {
    let mut before = ' ';
    let mut rest = text;
    while !rest.is_empty() {
        let plain = rest.bytes().take_while(u8::is_ascii).count();
        if plain > 0 {
            // A plain digit after ₂ or ① must not fuse with it.
            if rest.as_bytes()[0].is_ascii_digit() && is_styled_digit(before) {
                to.push(' ');
            }
            to.push_str(&rest[..plain]);
            before = rest.as_bytes()[plain - 1] as char;
            rest = &rest[plain..];
            continue;
        }
        let Some(c) = rest.chars().next() else { return };
        rest = &rest[c.len_utf8()..];
        if is_ignorable(c) {
            if c == '\u{200b}' {
                to.push(' ');
                before = ' ';
            } else if (c == '\u{200d}' || is_tag(c)) && (class(before) == Class::Emoji || is_tag(before)) {
                to.push(c);
                before = c;
            }
            continue;
        }
        if is_numeric(before) && !is_plain_digit(c) {
            if is_superscript(c) && !is_superscript(before) {
                to.push('^');
            } else if is_styled_digit(c) && !is_superscript(c) && !is_subscript_pair(before, c) {
                to.push(' ');
            }
        } else if is_styled_digit(before) && is_plain_digit(c) {
            to.push(' ');
        }
        to.push(c);
        before = c;
    }
}

fn is_plain_digit(c: char) -> bool {
    matches!(c, '0'..='9' | '０'..='９')
}

fn is_numeric(c: char) -> bool {
    is_plain_digit(c) || is_styled_digit(c)
}

/// Digits and fractions that NFKC turns into plain digits, full-width ones aside.
fn is_styled_digit(c: char) -> bool {
    matches!(c, '²' | '³' | '¹' | '¼'..='¾' | '⁰' | '⁴'..='⁹' | '₀'..='₉'
        | '\u{2150}'..='\u{215f}' | '\u{2189}' | '①'..='⒛' | '⓪'
        | '\u{3248}'..='\u{324f}' | '\u{3251}'..='\u{325f}' | '\u{32b1}'..='\u{32bf}'
        | '\u{1d7ce}'..='\u{1d7ff}' | '\u{1f100}'..='\u{1f10a}' | '\u{1fbf0}'..='\u{1fbf9}')
}

fn is_superscript(c: char) -> bool {
    matches!(c, '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' | '⁺' | '⁻')
}

/// Two subscript digits, or two mathematical ones, belong to one number.
fn is_subscript_pair(before: char, c: char) -> bool {
    let same = |range: std::ops::RangeInclusive<char>| range.contains(&before) && range.contains(&c);
    same('₀'..='₉') || same('\u{1d7ce}'..='\u{1d7ff}') || same('\u{1fbf0}'..='\u{1fbf9}')
}

/// Writes through while unifying look-alikes that NFKC leaves apart.
struct Unify<'a>(&'a mut String);

impl Write for Unify<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // All of them start with byte CA or E2; most text has neither.
        if text.bytes().any(|b| b == 0xe2 || b == 0xca) {
            text.chars().for_each(|c| self.0.push(unified(c)));
        } else {
            self.0.push_str(text);
        }
        Ok(())
    }

    fn write_char(&mut self, c: char) -> fmt::Result {
        self.0.push(unified(c));
        Ok(())
    }
}

fn unified(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2bc}' => '\'',
        '\u{2010}' | '\u{2212}' => '-',
        '\u{2044}' => '/',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(text: &str) -> String {
        let (mut a, mut b) = (String::new(), String::new());
        prepare(text, &mut a, &mut b);
        b
    }

    #[test]
    fn width_composition_and_invisible_characters_vanish() {
        assert_eq!(prepared("Ｄｏｘａ"), "Doxa");
        assert_eq!(prepared("e\u{301}"), "é");
        assert_eq!(prepared("ｶﾞ"), "ガ");
        assert_eq!(prepared("so\u{ad}ft\u{202e}"), "soft");
        assert_eq!(prepared("it’s"), "it's");
    }

    #[test]
    fn styled_digits_never_fuse_into_another_number() {
        assert_eq!(prepared("10⁵"), "10^5");
        assert_eq!(prepared("10⁻¹²"), "10^-12");
        assert_eq!(prepared("1½"), "1 1/2");
        assert_eq!(prepared("3①"), "3 1");
        assert_eq!(prepared("②3"), "2 3");
        assert_eq!(prepared("log₁₀2"), "log10 2");
        assert_eq!(prepared("１２3"), "123");
        assert_eq!(prepared("m²"), "m2");
    }

    #[test]
    fn settled_characters_are_left_as_they_are() {
        let nfkc = ComposingNormalizer::new_nfkc();
        let settled = |c: &char| is_settled(c.encode_utf8(&mut [0; 4]));
        let all: String = ('\0'..=char::MAX).filter(settled).collect();
        assert!(all.chars().count() > 30_000);
        assert_eq!(prepared(&all), all);
        for c in all.chars() {
            // None composes with a character before it.
            assert!(nfkc.is_normalized(&format!("か{c}가{c}a{c}")), "{c:?}");
        }
    }

    #[test]
    fn joiners_stay_inside_emoji_only() {
        assert_eq!(prepared("👩\u{200d}💻"), "👩\u{200d}💻");
        assert_eq!(prepared("a\u{200d}b"), "ab");
        assert_eq!(prepared("❤\u{fe0f}"), "❤");
    }

    #[test]
    fn folding_is_full() {
        let mut out = String::new();
        fold_onto("Straße ΣΊΣΥΦΟΣ ﬁ", &mut out, &mut String::new());
        assert_eq!(out, "strasse σίσυφοσ fi");
    }
}
