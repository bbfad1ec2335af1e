//! Buffers of one reading thread, reused from query to query.
//!
//! Holds dense accumulators over all nodes, lists of what was touched, and the
//! candidates. Invariant: between two calls every accumulator is zero; who
//! unwinds in between throws the scratch away. Does not know formulas. Cost: 24
//! bytes per node and thread; nothing is allocated when warm.

use crate::lexical::{STRONG, Table, Weights};
use crate::query::Query;
use crate::select::{Candidate, Kept, Top};
use crate::spread::Stretch;
use crate::text::Terms;

/// Sums per node with the list of nodes that have one.
#[derive(Default)]
pub(crate) struct Ledger {
    pub sums: Vec<f32>,
    list: Vec<u32>,
    len: usize,
}

impl Ledger {
    pub fn fit(&mut self, nodes: u32) {
        let nodes = nodes as usize;
        if self.sums.len() < nodes {
            self.sums.resize(nodes, 0.0);
            self.list.resize(nodes + 1, 0);
        }
    }

    /// Adds to a node's sum; `amount` is above 0.
    #[inline]
    pub fn add(&mut self, node: u32, amount: f32) {
        let mut entry = self.open();
        entry.add(node, amount);
        let len = entry.len;
        self.len = len;
    }

    /// The ledger with its length at hand, for loops; give the length back with [`Ledger::close`].
    #[inline(always)]
    pub fn open(&mut self) -> Entries<'_> {
        Entries { sums: &mut self.sums, list: &mut self.list, len: self.len }
    }

    /// Ends what [`Ledger::open`] began.
    #[inline(always)]
    pub fn close(&mut self, len: usize) {
        self.len = len;
    }

    /// The nodes that have a sum, in the order in which they got it.
    pub fn nodes(&self) -> &[u32] {
        &self.list[..self.len]
    }

    /// A node's sum.
    pub fn get(&self, node: u32) -> f32 {
        self.sums[node as usize]
    }

    /// Forgets a node's sum; it stays in the list.
    pub fn zero(&mut self, node: u32) {
        self.sums[node as usize] = 0.0;
    }

    /// Calls `see` with each node and its sum, and forgets them all.
    pub fn drain(&mut self, mut see: impl FnMut(u32, f32)) {
        let sums = &mut self.sums[..];
        for &node in &self.list[..self.len] {
            see(node, std::mem::take(&mut sums[node as usize]));
        }
        self.len = 0;
    }
}

/// A ledger in a loop: its length stays in a register.
pub(crate) struct Entries<'a> {
    sums: &'a mut [f32],
    list: &'a mut [u32],
    pub len: usize,
}

impl Entries<'_> {
    /// Adds to a node's sum; `amount` is above 0.
    #[inline(always)]
    pub fn add(&mut self, node: u32, amount: f32) {
        let sum = &mut self.sums[node as usize];
        // No branch: the list grows only by nodes that had nothing.
        self.list[self.len] = node;
        self.len += usize::from(*sum == 0.0);
        *sum += amount;
    }
}

/// A document that some term hits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    /// The node, its highest bit set where title or summary was hit.
    pub key: u32,
    pub relevance: f32,
}

impl Hit {
    /// The proposition.
    pub fn node(self) -> u32 {
        self.key & !STRONG
    }

    /// Whether title or summary was hit.
    pub fn is_strong(self) -> bool {
        self.key & STRONG != 0
    }
}

/// Where in the list of hits a window of documents starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// First hit of the window.
    pub start: u32,
    /// First document (or slot) of the window.
    pub first: u32,
}

/// A superseded hit and what it would have without the factor for that.
pub(crate) type Replaced = (u32, f32);

/// Buffers of one reading thread.
#[derive(Default)]
pub struct Scratch {
    pub(crate) terms: Terms,
    pub(crate) query: Query,
    /// Terms of a statement that is looked for: df, term, idf; and how many there were.
    pub(crate) sought: Vec<(u32, u32, f64)>,
    pub(crate) sought_tokens: usize,
    pub(crate) weights: Vec<Weights>,
    pub(crate) table: Option<Box<Table>>,
    pub(crate) cursors: Vec<usize>,
    pub(crate) hits: Vec<Hit>,
    pub(crate) picked: Vec<Hit>,
    pub(crate) windows: Vec<Window>,
    /// A hit whose combined score stays below this is not among the best.
    pub(crate) floor: f32,
    /// Hits from here on are of recent documents.
    pub(crate) recent_from: usize,
    /// Hits as bits, once a look-up asked for them.
    pub(crate) marks: Vec<u64>,
    pub(crate) marked: bool,
    /// Nodes about the one entity named, as bits, and their list.
    pub(crate) favoured: Vec<u64>,
    pub(crate) favourites: Vec<u32>,
    pub(crate) named: Vec<u32>,
    pub(crate) names_found: Vec<(usize, usize, u32)>,
    pub(crate) seeds: Top<Kept>,
    /// Hits that may be returned; while `twins`, the same as `seeds` and not filled.
    pub(crate) results: Top<Kept>,
    pub(crate) twins: bool,
    pub(crate) finals: Top<Candidate>,
    pub(crate) replaced: Vec<Replaced>,
    pub(crate) lifts: Vec<(u32, f64)>,
    pub(crate) chain: Vec<u32>,
    pub(crate) sources: Vec<(u32, f32)>,
    /// Nodes that are left out of the result.
    pub(crate) excluded: Vec<u32>,
    pub(crate) frontier: Vec<(u32, f32)>,
    pub(crate) senders: Vec<(u32, f32)>,
    pub(crate) stretches: Vec<Stretch>,
    /// Activation over all hops.
    pub(crate) total: Ledger,
    /// What arrives in one hop.
    pub(crate) hop: Ledger,
    /// What arrives at relays.
    pub(crate) relay: Ledger,
    /// Activation of superseded nodes without the factor for that.
    pub(crate) unreduced: Ledger,
}

impl Scratch {
    /// Buffers that grow with use.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for a memory of so many nodes.
    pub(crate) fn fit(&mut self, nodes: u32, relays: bool) {
        self.total.fit(nodes);
        self.hop.fit(nodes);
        if relays {
            self.relay.fit(nodes);
        }
        let words = nodes as usize / 64 + 1;
        if self.favoured.len() < words {
            self.favoured.resize(words, 0);
            self.marks.resize(words, 0);
        }
    }
}
