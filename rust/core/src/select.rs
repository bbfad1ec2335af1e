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

/// What a selection ranks.
pub(crate) trait Ranked: Copy {
    /// What decides.
    fn key(&self) -> f64;
    /// The order of results, best first.
    fn order(snapshot: &Snapshot, a: &Self, b: &Self) -> Ordering;
}

/// A lexical hit with what is known of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    pub combined: f32,
    pub strength: f32,
    pub relevance: f32,
    pub node: u32,
}

impl Ranked for Kept {
    #[inline]
    fn key(&self) -> f64 {
        f64::from(self.combined)
    }

    #[inline]
    fn order(snapshot: &Snapshot, a: &Self, b: &Self) -> Ordering {
        b.combined.total_cmp(&a.combined).then_with(|| {
            let strength = b.strength.total_cmp(&a.strength);
            strength.then_with(|| by_origin(snapshot, a.node, b.node))
        })
    }
}

impl Ranked for Candidate {
    fn key(&self) -> f64 {
        self.key
    }

    fn order(snapshot: &Snapshot, a: &Self, b: &Self) -> Ordering {
        b.key.total_cmp(&a.key).then_with(|| {
            let (lifted_a, lifted_b) = (a.lift > 0.0, b.lift > 0.0);
            let lifted = lifted_b.cmp(&lifted_a);
            let strength = lifted.then_with(|| b.strength.total_cmp(&a.strength));
            strength.then_with(|| by_origin(snapshot, a.node, b.node))
        })
    }
}

/// The last tie-breaks: the latest recorded first, then by id.
#[cold]
fn by_origin(snapshot: &Snapshot, a: u32, b: u32) -> Ordering {
    let recorded = |node| snapshot.columns.cold(node).recorded_at;
    recorded(b).cmp(&recorded(a)).then_with(|| snapshot.ids.get(a).cmp(snapshot.ids.get(b)))
}

/// The best few so far.
pub(crate) struct Top<T> {
    items: Vec<T>,
    limit: usize,
    floor: f64,
}

impl<T> Default for Top<T> {
    fn default() -> Self {
        Self { items: Vec::new(), limit: 0, floor: f64::INFINITY }
    }
}

impl<T: Ranked> Top<T> {
    /// Starts anew.
    pub fn reset(&mut self, limit: usize) {
        self.items.clear();
        self.limit = limit;
        self.floor = if limit == 0 { f64::INFINITY } else { f64::NEG_INFINITY };
    }

    /// Becomes the same selection as another.
    pub fn copy(&mut self, other: &Self) {
        self.items.clear();
        self.items.extend_from_slice(&other.items);
        (self.limit, self.floor) = (other.limit, other.floor);
    }

    /// A candidate below this key cannot be among the best.
    #[inline]
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// The candidates kept so far, in no order.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Considers a candidate.
    #[inline]
    pub fn push(&mut self, snapshot: &Snapshot, candidate: T) {
        if candidate.key() < self.floor || self.limit == 0 {
            return;
        }
        self.items.push(candidate);
        if self.items.len() >= 3 * self.limit + 32 {
            self.trim(snapshot);
        }
    }

    /// Drops all but the best, so that the floor is as high as it can be.
    pub fn trim(&mut self, snapshot: &Snapshot) {
        if self.limit == 0 || self.items.len() < self.limit {
            return;
        }
        let last = self.limit - 1;
        if self.items.len() > self.limit {
            self.items.select_nth_unstable_by(last, |a, b| T::order(snapshot, a, b));
            self.items.truncate(self.limit);
        }
        let least = self.items.iter().map(T::key).fold(f64::INFINITY, f64::min);
        self.floor = least;
    }

    /// Takes candidates out.
    pub fn drop_if(&mut self, out: impl Fn(&T) -> bool) {
        self.items.retain(|candidate| !out(candidate));
    }

    /// The best, in order.
    pub fn finish(&mut self, snapshot: &Snapshot) -> &mut [T] {
        self.trim(snapshot);
        self.items.sort_unstable_by(|a, b| T::order(snapshot, a, b));
        &mut self.items
    }
}
