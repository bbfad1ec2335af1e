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

pub use equal::normalize;
pub(crate) use {classes::Class, classes::class, classes::class_at, normal::fold_onto, normal::prepare};

use compound::Parts;

/// Names the pipeline and the Unicode version of its tables. Another id means
/// re-indexing; terms of two pipelines are never mixed.
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
        if text.is_ascii() {
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
    pub fn iter(&self) -> impl Iterator<Item = (&str, TermKind, bool)> {
        self.entries.iter().map(|entry| {
            let end = entry.start + entry.len as usize;
            (&self.bytes[entry.start..end], entry.kind, entry.function)
        })
    }

    /// The primary terms in text order.
    pub fn primary(&self) -> impl Iterator<Item = &str> {
        self.iter()
            .filter(|(_, kind, _)| kind.is_primary())
            .map(|(term, _, _)| term)
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
        self.entries.push(Entry {
            start,
            len: len as u32,
            kind,
            function: false,
        });
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
        let start = self.bytes.len();
        let mut word = [0_u8; stem::LONGEST];
        let len = last.len as usize;
        if len > stem::LONGEST {
            return;
        }
        word[..len].copy_from_slice(&self.bytes.as_bytes()[last.start..last.start + len]);
        if let Ok(word) = std::str::from_utf8(&word[..len])
            && stem::stem_onto(word, &mut self.bytes)
        {
            self.push_range(start, self.bytes.len(), TermKind::Stem);
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
