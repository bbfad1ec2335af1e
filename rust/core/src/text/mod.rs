//! Text to terms: one deterministic pipeline for documents and queries alike.
//!
//! NFKC and full case folding, words by Unicode categories, scripts without spaces as
//! overlapping character bigrams, identifiers whole and in parts, emoji and symbols as
//! terms, English stems beside the words. No language detection and no stop list: a
//! document and a query are cut alike, and nothing is silently lost.
//!
//! Invariant: the terms of a text depend on the text, the language and [`PIPELINE_ID`]
//! only. The pipeline knows nothing of fields, weights or postings. Cost: linear in the
//! text; ASCII needs no Unicode table, and a warm [`Terms`] allocates nothing.

mod classes;
mod compound;
mod equal;
mod function_words;
mod normal;
mod scan;
mod stem;

pub(crate) use classes::{Class, class};
pub use equal::normalize;

use compound::Parts;
use normal::fold_onto;

/// Names the pipeline and the Unicode version of its tables. Another id means
/// re-indexing; terms of two pipelines are never mixed. It stands for the normal form and
/// the gate's fingerprints too, so a change to either needs another id once stores exist.
pub const PIPELINE_ID: &str = "t1-u18";

/// A term longer than this many bytes is kept as its beginning and a hash of the whole.
pub const MAX_TERM_BYTES: usize = 192;

const KEPT_BYTES: usize = 128;

/// The language of a store: decides about stems, never about where words end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Language {
    /// No stems.
    None,
    /// English stems as weaker terms.
    #[default]
    English,
}

/// How a term came out of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TermKind {
    /// A word, a character bigram, a symbol, or the whole of an identifier. Primary.
    Whole,
    /// A part of an identifier. Primary.
    Part,
    /// The stem of the word before it, where it differs. Weaker, no part of the length.
    Stem,
    /// One character of a longer run of CJK, so that a query of one character finds it.
    /// Documents post it like a stem, at no length; queries skip it.
    Character,
}

impl TermKind {
    /// True for `Whole` and `Part`: the terms that count in a length.
    #[inline]
    #[must_use]
    pub fn is_primary(self) -> bool {
        matches!(self, Self::Whole | Self::Part)
    }
}

#[derive(Clone, Copy)]
struct Entry {
    start: usize,
    len: u32,
    kind: TermKind,
    function: bool,
}

/// The terms of one text, in buffers that are used again for the next.
///
/// ```
/// use doxa_core::text::{Language, TermKind, Terms};
/// let mut terms = Terms::new();
/// terms.analyze("Runs on v2.1 of 北京", Language::English);
/// let words: Vec<&str> = terms.iter().map(|(term, _, _)| term).collect();
/// assert_eq!(words, ["runs", "run", "on", "v2.1", "v2", "2.1", "of", "北", "北京", "京"]);
/// ```
#[derive(Default)]
pub struct Terms {
    bytes: String,
    entries: Vec<Entry>,
    prepared: String,
    scratch: String,
    parts: Parts,
}

impl Terms {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the contents by the terms of `text`.
    pub fn analyze(&mut self, text: &str, language: Language) {
        self.bytes.clear();
        self.entries.clear();
        if normal::is_settled(text) {
            self.scan(text, language);
        } else {
            let mut prepared = std::mem::take(&mut self.prepared);
            normal::prepare(text, &mut self.scratch, &mut prepared);
            self.scan(&prepared, language);
            self.prepared = prepared;
        }
    }

    /// The terms in text order with their kind and whether they are function words:
    /// a whole before its parts, a word before its stem.
    pub fn iter(&self) -> impl Iterator<Item = (&str, TermKind, bool)> + Clone {
        self.entries.iter().map(|entry| {
            let end = entry.start + entry.len as usize;
            (&self.bytes[entry.start..end], entry.kind, entry.function)
        })
    }

    /// The primary terms in text order.
    pub fn primary(&self) -> impl Iterator<Item = &str> {
        self.iter().filter(|(_, kind, _)| kind.is_primary()).map(|(term, _, _)| term)
    }

    /// Number of terms of all kinds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True where the text held no term.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn scan(&mut self, text: &str, language: Language) {
        scan::scan(text, language, self);
        if self.entries.is_empty() {
            // Punctuation only: what stands there is the term.
            for piece in text.split(|c: char| !matches!(class(c), Class::Punct | Class::Mark)) {
                self.push_folded(piece, TermKind::Whole);
            }
        }
    }

    /// Adds the folding of `piece` as a term; returns where it starts in `bytes`.
    fn push_folded(&mut self, piece: &str, kind: TermKind) -> usize {
        let start = self.bytes.len();
        fold_onto(piece, &mut self.bytes, &mut self.scratch);
        self.push_range(start, self.bytes.len(), kind);
        start
    }

    /// Adds `bytes[start..end]` as a term, shortened where it is too long.
    fn push_range(&mut self, mut start: usize, end: usize, kind: TermKind) {
        if start >= end {
            return;
        }
        let mut len = end - start;
        if len > MAX_TERM_BYTES {
            let hash = xxhash_rust::xxh3::xxh3_64(&self.bytes.as_bytes()[start..end]);
            let cut = self.bytes[start..end].floor_char_boundary(KEPT_BYTES);
            let from = start;
            start = self.bytes.len();
            self.bytes.extend_from_within_str(from, from + cut);
            let _ = std::fmt::Write::write_fmt(&mut self.bytes, format_args!("…{hash:016x}"));
            len = self.bytes.len() - start;
        }
        self.entries.push(Entry { start, len: len as u32, kind, function: false });
    }

    /// Flags the term added last as a function word if it is one in English.
    fn flag_english(&mut self) {
        if let Some(last) = self.entries.last_mut() {
            let term = &self.bytes[last.start..last.start + last.len as usize];
            last.function = function_words::is_english(term);
        }
    }

    /// Adds the stem of the term added last, where the language has one.
    fn stem_last(&mut self, language: Language) {
        if language != Language::English {
            return;
        }
        let Some(&last) = self.entries.last() else {
            return;
        };
        let word = &self.bytes.as_bytes()[last.start..last.start + last.len as usize];
        let mut stem = [0; stem::LONGEST];
        if let Some(len) = stem::stem(word, &mut stem)
            && let Ok(stem) = std::str::from_utf8(&stem[..len])
        {
            let start = self.bytes.len();
            self.bytes.push_str(stem);
            self.push_range(start, start + len, TermKind::Stem);
            self.flag_stem(last.function);
        }
    }

    fn flag_stem(&mut self, function: bool) {
        if let Some(stem) = self.entries.last_mut() {
            stem.function = function;
        }
    }
}

/// `String::extend_from_within`, which the standard library has for vectors only.
trait ExtendFromWithin {
    fn extend_from_within_str(&mut self, from: usize, to: usize);
}

impl ExtendFromWithin for String {
    fn extend_from_within_str(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            // One character at a time: the buffer may move while it grows.
            let Some(c) = self[at..].chars().next() else { return };
            at += c.len_utf8();
            self.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    fn primary(text: &str) -> Vec<String> {
        let mut terms = Terms::new();
        terms.analyze(text, Language::English);
        terms.primary().map(str::to_owned).collect()
    }

    fn of_kind(text: &str, wanted: TermKind) -> Vec<String> {
        let mut terms = Terms::new();
        terms.analyze(text, Language::English);
        let found = terms.iter().filter(|(_, kind, _)| *kind == wanted);
        found.map(|(term, _, _)| term.to_owned()).collect()
    }

    #[test]
    fn words_are_folded_and_cut_by_unicode_rules() {
        assert_eq!(
            primary("The quick (“brown”) Fox, can't JUMP 32.3 feet!"),
            ["the", "quick", "brown", "fox", "can't", "jump", "32.3", "feet"]
        );
        assert_eq!(primary("Straße ΑΘΗΝΑ naïve"), ["strasse", "αθηνα", "naïve"]);
        assert_eq!(primary("Ｆｕｌｌ ｗｉｄｔｈ １２"), ["full", "width", "12"]);
        assert_eq!(primary("नमस्ते العربية русский"), ["नमस्ते", "العربية", "русский"]);
        assert_eq!(primary("col·lecció צה\"ל a\"b"), ["col·lecció", "צה\"ל", "a", "b"]);
        assert_eq!(primary("Anna's and Bob’s"), ["anna", "and", "bob"]);
        assert_eq!(primary("rock'n'roll l'eau"), ["rock'n'roll", "rock", "roll", "l'eau", "eau"]);
    }

    #[test]
    fn scripts_without_spaces_become_bigrams() {
        assert_eq!(primary("北京大学"), ["北京", "京大", "大学"]);
        assert_eq!(primary("第3章"), ["第", "3", "章"]);
        assert_eq!(primary("使用Python写"), ["使用", "python", "写"]);
        assert_eq!(primary("カタカナ"), ["カタ", "タカ", "カナ"]);
        assert_eq!(primary("한국어"), ["한국", "국어"]);
        assert_eq!(primary("ไทย"), ["ไท", "ทย"]);
        assert_eq!(primary("你好，世界。"), ["你好", "世界"]);
    }

    #[test]
    fn one_character_finds_itself_alone_and_within_a_run() {
        assert_eq!(primary("京"), ["京"]);
        assert_eq!(of_kind("北京大学", TermKind::Character), ["北", "京", "大", "学"]);
        assert!(of_kind("京", TermKind::Character).is_empty());
    }

    #[test]
    fn identifiers_are_terms_whole_and_in_parts() {
        assert_eq!(primary("snake_case"), ["snake_case", "snake", "case"]);
        assert_eq!(primary("CamelCase"), ["camelcase", "camel", "case"]);
        assert_eq!(primary("v2.1"), ["v2.1", "v2", "2.1"]);
        assert_eq!(primary("src/a-b.rs"), ["src/a-b.rs", "src", "a-b.rs", "a", "b", "rs"]);
        assert_eq!(primary("me@mail.example"), ["me@mail.example", "me", "mail.example", "mail", "example"]);
        assert_eq!(
            primary("https://a.example/x?q=1#top"),
            [
                "https://a.example/x?q=1#top",
                "https",
                "a.example",
                "a",
                "example",
                "x",
                "q",
                "1#top",
                "1",
                "top"
            ]
        );
        assert_eq!(
            primary("C++ C# C F# .NET std::vec"),
            ["c++", "c#", "c", "f#", ".net", "net", "std::vec", "std", "vec"]
        );
        assert_eq!(primary("C++17"), ["c++17", "17"]);
        assert_eq!(primary("U.S. and e.g."), ["u.s", "us", "and", "e.g", "eg"]);
        assert_eq!(
            primary("iPhone HTTPServer URLs"),
            ["iphone", "phone", "httpserver", "http", "server", "urls"]
        );
        assert_eq!(primary("ÉcoleSupérieure"), ["écolesupérieure", "école", "supérieure"]);
        assert_eq!(
            primary("--force @anna #12 $HOME"),
            ["--force", "force", "@anna", "anna", "#12", "12", "$home", "home"]
        );
    }

    #[test]
    fn numbers_symbols_and_emoji_are_terms() {
        assert_eq!(primary("7"), ["7"]);
        assert_eq!(primary("-5 50% 1,000 1,2"), ["-5", "5", "50%", "50", "1,000", "1000", "1", "2"]);
        assert_eq!(primary("10:30 2024-01-15"), ["10:30", "10", "30", "2024-01-15", "2024", "01", "15"]);
        assert_eq!(primary("½ 10⁵"), ["1/2", "1", "2", "10", "5"]);
        assert_eq!(
            primary("👍🏽 👩\u{200d}💻 🇨🇳🇩🇪 1️⃣ ❤️ #️⃣"),
            ["👍🏽", "👩\u{200d}💻", "🇨🇳", "🇩🇪", "1\u{20e3}", "❤", "#\u{20e3}"]
        );
        assert_eq!(primary("a != b -> c"), ["a", "!=", "b", "->", "c"]);
        assert_eq!(primary("5 € → 6"), ["5", "€", "→", "6"]);
        assert_eq!(primary("x == y && z"), ["x", "==", "y", "&&", "z"]);
        assert_eq!(primary("?!"), ["?!"]);
    }

    #[test]
    fn markup_leaves_no_terms() {
        assert_eq!(
            primary("# Title\n- **bold** `code`\n> quote | cell\n---\n* item\n1. one"),
            ["title", "bold", "code", "quote", "cell", "item", "1", "one"]
        );
        assert_eq!(primary("dash - dash -- dash … end..."), ["dash", "dash", "dash", "end"]);
    }

    #[test]
    fn stems_follow_their_words_in_english_only() {
        assert_eq!(
            of_kind("Running services, stopped runs", TermKind::Stem),
            ["run", "servic", "stop", "run"]
        );
        let mut terms = Terms::new();
        terms.analyze("Running", Language::None);
        assert_eq!(terms.iter().count(), 1);
        assert_eq!(
            of_kind("getServices retried_jobs", TermKind::Stem),
            ["getservic", "servic", "retri", "job"]
        );
    }

    #[test]
    fn function_words_are_flagged_and_kept() {
        let mut terms = Terms::new();
        terms.analyze("What is the port of 我们的服务", Language::English);
        let flagged: Vec<&str> =
            terms.iter().filter(|(_, kind, flag)| kind.is_primary() && *flag).map(|t| t.0).collect();
        assert_eq!(flagged, ["what", "is", "the", "of", "我们", "们的"]);
    }

    #[test]
    fn a_very_long_term_is_shortened_and_stays_itself() {
        let long = "x".repeat(5000);
        let terms = primary(&long);
        assert_eq!(terms.len(), 1);
        assert!(terms[0].len() <= MAX_TERM_BYTES);
        assert_ne!(terms, primary(&"x".repeat(5001)));
    }

    #[test]
    fn control_characters_and_stray_marks_do_no_harm() {
        assert_eq!(primary("a\0b\u{7}c"), ["a", "b", "c"]);
        assert_eq!(primary("\u{202e}abc\u{202c}"), ["abc"]);
        assert_eq!(primary("so\u{ad}ft \u{feff}bom zero\u{200b}width"), ["soft", "bom", "zero", "width"]);
        primary("\u{301}\u{301} \u{200d}\u{fe0f}\u{20e3}\u{e0067}");
        primary("\u{1f1e6}\u{200d}\u{1f1e6}\u{1f3fb}\u{fffd}\u{10ffff}");
        assert!(primary(" \n\t").is_empty() && primary("").is_empty());
    }

    #[test]
    fn two_hundred_thousand_characters_take_linear_time() {
        let seeds =
            ["a", "北", "e\u{301}", "aB_", "1,", "1.", "'", "-", "👩\u{200d}", "a/", "\u{301}", "# ", "🇨"];
        let mut terms = Terms::new();
        let mut time = |text: &str| {
            let start = std::time::Instant::now();
            terms.analyze(text, Language::English);
            let _ = normalize(text);
            start.elapsed().as_secs_f64()
        };
        for seed in seeds {
            let total = if seed == "a" || seed == "北" { 200_000 } else { 40_000 };
            let count = total / seed.chars().count();
            let small = seed.repeat(count / 10);
            let large = seed.repeat(count);
            // The best of several: other work on the machine only adds time.
            let base = (0..3).map(|_| time(&small)).fold(f64::MAX, f64::min);
            let full = (0..3).map(|_| time(&large)).fold(f64::MAX, f64::min);
            // Quadratic would be a hundred times as much.
            assert!(full < 40.0 * base + 0.1, "{seed:?}: {base} s, {full} s");
        }
    }

    /// Words of spaced scripts without any of the characters that identifiers are made of.
    fn plain_word() -> impl Strategy<Value = String> {
        "[a-zäöüßéñçøåœа-яα-ωא-ת]{1,8}"
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn plain_words_are_those_of_the_unicode_annex(words in prop::collection::vec(plain_word(), 1..8), gap in "[ ,;!?()\"]{1,2}") {
            let text = words.join(&gap);
            let expect: Vec<String> = text.unicode_words().map(|w| {
                let mut out = String::new();
                fold_onto(w, &mut out, &mut String::new());
                out
            }).collect();
            prop_assert_eq!(primary(&text), expect);
        }

        #[test]
        fn no_text_panics_and_terms_are_never_empty(text in "\\PC{0,40}|[\\u{0}-\\u{10ffff}]{0,40}") {
            let mut terms = Terms::new();
            terms.analyze(&text, Language::English);
            for (term, _, _) in terms.iter() {
                prop_assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES);
            }
        }

        #[test]
        fn identifiers_of_any_shape_do_not_panic(text in "[aB1é北_./\\-+#@:'%,&=?~$ 👩\u{200d}\u{301}]{0,30}") {
            let first = primary(&text);
            prop_assert_eq!(first, primary(&text));
        }

        #[test]
        fn no_letter_digit_or_emoji_is_lost(text in "[aB1é北_./\\-+#@:'%,&=?~$ 👩🇨]{0,24}") {
            let joined = primary(&text).concat();
            let mut folded = String::new();
            fold_onto(&text.replace("'s", ""), &mut folded, &mut String::new());
            for c in folded.chars().filter(|&c| class(c).is_word() && c != '_' || matches!(class(c), Class::Cjk | Class::Emoji)) {
                prop_assert!(joined.contains(c), "{} lost from {}", c, text);
            }
        }

        #[test]
        fn composition_and_width_make_no_difference(text in "[a-zA-Z0-9éüñ가각がパ北京 ._/-]{0,24}") {
            let nfd = icu_normalizer::DecomposingNormalizer::new_nfd().normalize(&text);
            prop_assert_eq!(primary(&text), primary(&nfd));
            prop_assert_eq!(normalize(&text), normalize(&nfd));
            let wide: String = text.chars().map(|c| match c {
                ' ' => '\u{3000}',
                '!'..='~' => char::from_u32(c as u32 + 0xfee0).unwrap_or(c),
                _ => c,
            }).collect();
            prop_assert_eq!(primary(&text), primary(&wide));
            prop_assert_eq!(normalize(&text), normalize(&wide));
        }

        #[test]
        fn two_lines_have_the_terms_of_both(a in "[aB1é北京_./+#@:',👩-]{1,12}", b in "[aB1é北京_./+#@:',👩-]{1,12}") {
            let says = |text: &str| text.chars().any(|c| class(c).is_word() || class(c) == Class::Cjk);
            prop_assume!(says(&a) && says(&b));
            prop_assert_eq!(primary(&format!("{a}\n{b}")), [primary(&a), primary(&b)].concat());
        }
    }
}
