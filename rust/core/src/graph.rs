//! Who is linked with whom: adjacency for the spread, both ways.
//!
//! Holds the *flow* graph: along links, except `about`, stored flipped (from
//! the entity to what is about it). Invariant: the same edge stands in `out` of
//! its source and in `into` of its target, and a row keeps the order in which
//! links came, so that sums of floats do not depend on compaction. Does not
//! know conductances: an edge keeps its relation, the caller multiplies. Cost:
//! 8 bytes per edge and side; a row is one slice, plus a few where it changed.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::codes::{ABOUT, RELATIONS};
use crate::cow::Bits;
use crate::dictionary::Map;
use crate::error::{Error, Result};
use crate::flat::Flat;
use crate::limits::MAX_NODES;
use crate::tail::Tail;

/// One edge as seen from one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Edge {
    /// The other end in 28 bits, the relation in 4.
    pub key: u32,
    /// The link's weight.
    pub weight: f32,
}

impl Edge {
    fn new(node: u32, relation: u32, weight: f32) -> Self {
        Self { key: node | relation << 28, weight }
    }

    /// The other end.
    #[inline]
    #[must_use]
    pub fn node(self) -> u32 {
        self.key & (MAX_NODES - 1)
    }

    /// The relation.
    #[inline]
    #[must_use]
    pub fn relation(self) -> u32 {
        self.key >> 28
    }
}

/// A row that changed since the base was built.
#[derive(Debug, Clone, Default)]
struct Row {
    /// The base's part no longer counts.
    masked: bool,
    tail: Tail<Edge>,
}

/// One direction.
#[derive(Clone, Default)]
pub struct Side {
    offsets: Flat<u32>,
    edges: Flat<Edge>,
    moved: Bits,
    rows: Map<u32, Arc<Row>>,
}

impl Side {
    fn base(&self, node: u32) -> &[Edge] {
        let marks = self.offsets.items();
        match marks.get(node as usize..node as usize + 2) {
            Some(pair) => self.edges.items().get(pair[0] as usize..pair[1] as usize).unwrap_or(&[]),
            None => &[],
        }
    }

    /// Calls `see` with each piece of a row, in the order in which links came.
    #[inline]
    pub fn visit(&self, node: u32, mut see: impl FnMut(&[Edge])) {
        if !self.moved.has(node) {
            see(self.base(node));
        } else if let Some(row) = self.rows.get(&node) {
            if !row.masked {
                see(self.base(node));
            }
            row.tail.blocks().for_each(see);
        }
    }

    /// Where a row lies among the base's edges; `None` where it changed since.
    #[inline]
    pub(crate) fn place(&self, offsets: &[u32], node: u32) -> Option<(u32, u32)> {
        if self.moved.has(node) {
            return None;
        }
        match offsets.get(node as usize..node as usize + 2) {
            Some(pair) => Some((pair[0], pair[1])),
            None => Some((0, 0)),
        }
    }

    /// Asks for the place of a row ahead of time.
    #[inline]
    pub(crate) fn fetch_place(&self, offsets: &[u32], node: u32) {
        if let Some(offset) = offsets.get(node as usize) {
            crate::fetch::line(offset);
        }
    }

    /// The base's offsets and edges, for [`Side::place`].
    pub(crate) fn parts(&self) -> (&[u32], &[Edge]) {
        (self.offsets.items(), self.edges.items())
    }

    /// Edges of a row.
    #[must_use]
    pub fn len(&self, node: u32) -> usize {
        let mut len = 0;
        self.visit(node, |piece| len += piece.len());
        len
    }

    fn holds(&self, node: u32, key: u32) -> Option<f32> {
        let mut found = None;
        self.visit(node, |piece| {
            found = found.or_else(|| piece.iter().find(|edge| edge.key == key).map(|edge| edge.weight));
        });
        found
    }

    fn row(&mut self, node: u32) -> &mut Row {
        self.moved.set(node, true);
        Arc::make_mut(self.rows.entry(node).or_default())
    }

    /// Replaces a row by an edited copy.
    fn rewrite(&mut self, node: u32, edit: impl FnOnce(&mut Vec<Edge>)) {
        let mut edges = Vec::new();
        self.visit(node, |piece| edges.extend_from_slice(piece));
        edit(&mut edges);
        let mut tail = Tail::default();
        tail.extend(&edges);
        *self.row(node) = Row { masked: true, tail };
    }

    fn compact(&mut self, nodes: u32) {
        if self.rows.is_empty() && self.offsets.len() == nodes as usize + 1 {
            return;
        }
        let mut offsets = Vec::with_capacity(nodes as usize + 1);
        let mut edges = Vec::with_capacity(self.edges.len() + self.rows.len());
        offsets.push(0);
        for node in 0..nodes {
            self.visit(node, |piece| edges.extend_from_slice(piece));
            offsets.push(edges.len() as u32);
        }
        *self = Self { offsets: offsets.into(), edges: edges.into(), ..Self::default() };
    }

    fn load(name: &str, offsets: Flat<u32>, edges: Flat<Edge>, nodes: u32) -> Result<Self> {
        let marks = offsets.items();
        let ends = (marks.first(), marks.last().map(|&end| end as usize));
        if marks.len() != nodes as usize + 1 || ends != (Some(&0), Some(edges.len())) || !marks.is_sorted() {
            return Err(Error::corrupt(
                format!("{name}_offsets"),
                "must have one item more than there are nodes, rise from 0 and end at the edges' length",
            ));
        }
        let sound = |edge: &Edge| {
            edge.node() < nodes
                && (edge.relation() as usize) < RELATIONS
                && edge.weight > 0.0
                && edge.weight <= 1.0
        };
        if !edges.items().iter().all(sound) {
            return Err(Error::corrupt(
                format!("{name}_edges"),
                "must lead to known nodes by known relations with weights above 0, at most 1",
            ));
        }
        Ok(Self { offsets, edges, ..Self::default() })
    }
}

/// A link in its true direction: from, to, relation, weight.
pub type Link = (u32, u32, u32, f32);

/// The flow graph.
#[derive(Clone, Default)]
pub struct Graph {
    /// Where energy goes from a node.
    pub out: Side,
    /// From where energy comes to a node.
    pub into: Side,
    links: u32,
}

/// Source and target in the flow graph.
fn flow(from: u32, to: u32, relation: u32) -> (u32, u32) {
    if relation == ABOUT { (to, from) } else { (from, to) }
}

impl Graph {
    /// A graph of persisted arrays (offsets and edges of `out`, then of `into`), checked.
    ///
    /// # Errors
    /// [`Error::Corrupt`] with the array and the rule.
    pub fn load(out: (Flat<u32>, Flat<Edge>), into: (Flat<u32>, Flat<Edge>), nodes: u32) -> Result<Self> {
        let out = Side::load("out", out.0, out.1, nodes)?;
        let into = Side::load("into", into.0, into.1, nodes)?;
        if out.edges.len() != into.edges.len() {
            return Err(Error::corrupt("into_edges", "must be as many as out_edges"));
        }
        Ok(Self { links: out.edges.len() as u32, out, into })
    }

    /// How many links there are.
    #[must_use]
    pub fn links(&self) -> u32 {
        self.links
    }

    /// The weight of a link, where it stands.
    #[must_use]
    pub fn weight(&self, from: u32, to: u32, relation: u32) -> Option<f32> {
        let (source, target) = flow(from, to, relation);
        if self.out.len(source) <= self.into.len(target) {
            self.out.holds(source, Edge::new(target, relation, 0.0).key)
        } else {
            self.into.holds(target, Edge::new(source, relation, 0.0).key)
        }
    }

    /// Adds a link, or gives a link that stands another weight. Says whether it is new.
    ///
    /// # Errors
    /// [`Error::Capacity`] above 2^32 - 1 links.
    pub fn add(&mut self, from: u32, to: u32, relation: u32, weight: f32) -> Result<bool> {
        let (source, target) = flow(from, to, relation);
        if let Some(known) = self.weight(from, to, relation) {
            if known != weight {
                for (side, at, other) in [(&mut self.out, source, target), (&mut self.into, target, source)] {
                    let key = Edge::new(other, relation, 0.0).key;
                    side.rewrite(at, |edges| {
                        edges.iter_mut().filter(|edge| edge.key == key).for_each(|edge| edge.weight = weight);
                    });
                }
            }
            return Ok(false);
        }
        if self.links == u32::MAX {
            let most = u64::from(u32::MAX);
            return Err(Error::Capacity { what: "links", value: most + 1, limit: most });
        }
        self.out.row(source).tail.push(Edge::new(target, relation, weight));
        self.into.row(target).tail.push(Edge::new(source, relation, weight));
        self.links += 1;
        Ok(true)
    }

    /// Removes a link. Says whether it stood.
    pub fn remove(&mut self, from: u32, to: u32, relation: u32) -> bool {
        if self.weight(from, to, relation).is_none() {
            return false;
        }
        let (source, target) = flow(from, to, relation);
        let (there, back) = (Edge::new(target, relation, 0.0).key, Edge::new(source, relation, 0.0).key);
        self.out.rewrite(source, |edges| edges.retain(|edge| edge.key != there));
        self.into.rewrite(target, |edges| edges.retain(|edge| edge.key != back));
        self.links -= 1;
        true
    }

    /// Links that touch a node, in their true direction, the ones that carry energy away first.
    #[must_use]
    pub fn touching(&self, node: u32) -> Vec<Link> {
        let mut links = Vec::new();
        self.out.visit(node, |piece| {
            links.extend(piece.iter().map(|edge| {
                let (from, to) = flow(node, edge.node(), edge.relation());
                (from, to, edge.relation(), edge.weight)
            }));
        });
        self.into.visit(node, |piece| {
            links.extend(piece.iter().map(|edge| {
                let (from, to) = flow(edge.node(), node, edge.relation());
                (from, to, edge.relation(), edge.weight)
            }));
        });
        links
    }

    /// Links that touch a node and whose relation is in the mask.
    #[must_use]
    pub fn degree(&self, node: u32, relations: u32) -> u32 {
        let mut degree = 0;
        for side in [&self.out, &self.into] {
            side.visit(node, |piece| {
                degree += piece.iter().filter(|edge| relations >> edge.relation() & 1 == 1).count() as u32;
            });
        }
        degree
    }

    /// Rows with recent changes.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.out.rows.len() + self.into.rows.len()
    }

    /// Folds recent changes into the base.
    pub fn compact(&mut self, nodes: u32) {
        self.out.compact(nodes);
        self.into.compact(nodes);
    }

    /// Bytes taken by the base, and about so many by the delta.
    #[must_use]
    pub fn size(&self) -> usize {
        [&self.out, &self.into]
            .iter()
            .map(|side| side.offsets.size() + side.edges.size() + side.rows.len() * 128)
            .sum()
    }

    /// The base's arrays: offsets and edges of `out`, then of `into`.
    #[must_use]
    pub fn arrays(&self) -> [(Flat<u32>, Flat<Edge>); 2] {
        [&self.out, &self.into].map(|side| (side.offsets.clone(), side.edges.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_flows_from_the_entity_and_reads_in_its_true_direction() {
        let mut graph = Graph::default();
        assert!(graph.add(0, 1, ABOUT, 1.0).unwrap());
        assert_eq!((graph.out.len(1), graph.out.len(0), graph.into.len(0)), (1, 0, 1));
        assert_eq!(graph.touching(0), vec![(0, 1, ABOUT, 1.0)]);
        assert_eq!(graph.touching(1), vec![(0, 1, ABOUT, 1.0)]);
    }

    #[test]
    fn the_same_link_twice_is_one_with_the_later_weight() {
        let mut graph = Graph::default();
        assert!(graph.add(0, 1, 0, 0.5).unwrap());
        assert!(!graph.add(0, 1, 0, 0.7).unwrap());
        assert!(graph.add(1, 0, 0, 0.2).unwrap());
        assert!(graph.add(0, 1, 1, 0.2).unwrap());
        assert_eq!((graph.links(), graph.weight(0, 1, 0)), (3, Some(0.7)));
    }

    #[test]
    fn rows_read_the_same_before_and_after_compaction() {
        let mut graph = Graph::default();
        for i in 1..20 {
            graph.add(0, i, i % 5, 0.5).unwrap();
        }
        graph.compact(20);
        graph.add(0, 3, 9, 0.5).unwrap();
        graph.remove(0, 4, 4);
        graph.add(5, 0, 0, 1.0).unwrap();
        let before: Vec<_> = (0..20).map(|node| graph.touching(node)).collect();
        let old = graph.clone();
        graph.compact(20);
        let read = |graph: &Graph| (0..20).map(|node| graph.touching(node)).collect::<Vec<_>>();
        assert_eq!(read(&graph), before);
        assert_eq!(read(&old), before);
        assert_eq!(graph.degree(0, 1 << 9 | 1), 5);
        let [out, into] = graph.arrays();
        assert_eq!(read(&Graph::load(out.clone(), into.clone(), 20).unwrap()), before);
        assert!(Graph::load(out, into, 19).is_err());
    }
}
