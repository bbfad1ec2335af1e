//! A query as weighted terms.
//!
//! Holds the distinct terms of a query with what each is worth. Invariant: the
//! order is that of the text, so that sums of floats depend on the query alone.
//! Does not know postings beyond counts. Cost: one dictionary look-up per term.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use xxhash_rust::xxh3::xxh3_64;

use crate::snapshot::Snapshot;
use crate::text::{TermKind, Terms};
use crate::tuning::{FUNCTION_WORD, Relevance, STEM_WEIGHT, Tuning};

/// One distinct term.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryTerm {
    /// Its number, where any document ever held it.
    pub term: Option<u32>,
    /// It stands only as a stem.
    pub stem: bool,
    /// How often it stands.
    count: u32,
    function: bool,
    /// qw · idf, times 0.5 for stems: its share of the query.
    pub share: f64,
    /// What a field of weight 1 earns by holding it.
    pub weight: f32,
}

/// The terms of a query, in reused buffers.
#[derive(Default)]
pub(crate) struct Query {
    pub terms: Vec<QueryTerm>,
    known: HashMap<u64, usize, FxBuildHasher>,
}

impl Query {
    /// Reads the analysed query.
    pub fn read(&mut self, snapshot: &Snapshot, terms: &Terms, tuning: &Tuning) {
        self.terms.clear();
        self.known.clear();
        let counting = tuning.given().relevance == Relevance::Count;
        for (text, kind, function) in terms.iter() {
            let stem = kind == TermKind::Stem;
            if kind == TermKind::Character || (stem && counting) {
                continue;
            }
            let next = self.terms.len();
            let at = *self.known.entry(xxh3_64(text.as_bytes())).or_insert(next);
            if at == next {
                let term = snapshot.terms.find(text);
                self.terms.push(QueryTerm { term, stem, count: 1, function, share: 0.0, weight: 1.0 });
                continue;
            }
            let known = &mut self.terms[at];
            if known.stem == stem {
                known.count += 1;
            } else if known.stem {
                (known.stem, known.count, known.function) = (false, 1, function);
            }
        }
        let statistics = snapshot.postings.statistics();
        let mean = statistics.mean_idf();
        for term in &mut self.terms {
            let idf = statistics.idf(term.term.map_or(0, |term| snapshot.postings.df(term)));
            let often = 1.0 + libm::log(f64::from(term.count));
            let worth = often * idf * if term.function { FUNCTION_WORD } else { 1.0 };
            term.share = worth * if term.stem { STEM_WEIGHT } else { 1.0 };
            if !counting {
                term.weight = (worth / mean) as f32;
            }
        }
    }
}
