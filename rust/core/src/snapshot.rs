//! One version of the whole memory, and how it changes.
//!
//! Holds dictionaries, postings, graph, columns, names and fingerprints; all
//! parts share structure between versions, so a clone is a fork. Invariant: a
//! version that readers see is sealed and never changes. Does not know who
//! publishes it. Cost: a clone copies a few pointers per 65,000 nodes; a write
//! pays for what it touches.

use std::sync::Arc;

use crate::codes::{self, FIELDS, IMPORTANCES, KINDS, NODE_TYPES, PROPOSITION, RELATIONS, STATUSES};
use crate::columns::{Columns, Meta};
use crate::dictionary::Dictionary;
use crate::error::{Error, Result};
use crate::forward::Record;
use crate::graph::{Graph, Link};
use crate::limits::{COMPACT_FRACTION, COMPACT_MIN, MAX_NODES, NO_TIME};
use crate::multimap::Multimap;
use crate::names::Names;
use crate::postings::Postings;
use crate::similar::fingerprint;
use crate::strength;
use crate::text::{Language, TermKind, Terms};
use crate::tuning::Tuning;

/// The texts of a proposition, by field.
#[derive(Debug, Clone, Copy, Default)]
pub struct Text<'a> {
    /// The statement in one line.
    pub title: &'a str,
    /// The self-contained statement.
    pub summary: &'a str,
    /// Notes.
    pub body: &'a str,
    /// The id, if its words are to be found.
    pub id: &'a str,
    /// Dates written out.
    pub date: &'a str,
    /// Texts of the evidence.
    pub evidence: &'a [&'a str],
}

/// Changes of a node's columns; `None` leaves a value as it is, an inner `None` clears a time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Change {
    /// Kind code.
    pub kind: Option<u32>,
    /// Importance code.
    pub importance: Option<u32>,
    /// Status code.
    pub status: Option<u32>,
    /// Category code.
    pub category: Option<u32>,
    /// Scope code.
    pub scope: Option<u32>,
    /// Row in the caller's tables.
    pub row: Option<u32>,
    /// Last real use.
    pub last_used: Option<Option<i64>>,
    /// Number of real uses.
    pub use_count: Option<u32>,
    /// When it was recorded.
    pub recorded_at: Option<Option<i64>>,
    /// From when it is true.
    pub valid_from: Option<Option<i64>>,
    /// Until when, exclusive.
    pub valid_to: Option<Option<i64>>,
    /// When what it speaks of happens.
    pub event_at: Option<Option<i64>>,
    /// When evidence last changed its confidence.
    pub evidence_at: Option<Option<i64>>,
    /// Confidence as stored.
    pub confidence: Option<f64>,
}

/// Buffers of a writer.
#[derive(Default)]
pub struct Writer {
    pub(crate) terms: Terms,
    found: Vec<(u32, u32, u32)>,
    statement: String,
}

/// One version of the memory.
#[derive(Clone)]
pub struct Snapshot {
    pub(crate) tuning: Arc<Tuning>,
    pub(crate) language: Language,
    pub(crate) terms: Dictionary,
    pub(crate) ids: Dictionary,
    pub(crate) postings: Postings,
    pub(crate) graph: Graph,
    pub(crate) columns: Columns,
    pub(crate) names: Names,
    /// Fingerprint of the normalised statement → propositions.
    pub(crate) equal: Multimap<u32>,
    /// Fingerprint of its content words → propositions.
    pub(crate) content: Multimap<u32>,
    /// The time that stored recency counts from.
    pub(crate) origin: i64,
    /// No node was used more often than this.
    pub(crate) max_uses: u32,
}

impl Snapshot {
    /// An empty memory.
    #[must_use]
    pub fn new(tuning: Arc<Tuning>, language: Language) -> Self {
        Self {
            tuning,
            language,
            terms: Dictionary::default(),
            ids: Dictionary::default(),
            postings: Postings::default(),
            graph: Graph::default(),
            columns: Columns::default(),
            names: Names::default(),
            equal: Multimap::default(),
            content: Multimap::default(),
            origin: NO_TIME,
            max_uses: 0,
        }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn node_count(&self) -> u32 {
        self.columns.len()
    }

    /// How many links there are.
    #[must_use]
    pub fn link_count(&self) -> u32 {
        self.graph.links()
    }

    /// The store's own constants.
    #[must_use]
    pub fn tuning(&self) -> &Arc<Tuning> {
        &self.tuning
    }

    /// The language whose stems are added.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// The columns of all nodes.
    #[must_use]
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The flow graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The posting lists.
    #[must_use]
    pub fn postings(&self) -> &Postings {
        &self.postings
    }

    /// The node with this id.
    #[must_use]
    pub fn node(&self, id: &str) -> Option<u32> {
        self.ids.find(id)
    }

    /// The id of a node.
    ///
    /// # Errors
    /// [`Error::UnknownNode`].
    pub fn id(&self, node: u32) -> Result<&str> {
        self.known(node)?;
        Ok(self.ids.get(node))
    }

    /// Refuses a number that was never given out.
    ///
    /// # Errors
    /// [`Error::UnknownNode`].
    pub fn known(&self, node: u32) -> Result<()> {
        if node < self.node_count() {
            return Ok(());
        }
        Err(Error::UnknownNode { node, count: self.node_count() })
    }

    /// Links that touch a node, in their true direction.
    ///
    /// # Errors
    /// [`Error::UnknownNode`].
    pub fn links(&self, node: u32) -> Result<Vec<Link>> {
        self.known(node)?;
        Ok(self.graph.touching(node))
    }

    /// Adds a node of a type; nodes are numbered from 0.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::DuplicateId`], [`Error::Capacity`].
    pub fn add_node(&mut self, id: &str, node_type: u32, row: u32) -> Result<u32> {
        if node_type >= NODE_TYPES {
            return Err(Error::invalid(
                "type",
                node_type,
                format!("a node type from 0 to {}", NODE_TYPES - 1),
            ));
        }
        if let Some(node) = self.ids.find(id) {
            return Err(Error::DuplicateId { id: id.to_owned(), node });
        }
        if self.node_count() >= MAX_NODES {
            return Err(Error::Capacity {
                what: "nodes",
                value: u64::from(MAX_NODES) + 1,
                limit: u64::from(MAX_NODES),
            });
        }
        self.ids.intern(id);
        let node = self.columns.add(node_type, row);
        self.restrengthen(node);
        Ok(node)
    }

    /// Gives a proposition its text, in place of the text that it had.
    ///
    /// # Errors
    /// [`Error::UnknownNode`]; [`Error::Invalid`] where the node is no proposition.
    pub fn set_text(&mut self, node: u32, text: &Text<'_>, writer: &mut Writer) -> Result<()> {
        self.known(node)?;
        if self.columns.meta(node).node_type() != PROPOSITION {
            return Err(Error::invalid("node", node, "a proposition: only these have text in the index"));
        }
        self.forget_text(node);
        writer.statement.clear();
        writer.statement.push_str(text.title);
        if !text.summary.is_empty() {
            writer.statement.push('\n');
            writer.statement.push_str(text.summary);
        }
        let prints = fingerprint(&writer.statement);
        let mut record = Record { equal: prints.equal, content: prints.content, ..Record::default() };
        writer.found.clear();
        for (field, piece) in [
            (codes::TITLE, text.title),
            (codes::SUMMARY, text.summary),
            (codes::BODY, text.body),
            (codes::ID, text.id),
            (codes::DATE, text.date),
        ] {
            self.cut(field, piece, writer, &mut record.lengths);
        }
        for piece in text.evidence {
            self.cut(codes::EVIDENCE_TEXT, piece, writer, &mut record.lengths);
        }
        tally(&mut writer.found);
        record.terms.extend(writer.found.iter().map(|found| found.0));
        record.terms.dedup();
        self.postings.insert(node, &writer.found, &record)?;
        self.equal.add(record.equal, node);
        self.content.add(record.content, node);
        Ok(())
    }

    fn cut(&mut self, field: u32, piece: &str, writer: &mut Writer, lengths: &mut [u32; FIELDS]) {
        if piece.is_empty() {
            return;
        }
        writer.terms.analyze(piece, self.language);
        for (term, kind, _) in writer.terms.iter() {
            let (flag, counts) = match kind {
                TermKind::Whole | TermKind::Part => (0, 1),
                // As good as a word to a query of one character, in either ranking.
                TermKind::Character => (0, 0),
                TermKind::Stem => (codes::STEM, 0),
            };
            lengths[field as usize] = lengths[field as usize].saturating_add(counts);
            writer.found.push((self.terms.intern(term), field | flag, 1));
        }
    }

    /// Takes a proposition's text out of the index.
    ///
    /// # Errors
    /// [`Error::UnknownNode`].
    pub fn clear_text(&mut self, node: u32) -> Result<()> {
        self.known(node)?;
        self.forget_text(node);
        Ok(())
    }

    fn forget_text(&mut self, node: u32) {
        if let Some(record) = self.postings.remove(node) {
            self.equal.remove(record.equal, node);
            self.content.remove(record.content, node);
        }
    }

    /// Changes a node's columns.
    ///
    /// # Errors
    /// [`Error::UnknownNode`]; [`Error::Invalid`] for an unknown code or a confidence that is no number.
    pub fn set_columns(&mut self, node: u32, change: &Change) -> Result<()> {
        self.known(node)?;
        let old = self.columns.meta(node);
        let meta = recoded(old, change)?;
        if let Some(confidence) = change.confidence
            && !confidence.is_finite()
        {
            return Err(Error::invalid("confidence", confidence, "a number from -1 to 1"));
        }
        self.columns.set_meta(node, meta);
        let before = self.columns.cold(node);
        let mut cold = before;
        let put = |to: &mut i64, time: Option<Option<i64>>| {
            if let Some(time) = time {
                *to = time.unwrap_or(NO_TIME);
            }
        };
        put(&mut cold.last_used, change.last_used);
        put(&mut cold.recorded_at, change.recorded_at);
        put(&mut cold.valid_from, change.valid_from);
        put(&mut cold.valid_to, change.valid_to);
        put(&mut cold.event_at, change.event_at);
        put(&mut cold.evidence_at, change.evidence_at);
        cold.use_count = change.use_count.unwrap_or(cold.use_count);
        cold.scope = change.scope.unwrap_or(cold.scope);
        cold.row = change.row.unwrap_or(cold.row);
        cold.confidence = change.confidence.map_or(cold.confidence, |value| value as f32);
        if cold != before {
            self.columns.edit_cold(node, |old| *old = cold);
        }
        self.max_uses = self.max_uses.max(cold.use_count);
        let moved = cold.last_used != before.last_used || cold.use_count != before.use_count;
        if moved || meta.importance() != old.importance() {
            self.move_origin(cold.last_used);
            self.restrengthen(node);
        }
        Ok(())
    }

    /// Keeps stored recency within the range of f32.
    fn move_origin(&mut self, time: i64) {
        if time == NO_TIME {
            return;
        }
        if self.origin == NO_TIME {
            self.origin = time;
        } else if strength::out_of_reach(&self.tuning, self.origin, time) {
            self.origin = time;
            self.restrengthen_all();
        }
    }

    fn restrengthen(&mut self, node: u32) {
        let (meta, cold) = (self.columns.meta(node), self.columns.cold(node));
        let (fixed, recency) = strength::pair(&self.tuning, meta, &cold, self.origin);
        self.columns.set_strength(node, fixed, recency);
    }

    pub(crate) fn restrengthen_all(&mut self) {
        (0..self.node_count()).for_each(|node| self.restrengthen(node));
    }

    /// Gives an entity these names in place of those that it had.
    ///
    /// # Errors
    /// [`Error::UnknownNode`]; [`Error::Invalid`] where the node is no entity.
    pub fn set_names(&mut self, node: u32, names: &[&str], writer: &mut Writer) -> Result<()> {
        self.known(node)?;
        if self.columns.meta(node).node_type() != codes::ENTITY {
            return Err(Error::invalid("node", node, "an entity: only these are named in queries"));
        }
        self.names.set(node, names, self.language, &mut writer.terms);
        Ok(())
    }

    /// Adds a link, or gives a link that stands another weight. Says whether it is new.
    ///
    /// # Errors
    /// [`Error::UnknownNode`]; [`Error::Invalid`] for a self-link, an unknown relation, a weight out of range.
    pub fn add_link(&mut self, from: u32, to: u32, relation: u32, weight: f64) -> Result<bool> {
        self.check_link(from, to, relation)?;
        if !(weight > 0.0 && weight <= 1.0) || weight as f32 == 0.0 {
            return Err(Error::invalid("weight", weight, "a number above 0, at most 1"));
        }
        let fresh = self.graph.add(from, to, relation, weight as f32)?;
        if fresh && self.tuning.carrying >> relation & 1 == 1 {
            for node in [from, to] {
                self.columns.set_degree(node, self.columns.degree(node) + 1);
            }
        }
        Ok(fresh)
    }

    /// Removes a link. Says whether it stood.
    ///
    /// # Errors
    /// [`Error::UnknownNode`]; [`Error::Invalid`] for a self-link or an unknown relation.
    pub fn remove_link(&mut self, from: u32, to: u32, relation: u32) -> Result<bool> {
        self.check_link(from, to, relation)?;
        let stood = self.graph.remove(from, to, relation);
        if stood && self.tuning.carrying >> relation & 1 == 1 {
            for node in [from, to] {
                self.columns.set_degree(node, self.columns.degree(node).saturating_sub(1));
            }
        }
        Ok(stood)
    }

    fn check_link(&self, from: u32, to: u32, relation: u32) -> Result<()> {
        self.known(from)?;
        self.known(to)?;
        if from == to {
            return Err(Error::invalid(
                "link",
                self.ids.get(from),
                "from one node to another, not to itself",
            ));
        }
        if relation as usize >= RELATIONS {
            let rule = format!("a relation code from 0 to {}", RELATIONS - 1);
            return Err(Error::invalid("relation", relation, rule));
        }
        Ok(())
    }

    /// Changes the store's own constants.
    pub fn set_tuning(&mut self, tuning: Arc<Tuning>) {
        let old = std::mem::replace(&mut self.tuning, tuning);
        if !old.same_strength(&self.tuning) {
            self.restrengthen_all();
        }
        if old.carrying != self.tuning.carrying {
            self.recount_degrees();
        }
    }

    pub(crate) fn recount_degrees(&mut self) {
        let carrying = self.tuning.carrying;
        let degrees: Vec<u32> =
            (0..self.node_count()).map(|node| self.graph.degree(node, carrying)).collect();
        self.columns.set_degrees(&degrees);
    }

    /// Sorts in what the writer left loose; a version is sealed before it is read.
    pub fn seal(&mut self) {
        self.postings.seal();
    }

    /// Documents and rows with recent changes.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.postings.pending().max(self.graph.pending() / 2).max(self.names.pending())
    }

    /// Whether the delta is so large that reads suffer.
    #[must_use]
    pub fn wants_compaction(&self) -> bool {
        self.pending() > COMPACT_MIN.max(self.node_count() as usize / COMPACT_FRACTION)
    }

    /// Folds recent changes into flat arrays. Changes no answer.
    ///
    /// # Errors
    /// [`Error::Capacity`] where an array would outgrow its offsets.
    pub fn compact(&mut self) -> Result<()> {
        self.terms.compact()?;
        self.ids.compact()?;
        self.postings.compact(self.terms.len(), self.node_count())?;
        self.graph.compact(self.node_count());
        self.names.compact();
        self.equal.compact();
        self.content.compact();
        Ok(())
    }

    /// Bytes taken, by part.
    #[must_use]
    pub fn sizes(&self) -> [(&'static str, usize); 7] {
        [
            ("terms", self.terms.size()),
            ("ids", self.ids.size()),
            ("postings", self.postings.size()),
            ("graph", self.graph.size()),
            ("columns", self.columns.size()),
            ("names", self.names.size()),
            ("fingerprints", self.equal.size() + self.content.size()),
        ]
    }
}

/// Sums equal (term, code) pairs and sorts them.
fn tally(found: &mut Vec<(u32, u32, u32)>) {
    found.sort_unstable();
    found.dedup_by(|later, kept| {
        let same = later.0 == kept.0 && later.1 == kept.1;
        if same {
            kept.2 = kept.2.saturating_add(later.2);
        }
        same
    });
}

fn recoded(meta: Meta, change: &Change) -> Result<Meta> {
    let code = |name, value: Option<u32>, limit: u32, old: u32| match value {
        Some(value) if value >= limit => {
            Err(Error::invalid(name, value, format!("a code from 0 to {}", limit - 1)))
        }
        other => Ok(other.unwrap_or(old)),
    };
    Ok(meta
        .with_kind(code("kind", change.kind, KINDS, meta.kind())?)
        .with_importance(code("importance", change.importance, IMPORTANCES as u32, meta.importance())?)
        .with_status(code("status", change.status, STATUSES, meta.status())?)
        .with_category(code("category", change.category, 256, meta.category())?))
}
