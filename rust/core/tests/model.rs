//! The core beside a slow reference, over random histories.
//!
//! Every read must agree: scores to 1e-5, the order except between scores that
//! close. A version that was compacted or loaded from arrays must agree with
//! one that was not to the bit.

mod reference;

use std::collections::HashMap;
use std::sync::Arc;

use doxa_core::columns::Meta;
use doxa_core::engine::{Engine, with_scratch};
use doxa_core::filter::Filter;
use doxa_core::flat::Bytes;
use doxa_core::recall::{Hits, Request};
use doxa_core::snapshot::{Change, Snapshot, Text};
use doxa_core::text::Language;
use doxa_core::tuning::{Constants, Damp, Direction, Relevance, Tuning};
use proptest::prelude::*;
use reference::{Ask, DAY, Model, Node, Row};

const WORDS: [&str; 14] = [
    "cats",
    "cat",
    "port",
    "ports",
    "the",
    "of",
    "red",
    "river",
    "rivers",
    "数据库",
    "端口",
    "snake_case",
    "v2.1",
    "ada",
];

/// Relations, those that carry most often.
const RELATED: [u32; 20] = [0, 0, 0, 1, 1, 2, 3, 3, 4, 5, 5, 5, 6, 7, 7, 8, 9, 10, 11, 12];

/// One step of a history, decoded from raw numbers so that it shrinks well.
type Raw = (u8, u16, u16, u16);

fn words(mut seed: u16, most: usize) -> String {
    let mut out = Vec::new();
    for _ in 0..seed as usize % (most + 1) {
        seed = seed.wrapping_mul(31).wrapping_add(17);
        out.push(WORDS[(seed >> 3) as usize % WORDS.len()]);
    }
    out.join(" ")
}

fn constants(raw: Raw) -> Constants {
    let (a, b, c, d) = raw;
    let pick = |n: u16, values: &[f64]| values[n as usize % values.len()];
    let mut out = Constants {
        alpha: pick(b, &[1.0, 1.0, 1.0, 0.0, 2.5]),
        beta: pick(b / 5, &[0.1, 0.1, 0.0, 1.0]),
        rho: pick(b / 20, &[0.3, 0.3, 0.0, 1.0]),
        lam: pick(c, &[0.9, 0.5, 1.0, 0.9, 0.7, 0.9, 0.0]),
        theta: pick(c / 7, &[0.02, 0.0, 0.02, 0.01, 0.3]),
        hops: [3, 2, 1, 2, 4, 0][c as usize / 35 % 6],
        max_seeds: [8, 1, 64, 2, 0][c as usize / 210 % 5],
        seed_power: pick(c / 1050, &[0.0, 1.0, 0.5]),
        damp: if a & 1 == 0 { Damp::Sender } else { Damp::Receiver },
        direction: if a & 2 == 0 { Direction::Out } else { Direction::Both },
        relevance: if a & 4 == 0 { Relevance::Bm25 } else { Relevance::Count },
        lift_successor: a & 8 == 0,
        damp_allowance: pick(d, &[0.0, 2.0, 8.0]),
        w_body: pick(d / 3, &[0.75, 0.25, 0.0]),
        k1: pick(d / 9, &[0.8, 0.0, 1.2]),
        b: pick(d / 27, &[0.6, 0.0, 1.0]),
        ..Constants::default()
    };
    if d & 512 != 0 {
        out.conductance[0] = 0.0;
        out.conductance[7] = 1.0;
    }
    if d & 1024 != 0 {
        out.half_life = [3.0, 9.0, 30.0, 50.0];
    }
    out
}

/// The core, twice, and the reference.
struct World {
    model: Model,
    /// Compacts only where the history says so.
    loose: Engine,
    /// Compacts all the time.
    tight: Engine,
    step: usize,
}

impl World {
    fn new(given: &Constants) -> Self {
        let tuning = Arc::new(Tuning::new(given.clone()).unwrap());
        Self {
            model: Model::default(),
            loose: Engine::new(tuning.clone(), Language::English),
            tight: Engine::new(tuning, Language::English),
            step: 0,
        }
    }

    fn write<T: PartialEq + std::fmt::Debug>(
        &self,
        change: impl Fn(&mut Snapshot, &mut doxa_core::snapshot::Writer) -> doxa_core::error::Result<T>,
    ) -> Option<T> {
        let one = self.loose.write(&change);
        assert_eq!(one, self.tight.write(&change));
        if self.step.is_multiple_of(5) {
            self.tight.compact().unwrap();
        }
        one.ok()
    }

    fn apply(&mut self, raw: Raw) {
        self.step += 1;
        let (op, a, b, c) = raw;
        let count = self.model.nodes.len() as u16;
        if count == 0 || op % 16 < 2 && count < 30 {
            return self.add(a, b);
        }
        let (x, y) = (u32::from(a % count), u32::from(b % count));
        match op % 16 {
            0..=4 => self.text(x, b, c),
            6 => {
                self.write(|snapshot, _| snapshot.clear_text(x));
                self.model.nodes[x as usize].fields = None;
            }
            7 | 8 => self.columns(x, b, c),
            9..=12 => self.link(x, y, RELATED[c as usize % RELATED.len()], f64::from(c % 7 + 1) / 7.0),
            13 => self.unlink(a),
            14 => self.supersede(x, y),
            _ => self.rest(x, b, c),
        }
    }

    fn add(&mut self, a: u16, b: u16) {
        let number = self.model.nodes.len();
        let node_type = [0, 0, 0, 0, 3, 1, 4][a as usize % 7];
        let id = format!("n{:02}", (number * 7) % 97);
        self.write(|snapshot, _| snapshot.add_node(&id, node_type, 0));
        self.model.nodes.push(Node { id, node_type, ..Node::default() });
        if node_type == 0 {
            self.text(number as u32, a, b);
            self.columns(number as u32, a, b);
        } else {
            self.rename(number as u32, a, b);
        }
    }

    fn rename(&mut self, node: u32, a: u16, b: u16) {
        let names = [words(a | 1, 2), words(b, 1)];
        let given: Vec<&str> = names.iter().map(String::as_str).collect();
        let named = self.write(|snapshot, writer| snapshot.set_names(node, &given, writer));
        let it = &mut self.model.nodes[node as usize];
        assert_eq!(named.is_some(), it.node_type == 3);
        if named.is_some() {
            it.names = names.to_vec();
        }
    }

    fn text(&mut self, node: u32, a: u16, b: u16) {
        if self.model.nodes[node as usize].node_type != 0 {
            return;
        }
        let fields = [
            words(a, 5),
            words(b, 8),
            words(a ^ b, 9),
            if a & 64 == 0 { String::new() } else { words(a / 2, 2) },
            if b & 64 == 0 { String::new() } else { words(b / 2, 2) },
            if a & 128 == 0 { String::new() } else { words(b / 3, 4) },
        ];
        let evidence = [fields[5].as_str()];
        let text = Text {
            title: &fields[0],
            summary: &fields[1],
            body: &fields[2],
            id: &fields[3],
            date: &fields[4],
            evidence: &evidence,
        };
        self.write(|snapshot, writer| snapshot.set_text(node, &text, writer));
        self.model.nodes[node as usize].fields = Some(fields);
    }

    fn columns(&mut self, node: u32, a: u16, b: u16) {
        let it = &mut self.model.nodes[node as usize];
        it.kind = u32::from(a % 4);
        it.importance = u32::from(a / 4 % 4);
        it.status = [0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 1, 3, 4, 5, 6][a as usize / 16 % 15];
        it.scope = u32::from(b % 3);
        it.last_used = (!b.is_multiple_of(11)).then(|| i64::from(b % 400) * DAY);
        it.recorded_at = Some(i64::from(a % 50) * DAY);
        it.use_count = u32::from(b % 5);
        it.valid_from = a.is_multiple_of(3).then(|| i64::from(b % 300) * DAY);
        it.valid_to = a.is_multiple_of(5).then(|| i64::from(b % 300 + 100) * DAY);
        it.confidence = f64::from(b % 21) / 10.0 - 1.0;
        let change = Change {
            kind: Some(it.kind),
            importance: Some(it.importance),
            status: Some(it.status),
            scope: Some(it.scope),
            last_used: Some(it.last_used),
            use_count: Some(it.use_count),
            recorded_at: Some(it.recorded_at),
            valid_from: Some(it.valid_from),
            valid_to: Some(it.valid_to),
            confidence: Some(it.confidence),
            ..Change::default()
        };
        self.write(|snapshot, _| snapshot.set_columns(node, &change));
    }

    fn link(&mut self, a: u32, b: u32, relation: u32, weight: f64) {
        let there = self.model.links.iter().position(|link| (link.0, link.1, link.2) == (a, b, relation));
        let fresh = self.write(|snapshot, _| snapshot.add_link(a, b, relation, weight));
        assert_eq!(fresh, if a == b { None } else { Some(there.is_none()) });
        match there {
            Some(at) => self.model.links[at].3 = weight,
            None if a != b => self.model.links.push((a, b, relation, weight)),
            None => {}
        }
    }

    fn unlink(&mut self, a: u16) {
        if self.model.links.is_empty() {
            return;
        }
        let at = a as usize % self.model.links.len();
        let (from, to, relation, _) = self.model.links.remove(at);
        assert_eq!(self.write(|snapshot, _| snapshot.remove_link(from, to, relation)), Some(true));
        assert_eq!(self.write(|snapshot, _| snapshot.remove_link(from, to, relation)), Some(false));
    }

    fn supersede(&mut self, newer: u32, older: u32) {
        if newer == older || self.model.nodes[older as usize].node_type != 0 {
            return;
        }
        self.link(newer, older, 10, 1.0);
        self.model.nodes[older as usize].status = 2;
        let change = Change { status: Some(2), ..Change::default() };
        self.write(|snapshot, _| snapshot.set_columns(older, &change));
    }

    fn rest(&mut self, node: u32, b: u16, c: u16) {
        match b % 4 {
            0 => self.rename(node, b, c),
            1 => self.loose.compact().unwrap(),
            2 => {
                let tuning = Arc::new(Tuning::new(constants((b as u8, b, c, c))).unwrap());
                self.write(|snapshot, _| {
                    snapshot.set_tuning(tuning.clone());
                    Ok(())
                });
            }
            // A fork that is thrown away leaves nothing behind; one that is adopted leaves all.
            _ => {
                let lost = self.loose.fork();
                lost.write(|snapshot, _| snapshot.clear_text(node)).unwrap();
                lost.write(|snapshot, _| snapshot.add_node("lost", 0, 0)).unwrap();
                self.loose = self.loose.fork();
                let kept = self.loose.fork();
                self.loose.adopt(&kept);
            }
        }
    }

    fn check(&self, ask: &Ask, query: &str, sources: &[u32]) -> Result<(), TestCaseError> {
        let request = request(ask);
        let loose = self.loose.snapshot();
        let tight = self.tight.snapshot();
        let loaded = reload(&tight);
        prop_assert_eq!(loose.postings().statistics(), loaded.postings().statistics());
        let answer = |snapshot: &Snapshot| {
            let mut hits = Hits::default();
            let mut linked = Hits::default();
            with_scratch(|scratch| {
                snapshot.recall(query, &request, scratch, &mut hits);
                snapshot.related(sources, &request, scratch, &mut linked).unwrap();
            });
            (hits, linked)
        };
        let (hits, linked) = answer(&loose);
        prop_assert_eq!(&answer(&tight), &(hits.clone(), linked.clone()));
        prop_assert_eq!(&answer(&loaded), &(hits.clone(), linked.clone()));
        self.structure(&loose)?;
        if let Ok(wanted) = self.model.recall(query, ask) {
            agree(&hits, &wanted, ask.k)?;
            for at in 0..hits.len() {
                let path = loose.path(&hits.sources, hits.nodes[at], &request.tuning, &request.filter);
                prop_assert_eq!(path.is_empty(), hits.activation[at] == 0.0);
            }
        }
        if let Ok(wanted) = self.model.related(sources, ask) {
            agree(&linked, &wanted, ask.k)?;
        }
        Ok(())
    }

    fn structure(&self, snapshot: &Snapshot) -> Result<(), TestCaseError> {
        let carries = |relation: u32| snapshot.tuning().given().conductance[relation as usize] > 0.0;
        for (number, node) in self.model.nodes.iter().enumerate() {
            let number = number as u32;
            prop_assert_eq!(snapshot.node(&node.id), Some(number));
            prop_assert_eq!(snapshot.id(number).unwrap(), &node.id);
            let meta: Meta = snapshot.columns().meta(number);
            prop_assert_eq!((meta.node_type(), meta.status()), (node.node_type, node.status));
            let touching = self.model.links.iter().filter(|link| link.0 == number || link.1 == number);
            prop_assert_eq!(snapshot.links(number).unwrap().len(), touching.clone().count());
            let degree = touching.filter(|link| carries(link.2)).count() as u32;
            prop_assert_eq!(snapshot.columns().degree(number), degree);
        }
        Ok(())
    }
}

fn request(ask: &Ask) -> Request {
    let mut filter = Filter::default().statuses(ask.statuses).kinds(ask.kinds);
    if let Some(verdicts) = &ask.scopes {
        filter = filter.scopes(verdicts.clone());
    }
    if let Some(time) = ask.valid_at {
        filter = filter.valid_at(time);
    }
    if let Some(least) = ask.min_confidence {
        filter = filter.min_confidence(least).unwrap();
    }
    if let Some(only) = &ask.only {
        filter = filter.only(only.clone());
    }
    Request {
        k: ask.k,
        now: ask.now,
        tuning: Arc::new(Tuning::new(ask.given.clone()).unwrap()),
        filter: Arc::new(filter),
        spread: ask.spread,
    }
}

fn reload(snapshot: &Snapshot) -> Snapshot {
    let mut folded = snapshot.clone();
    folded.compact().unwrap();
    let arrays: HashMap<String, Arc<dyn Bytes>> =
        folded.arrays().unwrap().into_iter().map(|array| (array.name.to_owned(), array.bytes)).collect();
    Snapshot::load(&arrays, snapshot.tuning().clone(), Language::English).unwrap()
}

fn agree(hits: &Hits, wanted: &[Row], k: usize) -> Result<(), TestCaseError> {
    prop_assert_eq!(hits.len(), wanted.len().min(k), "{:?} {:?}", hits, wanted);
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * b.abs() + 1e-6;
    for at in 0..hits.len() {
        prop_assert!(near(hits.scores[at], wanted[at].score), "{at}: {:?} {:?}", hits, wanted);
        let mine = wanted.iter().find(|row| row.node == hits.nodes[at]);
        let mine = mine.ok_or_else(|| TestCaseError::fail(format!("{at}: {hits:?} {wanted:?}")))?;
        prop_assert!(near(hits.scores[at], mine.score), "{at}: {:?} {:?}", hits, wanted);
        prop_assert!(near(hits.combined[at], mine.combined), "{at}: {:?} {:?}", hits, wanted);
        prop_assert!(near(hits.activation[at], mine.activation), "{at}: {:?} {:?}", hits, wanted);
        let sum = hits.relevance[at] + hits.strength[at] + hits.activation[at] + hits.succession[at];
        prop_assert!((sum - hits.scores[at]).abs() < 1e-9);
        if at > 0 && hits.scores[at] == hits.scores[at - 1] {
            // Scores that close: strength decides where nothing was lifted.
            let before = wanted.iter().find(|row| row.node == hits.nodes[at - 1]);
            let lifted = hits.succession[at - 1] > 0.0 || hits.succession[at] > 0.0;
            prop_assert!(lifted || before.is_none_or(|row| row.hotness >= mine.hotness - 1e-6));
        }
    }
    Ok(())
}

fn ask(raw: Raw, given: Constants) -> Ask {
    let (a, b, c, d) = raw;
    let mut out = Ask::plain([10, 3, 1, 100, 100, 5, 0][a as usize % 7], i64::from(b % 500) * DAY, given);
    out.spread = c % 8 != 0;
    if c & 8 != 0 {
        out.statuses = [0b1111, 0b1, 0b0111_1111, 0b1_1111][d as usize % 4];
    }
    if c & 16 != 0 && c & 32 != 0 {
        out.kinds = u32::from(d / 4 % 16);
    }
    if c & 64 != 0 && c & 128 != 0 {
        out.scopes = Some(vec![2, (d % 2) as u8, 1]);
    }
    if c & 256 != 0 && c & 512 != 0 {
        out.valid_at = Some(i64::from(d % 400) * DAY);
    }
    if c & 1024 != 0 && c & 2048 != 0 {
        out.min_confidence = Some(f64::from(d % 20) / 10.0 - 1.0 + 0.0137);
    }
    if c & 4096 != 0 && c & 8192 != 0 {
        out.only = Some((0..24).filter(|node| node % 3 == u32::from(d % 3)).collect());
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300, failure_persistence: None, max_shrink_iters: 4000, ..ProptestConfig::default()
    })]

    #[test]
    fn every_read_agrees_with_the_reference(
        store in any::<Raw>(),
        start in prop::collection::vec(any::<(u16, u16, u16)>(), 0..40),
        history in prop::collection::vec(any::<Raw>(), 1..70),
        asks in prop::collection::vec((any::<Raw>(), any::<Raw>(), any::<u16>()), 1..6),
    ) {
        let mut world = World::new(&constants(store));
        // Nodes, then twice as many links: enough for something to spread.
        start.iter().for_each(|&(a, b, c)| world.apply((0, a, b, c)));
        start.iter().for_each(|&(a, b, c)| world.apply((9, a, b, c)));
        start.iter().for_each(|&(a, b, c)| world.apply((10, b, c, a)));
        let rounds = asks.len();
        for (round, (shape, numbers, query)) in asks.into_iter().enumerate() {
            let part = history.len() * round / rounds..history.len() * (round + 1) / rounds;
            history[part].iter().for_each(|&raw| world.apply(raw));
            let nodes = world.model.nodes.len() as u16;
            if nodes > 0 {
                let sources = [u32::from(query % nodes), u32::from(query / 3 % nodes)];
                world.check(&ask(shape, constants(numbers)), &words(query | 3, 6), &sources)?;
            }
        }
    }
}

#[test]
fn nothing_in_gives_nothing_out() {
    let tuning = Arc::new(Tuning::default());
    let engine = Engine::new(tuning.clone(), Language::English);
    let request = |k| Request { k, now: 0, tuning: tuning.clone(), filter: Arc::default(), spread: true };
    assert!(engine.recall("anything", &request(10)).is_empty());
    engine.write(|snapshot, _| snapshot.add_node("a", 0, 0)).unwrap();
    let text = Text { title: "red river", ..Text::default() };
    engine.write(|snapshot, writer| snapshot.set_text(0, &text, writer)).unwrap();
    for query in ["", "   ", "unknown words"] {
        assert!(engine.recall(query, &request(10)).is_empty());
    }
    assert!(engine.recall("red", &request(0)).is_empty());
    assert_eq!(engine.recall("red", &request(usize::MAX)).nodes, [0]);
}

#[test]
fn ties_go_by_strength_then_latest_recorded_then_id() {
    let tuning = Arc::new(Tuning::default());
    let engine = Engine::new(tuning.clone(), Language::English);
    // (id, recorded, importance)
    let rows = [("d", 5, 1), ("b", 7, 1), ("a", 5, 1), ("c", 7, 1), ("e", 1, 2)];
    for (id, recorded, importance) in rows {
        let change = Change {
            recorded_at: Some(Some(recorded * DAY)),
            last_used: Some(Some(0)),
            importance: Some(importance),
            ..Change::default()
        };
        let node = engine.write(|snapshot, _| snapshot.add_node(id, 0, 0)).unwrap();
        let text = Text { title: "red river", ..Text::default() };
        engine.write(|snapshot, writer| snapshot.set_text(node, &text, writer)).unwrap();
        engine.write(|snapshot, _| snapshot.set_columns(node, &change)).unwrap();
    }
    // With beta 0 all scores are equal and strength decides first.
    let given = Constants { beta: 0.0, ..Constants::default() };
    for k in 1..=5 {
        let request = Request {
            k,
            now: 10 * DAY,
            tuning: Arc::new(Tuning::new(given.clone()).unwrap()),
            filter: Arc::default(),
            spread: false,
        };
        let hits = engine.recall("river", &request);
        let snapshot = engine.snapshot();
        let ids: Vec<&str> = hits.nodes.iter().map(|&node| snapshot.id(node).unwrap()).collect();
        assert_eq!(ids, ["e", "b", "c", "a", "d"][..k]);
    }
}
