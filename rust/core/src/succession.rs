//! What replaced a superseded hit never ranks below it.
//!
//! Holds the walk along `supersedes` to the standing heads, and the lift.
//! Invariant: ends on cycles, and after a bounded number of nodes. Does not
//! know why something was superseded. Cost: the chain's rows, only where a
//! superseded hit could reach the result.

use crate::codes::{PROPOSITION, STANDING_STATUSES, SUPERSEDED, SUPERSEDES};
use crate::lexical;
use crate::limits::MAX_CHAIN;
use crate::recall::Call;
use crate::scratch::Scratch;
use crate::snapshot::Snapshot;

impl Snapshot {
    /// The standing heads of a node's chain of supersession, into `heads`; `chain` is a buffer.
    pub(crate) fn heads(&self, node: u32, chain: &mut Vec<u32>, mut found: impl FnMut(u32)) {
        chain.clear();
        chain.push(node);
        let mut at = 0;
        while at < chain.len() && at < MAX_CHAIN {
            let old = chain[at];
            at += 1;
            self.graph.into.visit(old, |piece| {
                for edge in piece.iter().filter(|edge| edge.relation() == SUPERSEDES) {
                    let newer = edge.node();
                    if chain.contains(&newer) {
                        continue;
                    }
                    chain.push(newer);
                    let meta = self.columns.meta(newer);
                    if STANDING_STATUSES >> meta.status() & 1 == 1 && meta.node_type() == PROPOSITION {
                        found(newer);
                    }
                }
            });
        }
    }

    /// The standing heads of a superseded node's chain, in the order of the links.
    #[must_use]
    pub fn successors(&self, node: u32) -> Vec<u32> {
        let mut heads = Vec::new();
        if node < self.node_count() && self.columns.meta(node).status() == SUPERSEDED {
            self.heads(node, &mut Vec::new(), |head| heads.push(head));
        }
        heads
    }
}

/// Gives every standing head at least what the superseded hit would have without the factor for that.
pub(crate) fn lift(call: &Call<'_>, scratch: &mut Scratch) {
    if scratch.replaced.is_empty() && scratch.unreduced.nodes().is_empty() {
        return;
    }
    collect(call, scratch);
    scratch.lifts.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    scratch.lifts.dedup_by_key(|lift| lift.0);
    let columns = &call.snapshot.columns;
    let mut lifts = std::mem::take(&mut scratch.lifts);
    lifts.retain(|&(node, wanted)| {
        let hot = columns.hot(node);
        if scratch.excluded.contains(&node) || !call.filter.returns(columns, node, hot.meta, call.now) {
            return false;
        }
        let relevance = lexical::relevance(&call.snapshot.postings, scratch, node);
        let own = call.candidate(node, hot, relevance, scratch.total.get(node));
        wanted > own.key
    });
    scratch.finals.drop_if(|kept| lifts.binary_search_by_key(&kept.node, |lift| lift.0).is_ok());
    for &(node, wanted) in &lifts {
        let relevance = lexical::relevance(&call.snapshot.postings, scratch, node);
        let mut head = call.candidate(node, columns.hot(node), relevance, scratch.total.get(node));
        (head.lift, head.key) = (wanted - head.key, wanted);
        scratch.finals.push(call.snapshot, head);
        scratch.total.zero(node);
    }
    scratch.lifts = lifts;
}

/// Fills `scratch.lifts` with heads and what they should at least have.
fn collect(call: &Call<'_>, scratch: &mut Scratch) {
    scratch.lifts.clear();
    let Scratch { replaced, unreduced, lifts, chain, finals, results, .. } = scratch;
    let mut raise = |node: u32, full: f64| {
        if full >= finals.floor() {
            call.snapshot.heads(node, chain, |head| lifts.push((head, full)));
        }
    };
    for &(node, full) in replaced.iter() {
        let arrived = unreduced.sums.get(node as usize).copied().unwrap_or(0.0);
        raise(node, f64::from(full) + f64::from(arrived));
    }
    let dropped = results.floor();
    let dropped = if dropped.is_finite() { dropped } else { 0.0 };
    let floor = finals.floor();
    let mut reached = std::mem::take(unreduced);
    for &node in reached.nodes() {
        let arrived = f64::from(reached.get(node));
        if arrived + dropped >= floor {
            let relevance = lexical::relevance(&call.snapshot.postings, scratch, node);
            let full = f64::from(call.unreduced(node, relevance)) + arrived;
            if full >= floor {
                let Scratch { chain, lifts, .. } = scratch;
                call.snapshot.heads(node, chain, |head| lifts.push((head, full)));
            }
        }
    }
    reached.drain(|_, _| {});
    scratch.unreduced = reached;
}
