//! Why did activation reach this node? The strongest chain of links from a source.
//!
//! Holds a slow second run of the spread that remembers where amounts came from.
//! Invariant: it walks exactly the links that passed the threshold when sums were
//! taken; a chain's strength is the product along it. Does not know the text of
//! anything. Cost: that of the spread with hash maps, only when somebody asks.

use rustc_hash::FxHashMap;

use crate::codes::{ABOUT, PROPOSITION, SUPERSEDED};
use crate::filter::Filter;
use crate::graph::Edge;
use crate::snapshot::Snapshot;
use crate::tuning::{Damp, Direction, Tuning};

/// One link of a chain in its true direction: from, relation, to.
pub type Step = (u32, u32, u32);

/// What is known of a node in one wave.
#[derive(Debug, Clone, Copy)]
struct State {
    node: u32,
    energy: f32,
    /// The strongest chain's own amount.
    chain: f32,
    /// Wave and place of the chain's sender, and the link taken.
    from: Option<(usize, usize, Step)>,
}

/// Nodes reached together, in order.
#[derive(Default)]
struct Wave {
    states: Vec<State>,
    places: FxHashMap<u32, usize>,
}

impl Wave {
    fn add(&mut self, node: u32, energy: f32, chain: f32, from: Option<(usize, usize, Step)>) {
        let next = self.states.len();
        let at = *self.places.entry(node).or_insert(next);
        if at == next {
            self.states.push(State { node, energy, chain, from });
            return;
        }
        let state = &mut self.states[at];
        state.energy += energy;
        if chain > state.chain {
            (state.chain, state.from) = (chain, from);
        }
    }
}

struct Walk<'a> {
    snapshot: &'a Snapshot,
    tuning: &'a Tuning,
    filter: &'a Filter,
    theta: f32,
}

impl Walk<'_> {
    fn damp(&self, node: u32) -> f32 {
        self.tuning.damp(self.snapshot.graph.degree(node, self.tuning.carrying))
    }

    /// The share of its energy that a sender passes over an edge, before decay.
    fn share(&self, sender: u32, edge: Edge) -> f32 {
        let damped = match self.tuning.given().damp {
            Damp::Sender => sender,
            Damp::Receiver => edge.node(),
        };
        self.damp(damped) * (self.tuning.conductance[edge.relation() as usize] * edge.weight)
    }

    /// Sends from one state; relays' amounts go to `relays`, others to `next`.
    fn send(&self, state: State, place: (usize, usize), relays: Option<&mut Wave>, next: &mut Wave) {
        let mut relays = relays;
        let given = self.tuning.given();
        let (lam, rho) = (given.lam as f32, given.rho as f32);
        let mut see = |piece: &[Edge], forward: bool| {
            for &edge in piece {
                let node = edge.node();
                let meta = self.snapshot.columns.meta(node);
                if self.filter.silences(&self.snapshot.columns, node, meta) {
                    continue;
                }
                let mut share = self.share(state.node, edge);
                let relay = meta.node_type() != PROPOSITION;
                if !relay {
                    share *= lam;
                    if meta.status() == SUPERSEDED {
                        share *= rho;
                    }
                }
                let amount = state.energy * share;
                if amount < self.theta {
                    continue;
                }
                let flipped = (edge.relation() == ABOUT) == forward;
                let (a, b) = if flipped { (node, state.node) } else { (state.node, node) };
                let from = Some((place.0, place.1, (a, edge.relation(), b)));
                match (relay, &mut relays) {
                    (true, Some(relays)) => relays.add(node, amount, state.chain * share, from),
                    (true, None) => {}
                    (false, _) => next.add(node, amount, state.chain * share, from),
                }
            }
        };
        self.snapshot.graph.out.visit(state.node, |piece| see(piece, true));
        if given.direction == Direction::Both {
            self.snapshot.graph.into.visit(state.node, |piece| see(piece, false));
        }
    }

    /// All waves: sources, then for each hop relays and propositions.
    fn waves(&self, sources: &[(u32, f32)]) -> Vec<Wave> {
        let (mut first, mut first_relays) = (Wave::default(), Wave::default());
        for &(node, energy) in sources.iter().filter(|source| source.1 > 0.0) {
            let relay = self.snapshot.columns.meta(node).node_type() != PROPOSITION;
            let wave = if relay { &mut first_relays } else { &mut first };
            wave.add(node, energy, energy, None);
        }
        let mut waves = vec![first];
        let mut relays = first_relays;
        for _ in 0..self.tuning.given().hops {
            let (from, mut next) = (waves.len() - 1, Wave::default());
            for (at, &state) in waves[from].states.iter().enumerate() {
                self.send(state, (from, at), Some(&mut relays), &mut next);
            }
            waves.push(std::mem::take(&mut relays));
            let from = waves.len() - 1;
            for (at, &state) in waves[from].states.iter().enumerate() {
                self.send(state, (from, at), None, &mut next);
            }
            waves.push(next);
        }
        waves
    }
}

impl Snapshot {
    /// The strongest chain of links from a source to a node, in the order of the walk; empty where none led there.
    #[must_use]
    pub fn path(&self, sources: &[(u32, f32)], node: u32, tuning: &Tuning, filter: &Filter) -> Vec<Step> {
        let theta = (tuning.given().theta as f32).max(f32::MIN_POSITIVE);
        let waves = Walk { snapshot: self, tuning, filter, theta }.waves(sources);
        let mut best: Option<State> = None;
        // The first wave holds sources; a source is explained by itself only where nothing led there.
        for wave in waves.iter().skip(1) {
            if let Some(&at) = wave.places.get(&node) {
                let state = wave.states[at];
                if best.is_none_or(|best| state.chain > best.chain) {
                    best = Some(state);
                }
            }
        }
        let mut steps = Vec::new();
        while let Some((wave, place, step)) = best.and_then(|state| state.from) {
            steps.push(step);
            best = Some(waves[wave].states[place]);
        }
        steps.reverse();
        steps
    }
}
