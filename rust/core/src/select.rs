//! The best few of many.
//!
//! Holds candidates and keeps the best `limit`, in an order that never depends
//! on insertion: score, then what was lifted above what it replaced, then
//! strength, then latest recorded, then id. Invariant: nothing whose key
//! reaches [`Top::floor`] was dropped. Does not know how keys are computed.
//! Cost: amortised constant per candidate.

use std::cmp::Ordering;

use crate::snapshot::Snapshot;

/// One node under consideration.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Candidate {
    /// What decides.
    pub key: f64,
    /// Gain by succession.
    pub lift: f64,
    pub node: u32,
    pub relevance: f32,
    pub strength: f32,
    pub combined: f32,
    pub activation: f32,
    pub lexical: bool,
}

/// The order of results, best first.
pub(crate) fn order(snapshot: &Snapshot, a: &Candidate, b: &Candidate) -> Ordering {
    b.key.total_cmp(&a.key).then_with(|| {
        let (lifted_a, lifted_b) = (a.lift > 0.0, b.lift > 0.0);
        lifted_b.cmp(&lifted_a).then_with(|| b.strength.total_cmp(&a.strength)).then_with(|| {
            let recorded = |node| snapshot.columns.cold(node).recorded_at;
            recorded(b.node)
                .cmp(&recorded(a.node))
                .then_with(|| snapshot.ids.get(a.node).cmp(snapshot.ids.get(b.node)))
        })
    })
}

/// The best few so far.
#[derive(Default)]
pub(crate) struct Top {
    items: Vec<Candidate>,
    limit: usize,
    floor: f64,
}

impl Top {
    /// Starts anew.
    pub fn reset(&mut self, limit: usize) {
        self.items.clear();
        self.limit = limit;
        self.floor = if limit == 0 { f64::INFINITY } else { f64::NEG_INFINITY };
    }

    /// A candidate below this key cannot be among the best.
    #[inline]
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// The candidates kept so far, in no order.
    pub fn items(&self) -> &[Candidate] {
        &self.items
    }

    /// Considers a candidate.
    #[inline]
    pub fn push(&mut self, snapshot: &Snapshot, candidate: Candidate) {
        if candidate.key < self.floor || self.limit == 0 {
            return;
        }
        self.items.push(candidate);
        if self.items.len() >= 4 * self.limit + 32 {
            self.trim(snapshot);
        }
    }

    /// Drops all but the best, so that the floor is as high as it can be.
    pub fn trim(&mut self, snapshot: &Snapshot) {
        if self.limit == 0 || self.items.len() < self.limit {
            return;
        }
        let last = self.limit - 1;
        self.items.select_nth_unstable_by(last, |a, b| order(snapshot, a, b));
        self.items.truncate(self.limit);
        self.floor = self.items[last].key;
    }

    /// Takes candidates out.
    pub fn drop_if(&mut self, out: impl Fn(u32) -> bool) {
        self.items.retain(|candidate| !out(candidate.node));
    }

    /// The best, in order.
    pub fn finish(&mut self, snapshot: &Snapshot) -> &mut [Candidate] {
        self.trim(snapshot);
        self.items.sort_unstable_by(|a, b| order(snapshot, a, b));
        &mut self.items
    }
}
