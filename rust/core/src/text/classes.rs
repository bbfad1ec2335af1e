//! What a character is to the pipeline: one small class per character.
//!
//! Holds the only place where Unicode properties are read. Classes come from the
//! general category in the data that `Cargo.lock` pins, so an answer never depends
//! on the compiler's own tables. Knows nothing of words. Costs a table look-up for
//! ASCII, one or two trie look-ups for the rest.

use icu_properties::props::{ExtendedPictographic, GeneralCategory};
use icu_properties::{
    CodePointMapData, CodePointMapDataBorrowed, CodePointSetData, CodePointSetDataBorrowed,
};

/// Class of a character after NFKC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// White space.
    Space,
    /// Controls, format characters and what else separates without meaning.
    Other,
    /// A letter without case or in lower case.
    Letter,
    /// A letter in upper or title case.
    Upper,
    /// A digit or another number.
    Digit,
    /// A combining mark.
    Mark,
    /// The low line, which joins identifiers.
    Underscore,
    /// A letter of a script that is written without spaces (or, for Hangul, cut alike).
    Cjk,
    /// A pictograph, regional indicator or skin tone.
    Emoji,
    /// Another symbol outside ASCII, a private or unassigned character.
    Symbol,
    /// Punctuation, and every ASCII symbol.
    Punct,
}

impl Class {
    /// True for what words of spaced scripts are made of.
    #[inline]
    #[must_use]
    pub fn is_word(self) -> bool {
        matches!(self, Self::Letter | Self::Upper | Self::Digit | Self::Mark | Self::Underscore)
    }

    /// True for letters of spaced scripts.
    #[inline]
    #[must_use]
    pub fn is_letter(self) -> bool {
        matches!(self, Self::Letter | Self::Upper)
    }
}

const CATEGORIES: CodePointMapDataBorrowed<'static, GeneralCategory> =
    CodePointMapData::<GeneralCategory>::new();
const PICTOGRAPHS: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<ExtendedPictographic>();

const ASCII: [Class; 128] = ascii_table();

const fn ascii_table() -> [Class; 128] {
    let mut table = [Class::Punct; 128];
    let mut i = 0;
    while i < 128 {
        let byte = i as u8;
        table[i] = match byte {
            b'a'..=b'z' => Class::Letter,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' => Class::Underscore,
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => Class::Space,
            0..=31 | 127 => Class::Other,
            _ => Class::Punct,
        };
        i += 1;
    }
    table
}

/// The class of `c`.
#[inline]
#[must_use]
pub fn class(c: char) -> Class {
    let code = c as u32;
    if code < 128 {
        return ASCII[code as usize];
    }
    if matches!(code, 0x4e00..=0x9fff | 0xac00..=0xd7a3) {
        return Class::Cjk;
    }
    class_by_property(c)
}

/// The class and byte length of the character that starts at byte `at` of `text`,
/// or `None` at the end.
#[inline]
#[must_use]
pub fn class_at(text: &str, at: usize) -> Option<(Class, usize)> {
    let byte = *text.as_bytes().get(at)?;
    if byte < 128 {
        return Some((ASCII[byte as usize], 1));
    }
    let c = text[at..].chars().next()?;
    Some((class(c), c.len_utf8()))
}

fn class_by_property(c: char) -> Class {
    use GeneralCategory as G;
    match CATEGORIES.get(c) {
        G::NonspacingMark | G::SpacingMark | G::EnclosingMark => Class::Mark,
        G::UppercaseLetter | G::TitlecaseLetter => Class::Upper,
        G::LowercaseLetter => Class::Letter,
        G::OtherLetter | G::ModifierLetter | G::LetterNumber => {
            if in_unspaced_script(c) {
                Class::Cjk
            } else {
                Class::Letter
            }
        }
        G::DecimalNumber | G::OtherNumber => Class::Digit,
        G::SpaceSeparator | G::LineSeparator | G::ParagraphSeparator => Class::Space,
        G::Control | G::Format | G::Surrogate => Class::Other,
        G::ConnectorPunctuation
        | G::DashPunctuation
        | G::OpenPunctuation
        | G::ClosePunctuation
        | G::InitialPunctuation
        | G::FinalPunctuation
        | G::OtherPunctuation => {
            if PICTOGRAPHS.contains(c) {
                Class::Emoji
            } else {
                Class::Punct
            }
        }
        _ => {
            if PICTOGRAPHS.contains(c) || is_regional(c) || is_skin_tone(c) {
                Class::Emoji
            } else {
                Class::Symbol
            }
        }
    }
}

/// True for U+1F1E6..U+1F1FF, two of which make a flag.
#[inline]
#[must_use]
pub fn is_regional(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// True for the five skin tones.
#[inline]
#[must_use]
pub fn is_skin_tone(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

/// True for the tag characters that spell a flag after U+1F3F4.
#[inline]
#[must_use]
pub fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0020}'..='\u{e007f}')
}

/// True for characters that Unicode asks to ignore by default (bidirectional marks,
/// joiners, variation selectors, soft hyphens, fillers).
#[inline]
#[must_use]
pub fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Letters of scripts without spaces between words, and Hangul.
fn in_unspaced_script(c: char) -> bool {
    matches!(c as u32,
        0x0e00..=0x0eff      // Thai, Lao
        | 0x1000..=0x109f    // Myanmar
        | 0x1100..=0x11ff    // Hangul jamo
        | 0x1780..=0x17ff    // Khmer
        | 0x1950..=0x19df    // Tai Le, New Tai Lue
        | 0x1a20..=0x1aaf    // Tai Tham
        | 0x2e80..=0x2fdf    // radicals
        | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3031..=0x303c
        | 0x3041..=0x318f    // kana, Bopomofo, compatibility jamo
        | 0x31a0..=0x31bf | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xa000..=0xa4cf    // Yi
        | 0xa960..=0xa97f | 0xa9e0..=0xa9ff | 0xaa60..=0xaadf
        | 0xac00..=0xd7ff    // Hangul
        | 0xf900..=0xfaff
        | 0x16fe0..=0x18dff | 0x1aff0..=0x1b2ff
        | 0x20000..=0x3fffd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use icu_properties::props::DefaultIgnorableCodePoint;

    #[test]
    fn the_list_of_ignorables_is_the_one_of_unicode() {
        let set = CodePointSetData::new::<DefaultIgnorableCodePoint>();
        for c in '\u{80}'..=char::MAX {
            assert_eq!(is_ignorable(c), set.contains(c), "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn classes_follow_the_script() {
        assert_eq!(class('a'), Class::Letter);
        assert_eq!(class('É'), Class::Upper);
        for c in "北々〇ァーのဗไ한ㄅ".chars() {
            assert_eq!(class(c), Class::Cjk, "{c}");
        }
        assert_eq!(class('٣'), Class::Digit);
        assert_eq!(class('😀'), Class::Emoji);
        assert_eq!(class('€'), Class::Symbol);
        assert_eq!(class('。'), Class::Punct);
        assert_eq!(class('\u{301}'), Class::Mark);
        assert_eq!(class('\u{7}'), Class::Other);
    }
}
