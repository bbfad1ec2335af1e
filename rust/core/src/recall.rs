//! From a query to the best propositions: match, seed, spread, select.
//!
//! Holds the order of the steps. Invariant: a column is read only of a node
//! that can still reach the result; the answer is the same as if all were.
//! Does not know what lifecycle or notes make of the result. Cost: the postings
//! of the query's terms, the rows reached, and a few look-ups per result.

use std::sync::Arc;

use crate::codes::{ABOUT, SILENT_STATUSES, SUPERSEDED};
use crate::columns::Hot;
use crate::error::Result;
use crate::filter::Filter;
use crate::lexical::{self, Gate};
use crate::limits::{KEPT, MAX_RESULTS};
use crate::scratch::{Hit, Scratch};
use crate::select::{Candidate, Kept, Top};
use crate::snapshot::Snapshot;
use crate::spread::Spread;
use crate::strength::{self, Heat};
use crate::succession;
use crate::tuning::{Relevance, Tuning};

/// What a call asks for, beside the query.
#[derive(Debug, Clone)]
pub struct Request {
    /// How many results at most.
    pub k: usize,
    /// The moment (microseconds).
    pub now: i64,
    /// The constants.
    pub tuning: Arc<Tuning>,
    /// What is returned, and what bars.
    pub filter: Arc<Filter>,
    /// Whether activation spreads.
    pub spread: bool,
}

/// A result in columns, best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hits {
    /// The propositions.
    pub nodes: Vec<u32>,
    /// combined + activation + succession.
    pub scores: Vec<f64>,
    /// α relevance + β strength, reduced where superseded; 0 without a lexical hit.
    pub combined: Vec<f64>,
    /// The part of `combined` that relevance makes.
    pub relevance: Vec<f64>,
    /// The part of `combined` that strength makes.
    pub strength: Vec<f64>,
    /// What spread to it.
    pub activation: Vec<f64>,
    /// Gain from a superseded hit that it replaces.
    pub succession: Vec<f64>,
    /// 1: superseded; 2: its scope only may apply; 4: lexical hit.
    pub flags: Vec<u8>,
    /// Where activation came from, with the energy.
    pub sources: Vec<(u32, f32)>,
    /// Entities that the query names.
    pub named: Vec<u32>,
}

/// Set in [`Hits::flags`] where a node is superseded.
pub const FLAG_SUPERSEDED: u8 = 1;
/// Set in [`Hits::flags`] where a node's scope only may apply.
pub const FLAG_CONDITIONAL: u8 = 2;
/// Set in [`Hits::flags`] where a term of the query hits.
pub const FLAG_LEXICAL: u8 = 4;

impl Hits {
    fn clear(&mut self) {
        self.nodes.clear();
        self.scores.clear();
        self.combined.clear();
        self.relevance.clear();
        self.strength.clear();
        self.activation.clear();
        self.succession.clear();
        self.flags.clear();
        self.sources.clear();
        self.named.clear();
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// One call at work.
pub(crate) struct Call<'a> {
    pub snapshot: &'a Snapshot,
    pub tuning: &'a Tuning,
    pub filter: &'a Filter,
    pub now: i64,
    heat: Heat<'a>,
    alpha: f32,
    beta: f32,
    rho: f32,
    /// β times the most strength that any node can have.
    margin: f32,
    lift: bool,
}

impl<'a> Call<'a> {
    fn new(snapshot: &'a Snapshot, request: &'a Request) -> Self {
        let tuning: &Tuning = &request.tuning;
        let given = tuning.given();
        let beta = given.beta as f32;
        Self {
            snapshot,
            tuning,
            filter: &request.filter,
            now: request.now,
            heat: Heat::new(tuning, request.now, (&snapshot.tuning, snapshot.origin)),
            alpha: given.alpha as f32,
            beta,
            rho: given.rho as f32,
            margin: beta * strength::bound(tuning, snapshot.max_uses),
            lift: given.lift_successor && request.filter.has_superseded(),
        }
    }

    pub fn strength(&self, node: u32, hot: Hot) -> f32 {
        self.heat.of(hot, || self.snapshot.columns.cold(node))
    }

    fn combine(&self, relevance: f32, strength: f32) -> f32 {
        self.alpha * relevance + self.beta * strength
    }

    /// A node with what is known of it; the key is combined + activation.
    pub fn candidate(&self, node: u32, hot: Hot, relevance: Option<f32>, activation: f32) -> Candidate {
        let strength = self.strength(node, hot);
        let mut combined = relevance.map_or(0.0, |relevance| self.combine(relevance, strength));
        if hot.meta.status() == SUPERSEDED {
            combined *= self.rho;
        }
        Candidate {
            key: f64::from(combined) + f64::from(activation),
            lift: 0.0,
            node,
            relevance: relevance.unwrap_or(0.0),
            strength,
            combined,
            activation,
            lexical: relevance.is_some(),
        }
    }

    /// What a node would have as a hit if it were not superseded.
    pub fn unreduced(&self, node: u32, relevance: Option<f32>) -> f32 {
        relevance.map_or(0.0, |relevance| {
            self.combine(relevance, self.strength(node, self.snapshot.columns.hot(node)))
        })
    }

    /// Takes a lexical hit in.
    #[inline]
    fn weigh(&self, scratch: &mut Scratch, hit: Hit) {
        let hot = self.snapshot.columns.hot(hit.node());
        let strength = self.strength(hit.node(), hot);
        let full = self.combine(hit.relevance, strength);
        if full >= scratch.floor {
            self.keep(scratch, hit, hot, strength, full);
        }
    }

    /// Takes a lexical hit in that may be among the best; `full` is its score if it is not superseded.
    fn keep(&self, scratch: &mut Scratch, hit: Hit, hot: Hot, strength: f32, full: f32) {
        let (snapshot, columns, node) = (self.snapshot, &self.snapshot.columns, hit.node());
        if self.filter.bars(columns, node, hot.meta) {
            return;
        }
        let superseded = hot.meta.status() == SUPERSEDED;
        let combined = if superseded { full * self.rho } else { full };
        let kept = Kept { combined, strength, relevance: hit.relevance, node };
        let seed = hit.is_strong() && SILENT_STATUSES >> hot.meta.status() & 1 == 0;
        let returned = self.filter.returns(columns, node, hot.meta, self.now);
        if scratch.twins && !(seed && returned) {
            scratch.twins = false;
            scratch.results.copy(&scratch.seeds);
        }
        if seed {
            scratch.seeds.push(snapshot, kept);
        }
        if returned && !scratch.twins {
            scratch.results.push(snapshot, kept);
        }
        let floor = if scratch.twins { scratch.seeds.floor() } else { scratch.results.floor() };
        if superseded && self.lift && f64::from(full) >= floor {
            scratch.replaced.push((node, full));
        }
        scratch.floor = scratch.seeds.floor().min(scratch.results.floor()) as f32;
    }

    /// Seeds and named entities become the sources of the spread.
    fn seed(&self, scratch: &mut Scratch) {
        scratch.sources.clear();
        let given = self.tuning.given();
        let best_of = |top: &Top<Kept>| top.items().iter().map(|kept| kept.combined).reduce(f32::max);
        let best = best_of(&scratch.seeds)
            .or_else(|| best_of(&scratch.results))
            .unwrap_or((given.alpha * given.w_title) as f32);
        for kept in scratch.seeds.finish(self.snapshot).iter().take(given.max_seeds) {
            let mut energy = kept.combined;
            if given.seed_power != 0.0 && best > 0.0 {
                let share = f64::from(energy) / f64::from(best);
                energy = (f64::from(energy) * libm::pow(share, given.seed_power)) as f32;
            }
            scratch.sources.push((kept.node, energy));
        }
        for &entity in &scratch.named {
            if SILENT_STATUSES >> self.snapshot.columns.meta(entity).status() & 1 == 0 {
                scratch.sources.push((entity, best));
            }
        }
    }

    /// Puts hits, what was reached and what replaced something into one order.
    fn select(&self, scratch: &mut Scratch, k: usize) {
        let Scratch { results, finals, total, .. } = scratch;
        finals.reset(k);
        for &Kept { combined, strength, relevance, node } in results.items() {
            let activation = total.get(node);
            let key = f64::from(combined) + f64::from(activation);
            let known =
                Candidate { key, lift: 0.0, node, relevance, strength, combined, activation, lexical: true };
            finals.push(self.snapshot, known);
        }
        finals.trim(self.snapshot);
        if self.lift {
            succession::lift(self, scratch);
        }
        let Scratch { results, total, .. } = scratch;
        for kept in results.items() {
            total.zero(kept.node);
        }
        self.select_reached(scratch);
    }

    /// Considers what only activation may carry into the result; forgets all activation.
    fn select_reached(&self, scratch: &mut Scratch) {
        // Hits that were dropped have at most this.
        let dropped = scratch.results.floor();
        let dropped = if dropped.is_finite() { dropped } else { 0.0 };
        let mut total = std::mem::take(&mut scratch.total);
        // In f32 rounded down: a few more are looked at, none is missed.
        let least = |scratch: &Scratch| ((scratch.finals.floor() - dropped) as f32).next_down();
        let mut floor = least(scratch);
        total.drain(|node, activation| {
            if activation >= floor && activation > 0.0 {
                self.reach(scratch, node, activation);
                floor = least(scratch);
            }
        });
        scratch.total = total;
        scratch.unreduced.drain(|_, _| {});
        lexical::forget(scratch);
    }

    /// Considers one node that activation reached.
    #[inline(never)]
    fn reach(&self, scratch: &mut Scratch, node: u32, activation: f32) {
        let relevance = lexical::relevance(&self.snapshot.postings, scratch, node);
        if relevance.is_none() && f64::from(activation) < scratch.finals.floor() {
            return;
        }
        let columns = &self.snapshot.columns;
        let hot = columns.hot(node);
        if self.filter.returns(columns, node, hot.meta, self.now) {
            scratch.finals.push(self.snapshot, self.candidate(node, hot, relevance, activation));
        }
    }

    fn report(&self, scratch: &mut Scratch, hits: &mut Hits) {
        for candidate in scratch.finals.finish(self.snapshot) {
            let columns = &self.snapshot.columns;
            let superseded = columns.meta(candidate.node).status() == SUPERSEDED;
            let conditional = self.filter.scope_verdict(&columns.cold(candidate.node)) == 1;
            let combined = f64::from(candidate.combined);
            let share = f64::from(self.alpha * candidate.relevance);
            let share = (share * if superseded { f64::from(self.rho) } else { 1.0 }).min(combined);
            hits.nodes.push(candidate.node);
            hits.scores.push(candidate.key);
            hits.combined.push(combined);
            hits.relevance.push(share);
            hits.strength.push(combined - share);
            hits.activation.push(f64::from(candidate.activation));
            hits.succession.push(candidate.lift);
            hits.flags.push(
                u8::from(superseded) * FLAG_SUPERSEDED
                    + u8::from(conditional) * FLAG_CONDITIONAL
                    + u8::from(candidate.lexical) * FLAG_LEXICAL,
            );
        }
        hits.sources.extend_from_slice(&scratch.sources);
        hits.named.extend_from_slice(&scratch.named);
    }
}

impl Snapshot {
    /// The propositions that answer a query, best first, into `hits`.
    ///
    /// An empty query, a query of unknown terms, `k = 0` and an empty memory give nothing.
    pub fn recall(&self, query: &str, request: &Request, scratch: &mut Scratch, hits: &mut Hits) {
        hits.clear();
        let k = request.k.min(self.node_count() as usize).min(MAX_RESULTS);
        if k == 0 {
            return;
        }
        let call = Call::new(self, request);
        scratch.fit(self.node_count(), self.columns.relays() > 0);
        scratch.terms.analyze(query, self.language);
        scratch.query.read(self, &scratch.terms, &request.tuning);
        self.names.find(&scratch.terms, &mut scratch.names_found, &mut scratch.named);
        self.favour(scratch, &request.tuning);
        // More than k are kept, so that what activation adds to the rest can rarely reach the
        // result: only then is a node looked up among all hits. While every hit is a seed and
        // may be returned, one selection serves for both.
        let seeds = request.tuning.given().max_seeds.max(1);
        let limit = if request.spread { seeds.max(KEPT).max(2 * k) } else { k };
        scratch.twins = request.spread;
        scratch.seeds.reset(if request.spread { limit } else { 0 });
        scratch.results.reset(if request.spread { 0 } else { limit });
        scratch.replaced.clear();
        scratch.floor = f32::NEG_INFINITY;
        let gate = Gate { alpha: call.alpha, margin: call.margin };
        lexical::run((&self.postings, &self.columns), &request.tuning, scratch, gate, |scratch, hit| {
            call.weigh(scratch, hit);
        });
        if scratch.twins {
            scratch.results.copy(&scratch.seeds);
        }
        scratch.sources.clear();
        scratch.excluded.clear();
        if request.spread {
            call.seed(scratch);
            Spread::new(self, &request.tuning, &request.filter).run(scratch);
        }
        call.select(scratch, k);
        call.report(scratch, hits);
        unfavour(scratch);
    }

    /// What is linked with the given nodes, by activation; the nodes themselves are left out.
    ///
    /// # Errors
    /// [`crate::error::Error::UnknownNode`].
    pub fn related(
        &self,
        nodes: &[u32],
        request: &Request,
        scratch: &mut Scratch,
        hits: &mut Hits,
    ) -> Result<()> {
        hits.clear();
        for &node in nodes {
            self.known(node)?;
        }
        let k = request.k.min(self.node_count() as usize).min(MAX_RESULTS);
        if k == 0 {
            return Ok(());
        }
        let call = Call::new(self, request);
        scratch.fit(self.node_count(), self.columns.relays() > 0);
        scratch.query.terms.clear();
        scratch.hits.clear();
        scratch.named.clear();
        scratch.replaced.clear();
        scratch.results.reset(k);
        scratch.sources.clear();
        for &node in nodes {
            let silent = request.filter.silences(&self.columns, node, self.columns.meta(node));
            if !silent && !scratch.sources.iter().any(|source| source.0 == node) {
                scratch.sources.push((node, 1.0));
            }
        }
        Spread::new(self, &request.tuning, &request.filter).run(scratch);
        scratch.excluded.clear();
        scratch.excluded.extend_from_slice(nodes);
        for &node in nodes {
            scratch.total.zero(node);
            if let Some(sum) = scratch.unreduced.sums.get_mut(node as usize) {
                *sum = 0.0;
            }
        }
        call.select(scratch, k);
        call.report(scratch, hits);
        Ok(())
    }

    /// Entities whose whole name stands in a text, rising.
    #[must_use]
    pub fn names_in(&self, text: &str, scratch: &mut Scratch) -> Vec<u32> {
        scratch.terms.analyze(text, self.language);
        self.names.find(&scratch.terms, &mut scratch.names_found, &mut scratch.named);
        scratch.named.clone()
    }

    /// Marks what is about the one entity that the query names.
    fn favour(&self, scratch: &mut Scratch, tuning: &Tuning) {
        scratch.favourites.clear();
        let &[entity] = &scratch.named[..] else { return };
        if tuning.given().relevance != Relevance::Bm25 {
            return;
        }
        let Scratch { favoured, favourites, .. } = scratch;
        self.graph.out.visit(entity, |piece| {
            for edge in piece.iter().filter(|edge| edge.relation() == ABOUT) {
                let node = edge.node();
                favoured[node as usize >> 6] |= 1 << (node & 63);
                favourites.push(node);
            }
        });
    }
}

fn unfavour(scratch: &mut Scratch) {
    for &node in &scratch.favourites {
        scratch.favoured[node as usize >> 6] = 0;
    }
}
