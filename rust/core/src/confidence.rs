//! Is anything relevant known? One number for a whole result.
//!
//! Holds `hits.confidence`: coverage of the query by the best hit, times how
//! well the best hit about the named entity does beside it. Invariant: between 0
//! and 1. Does not know whether the hits are true. Cost: one forward record.

use crate::codes::ABOUT;
use crate::recall::{FLAG_LEXICAL, Hits};
use crate::scratch::Scratch;
use crate::snapshot::Snapshot;
use crate::tuning::Tuning;

impl Snapshot {
    /// Confidence that `hits`, given for `query`, answer it; 0 where there are none.
    #[must_use]
    pub fn confidence_of(&self, query: &str, hits: &Hits, tuning: &Tuning, scratch: &mut Scratch) -> f64 {
        let lexical = (0..hits.len()).filter(|&at| hits.flags[at] & FLAG_LEXICAL != 0);
        let Some(best) = lexical.max_by(|&a, &b| {
            // The first of equals: it ranks higher.
            hits.relevance[a].total_cmp(&hits.relevance[b]).then(b.cmp(&a))
        }) else {
            return 0.0;
        };
        scratch.terms.analyze(query, self.language);
        scratch.query.read(self, &scratch.terms, tuning);
        let held = self.postings.record(hits.nodes[best]).unwrap_or_default().terms;
        let (mut whole, mut covered) = (0.0, 0.0);
        for term in &scratch.query.terms {
            whole += term.share;
            if term.term.is_some_and(|term| held.binary_search(&term).is_ok()) {
                covered += term.share;
            }
        }
        if whole <= 0.0 {
            return 0.0;
        }
        (covered / whole * self.about_named(hits)).clamp(0.0, 1.0)
    }

    /// Best score among hits about an entity that the query names, by the best of all.
    fn about_named(&self, hits: &Hits) -> f64 {
        let top = hits.scores.first().copied().unwrap_or(0.0);
        if hits.named.is_empty() || top <= 0.0 {
            return 1.0;
        }
        for (&node, score) in hits.nodes.iter().zip(&hits.scores) {
            let mut about = false;
            self.graph.into.visit(node, |piece| {
                about |= piece
                    .iter()
                    .any(|edge| edge.relation() == ABOUT && hits.named.binary_search(&edge.node()).is_ok());
            });
            if about {
                return score / top;
            }
        }
        0.0
    }
}
