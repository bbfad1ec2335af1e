//! One value per node and numeric field.
//!
//! Holds what recall reads of a node beside text and links: `hot` (strength
//! pair and packed codes), `cold` (times and the rest, one cache line),
//! `degree`, and bit sets derived from them. Invariant: `special` holds exactly
//! the nodes that are not plain propositions in force (superseded, barred by
//! default, or no proposition), so the spread looks further only there. Does
//! not know the formula of strength. Cost: 80 bytes per node.

use bytemuck::{Pod, Zeroable};

use crate::codes::{ACTIVE, CLOSED, PENDING, PROPOSITION};
use crate::cow::{Bits, Cow};
use crate::limits::NO_TIME;

/// Type, kind, importance, status and category of a node in one word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Meta(pub u32);

macro_rules! part {
    ($(#[$doc:meta])* $get:ident, $with:ident, $shift:literal, $bits:literal) => {
        $(#[$doc])*
        #[inline]
        #[must_use]
        pub fn $get(self) -> u32 {
            self.0 >> $shift & ((1 << $bits) - 1)
        }

        /// The same with another value of this part.
        #[must_use]
        pub fn $with(self, value: u32) -> Self {
            let mask = ((1 << $bits) - 1) << $shift;
            Self(self.0 & !mask | value << $shift & mask)
        }
    };
}

impl Meta {
    part!(
        /// Node type.
        node_type, with_node_type, 0, 4);
    part!(
        /// Kind of a proposition.
        kind, with_kind, 4, 2);
    part!(
        /// Importance.
        importance, with_importance, 6, 2);
    part!(
        /// Status.
        status, with_status, 8, 3);
    part!(
        /// Lifecycle category.
        category, with_category, 16, 8);
}

/// What the hot paths read of a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Hot {
    /// base(imp) + w_u ln(1 + uc).
    pub fixed: f32,
    /// w_t exp((last_used - t0) / hl).
    pub recency: f32,
    /// The packed codes.
    pub meta: Meta,
}

/// The rest of a node, one cache line.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Cold {
    /// Last real use, else when it was recorded (microseconds UTC, like all times here).
    pub last_used: i64,
    /// When it was recorded.
    pub recorded_at: i64,
    /// From when it is true in the world.
    pub valid_from: i64,
    /// Until when, exclusive.
    pub valid_to: i64,
    /// When what it speaks of happens.
    pub event_at: i64,
    /// When evidence last changed its confidence.
    pub evidence_at: i64,
    /// Number of real uses.
    pub use_count: u32,
    /// Scope code.
    pub scope: u32,
    /// Row in the caller's tables.
    pub row: u32,
    /// Confidence as stored, unfaded.
    pub confidence: f32,
}

impl Default for Cold {
    fn default() -> Self {
        Self {
            last_used: NO_TIME,
            recorded_at: NO_TIME,
            valid_from: NO_TIME,
            valid_to: NO_TIME,
            event_at: NO_TIME,
            evidence_at: NO_TIME,
            use_count: 0,
            scope: 0,
            row: 0,
            confidence: 0.0,
        }
    }
}

/// The columns of all nodes.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    hot: Cow<Hot, 10>,
    cold: Cow<Cold, 8>,
    degree: Cow<u32, 11>,
    special: Bits,
    relays: usize,
}

impl Columns {
    /// Columns of persisted values; strengths and degrees are still to be set.
    pub(crate) fn from_values(meta: &[Meta], cold: &[Cold]) -> Self {
        let hot: Vec<Hot> = meta.iter().map(|&meta| Hot { meta, ..Hot::default() }).collect();
        let mut out = Self { hot: Cow::from_values(&hot), cold: Cow::from_values(cold), ..Self::default() };
        for (node, &meta) in meta.iter().enumerate() {
            out.mark(node as u32, meta);
            out.relays += usize::from(meta.node_type() != PROPOSITION);
        }
        out
    }

    /// Appends a node.
    pub fn add(&mut self, node_type: u32, row: u32) -> u32 {
        let node = self.len();
        let meta = Meta::default().with_node_type(node_type);
        self.hot.push(Hot { meta, ..Hot::default() });
        self.cold.push(Cold { row, ..Cold::default() });
        self.mark(node, meta);
        self.relays += usize::from(node_type != PROPOSITION);
        node
    }

    /// How many nodes there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.hot.len() as u32
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hot.is_empty()
    }

    /// How many nodes are no propositions.
    #[must_use]
    pub fn relays(&self) -> usize {
        self.relays
    }

    /// The hot part of a node.
    #[inline]
    #[must_use]
    pub fn hot(&self, node: u32) -> Hot {
        self.hot.get(node as usize)
    }

    /// Asks for the hot part of a node ahead of time.
    #[inline]
    pub fn fetch_hot(&self, node: u32) {
        self.hot.fetch(node as usize);
    }

    /// Asks for the degree of a node ahead of time.
    #[inline]
    pub fn fetch_degree(&self, node: u32) {
        self.degree.fetch(node as usize);
    }

    /// All hot parts in order.
    pub fn hot_pages(&self) -> impl Iterator<Item = &[Hot]> {
        self.hot.pages()
    }

    /// The packed codes of a node.
    #[inline]
    #[must_use]
    pub fn meta(&self, node: u32) -> Meta {
        self.hot(node).meta
    }

    /// The cold part of a node.
    #[must_use]
    pub fn cold(&self, node: u32) -> Cold {
        self.cold.get(node as usize)
    }

    /// All cold parts in order.
    pub fn cold_pages(&self) -> impl Iterator<Item = &[Cold]> {
        self.cold.pages()
    }

    /// Links that touch a node and carry energy under the store's own constants.
    #[inline]
    #[must_use]
    pub fn degree(&self, node: u32) -> u32 {
        self.degree.get(node as usize)
    }

    /// Whether the spread must look at a node's codes.
    #[inline]
    #[must_use]
    pub fn is_special(&self, node: u32) -> bool {
        self.special.has(node)
    }

    /// Whether any node is special.
    #[must_use]
    pub fn any_special(&self) -> bool {
        self.special.count() > 0
    }

    /// Changes the degree of a node.
    pub fn set_degree(&mut self, node: u32, degree: u32) {
        self.degree.set(node as usize, degree);
    }

    /// Replaces all degrees.
    pub fn set_degrees(&mut self, degrees: &[u32]) {
        self.degree = Cow::from_values(degrees);
    }

    /// Changes the packed codes.
    pub fn set_meta(&mut self, node: u32, meta: Meta) {
        if self.meta(node) != meta {
            self.hot.at(node as usize).meta = meta;
            self.mark(node, meta);
        }
    }

    /// Changes the strength pair.
    pub fn set_strength(&mut self, node: u32, fixed: f32, recency: f32) {
        let hot = self.hot.at(node as usize);
        (hot.fixed, hot.recency) = (fixed, recency);
    }

    /// Changes the cold part.
    pub fn edit_cold(&mut self, node: u32, edit: impl FnOnce(&mut Cold)) {
        edit(self.cold.at(node as usize));
    }

    fn mark(&mut self, node: u32, meta: Meta) {
        let in_force = 1 << ACTIVE | 1 << PENDING | 1 << CLOSED;
        let plain = meta.node_type() == PROPOSITION && in_force >> meta.status() & 1 == 1;
        self.special.set(node, !plain);
    }

    /// Bytes taken.
    #[must_use]
    pub fn size(&self) -> usize {
        self.hot.size() + self.cold.size() + self.degree.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::{ENTITY, RETIRED};

    #[test]
    fn parts_of_the_meta_word_do_not_touch_each_other() {
        let meta = Meta::default()
            .with_node_type(3)
            .with_kind(2)
            .with_importance(3)
            .with_status(6)
            .with_category(255)
            .with_kind(1);
        assert_eq!(
            (meta.node_type(), meta.kind(), meta.importance(), meta.status(), meta.category()),
            (3, 1, 3, 6, 255)
        );
    }

    #[test]
    fn special_nodes_are_those_that_are_not_plain_propositions_in_force() {
        let mut columns = Columns::default();
        columns.add(PROPOSITION, 0);
        columns.add(ENTITY, 1);
        assert!(!columns.is_special(0) && columns.is_special(1));
        columns.set_meta(0, columns.meta(0).with_status(RETIRED));
        assert!(columns.is_special(0));
        assert_eq!((columns.relays(), columns.len()), (1, 2));
    }
}
