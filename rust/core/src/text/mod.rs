//! From text to terms: one pipeline for documents and queries, for all languages.
//!
//! Holds the analysis of one text at a time in buffers that are reused. Invariant:
//! a text and its normal form give the same terms, and no letter, digit or emoji
//! is lost. Does not know which language it reads, and keeps no statistics.
//! Cost: linear; no allocation when warm except for texts that NFKC changes.
//!
//! NFKC; runs of scripts without spaces (Han, Kana, Hangul, Thai, …) as overlapping
//! character bigrams, and their single characters as a kind of their own that only
//! documents index; everything else by Unicode word boundaries, compounds
//! (`snake_case`, `a/b.c`, `v2.1`, `CamelCase`) whole and in parts; full case folding;
//! English stems where the store's language says so.

mod chars;
mod function_words;
mod words;

use std::ops::Range;

use icu_casemap::CaseMapperBorrowed;
use icu_normalizer::ComposingNormalizerBorrowed;
use rust_stemmers::{Algorithm, Stemmer};

pub use chars::is_unspaced;
pub use function_words::is_function_word;

/// Names the pipeline and its Unicode version; another one means re-indexing.
pub const PIPELINE_ID: &str = "t1-u17";

/// Longest compound, in bytes, that is also a term as a whole.
const MAX_COMPOUND: usize = 256;
/// Longest word, in bytes, that is stemmed.
const MAX_STEMMED: usize = 64;

/// The language whose stems are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// No stems.
    None,
    /// Snowball's English stems.
    English,
}

/// What a term is to the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermKind {
    /// A word, a compound, a bigram, an emoji.
    Whole,
    /// A part of a compound.
    Part,
    /// The stem of the word before it, where it differs; lives among the words.
    Stem,
    /// One character of a longer unspaced run: documents index it, queries skip it.
    Char,
}

#[derive(Debug, Clone, Copy)]
struct Term {
    start: u32,
    end: u32,
    kind: TermKind,
    function: bool,
}

/// The terms of one text, in reused buffers.
pub struct Terms {
    /// Folded bytes of all terms.
    bytes: String,
    terms: Vec<Term>,
    normal: String,
    spans: Vec<Range<usize>>,
    stemmer: Stemmer,
    case: CaseMapperBorrowed<'static>,
    nfkc: ComposingNormalizerBorrowed<'static>,
}

impl Default for Terms {
    fn default() -> Self {
        Self::new()
    }
}

impl Terms {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self {
            bytes: String::new(),
            terms: Vec::new(),
            normal: String::new(),
            spans: Vec::new(),
            stemmer: Stemmer::create(Algorithm::English),
            case: icu_casemap::CaseMapper::new(),
            nfkc: ComposingNormalizerBorrowed::new_nfkc(),
        }
    }

    /// Replaces what is held by the terms of `text`.
    pub fn analyze(&mut self, text: &str, language: Language) {
        self.bytes.clear();
        self.terms.clear();
        if text.is_ascii() {
            self.cut(text, language);
            return;
        }
        let mut normal = std::mem::take(&mut self.normal);
        normal.clear();
        normal.push_str(&self.nfkc.normalize(text));
        self.cut(&normal, language);
        self.normal = normal;
    }

    /// The terms in the order of the text: the term, its kind, whether it is a function word.
    pub fn iter(&self) -> impl Iterator<Item = (&str, TermKind, bool)> {
        self.terms.iter().map(|term| {
            (&self.bytes[term.start as usize..term.end as usize], term.kind, term.function)
        })
    }

    /// Cuts normalised text into runs and hands each to its own rule.
    fn cut(&mut self, text: &str, language: Language) {
        let mut rest = 0;
        while rest < text.len() {
            let run = chars::run(&text[rest..]);
            let part = &text[rest..rest + run.len];
            if run.unspaced {
                self.unspaced(part);
            } else {
                self.spaced(part, language);
            }
            rest += run.len;
        }
    }

    /// Emits a run of a script without spaces.
    fn unspaced(&mut self, run: &str) {
        let mut ends = run.char_indices().map(|(start, c)| start + c.len_utf8());
        let Some(first) = ends.next() else { return };
        let (mut start, mut end) = (0, first);
        let mut alone = true;
        for next in ends {
            alone = false;
            self.push(&run[start..next], TermKind::Whole);
            self.push(&run[start..end], TermKind::Char);
            (start, end) = (end, next);
        }
        self.push(&run[start..end], if alone { TermKind::Whole } else { TermKind::Char });
    }

    /// Emits a run of scripts that separate words.
    fn spaced(&mut self, run: &str, language: Language) {
        let mut at = 0;
        let mut spans = std::mem::take(&mut self.spans);
        while let Some(piece) = words::next_piece(run, at) {
            at = piece.end;
            let text = &run[piece.start..piece.end];
            if !piece.word {
                self.push(text, TermKind::Whole);
                continue;
            }
            spans.clear();
            words::parts(text, &mut spans);
            let whole = spans.len() == 1 && spans[0] == (0..text.len());
            if whole || text.len() <= MAX_COMPOUND {
                self.push(text, TermKind::Whole);
                self.stem(language);
            }
            if whole {
                continue;
            }
            for span in &spans {
                self.push(&text[span.clone()], TermKind::Part);
                self.stem(language);
            }
        }
        self.spans = spans;
    }

    /// Adds the case-folded form of a term.
    fn push(&mut self, text: &str, kind: TermKind) {
        let start = self.bytes.len();
        if text.is_ascii() {
            self.bytes.extend(text.bytes().map(|b| char::from(b.to_ascii_lowercase())));
        } else if text.chars().all(|c| !chars::may_fold(c)) {
            self.bytes.push_str(text);
        } else {
            let folded = self.case.fold_string(text);
            self.bytes.push_str(&self.nfkc.normalize(&folded));
        }
        let end = self.bytes.len();
        if end > start {
            let function = is_function_word(&self.bytes[start..end]);
            self.terms.push(Term { start: start as u32, end: end as u32, kind, function });
        }
    }

    /// Adds the stem of the last term where it is a word and its stem differs.
    fn stem(&mut self, language: Language) {
        let Some(&last) = self.terms.last() else { return };
        if language == Language::None || last.function {
            return;
        }
        let word = &self.bytes[last.start as usize..last.end as usize];
        if word.len() > MAX_STEMMED || !word.bytes().all(|b| b.is_ascii_lowercase() || b == b'\'') {
            return;
        }
        let stem = self.stemmer.stem(word);
        if stem.is_empty() || stem == word {
            return;
        }
        let stem = stem.into_owned();
        let start = self.bytes.len() as u32;
        self.bytes.push_str(&stem);
        let end = self.bytes.len() as u32;
        self.terms.push(Term { start, end, kind: TermKind::Stem, function: false });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut held = Terms::new();
        held.analyze(text, Language::None);
        held.iter()
            .filter(|(_, kind, _)| *kind != TermKind::Char)
            .map(|(term, ..)| term.to_owned())
            .collect()
    }

    #[test]
    fn words_are_folded_and_cut_at_unicode_boundaries() {
        assert_eq!(terms("The Straße, naïve CAFÉ!"), ["the", "strasse", "naïve", "café"]);
        assert_eq!(terms("don't 3.14 1,000"), ["don't", "3.14", "3", "14", "1,000", "1", "000"]);
    }

    #[test]
    fn chinese_runs_are_bigrams_and_a_lone_character_stands_for_itself() {
        assert_eq!(terms("数据库"), ["数据", "据库"]);
        assert_eq!(terms("用Redis做缓存"), ["用", "redis", "做缓", "缓存"]);
        assert_eq!(terms("猫"), ["猫"]);
    }

    #[test]
    fn single_characters_of_a_run_are_there_for_documents() {
        let mut held = Terms::new();
        held.analyze("数据库", Language::None);
        let single: Vec<_> =
            held.iter().filter(|t| t.1 == TermKind::Char).map(|t| t.0.to_owned()).collect();
        assert_eq!(single, ["数", "据", "库"]);
    }

    #[test]
    fn identifiers_are_whole_and_in_parts() {
        assert_eq!(terms("snake_case_id"), ["snake_case_id", "snake", "case", "id"]);
        assert_eq!(terms("HttpServerX"), ["httpserverx", "http", "server", "x"]);
        assert_eq!(terms("v2.1"), ["v2.1", "v", "2", "1"]);
        assert_eq!(terms("src/main.rs"), ["src/main.rs", "src", "main", "rs"]);
        assert_eq!(terms("C++ and C#"), ["c++", "c", "and", "c#", "c"]);
    }

    #[test]
    fn emoji_and_symbols_are_terms_and_punctuation_is_not() {
        assert_eq!(terms("ship it 🚀, ok?"), ["ship", "it", "🚀", "ok"]);
        assert_eq!(terms("👩‍💻"), ["👩‍💻"]);
        assert!(terms("?!… -- \"\" / ( )").is_empty());
    }

    #[test]
    fn composed_and_decomposed_and_full_width_text_give_the_same_terms() {
        assert_eq!(terms("cafe\u{301}"), terms("caf\u{e9}"));
        assert_eq!(terms("ＡＢＣ１２３"), terms("ABC123"));
    }

    #[test]
    fn stems_follow_the_word_that_they_belong_to() {
        let mut held = Terms::new();
        held.analyze("running tests", Language::English);
        let all: Vec<_> = held.iter().map(|(t, k, _)| (t.to_owned(), k)).collect();
        assert_eq!(
            all,
            [
                ("running".to_owned(), TermKind::Whole),
                ("run".to_owned(), TermKind::Stem),
                ("tests".to_owned(), TermKind::Whole),
                ("test".to_owned(), TermKind::Stem),
            ]
        );
    }

    #[test]
    fn a_long_text_takes_linear_time() {
        let mut held = Terms::new();
        held.analyze(&"数据库 port8080 ".repeat(40_000), Language::English);
        assert!(held.iter().count() > 200_000);
        held.analyze(&"a_".repeat(200_000), Language::English);
        held.analyze(&"\u{301}".repeat(200_000), Language::English);
    }
}
