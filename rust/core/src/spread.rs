//! Activation that spreads from seeds along links, damped at hubs.
//!
//! Holds one call's spread. Propositions send and receive with decay; every
//! other node is a relay: what arrives is summed and sent on once within the
//! same hop, to propositions only, and the way in costs no decay. Invariant:
//! sums depend on the order of seeds and of links alone. Does not know where
//! seeds come from. Cost: one pass over the rows reached, a random access per
//! edge that passes the threshold.

use crate::codes::{PROPOSITION, SUPERSEDED};
use crate::fetch;
use crate::filter::Filter;
use crate::graph::{Edge, Side};
use crate::scratch::Scratch;
use crate::snapshot::Snapshot;
use crate::tuning::{Damp, Direction, Tuning};

/// What one call's spread reads.
pub(crate) struct Spread<'a> {
    snapshot: &'a Snapshot,
    tuning: &'a Tuning,
    filter: &'a Filter,
    /// Nodes may be superseded, barred or relays.
    special: bool,
    /// The stored degrees hold for this call's conductances.
    stored_degrees: bool,
    theta: f32,
    lam: f32,
    rho: f32,
    /// The most that one edge passes on of what a node sends.
    reach: f32,
}

/// Rows ahead of the one under work that are fetched into the cache.
const AHEAD: usize = 4;

/// A row to be walked with what its sender gives to each edge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    power: f32,
    /// First edge and the one after the last in the base; for a row that changed, the node twice.
    start: u32,
    end: u32,
    /// Against the links.
    back: bool,
    moved: bool,
}

/// What becomes of an amount that arrives.
enum Arrival {
    Dropped,
    Proposition(f32),
    Superseded { reduced: f32, full: f32 },
    Relay,
}

impl<'a> Spread<'a> {
    pub fn new(snapshot: &'a Snapshot, tuning: &'a Tuning, filter: &'a Filter) -> Self {
        let given = tuning.given();
        let (lam, relays) = (given.lam as f32, snapshot.columns.relays() > 0);
        Self {
            snapshot,
            tuning,
            filter,
            special: snapshot.columns.any_special() || !filter.is_plain(),
            stored_degrees: tuning.carrying == snapshot.tuning.carrying,
            theta: (given.theta as f32).max(f32::MIN_POSITIVE),
            lam,
            rho: given.rho as f32,
            reach: tuning.best_conductance * if relays { 1.0 } else { lam },
        }
    }

    fn damp(&self, node: u32) -> f32 {
        let degree = if self.stored_degrees {
            self.snapshot.columns.degree(node)
        } else {
            self.snapshot.graph.degree(node, self.tuning.carrying)
        };
        self.tuning.damp(degree)
    }

    /// Spreads from `scratch.sources`; the activation is left in `scratch.total`.
    pub fn run(&self, scratch: &mut Scratch) {
        let hops = self.tuning.given().hops;
        scratch.frontier.clear();
        if hops == 0 {
            return;
        }
        for at in 0..scratch.sources.len() {
            let (node, energy) = scratch.sources[at];
            if energy <= 0.0 {
                continue;
            }
            if self.snapshot.columns.meta(node).node_type() == PROPOSITION {
                scratch.frontier.push((node, energy));
            } else {
                scratch.relay.add(node, energy);
            }
        }
        for hop in 1..=hops {
            let last = hop == hops;
            match (self.tuning.given().damp, self.special, last) {
                (Damp::Sender, false, true) => self.hop::<false, false, true>(scratch),
                (Damp::Sender, false, false) => self.hop::<false, false, false>(scratch),
                (Damp::Sender, true, true) => self.hop::<false, true, true>(scratch),
                (Damp::Sender, true, false) => self.hop::<false, true, false>(scratch),
                (Damp::Receiver, false, true) => self.hop::<true, false, true>(scratch),
                (Damp::Receiver, false, false) => self.hop::<true, false, false>(scratch),
                (Damp::Receiver, true, true) => self.hop::<true, true, true>(scratch),
                (Damp::Receiver, true, false) => self.hop::<true, true, false>(scratch),
            }
            if last {
                break;
            }
            let Scratch { frontier, hop, total, .. } = scratch;
            frontier.clear();
            hop.drain(|node, energy| {
                total.add(node, energy);
                frontier.push((node, energy));
            });
            if frontier.is_empty() {
                break;
            }
        }
    }

    fn hop<const RECEIVER: bool, const SPECIAL: bool, const LAST: bool>(&self, scratch: &mut Scratch) {
        let frontier = std::mem::take(&mut scratch.frontier);
        self.send::<RECEIVER, SPECIAL, LAST, false>(scratch, &frontier);
        scratch.frontier = frontier;
        if SPECIAL {
            // Relays send to propositions only, so none is added meanwhile.
            let mut senders = std::mem::take(&mut scratch.senders);
            senders.clear();
            scratch.relay.drain(|node, energy| senders.push((node, energy)));
            self.send::<RECEIVER, SPECIAL, LAST, true>(scratch, &senders);
            scratch.senders = senders;
        }
    }

    /// Walks the rows of senders, in their order.
    fn send<const RECEIVER: bool, const SPECIAL: bool, const LAST: bool, const RELAY: bool>(
        &self,
        scratch: &mut Scratch,
        senders: &[(u32, f32)],
    ) {
        let graph = &self.snapshot.graph;
        let (out_offsets, out_edges) = graph.out.parts();
        let (into_offsets, into_edges) = graph.into.parts();
        let mut stretches = std::mem::take(&mut scratch.stretches);
        stretches.clear();
        // First all places, then all rows: the look-ups of places overlap.
        let both = self.tuning.given().direction == Direction::Both;
        for (at, &(node, energy)) in senders.iter().enumerate() {
            if let Some(&(later, _)) = senders.get(at + 2 * AHEAD) {
                graph.out.fetch_place(out_offsets, later);
                self.snapshot.columns.fetch_degree(later);
            }
            let power = if RECEIVER { energy } else { energy * self.damp(node) };
            if power * self.reach < self.theta {
                continue;
            }
            stretches.push(stretch(&graph.out, out_offsets, node, power, false));
            if both {
                stretches.push(stretch(&graph.into, into_offsets, node, power, true));
            }
        }
        for at in 0..stretches.len() {
            if let Some(next) = stretches.get(at + AHEAD)
                && !next.moved
            {
                let edges = if next.back { into_edges } else { out_edges };
                fetch_row(edges.get(next.start as usize..next.end as usize).unwrap_or(&[]));
            }
            let Stretch { power, start, end, back, moved } = stretches[at];
            let (side, edges) = if back { (&graph.into, into_edges) } else { (&graph.out, out_edges) };
            if moved {
                side.visit(start, |piece| self.pass::<RECEIVER, SPECIAL, LAST, RELAY>(scratch, power, piece));
            } else {
                let row = edges.get(start as usize..end as usize).unwrap_or(&[]);
                self.pass::<RECEIVER, SPECIAL, LAST, RELAY>(scratch, power, row);
            }
        }
        scratch.stretches = stretches;
    }

    #[inline]
    fn pass<const RECEIVER: bool, const SPECIAL: bool, const LAST: bool, const RELAY: bool>(
        &self,
        scratch: &mut Scratch,
        power: f32,
        edges: &[Edge],
    ) {
        if SPECIAL {
            return self.pass_special::<RECEIVER, LAST, RELAY>(scratch, power, edges);
        }
        let (conductance, theta) = (&self.tuning.conductance, self.theta);
        let power = power * self.lam;
        let ledger = if LAST { &mut scratch.total } else { &mut scratch.hop };
        let mut entries = ledger.open();
        for edge in edges {
            let node = edge.node();
            let mut amount = power * (conductance[edge.relation() as usize] * edge.weight);
            if RECEIVER && amount >= theta {
                amount *= self.damp(node);
            }
            if amount >= theta {
                entries.add(node, amount);
            }
        }
        let len = entries.len;
        ledger.close(len);
    }

    fn pass_special<const RECEIVER: bool, const LAST: bool, const RELAY: bool>(
        &self,
        scratch: &mut Scratch,
        power: f32,
        edges: &[Edge],
    ) {
        let conductance = &self.tuning.conductance;
        let all = !self.filter.is_plain();
        for edge in edges {
            let node = edge.node();
            let mut amount = power * (conductance[edge.relation() as usize] * edge.weight);
            if amount < self.theta {
                continue;
            }
            if RECEIVER {
                amount *= self.damp(node);
            }
            if all || self.snapshot.columns.is_special(node) {
                self.settle::<LAST, RELAY>(scratch, node, amount);
                continue;
            }
            amount *= self.lam;
            if amount >= self.theta {
                deposit::<LAST>(scratch, node, amount);
            }
        }
    }

    /// Takes in an amount at a node that may be superseded, barred or a relay.
    fn settle<const LAST: bool, const RELAY: bool>(&self, scratch: &mut Scratch, node: u32, amount: f32) {
        match self.arrive(node, amount) {
            Arrival::Dropped => {}
            Arrival::Proposition(amount) => deposit::<LAST>(scratch, node, amount),
            Arrival::Superseded { reduced, full } => {
                if self.tuning.given().lift_successor {
                    scratch.unreduced.fit(self.snapshot.node_count());
                    scratch.unreduced.add(node, full);
                }
                if reduced >= self.theta {
                    deposit::<LAST>(scratch, node, reduced);
                }
            }
            Arrival::Relay if !RELAY => scratch.relay.add(node, amount),
            Arrival::Relay => {}
        }
    }

    /// What becomes of an amount at a node that is not a plain proposition in force.
    fn arrive(&self, node: u32, amount: f32) -> Arrival {
        let columns = &self.snapshot.columns;
        let meta = columns.meta(node);
        if self.filter.silences(columns, node, meta) {
            return Arrival::Dropped;
        }
        if meta.node_type() != PROPOSITION {
            return if amount >= self.theta { Arrival::Relay } else { Arrival::Dropped };
        }
        let full = amount * self.lam;
        if full < self.theta {
            return Arrival::Dropped;
        }
        if meta.status() == SUPERSEDED {
            return Arrival::Superseded { reduced: full * self.rho, full };
        }
        Arrival::Proposition(full)
    }
}

#[inline(always)]
fn deposit<const LAST: bool>(scratch: &mut Scratch, node: u32, amount: f32) {
    if LAST {
        scratch.total.add(node, amount);
    } else {
        scratch.hop.add(node, amount);
    }
}

fn stretch(side: &Side, offsets: &[u32], node: u32, power: f32, back: bool) -> Stretch {
    match side.place(offsets, node) {
        Some((start, end)) => Stretch { power, start, end, back, moved: false },
        None => Stretch { power, start: node, end: node, back, moved: true },
    }
}

/// Asks for a row's first cache lines.
#[inline(always)]
fn fetch_row(edges: &[Edge]) {
    edges.chunks(8).take(4).for_each(|line| fetch::line(&line[0]));
}
