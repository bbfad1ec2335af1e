//! I have a term: which propositions hold it, in which field, how often?
//!
//! Holds posting lists in three places: the *base* (flat arrays, sorted by
//! document, then field), *segments* of recently indexed documents (sorted by
//! term; a document stands in them under a slot, and an older version of it
//! dies with its slot), and loose postings of the writer that are not sorted
//! yet. Beside them one forward record per document, so that what a document
//! contributes can be taken back. Invariant: statistics are integers and
//! depend only on the live documents, so they equal a rebuild's to the bit; a
//! document is live in at most one place. Does not know how terms are cut or
//! weighed. Cost: indexing sorts a document's postings and merges segments,
//! O(log n) each; a look-up is one slice and a binary search per segment.

use std::sync::{Arc, LazyLock};

use bytemuck::{Pod, Zeroable};

use crate::codes::FIELDS;
use crate::cow::{Bits, Cow};
use crate::dictionary::Map;
use crate::error::{Error, Result};
use crate::flat::Flat;
use crate::forward::{Record, read, write};
use crate::limits::{MAX_FIELD_LENGTH, MAX_TERM_FREQUENCY, OPEN_POSTINGS};
use crate::tail::Tail;

/// One posting: a document (or slot) and what its field says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Posting {
    /// The document, or the slot in a segment.
    pub doc: u32,
    /// Field code in 4 bits, field length in 17, term frequency in 11.
    pub payload: u32,
}

/// Packs what a posting says of a field.
#[must_use]
pub fn payload(code: u32, length: u32, frequency: u32) -> u32 {
    code << 28 | length.min(MAX_FIELD_LENGTH) << 11 | frequency.min(MAX_TERM_FREQUENCY)
}

/// Field code, length and frequency of a payload.
#[inline]
#[must_use]
pub fn unpack(payload: u32) -> (u32, u32, u32) {
    (payload >> 28, payload >> 11 & MAX_FIELD_LENGTH, payload & MAX_TERM_FREQUENCY)
}

/// A posting that is not sorted in yet.
#[derive(Debug, Clone, Copy)]
struct Loose {
    term: u32,
    posting: Posting,
}

/// Postings sorted by term; within a term by slot, then field.
#[derive(Debug, Default)]
struct Segment {
    terms: Vec<u32>,
    starts: Vec<u32>,
    postings: Vec<Posting>,
}

impl Segment {
    fn push(&mut self, term: u32, postings: &[Posting]) {
        if self.terms.last() != Some(&term) {
            self.terms.push(term);
            self.starts.push(self.postings.len() as u32);
        }
        self.postings.extend_from_slice(postings);
    }

    fn at(&self, index: usize) -> &[Posting] {
        let end = self.starts.get(index + 1).map_or(self.postings.len(), |&end| end as usize);
        &self.postings[self.starts[index] as usize..end]
    }

    fn find(&self, term: u32) -> &[Posting] {
        self.terms.binary_search(&term).map_or(&[], |index| self.at(index))
    }

    /// `self` is older: its slots are lower.
    fn merge(&self, newer: &Self) -> Self {
        let mut out = Self {
            terms: Vec::with_capacity(self.terms.len() + newer.terms.len()),
            starts: Vec::with_capacity(self.terms.len() + newer.terms.len()),
            postings: Vec::with_capacity(self.postings.len() + newer.postings.len()),
        };
        let (mut i, mut j) = (0, 0);
        while i < self.terms.len() || j < newer.terms.len() {
            let left = self.terms.get(i).copied().unwrap_or(u32::MAX);
            let right = newer.terms.get(j).copied().unwrap_or(u32::MAX);
            if left <= right {
                out.push(left, self.at(i));
                i += 1;
            }
            if right <= left {
                out.push(right, newer.at(j));
                j += 1;
            }
        }
        out
    }
}

/// Where a recently indexed document is.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// The document + 1; 0: dead.
    doc: u32,
    start: u32,
    len: u32,
}

/// The flat arrays.
#[derive(Clone, Default)]
pub(crate) struct Base {
    pub(crate) offsets: Flat<u64>,
    pub(crate) postings: Flat<Posting>,
    pub(crate) forward_offsets: Flat<u32>,
    pub(crate) forward: Flat<u8>,
}

/// Counts over the live documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Live documents.
    pub documents: u32,
    /// Terms that at least one of them holds.
    pub vocabulary: u32,
    /// Sum over the vocabulary of ln(df + 0.5) in units of 2^-32.
    pub log_df: i64,
    /// Total length by field.
    pub lengths: [u64; FIELDS],
    /// Documents that have the field.
    pub fields: [u64; FIELDS],
}

impl Statistics {
    /// ln((N + 1) / (df + 0.5)), which is ln(1 + (N - df + 0.5) / (df + 0.5)).
    #[must_use]
    pub fn idf(&self, df: u32) -> f64 {
        libm::log((f64::from(self.documents) + 1.0) / (f64::from(df) + 0.5))
    }

    /// The mean idf of the vocabulary.
    #[must_use]
    pub fn mean_idf(&self) -> f64 {
        if self.vocabulary == 0 {
            return 1.0;
        }
        let mean_log = self.log_df as f64 / UNIT / f64::from(self.vocabulary);
        (libm::log(f64::from(self.documents) + 1.0) - mean_log).max(1e-9)
    }

    /// Mean length of a field over the documents that have it.
    #[must_use]
    pub fn mean_length(&self, field: usize) -> f64 {
        match self.fields[field] {
            0 => 1.0,
            documents => self.lengths[field] as f64 / documents as f64,
        }
    }
}

const UNIT: f64 = 4_294_967_296.0;
const TABLED: u32 = 4096;
static LOGS: LazyLock<Vec<i64>> = LazyLock::new(|| (0..TABLED).map(log_of).collect());

fn log_of(df: u32) -> i64 {
    libm::round(libm::log(f64::from(df) + 0.5) * UNIT) as i64
}

fn log_df(df: u32) -> i64 {
    LOGS.get(df as usize).copied().unwrap_or_else(|| log_of(df))
}

/// The posting lists of all terms.
#[derive(Clone, Default)]
pub struct Postings {
    base: Base,
    segments: Vec<Arc<Segment>>,
    open: Vec<Loose>,
    slots: Cow<Slot, 9>,
    records: Tail<u8>,
    slot_of: Map<u32, u32>,
    stale: Bits,
    df: Cow<u32, 8>,
    statistics: Statistics,
}

impl Postings {
    /// Counts over the live documents.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// How many live documents hold a term.
    #[must_use]
    pub fn df(&self, term: u32) -> u32 {
        self.df.get(term as usize)
    }

    /// The base's list of a term. Documents that are [`Postings::is_stale`] don't count.
    #[must_use]
    pub fn base_list(&self, term: u32) -> &[Posting] {
        match self.base.offsets.items().get(term as usize..term as usize + 2) {
            Some(pair) => self.base.postings.items().get(pair[0] as usize..pair[1] as usize).unwrap_or(&[]),
            None => &[],
        }
    }

    /// The recent lists of a term, oldest first: slots rise through them. See [`Postings::document`].
    pub fn recent_lists(&self, term: u32) -> impl Iterator<Item = &[Posting]> {
        debug_assert!(self.open.is_empty(), "sealed before it is read");
        self.segments.iter().map(move |segment| segment.find(term))
    }

    /// Whether there are recent documents.
    #[must_use]
    pub fn has_recent(&self) -> bool {
        !self.segments.is_empty()
    }

    /// The live document of a slot.
    #[inline]
    #[must_use]
    pub fn document(&self, slot: u32) -> Option<u32> {
        self.slots.get(slot as usize).doc.checked_sub(1)
    }

    /// The slot of a recently indexed document.
    #[must_use]
    pub fn slot(&self, doc: u32) -> Option<u32> {
        if self.slot_of.is_empty() { None } else { self.slot_of.get(&doc).copied() }
    }

    /// Whether the base's postings of a document no longer count.
    #[inline]
    #[must_use]
    pub fn is_stale(&self, doc: u32) -> bool {
        self.stale.has(doc)
    }

    /// Whether any base posting no longer counts.
    #[must_use]
    pub fn any_stale(&self) -> bool {
        self.stale.count() > 0
    }

    fn base_record(&self, doc: u32) -> &[u8] {
        match self.base.forward_offsets.items().get(doc as usize..doc as usize + 2) {
            Some(pair) => self.base.forward.items().get(pair[0] as usize..pair[1] as usize).unwrap_or(&[]),
            None => &[],
        }
    }

    /// The forward record of a live document, empty where it has none.
    fn raw_record(&self, doc: u32) -> &[u8] {
        if let Some(slot) = self.slot(doc) {
            let slot = self.slots.get(slot as usize);
            return self.records.run(slot.start as usize, slot.len as usize);
        }
        if self.is_stale(doc) { &[] } else { self.base_record(doc) }
    }

    /// What a live document contributes.
    #[must_use]
    pub fn record(&self, doc: u32) -> Option<Record> {
        let raw = self.raw_record(doc);
        (!raw.is_empty()).then(|| read(raw))
    }

    fn count(&mut self, record: &Record, up: bool) {
        for &term in &record.terms {
            let df = self.df.at(term as usize);
            let old = *df;
            *df = if up { old + 1 } else { old.saturating_sub(1) };
            let new = *df;
            let worth = |df: u32| if df == 0 { 0 } else { log_df(df) };
            self.statistics.log_df += worth(new) - worth(old);
            self.statistics.vocabulary += u32::from(old == 0 && new > 0);
            self.statistics.vocabulary -= u32::from(old > 0 && new == 0);
        }
        for (field, &length) in record.lengths.iter().enumerate() {
            let (total, having) = (&mut self.statistics.lengths[field], &mut self.statistics.fields[field]);
            let (length, has) = (u64::from(length), u64::from(length > 0));
            if up {
                (*total, *having) = (*total + length, *having + has);
            } else {
                (*total, *having) = (total.saturating_sub(length), having.saturating_sub(has));
            }
        }
        self.statistics.documents =
            if up { self.statistics.documents + 1 } else { self.statistics.documents.saturating_sub(1) };
    }

    /// Takes a document out. Gives what it contributed.
    pub fn remove(&mut self, doc: u32) -> Option<Record> {
        let record = self.record(doc)?;
        self.count(&record, false);
        match self.slot_of.remove(&doc) {
            Some(slot) => self.slots.at(slot as usize).doc = 0,
            None => self.stale.set(doc, true),
        }
        Some(record)
    }

    /// Indexes a document that is not live: `found` are (term, field code, frequency),
    /// sorted and distinct; `record.terms` the distinct terms.
    ///
    /// # Errors
    /// [`Error::Capacity`] above 4 GiB of recent forward records.
    pub fn insert(&mut self, doc: u32, found: &[(u32, u32, u32)], record: &Record) -> Result<()> {
        let slot = self.slots.len() as u32;
        for &(term, code, frequency) in found {
            let length = record.lengths[code as usize & 7];
            let posting = Posting { doc: slot, payload: payload(code, length, frequency) };
            self.open.push(Loose { term, posting });
        }
        let raw = write(record);
        let start = u32::try_from(self.records.len() + raw.len()).map_err(|_| Error::Capacity {
            what: "bytes of recent forward records",
            value: (self.records.len() + raw.len()) as u64,
            limit: u64::from(u32::MAX),
        })? - raw.len() as u32;
        self.records.extend(&raw);
        self.slots.push(Slot { doc: doc + 1, start, len: raw.len() as u32 });
        self.slot_of.insert(doc, slot);
        self.count(record, true);
        if self.open.len() >= OPEN_POSTINGS {
            self.seal();
        }
        Ok(())
    }

    /// Sorts loose postings in; needed before anything is read.
    pub fn seal(&mut self) {
        if self.open.is_empty() {
            return;
        }
        self.open.sort_by_key(|loose| loose.term);
        let mut fresh = Segment { postings: Vec::with_capacity(self.open.len()), ..Segment::default() };
        for loose in self.open.drain(..) {
            fresh.push(loose.term, &[loose.posting]);
        }
        while let Some(last) = self.segments.pop_if(|last| last.postings.len() < 2 * fresh.postings.len()) {
            fresh = last.merge(&fresh);
        }
        self.segments.push(Arc::new(fresh));
        self.open.shrink_to(1024);
    }

    /// Documents with recent changes.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.slots.len() + self.stale.count()
    }

    /// Folds recent documents into the base.
    ///
    /// # Errors
    /// [`Error::Capacity`] above 4 GiB of forward records.
    pub fn compact(&mut self, terms: u32, nodes: u32) -> Result<()> {
        self.seal();
        let settled = self.pending() == 0 && self.base.forward_offsets.len() == nodes as usize + 1;
        if settled && self.base.offsets.len() == terms as usize + 1 {
            return Ok(());
        }
        let base = self.folded(terms, nodes)?;
        *self = Self { base, df: self.df.clone(), statistics: self.statistics, ..Self::default() };
        Ok(())
    }

    fn folded(&self, terms: u32, nodes: u32) -> Result<Base> {
        let recent = self.segments.iter().fold(Segment::default(), |all, segment| all.merge(segment));
        let mut offsets = Vec::with_capacity(terms as usize + 1);
        let mut postings = Vec::with_capacity(self.base.postings.len() + recent.postings.len());
        let mut fresh: Vec<Posting> = Vec::new();
        let any_stale = self.any_stale();
        offsets.push(0u64);
        for term in 0..terms {
            fresh.clear();
            let live = |posting: &Posting| {
                self.document(posting.doc).map(|doc| Posting { doc, payload: posting.payload })
            };
            fresh.extend(recent.find(term).iter().filter_map(live));
            fresh.sort_unstable_by_key(|posting| (posting.doc, posting.payload >> 28));
            let mut rest = &fresh[..];
            let mut old = self.base_list(term);
            while let (Some(first), Some(_)) = (rest.first(), old.first()) {
                let cut = old.partition_point(|posting| posting.doc < first.doc);
                keep(&mut postings, &old[..cut], |doc| !any_stale || !self.is_stale(doc));
                old = &old[cut..];
                let end = old.first().map_or(u32::MAX, |posting| posting.doc);
                // A stale base posting of the same document may stand first.
                let take = rest.partition_point(|posting| posting.doc <= end);
                postings.extend_from_slice(&rest[..take]);
                rest = &rest[take..];
                let skip = old.partition_point(|posting| posting.doc == end && self.is_stale(end));
                old = &old[skip..];
            }
            keep(&mut postings, old, |doc| !any_stale || !self.is_stale(doc));
            postings.extend_from_slice(rest);
            offsets.push(postings.len() as u64);
        }
        let (forward_offsets, forward) = self.folded_records(nodes)?;
        Ok(Base { offsets: offsets.into(), postings: postings.into(), forward_offsets, forward })
    }

    fn folded_records(&self, nodes: u32) -> Result<(Flat<u32>, Flat<u8>)> {
        let mut offsets = Vec::with_capacity(nodes as usize + 1);
        let mut bytes = Vec::with_capacity(self.base.forward.len() + self.records.len());
        offsets.push(0u32);
        for doc in 0..nodes {
            bytes.extend_from_slice(self.raw_record(doc));
            offsets.push(u32::try_from(bytes.len()).map_err(|_| Error::Capacity {
                what: "bytes of forward records",
                value: bytes.len() as u64,
                limit: u64::from(u32::MAX),
            })?);
        }
        Ok((offsets.into(), bytes.into()))
    }

    /// The base, with everything folded in.
    pub(crate) fn base(&self) -> &Base {
        &self.base
    }

    /// Posting lists of persisted arrays, checked; statistics are counted again.
    ///
    /// # Errors
    /// [`Error::Corrupt`] with the array and the rule.
    pub(crate) fn load(base: Base, terms: u32, nodes: u32) -> Result<Self> {
        let (offsets, postings) = (base.offsets.items(), base.postings.items());
        let ends = (offsets.first(), offsets.last());
        if offsets.len() != terms as usize + 1
            || ends != (Some(&0), Some(&(postings.len() as u64)))
            || !offsets.is_sorted()
        {
            return Err(Error::corrupt(
                "postings_offsets",
                "must have one item more than there are terms, rise from 0 and end at the postings' length",
            ));
        }
        let mut df = Vec::with_capacity(terms as usize);
        for pair in offsets.windows(2) {
            let (mut last, mut count, mut sound) = (u64::MAX, 0u32, true);
            for posting in &postings[pair[0] as usize..pair[1] as usize] {
                let at = u64::from(posting.doc) << 4 | u64::from(posting.payload >> 28);
                sound &= last == u64::MAX || last < at;
                sound &= posting.doc < nodes;
                count += u32::from(last >> 4 != u64::from(posting.doc));
                last = at;
            }
            if !sound {
                return Err(Error::corrupt("postings", "must rise by document, then field, within a term"));
            }
            df.push(count);
        }
        let (marks, forward) = (base.forward_offsets.items(), base.forward.items());
        let ends = (marks.first(), marks.last().map(|&end| end as usize));
        if marks.len() != nodes as usize + 1 || ends != (Some(&0), Some(forward.len())) || !marks.is_sorted()
        {
            return Err(Error::corrupt(
                "forward_offsets",
                "must have one item more than there are nodes, rise from 0 and end at the records' length",
            ));
        }
        let mut out = Self { base, df: Cow::from_values(&df), ..Self::default() };
        out.statistics = out.recount(&df, terms)?;
        Ok(out)
    }

    fn recount(&self, df: &[u32], terms: u32) -> Result<Statistics> {
        let mut statistics = Statistics::default();
        for &df in df.iter().filter(|&&df| df > 0) {
            statistics.vocabulary += 1;
            statistics.log_df += log_df(df);
        }
        for doc in 0..self.base.forward_offsets.len().saturating_sub(1) as u32 {
            let raw = self.base_record(doc);
            if raw.is_empty() {
                continue;
            }
            let lengths = crate::forward::check(raw, terms)
                .ok_or_else(|| Error::corrupt("forward", "must be records of known terms"))?;
            statistics.documents += 1;
            for (field, length) in lengths.into_iter().enumerate() {
                statistics.lengths[field] += u64::from(length);
                statistics.fields[field] += u64::from(length > 0);
            }
        }
        Ok(statistics)
    }

    /// Bytes taken by the base, and about so many by the delta.
    #[must_use]
    pub fn size(&self) -> usize {
        let recent: usize = self.segments.iter().map(|segment| segment.postings.len() * 8).sum();
        self.base.offsets.size()
            + self.base.postings.size()
            + self.base.forward_offsets.size()
            + self.base.forward.size()
            + self.df.size()
            + recent
            + self.records.len()
    }
}

/// Appends the postings of live documents.
fn keep(out: &mut Vec<Posting>, postings: &[Posting], live: impl Fn(u32) -> bool) {
    out.extend(postings.iter().copied().filter(|posting| live(posting.doc)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(terms: &[u32], length: u32) -> Record {
        Record { equal: 1, content: 2, lengths: [length, 0, 0, 0, 0, 0], terms: terms.to_vec() }
    }

    fn put(postings: &mut Postings, doc: u32, terms: &[u32]) {
        postings.remove(doc);
        let found: Vec<_> = terms.iter().map(|&term| (term, 0, 1)).collect();
        postings.insert(doc, &found, &record(terms, terms.len() as u32)).unwrap();
        postings.seal();
    }

    fn docs(postings: &Postings, term: u32) -> Vec<u32> {
        let base = postings.base_list(term).iter().map(|p| p.doc).filter(|&doc| !postings.is_stale(doc));
        let recent = postings.recent_lists(term).flatten().filter_map(|p| postings.document(p.doc));
        let mut all: Vec<u32> = base.chain(recent).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn a_payload_keeps_what_it_was_given_and_clamps_the_rest() {
        assert_eq!(unpack(payload(13, 100_000, 2000)), (13, 100_000, 2000));
        assert_eq!(unpack(payload(0, u32::MAX, u32::MAX)), (0, MAX_FIELD_LENGTH, MAX_TERM_FREQUENCY));
    }

    #[test]
    fn histories_of_changes_read_like_a_rebuild() {
        let mut postings = Postings::default();
        for doc in 0..100 {
            put(&mut postings, doc, &[doc % 3, 3 + doc % 5]);
            if doc % 20 == 7 {
                postings.compact(10, doc + 1).unwrap();
            }
        }
        put(&mut postings, 7, &[0, 9]);
        put(&mut postings, 7, &[9]);
        put(&mut postings, 99, &[9]);
        postings.remove(50);
        let mut rebuilt = Postings::default();
        for doc in 0..100 {
            match doc {
                7 | 99 => put(&mut rebuilt, doc, &[9]),
                50 => {}
                _ => put(&mut rebuilt, doc, &[doc % 3, 3 + doc % 5]),
            }
        }
        assert_eq!(postings.statistics(), rebuilt.statistics());
        let mut folded = postings.clone();
        folded.compact(10, 100).unwrap();
        let loaded = Postings::load(folded.base().clone(), 10, 100).unwrap();
        for term in 0..10 {
            let wanted = docs(&rebuilt, term);
            for other in [&postings, &folded, &loaded] {
                assert_eq!(docs(other, term), wanted);
                assert_eq!(other.df(term), wanted.len() as u32);
                assert_eq!(other.statistics(), rebuilt.statistics());
            }
        }
        assert_eq!(folded.pending(), 0);
    }
}
