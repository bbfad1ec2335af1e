//! Which propositions might already say this? Candidates for the duplicate gate.
//!
//! Holds the search by fingerprints, which misses no equal statement, and by
//! rare terms, under a fixed budget of postings. Invariant: the cost does not
//! depend on the size of the memory beyond cache misses. Does not know what
//! makes two statements the same; the caller decides.

use rustc_hash::FxHashMap;

use crate::codes::{QUARANTINED, RETIRED, STEM, SUMMARY};
use crate::limits::CANDIDATE_BUDGET;
use crate::scratch::Scratch;
use crate::similar::fingerprint;
use crate::snapshot::Snapshot;
use crate::text::TermKind;

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
    /// Upper bound of the idf-weighted Jaccard similarity.
    pub overlap: f64,
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
        let (sums, mine, unread) = self.overlaps(statement, scratch);
        if mine <= 0.0 {
            return out;
        }
        let mut close: Vec<Similar> = sums
            .into_iter()
            .filter(|(node, _)| !seen.contains_key(node) && eligible(*node))
            .map(|(node, shared)| Similar {
                node,
                kind: Match::Overlap,
                overlap: ((shared + unread) / mine).min(1.0),
            })
            .collect();
        close.sort_unstable_by(|a, b| {
            b.overlap.total_cmp(&a.overlap).then_with(|| self.ids.get(a.node).cmp(self.ids.get(b.node)))
        });
        close.truncate(limit);
        out.append(&mut close);
        out
    }

    /// Weight shared with each proposition that holds one of the statement's rarer terms in
    /// title or summary, the statement's whole weight, and the weight of terms that were not read.
    fn overlaps(&self, statement: &str, scratch: &mut Scratch) -> (FxHashMap<u32, f64>, f64, f64) {
        scratch.terms.analyze(statement, self.language);
        let statistics = self.postings.statistics();
        let mut terms: Vec<(u32, u32)> = Vec::new();
        let (mut mine, mut unread) = (0.0, 0.0);
        let mut strangers: Vec<&str> = Vec::new();
        for (text, kind, _) in scratch.terms.iter() {
            if !matches!(kind, TermKind::Whole | TermKind::Part) {
                continue;
            }
            match self.terms.find(text) {
                Some(term) => terms.push((self.postings.df(term), term)),
                None => strangers.push(text),
            }
        }
        terms.sort_unstable();
        terms.dedup();
        strangers.sort_unstable();
        strangers.dedup();
        mine += strangers.len() as f64 * statistics.idf(0);
        let mut sums: FxHashMap<u32, f64> = FxHashMap::default();
        let mut budget = CANDIDATE_BUDGET;
        for &(df, term) in &terms {
            let idf = statistics.idf(df);
            mine += idf;
            if u64::from(df) > budget {
                // All that follow are at least as frequent.
                budget = 0;
                unread += idf;
                continue;
            }
            budget -= u64::from(df);
            self.share(term, idf, &mut sums);
        }
        (sums, mine, unread)
    }

    /// Adds a term's weight to every proposition that holds it in title or summary.
    fn share(&self, term: u32, idf: f64, sums: &mut FxHashMap<u32, f64>) {
        let stated = |payload: u32| payload >> 28 & STEM == 0 && payload >> 28 <= SUMMARY;
        let mut last = None;
        let mut add = |node: u32| {
            if last.replace(node) != Some(node) {
                *sums.entry(node).or_default() += idf;
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
