//! A version as flat arrays, and back without rebuilding.
//!
//! Holds names, types and the order of the persisted arrays. Invariant: what
//! [`Snapshot::load`] accepts can be read without a panic, and answers as the
//! version that was saved. Strengths, degrees and bit sets follow from the
//! arrays and the constants, so they are not saved. Does not know files. Cost:
//! the large arrays are used where they lie; each is read once to be checked.

use std::collections::HashMap;
use std::sync::Arc;

use bytemuck::Pod;

use crate::codes::{IMPORTANCES, KINDS, NODE_TYPES, PROPOSITION, STATUSES};
use crate::columns::{Cold, Columns, Meta};
use crate::dictionary::{Dictionary, Frozen};
use crate::error::{Error, Result};
use crate::flat::{Bytes, Flat};
use crate::graph::Graph;
use crate::limits::MAX_NODES;
use crate::multimap::Multimap;
use crate::names::Names;
use crate::postings::{Base, Postings};
use crate::snapshot::Snapshot;
use crate::text::{Language, PIPELINE_ID};
use crate::tuning::Tuning;

/// Version of the arrays' meaning.
const FORMAT: u64 = 1;

/// Item type of a persisted array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// u8.
    U8,
    /// u32.
    U32,
    /// u64.
    U64,
}

/// A persisted array: its name, its items' type, its bytes (little-endian).
pub struct Array {
    /// Unique name.
    pub name: &'static str,
    /// Type of the items.
    pub item: Item,
    /// The bytes, shared with the version.
    pub bytes: Arc<dyn Bytes>,
}

impl Array {
    /// The items of an array of bytes.
    #[must_use]
    pub fn as_u8(bytes: &dyn Bytes) -> &[u8] {
        bytes.bytes()
    }

    /// The items of an array of `u32`.
    #[must_use]
    pub fn as_u32(bytes: &dyn Bytes) -> &[u32] {
        bytemuck::cast_slice(bytes.bytes())
    }

    /// The items of an array of `u64`.
    #[must_use]
    pub fn as_u64(bytes: &dyn Bytes) -> &[u64] {
        bytemuck::cast_slice(bytes.bytes())
    }
}

impl<T: Pod + Send + Sync> Bytes for Flat<T> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self.items())
    }
}

fn array<T: Pod + Send + Sync>(name: &'static str, item: Item, flat: Flat<T>) -> Array {
    Array { name, item, bytes: Arc::new(flat) }
}

fn language_code(language: Language) -> u64 {
    match language {
        Language::None => 0,
        Language::English => 1,
    }
}

impl Snapshot {
    /// The version as arrays. Compact first: what is not folded in is left out.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the version has recent changes.
    pub fn arrays(&self) -> Result<Vec<Array>> {
        let settled = self.postings.base().offsets.len() == self.terms.len() as usize + 1;
        let names_settled = self.names.pending() + self.equal.pending() + self.content.pending() == 0;
        if self.pending() > 0 || self.terms.pending() + self.ids.pending() > 0 || !names_settled || !settled {
            return Err(Error::invalid("arrays", "a version with recent changes", "compact() first"));
        }
        let header = vec![
            FORMAT,
            language_code(self.language),
            u64::from(self.node_count()),
            u64::from(self.terms.len()),
            self.origin as u64,
        ];
        let meta: Vec<Meta> = self.columns.hot_pages().flatten().map(|hot| hot.meta).collect();
        let cold: Vec<Cold> = self.columns.cold_pages().flatten().copied().collect();
        let (term_bytes, term_offsets, term_slots) = self.terms.arrays();
        let (id_bytes, id_offsets, id_slots) = self.ids.arrays();
        let base = self.postings.base().clone();
        let [(out_offsets, out_edges), (into_offsets, into_edges)] = self.graph.arrays();
        let ((name_keys, name_values), (named_keys, named_values)) = self.names.arrays();
        let (equal_keys, equal_values) = self.equal.arrays();
        let (content_keys, content_values) = self.content.arrays();
        Ok(vec![
            array("header", Item::U64, Flat::from(header)),
            array("pipeline", Item::U8, Flat::from(PIPELINE_ID.as_bytes().to_vec())),
            array("meta", Item::U32, Flat::from(meta)),
            array("cold", Item::U64, Flat::from(cold)),
            array("term_bytes", Item::U8, term_bytes),
            array("term_offsets", Item::U32, term_offsets),
            array("term_slots", Item::U64, term_slots),
            array("id_bytes", Item::U8, id_bytes),
            array("id_offsets", Item::U32, id_offsets),
            array("id_slots", Item::U64, id_slots),
            array("postings_offsets", Item::U64, base.offsets),
            array("postings", Item::U32, base.postings),
            array("forward_offsets", Item::U32, base.forward_offsets),
            array("forward", Item::U8, base.forward),
            array("out_offsets", Item::U32, out_offsets),
            array("out_edges", Item::U32, out_edges),
            array("into_offsets", Item::U32, into_offsets),
            array("into_edges", Item::U32, into_edges),
            array("name_keys", Item::U64, name_keys),
            array("name_values", Item::U32, name_values),
            array("named_keys", Item::U64, named_keys),
            array("named_values", Item::U64, named_values),
            array("equal_keys", Item::U64, equal_keys),
            array("equal_values", Item::U32, equal_values),
            array("content_keys", Item::U64, content_keys),
            array("content_values", Item::U32, content_values),
        ])
    }

    /// A version from arrays as [`Snapshot::arrays`] gave them.
    ///
    /// # Errors
    /// [`Error::Corrupt`] with the array and the rule; [`Error::OtherPipeline`] where the
    /// arrays were made by another text pipeline or for another language.
    pub fn load(
        arrays: &HashMap<String, Arc<dyn Bytes>>,
        tuning: Arc<Tuning>,
        language: Language,
    ) -> Result<Self> {
        let given = Given(arrays);
        let [_, _, nodes, terms, origin] = header(&given, language)?;
        let too_many = nodes > u64::from(MAX_NODES) || terms >= u64::from(u32::MAX);
        if too_many {
            return Err(Error::corrupt("header", "must count nodes and terms within the limits"));
        }
        let (nodes, term_count) = (nodes as u32, terms as u32);
        let columns = columns(&given, nodes)?;
        let terms = given.dictionary("term", term_count)?;
        let ids = given.dictionary("id", nodes)?;
        let base = Base {
            offsets: given.flat("postings_offsets")?,
            postings: given.flat("postings")?,
            forward_offsets: given.flat("forward_offsets")?,
            forward: given.flat("forward")?,
        };
        let postings = Postings::load(base, term_count, nodes)?;
        check_owners(&postings, &columns, nodes)?;
        let graph = Graph::load(
            (given.flat("out_offsets")?, given.flat("out_edges")?),
            (given.flat("into_offsets")?, given.flat("into_edges")?),
            nodes,
        )?;
        let names = Names::load(
            (
                (given.flat("name_keys")?, given.flat("name_values")?),
                (given.flat("named_keys")?, given.flat("named_values")?),
            ),
            nodes,
        )?;
        let mut out = Self::new(tuning, language);
        out.max_uses = columns.cold_pages().flatten().map(|cold| cold.use_count).max().unwrap_or(0);
        (out.terms, out.ids, out.postings, out.graph) = (terms, ids, postings, graph);
        (out.columns, out.names, out.origin) = (columns, names, origin as i64);
        out.equal = given.fingerprints("equal", nodes)?;
        out.content = given.fingerprints("content", nodes)?;
        out.restrengthen_all();
        out.recount_degrees();
        Ok(out)
    }
}

struct Given<'a>(&'a HashMap<String, Arc<dyn Bytes>>);

impl Given<'_> {
    fn flat<T: Pod>(&self, name: &str) -> Result<Flat<T>> {
        let bytes = self.0.get(name).ok_or_else(|| Error::corrupt(name, "is missing"))?;
        Flat::foreign(name, bytes.clone())
    }

    fn dictionary(&self, name: &str, count: u32) -> Result<Dictionary> {
        let base = Frozen::load(
            name,
            self.flat(&format!("{name}_bytes"))?,
            self.flat(&format!("{name}_offsets"))?,
            self.flat(&format!("{name}_slots"))?,
        )?;
        let out = Dictionary::from_frozen(base);
        if out.len() != count {
            return Err(Error::corrupt(format!("{name}_offsets"), format!("must hold {count} strings")));
        }
        Ok(out)
    }

    fn fingerprints(&self, name: &str, nodes: u32) -> Result<Multimap<u32>> {
        let values: Flat<u32> = self.flat(&format!("{name}_values"))?;
        if values.items().iter().any(|&node| node >= nodes) {
            return Err(Error::corrupt(format!("{name}_values"), "must be known nodes"));
        }
        Multimap::load(name, self.flat(&format!("{name}_keys"))?, values)
    }
}

fn header(given: &Given<'_>, language: Language) -> Result<[u64; 5]> {
    let header: Flat<u64> = given.flat("header")?;
    let header: [u64; 5] =
        header.items().try_into().map_err(|_| Error::corrupt("header", "must have 5 items"))?;
    if header[0] != FORMAT {
        return Err(Error::corrupt("header", format!("must be of format {FORMAT}, not {}", header[0])));
    }
    let pipeline: Flat<u8> = given.flat("pipeline")?;
    let found = (pipeline.items(), header[1]);
    if found != (PIPELINE_ID.as_bytes(), language_code(language)) {
        return Err(Error::OtherPipeline {
            found: format!("{} with language {}", String::from_utf8_lossy(found.0), found.1),
            wanted: format!("{PIPELINE_ID} with language {}", language_code(language)),
        });
    }
    Ok(header)
}

fn columns(given: &Given<'_>, nodes: u32) -> Result<Columns> {
    let meta: Flat<Meta> = given.flat("meta")?;
    let cold: Flat<Cold> = given.flat("cold")?;
    if meta.len() != nodes as usize || cold.len() != nodes as usize {
        return Err(Error::corrupt("meta", "must have, like cold, one item per node"));
    }
    let sound = |meta: &Meta| {
        meta.node_type() < NODE_TYPES
            && meta.kind() < KINDS
            && meta.importance() < IMPORTANCES as u32
            && meta.status() < STATUSES
    };
    if !meta.items().iter().all(sound) {
        return Err(Error::corrupt("meta", "must hold known codes"));
    }
    if cold.items().iter().any(|cold| !cold.confidence.is_finite()) {
        return Err(Error::corrupt("cold", "must hold confidences that are numbers"));
    }
    Ok(Columns::from_values(meta.items(), cold.items()))
}

/// Only propositions have text.
fn check_owners(postings: &Postings, columns: &Columns, nodes: u32) -> Result<()> {
    let marks = postings.base().forward_offsets.items();
    let sound = (0..nodes).all(|node| {
        marks[node as usize] == marks[node as usize + 1] || columns.meta(node).node_type() == PROPOSITION
    });
    if sound { Ok(()) } else { Err(Error::corrupt("forward", "must belong to propositions")) }
}
