//! Which propositions might already say this? Candidates for the duplicate gate.
//!
//! Holds the search by fingerprints, which misses no equal statement, and by
//! rare terms, under a fixed budget of postings. Invariant: the cost does not
//! depend on the size of the memory beyond cache misses. Does not know what
//! makes two statements the same; the caller decides.

use rustc_hash::FxHashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::codes::{QUARANTINED, RETIRED, STEM, SUMMARY, TITLE};
use crate::limits::CANDIDATE_BUDGET;
use crate::scratch::{Ledger, Scratch};
use crate::similar::{Prepared, Thresholds, Verdict, compare_prepared, fingerprint};
use crate::snapshot::Snapshot;
use crate::tuning::FUNCTION_WORD;

/// Why a proposition is a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// Equal after normalisation.
    Equal,
    /// The same content words.
    Content,
    /// Rare terms in common.
    Overlap,
}

/// A proposition that might say the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similar {
    /// The proposition.
    pub node: u32,
    /// Why.
    pub kind: Match,
    /// Upper bound of the similarity.
    pub overlap: f64,
}

/// Keys of terms that are not in the dictionary lie in the last this many numbers.
const STRANGERS: u32 = 1 << 28;

/// The terms of a statement, for measuring how much of it a proposition holds.
struct Sought {
    /// Term and weight, by rising term.
    terms: Vec<(u32, f64)>,
    weight: f64,
    tokens: usize,
}

impl Sought {
    fn new(scratch: &Scratch) -> Self {
        let mut terms: Vec<(u32, f64)> = scratch.sought.iter().map(|&(_, term, idf)| (term, idf)).collect();
        terms.sort_unstable_by_key(|&(term, _)| term);
        let weight = terms.iter().map(|&(_, idf)| idf).sum();
        Self { terms, weight, tokens: scratch.sought_tokens }
    }

    /// An upper bound of both similarities by which a statement is left to a judge: weight shared
    /// over the statement's own, and words shared over the mean of the lengths.
    fn overlap(&self, snapshot: &Snapshot, node: u32) -> f64 {
        let Some(record) = snapshot.postings.record(node) else { return 0.0 };
        let (mut shared, mut common) = (0.0, 0usize);
        for &term in &record.terms {
            if let Ok(at) = self.terms.binary_search_by_key(&term, |&(term, _)| term) {
                shared += self.terms[at].1;
                common += 1;
            }
        }
        let theirs = (record.lengths[TITLE as usize] + record.lengths[SUMMARY as usize]) as usize;
        let order = 2.0 * common as f64 / (self.tokens + theirs).max(1) as f64;
        let weight = if self.weight > 0.0 { shared / self.weight } else { 0.0 };
        weight.max(order).min(1.0)
    }
}

impl Snapshot {
    /// Candidates for being the same as `statement` (a title, a line break, a summary): all that are equal
    /// or have the same content words, then the best `limit` by overlap of rare terms.
    ///
    /// `scopes` holds a verdict by scope code (0: does not overlap); retired and quarantined are left out.
    #[must_use]
    pub fn candidates(
        &self,
        statement: &str,
        scopes: Option<&[u8]>,
        limit: usize,
        scratch: &mut Scratch,
    ) -> Vec<Similar> {
        let eligible = |node: u32| {
            let status = self.columns.meta(node).status();
            let scope = |verdicts: &[u8]| {
                verdicts.get(self.columns.cold(node).scope as usize).is_some_and(|&verdict| verdict > 0)
            };
            status != RETIRED && status != QUARANTINED && scopes.is_none_or(scope)
        };
        let prints = fingerprint(statement);
        let mut out: Vec<Similar> = Vec::new();
        let mut seen: FxHashMap<u32, ()> = FxHashMap::default();
        for (kind, nodes) in
            [(Match::Equal, self.equal.get(prints.equal)), (Match::Content, self.content.get(prints.content))]
        {
            for &node in nodes.iter().filter(|&&node| eligible(node)) {
                if seen.insert(node, ()).is_none() {
                    out.push(Similar { node, kind, overlap: 1.0 });
                }
            }
        }
        self.shared(statement, scratch);
        let sought = Sought::new(scratch);
        let mut close: Vec<(u32, f32)> = Vec::new();
        scratch.total.drain(|node, shared| {
            if !seen.contains_key(&node) && eligible(node) {
                close.push((node, shared));
            }
        });
        if close.len() > limit {
            close.select_nth_unstable_by(limit, |a, b| {
                b.1.total_cmp(&a.1).then_with(|| self.ids.get(a.0).cmp(self.ids.get(b.0)))
            });
            close.truncate(limit);
        }
        let mut found: Vec<Similar> = close
            .into_iter()
            .map(|(node, _)| Similar { node, kind: Match::Overlap, overlap: sought.overlap(self, node) })
            .collect();
        found.sort_unstable_by(|a, b| {
            b.overlap.total_cmp(&a.overlap).then_with(|| self.ids.get(a.node).cmp(self.ids.get(b.node)))
        });
        out.append(&mut found);
        out
    }

    /// Compares a statement with others, their common terms weighted by rarity in this memory.
    #[must_use]
    pub fn compare(
        &self,
        statement: &str,
        others: &[String],
        thresholds: &Thresholds,
    ) -> Vec<(Verdict, f64, &'static str)> {
        let statistics = self.postings.statistics();
        let weight = |term: &str, function: bool| {
            let df = self.terms.find(term).map_or(0, |term| self.postings.df(term));
            statistics.idf(df) * if function { FUNCTION_WORD } else { 1.0 }
        };
        let own = Prepared::new(statement);
        others.iter().map(|other| compare_prepared(&own, &Prepared::new(other), thresholds, weight)).collect()
    }

    /// Sums in `scratch.total` the weight that each proposition shares with the statement in
    /// title or summary, by the statement's rarest terms until the budget is used up.
    fn shared(&self, statement: &str, scratch: &mut Scratch) {
        scratch.terms.analyze(statement, self.language);
        scratch.total.fit(self.node_count());
        let Scratch { terms, total, sought, .. } = scratch;
        sought.clear();
        let statistics = self.postings.statistics();
        for (text, kind, function) in terms.iter() {
            if kind.is_primary() {
                let known = self.terms.find(text);
                let df = known.map_or(0, |term| self.postings.df(term));
                // A term that no document has yet matches nothing, and weighs in all the same.
                let key = known.unwrap_or_else(|| u32::MAX - xxh3_64(text.as_bytes()) as u32 % STRANGERS);
                let weight = statistics.idf(df) * if function { FUNCTION_WORD } else { 1.0 };
                sought.push((df, key, weight));
            }
        }
        sought.sort_unstable_by_key(|&(df, term, _)| (df, term));
        let tokens = sought.len();
        sought.dedup_by_key(|&mut (_, term, _)| term);
        let mut budget = CANDIDATE_BUDGET;
        for &(df, term, idf) in sought.iter() {
            if df == 0 {
                continue;
            }
            if u64::from(df) > budget {
                break; // all that follow are at least as frequent
            }
            budget -= u64::from(df);
            self.share(term, idf as f32, total);
        }
        scratch.sought_tokens = tokens;
    }

    /// Adds a term's weight to every proposition that holds it in title or summary.
    fn share(&self, term: u32, idf: f32, sums: &mut Ledger) {
        let stated = |payload: u32| payload >> 28 & STEM == 0 && payload >> 28 <= SUMMARY;
        let mut last = None;
        let mut add = |node: u32| {
            if last.replace(node) != Some(node) {
                sums.add(node, idf);
            }
        };
        for posting in self.postings.base_list(term) {
            if stated(posting.payload) && !self.postings.is_stale(posting.doc) {
                add(posting.doc);
            }
        }
        for posting in self.postings.recent_lists(term).flatten() {
            if stated(posting.payload)
                && let Some(node) = self.postings.document(posting.doc)
            {
                add(node);
            }
        }
    }
}
