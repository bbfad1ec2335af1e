//! A slow, obvious reference of recall: plain loops in double precision.
//!
//! Holds nodes and links in lists and computes every number from its formula.
//! Shares with the core only the cutting of text into terms.

use std::collections::{BTreeMap, BTreeSet};

use doxa_core::codes::{
    ABOUT, DEFAULT_STATUSES, ENTITY, PROPOSITION, QUARANTINED, RETIRED, SUPERSEDED, SUPERSEDES,
};
use doxa_core::text::{Language, TermKind, Terms};
use doxa_core::tuning::{Constants, Damp, Direction, Relevance};

pub const DAY: i64 = 86_400_000_000;

/// One node as the reference keeps it.
#[derive(Debug, Clone, Default)]
pub struct Node {
    pub id: String,
    pub node_type: u32,
    /// Title, summary, body, id, date, evidence.
    pub fields: Option<[String; 6]>,
    pub names: Vec<String>,
    pub kind: u32,
    pub importance: u32,
    pub status: u32,
    pub scope: u32,
    pub last_used: Option<i64>,
    pub use_count: u32,
    pub recorded_at: Option<i64>,
    pub valid_from: Option<i64>,
    pub valid_to: Option<i64>,
    pub confidence: f64,
}

/// What a call asks for.
#[derive(Debug, Clone)]
pub struct Ask {
    pub k: usize,
    pub now: i64,
    pub given: Constants,
    pub spread: bool,
    pub statuses: u32,
    pub kinds: u32,
    pub scopes: Option<Vec<u8>>,
    pub valid_at: Option<i64>,
    pub min_confidence: Option<f64>,
    pub only: Option<Vec<u32>>,
}

impl Ask {
    pub fn plain(k: usize, now: i64, given: Constants) -> Self {
        Self {
            k,
            now,
            given,
            spread: true,
            statuses: DEFAULT_STATUSES,
            kinds: 15,
            scopes: None,
            valid_at: None,
            min_confidence: None,
            only: None,
        }
    }
}

/// One node of a reference result.
#[derive(Debug, Clone, Copy, Default)]
pub struct Row {
    pub node: u32,
    pub score: f64,
    pub combined: f64,
    pub activation: f64,
    pub hotness: f64,
}

/// The whole memory.
#[derive(Debug, Clone, Default)]
pub struct Model {
    pub nodes: Vec<Node>,
    pub links: Vec<(u32, u32, u32, f64)>,
    pub language_none: bool,
}

/// A number came too close to a threshold to be decided by floats.
#[derive(Debug)]
pub struct TooClose;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * a.abs().max(b.abs()) + 1e-9
}

type Cut = Vec<(String, TermKind, bool)>;

impl Model {
    fn cut(&self, text: &str) -> Cut {
        let mut terms = Terms::new();
        terms.analyze(text, if self.language_none { Language::None } else { Language::English });
        terms.iter().map(|(term, kind, function)| (term.to_owned(), kind, function)).collect()
    }

    fn documents(&self) -> BTreeMap<u32, Vec<Cut>> {
        let mut out = BTreeMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if let Some(fields) = &node.fields {
                out.insert(number as u32, fields.iter().map(|field| self.cut(field)).collect());
            }
        }
        out
    }

    pub fn hotness(&self, node: u32, ask: &Ask) -> f64 {
        let node = &self.nodes[node as usize];
        let level = node.importance as usize;
        let recency = node.last_used.map_or(0.0, |used| {
            let days = ((ask.now - used) as f64 / DAY as f64).max(0.0);
            ask.given.w_t * (-days / ask.given.half_life[level]).exp()
        });
        ask.given.base[level] + recency + ask.given.w_u * f64::from(node.use_count).ln_1p()
    }

    fn barred(&self, node: u32, ask: &Ask) -> bool {
        let node = &self.nodes[node as usize];
        if ask.statuses >> node.status & 1 == 0 {
            return true;
        }
        if let Some(verdicts) = &ask.scopes
            && verdicts.get(node.scope as usize).copied().unwrap_or(0) == 0
        {
            return true;
        }
        ask.valid_at.is_some_and(|time| {
            node.valid_from.is_some_and(|from| time < from) || node.valid_to.is_some_and(|to| time >= to)
        })
    }

    fn silent(&self, node: u32, ask: &Ask) -> bool {
        let it = &self.nodes[node as usize];
        it.status == RETIRED
            || it.status == QUARANTINED
            || (it.node_type == PROPOSITION && self.barred(node, ask))
    }

    fn returned(&self, node: u32, ask: &Ask) -> bool {
        let it = &self.nodes[node as usize];
        if it.node_type != PROPOSITION || self.barred(node, ask) || ask.kinds >> it.kind & 1 == 0 {
            return false;
        }
        if ask.only.as_ref().is_some_and(|only| !only.contains(&node)) {
            return false;
        }
        let mut confidence = f64::from(it.confidence as f32);
        if let (1 | 3, Some(since)) = (it.kind, it.recorded_at) {
            confidence *= 0.5f64.powf(((ask.now - since) as f64 / DAY as f64).max(0.0) / 90.0);
        }
        ask.min_confidence.is_none_or(|least| confidence >= least)
    }

    /// Entities whose whole name stands in the query and within no longer name there.
    fn named(&self, query: &str) -> Vec<u32> {
        let words = |text: &str| -> Vec<String> {
            self.cut(text).into_iter().filter(|t| t.1 == TermKind::Whole).map(|t| t.0).collect()
        };
        let query = words(query);
        let mut found = Vec::new();
        for (number, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.node_type == ENTITY) {
            for name in &node.names {
                let name = words(name);
                for start in 0..query.len() {
                    if !name.is_empty() && query[start..].starts_with(&name) {
                        found.push((start, start + name.len(), number as u32));
                    }
                }
            }
        }
        let outer: BTreeSet<u32> = found
            .iter()
            .filter(|a| !found.iter().any(|b| b.0 <= a.0 && a.1 <= b.1 && b.1 - b.0 > a.1 - a.0))
            .map(|a| a.2)
            .collect();
        outer.into_iter().collect()
    }

    /// Relevance of every hit, and whether title or summary was hit.
    fn relevance(&self, query: &str, ask: &Ask) -> BTreeMap<u32, (f64, bool)> {
        let documents = self.documents();
        let given = &ask.given;
        let counting = given.relevance == Relevance::Count;
        let weights =
            [given.w_title, given.w_summary, given.w_body, given.w_title, given.w_summary, given.w_body];
        // Distinct terms of the query: (count as word, count as stem, function word).
        let mut asked: BTreeMap<String, (u32, u32, bool, bool)> = BTreeMap::new();
        for (term, kind, function) in self.cut(query) {
            if kind == TermKind::Character {
                continue;
            }
            let entry = asked.entry(term).or_insert((0, 0, function, false));
            if kind == TermKind::Stem {
                entry.1 += 1;
            } else {
                if entry.0 == 0 {
                    entry.2 = function;
                }
                entry.0 += 1;
            }
        }
        let count = documents.len() as f64;
        let mut df: BTreeMap<String, f64> = BTreeMap::new();
        let (mut total, mut having) = ([0.0f64; 6], [0.0f64; 6]);
        for fields in documents.values() {
            let distinct: BTreeSet<&String> = fields.iter().flatten().map(|term| &term.0).collect();
            distinct.into_iter().for_each(|term| *df.entry(term.clone()).or_default() += 1.0);
            for (field, terms) in fields.iter().enumerate() {
                let length = terms.iter().filter(|t| matches!(t.1, TermKind::Whole | TermKind::Part)).count();
                total[field] += length as f64;
                having[field] += f64::from(u8::from(length > 0));
            }
        }
        let idf = |df: f64| (1.0 + (count - df + 0.5) / (df + 0.5)).ln();
        let mean: f64 = df.values().map(|&df| idf(df)).sum::<f64>() / df.len().max(1) as f64;
        let named = self.named(query);
        let mut out = BTreeMap::new();
        for (&node, fields) in &documents {
            let (mut relevance, mut strong) = (0.0, false);
            for (term, &(as_word, as_stem, function, _)) in &asked {
                let only_stem = as_word == 0;
                if counting && only_stem {
                    continue;
                }
                let mut best = 0.0f64;
                for (field, terms) in fields.iter().enumerate() {
                    let length =
                        terms.iter().filter(|t| matches!(t.1, TermKind::Whole | TermKind::Part)).count();
                    for stem in [false, true] {
                        let tf = terms.iter().filter(|t| t.0 == *term && (t.1 == TermKind::Stem) == stem);
                        let tf = tf.count() as f64;
                        if tf == 0.0 || weights[field] == 0.0 || (counting && (stem || field > 2)) {
                            continue;
                        }
                        let worth = if counting {
                            weights[field]
                        } else {
                            let mean_length =
                                if having[field] > 0.0 { total[field] / having[field] } else { 1.0 };
                            let norm = 1.0 - given.b + given.b * length as f64 / mean_length;
                            let sat = tf * (given.k1 + 1.0) / (tf + given.k1 * norm);
                            weights[field] * sat * if stem || only_stem { 0.5 } else { 1.0 }
                        };
                        best = best.max(worth);
                        strong |= field < 2;
                    }
                }
                let often = f64::from(if only_stem { as_stem } else { as_word });
                let weight = if counting {
                    1.0
                } else {
                    let function = if function { 0.3 } else { 1.0 };
                    (1.0 + often.ln()) * function * idf(df.get(term).copied().unwrap_or(0.0)) / mean
                };
                relevance += weight * best;
            }
            if let ([entity], false) = (&named[..], counting)
                && self.links.iter().any(|link| link.2 == ABOUT && link.0 == node && link.1 == *entity)
            {
                relevance *= 1.2;
            }
            if relevance > 0.0 {
                out.insert(node, (relevance, strong));
            }
        }
        out
    }

    fn degree(&self, node: u32, given: &Constants) -> f64 {
        let touches = |link: &&(u32, u32, u32, f64)| {
            (link.0 == node || link.1 == node) && given.conductance[link.2 as usize] > 0.0
        };
        self.links.iter().filter(touches).count() as f64
    }

    fn damp(&self, node: u32, given: &Constants) -> f64 {
        let degree = self.degree(node, given);
        if given.damp_allowance == 0.0 {
            1.0 / (1.0 + (1.0 + degree).ln())
        } else {
            1.0 / (1.0 + (degree / given.damp_allowance).max(1.0).ln())
        }
    }

    /// Activation with and without the factor for superseded nodes.
    #[allow(clippy::type_complexity)]
    fn spread(
        &self,
        sources: &[(u32, f64)],
        ask: &Ask,
    ) -> Result<(BTreeMap<u32, f64>, BTreeMap<u32, f64>), TooClose> {
        let given = &ask.given;
        let mut edges: Vec<(u32, u32, f64)> = Vec::new();
        for &(from, to, relation, weight) in &self.links {
            let (a, b) = if relation == ABOUT { (to, from) } else { (from, to) };
            let conductance =
                f64::from(given.conductance[relation as usize] as f32) * f64::from(weight as f32);
            edges.push((a, b, conductance));
            if given.direction == Direction::Both {
                edges.push((b, a, conductance));
            }
        }
        let is_relay = |node: u32| self.nodes[node as usize].node_type != PROPOSITION;
        let mut total: BTreeMap<u32, f64> = BTreeMap::new();
        let mut full: BTreeMap<u32, f64> = BTreeMap::new();
        let mut wave: BTreeMap<u32, f64> = BTreeMap::new();
        for &(node, energy) in sources {
            *wave.entry(node).or_default() += energy;
        }
        for _ in 0..given.hops {
            let mut next: BTreeMap<u32, f64> = BTreeMap::new();
            let mut relays: BTreeMap<u32, f64> =
                wave.iter().filter(|(node, _)| is_relay(**node)).map(|(&node, &e)| (node, e)).collect();
            for through_relays in [false, true] {
                let senders: BTreeMap<u32, f64> = if through_relays {
                    relays.clone()
                } else {
                    wave.iter().filter(|(node, _)| !is_relay(**node)).map(|(&node, &e)| (node, e)).collect()
                };
                for (&sender, &energy) in &senders {
                    for &(_, to, conductance) in edges.iter().filter(|edge| edge.0 == sender) {
                        if self.silent(to, ask) || (through_relays && is_relay(to)) || energy <= 0.0 {
                            continue;
                        }
                        let damped = if given.damp == Damp::Sender { sender } else { to };
                        let mut add = energy * conductance * self.damp(damped, given);
                        let relay = is_relay(to);
                        if !relay {
                            add *= given.lam;
                        }
                        if close(add, given.theta) {
                            return Err(TooClose);
                        }
                        if add < given.theta || add <= 0.0 {
                            continue;
                        }
                        if relay {
                            *relays.entry(to).or_default() += add;
                            continue;
                        }
                        if self.nodes[to as usize].status == SUPERSEDED {
                            *full.entry(to).or_default() += add;
                            add *= given.rho;
                            if close(add, given.theta) {
                                return Err(TooClose);
                            }
                            if add < given.theta || add <= 0.0 {
                                continue;
                            }
                        }
                        *next.entry(to).or_default() += add;
                        *total.entry(to).or_default() += add;
                    }
                }
            }
            wave = next;
        }
        Ok((total, full))
    }

    fn heads(&self, node: u32) -> BTreeSet<u32> {
        let (mut seen, mut open) = (BTreeSet::from([node]), vec![node]);
        let mut heads = BTreeSet::new();
        while let Some(old) = open.pop() {
            for link in self.links.iter().filter(|link| link.2 == SUPERSEDES && link.1 == old) {
                if seen.insert(link.0) {
                    open.push(link.0);
                    let newer = &self.nodes[link.0 as usize];
                    if matches!(newer.status, 0 | 1 | 3) && newer.node_type == PROPOSITION {
                        heads.insert(link.0);
                    }
                }
            }
        }
        heads
    }

    /// All nodes with a score, best first (not cut to k).
    pub fn recall(&self, query: &str, ask: &Ask) -> Result<Vec<Row>, TooClose> {
        let given = &ask.given;
        let mut hits = self.relevance(query, ask);
        hits.retain(|&node, _| !self.barred(node, ask));
        let full = |node: u32| {
            hits.get(&node).map_or(0.0, |hit| given.alpha * hit.0 + given.beta * self.hotness(node, ask))
        };
        let superseded = |node: u32| self.nodes[node as usize].status == SUPERSEDED;
        let combined = |node: u32| full(node) * if superseded(node) { given.rho } else { 1.0 };
        let mut seeds: Vec<u32> = hits
            .iter()
            .filter(|(node, hit)| hit.1 && !self.silent(**node, ask))
            .map(|(&node, _)| node)
            .collect();
        seeds.sort_by(|&a, &b| combined(b).total_cmp(&combined(a)));
        if let Some(&next) = seeds.get(given.max_seeds)
            && given.max_seeds > 0
            && close(combined(seeds[given.max_seeds - 1]), combined(next))
        {
            return Err(TooClose);
        }
        let best = seeds.first().map(|&node| combined(node)).or_else(|| {
            let all = hits.keys().filter(|&&node| self.returned(node, ask)).map(|&node| combined(node));
            all.reduce(f64::max)
        });
        let best = best.unwrap_or(given.alpha * given.w_title);
        seeds.truncate(given.max_seeds);
        let mut sources: Vec<(u32, f64)> = seeds
            .iter()
            .map(|&node| {
                let energy = combined(node);
                let share = if best > 0.0 { energy / best } else { 1.0 };
                (node, energy * share.powf(given.seed_power))
            })
            .collect();
        sources.extend(
            self.named(query).into_iter().filter(|&node| !self.silent(node, ask)).map(|node| (node, best)),
        );
        let (total, raw) = if ask.spread { self.spread(&sources, ask)? } else { Default::default() };
        Ok(self.rank(ask, &full, &|node| hits.contains_key(&node), &total, &raw, &[]))
    }

    /// What is linked with nodes, best first.
    pub fn related(&self, nodes: &[u32], ask: &Ask) -> Result<Vec<Row>, TooClose> {
        let distinct: BTreeSet<u32> = nodes.iter().copied().collect();
        let sources: Vec<(u32, f64)> =
            distinct.iter().filter(|&&node| !self.silent(node, ask)).map(|&node| (node, 1.0)).collect();
        let (mut total, mut raw) = self.spread(&sources, ask)?;
        for node in nodes {
            total.remove(node);
            raw.remove(node);
        }
        Ok(self.rank(ask, &|_| 0.0, &|_| false, &total, &raw, nodes))
    }

    fn rank(
        &self,
        ask: &Ask,
        full: &dyn Fn(u32) -> f64,
        hit: &dyn Fn(u32) -> bool,
        total: &BTreeMap<u32, f64>,
        raw: &BTreeMap<u32, f64>,
        excluded: &[u32],
    ) -> Vec<Row> {
        let given = &ask.given;
        let superseded = |node: u32| self.nodes[node as usize].status == SUPERSEDED;
        let mut lifted: BTreeMap<u32, f64> = BTreeMap::new();
        if given.lift_successor && ask.statuses >> SUPERSEDED & 1 == 1 {
            for node in (0..self.nodes.len() as u32).filter(|&node| superseded(node)) {
                let arrived = raw.get(&node).copied();
                if !hit(node) && arrived.is_none() {
                    continue;
                }
                let wanted = full(node) + arrived.unwrap_or(0.0);
                for head in self.heads(node) {
                    let best = lifted.entry(head).or_insert(wanted);
                    *best = best.max(wanted);
                }
            }
        }
        let mut rows = Vec::new();
        for node in 0..self.nodes.len() as u32 {
            if !self.returned(node, ask) || excluded.contains(&node) {
                continue;
            }
            let activation = total.get(&node).copied().unwrap_or(0.0);
            let combined = full(node) * if superseded(node) { given.rho } else { 1.0 };
            let own = combined + activation;
            let wanted = lifted.get(&node).copied();
            if hit(node) || activation > 0.0 || wanted.is_some_and(|wanted| wanted > own) {
                let score = wanted.map_or(own, |wanted| wanted.max(own));
                rows.push(Row { node, score, combined, activation, hotness: self.hotness(node, ask) });
            }
        }
        rows.sort_by(|a, b| b.score.total_cmp(&a.score));
        rows
    }
}
