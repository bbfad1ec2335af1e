//! Classes of characters that the cutting of text needs.

/// A run of text that one rule cuts.
pub struct Run {
    /// Length in bytes.
    pub len: usize,
    /// Whether the script puts no spaces between words.
    pub unspaced: bool,
}

/// Scripts without spaces between words: inclusive ranges, in order.
const UNSPACED: &[(u32, u32)] = &[
    (0x0E00, 0x0EFF),   // Thai, Lao
    (0x1000, 0x109F),   // Myanmar
    (0x1100, 0x11FF),   // Hangul Jamo
    (0x1780, 0x17FF),   // Khmer
    (0x2E80, 0x2FDF),   // CJK radicals
    (0x3005, 0x3007),   // ideographic iteration mark, closing mark, zero
    (0x3021, 0x3029),   // Hangzhou numerals
    (0x3031, 0x3035),   // Kana repeat marks
    (0x3041, 0x309F),   // Hiragana
    (0x30A1, 0x30FA),   // Katakana
    (0x30FC, 0x30FF),   // Katakana length and iteration marks
    (0x3105, 0x312F),   // Bopomofo
    (0x3131, 0x318E),   // Hangul compatibility Jamo
    (0x31A0, 0x31BF),   // Bopomofo extended
    (0x31F0, 0x31FF),   // Katakana extensions
    (0x3400, 0x4DBF),   // CJK extension A
    (0x4E00, 0x9FFF),   // CJK
    (0xA9E0, 0xA9FF),   // Myanmar extended
    (0xAA60, 0xAA7F),   // Myanmar extended
    (0xAC00, 0xD7FF),   // Hangul syllables
    (0xF900, 0xFAFF),   // CJK compatibility
    (0x1AFF0, 0x1B16F), // Kana supplements
    (0x20000, 0x3FFFF), // CJK extensions B and on
];

/// Whether a character belongs to a script without spaces between words.
///
/// ```
/// assert!(doxa_core::text::is_unspaced('数') && !doxa_core::text::is_unspaced('a'));
/// ```
#[must_use]
pub fn is_unspaced(c: char) -> bool {
    let code = c as u32;
    if code < UNSPACED[0].0 {
        return false;
    }
    let at = UNSPACED.partition_point(|&(_, last)| last < code);
    UNSPACED.get(at).is_some_and(|&(first, _)| first <= code)
}

/// The longest run at the start of a text that is of one class.
pub fn run(text: &str) -> Run {
    if text.is_ascii() {
        return Run { len: text.len(), unspaced: false };
    }
    let mut chars = text.char_indices();
    let unspaced = chars.next().is_some_and(|(_, c)| is_unspaced(c));
    let len = chars.find(|&(_, c)| is_unspaced(c) != unspaced).map_or(text.len(), |(at, _)| at);
    Run { len, unspaced }
}

/// Whether case folding may change a character: false for what surely has no case.
pub fn may_fold(c: char) -> bool {
    c.is_ascii_uppercase() || (!c.is_ascii() && !is_unspaced(c))
}

/// Whether a character that is no letter or digit is a term by itself: symbols and emoji,
/// but no punctuation, space, mark or control character.
pub fn is_symbol(c: char) -> bool {
    if c.is_ascii() {
        return false;
    }
    let code = c as u32;
    matches!(code,
        0x00A2..=0x00A9 | 0x00AC | 0x00AE..=0x00B1 | 0x00D7 | 0x00F7
        | 0x20A0..=0x20CF | 0x2100..=0x23FF | 0x2460..=0x26FF | 0x2700..=0x27BF
        | 0x2900..=0x2BFF | 0x3200..=0x33FF | 0x1D100..=0x1D7FF | 0x1F000..=0x1FAFF
    ) || c.is_alphanumeric()
}
