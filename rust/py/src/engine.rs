//! The engine as a Python object: forks, writes (meant for a fork), reads.

use std::sync::{Arc, LazyLock};

use doxa_core::codes::PROPOSITION;
use doxa_core::engine::{self, recall_many, with_scratch};
use doxa_core::error::{Error, Result};
use doxa_core::filter;
use doxa_core::gate::Match;
use doxa_core::limits::NO_TIME;
use doxa_core::recall::{Hits, Request};
use doxa_core::similar::Thresholds;
use doxa_core::snapshot::{Change, Snapshot, Text};
use doxa_core::text::Language;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyString};

use crate::buffers;
use crate::failure::{detached, guarded, raise};
use crate::hits::RawHits;
use crate::tuning::{Filter, Tuning};

/// Below this many nodes a read is quicker than giving the interpreter lock away and taking it back.
const DETACH_NODES: u32 = 2000;
/// Text above this many bytes is indexed with the interpreter lock released.
const DETACH_TEXT: usize = 4096;

type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Strengths<'py> =
    (Column<'py, u32>, Column<'py, f32>, Column<'py, f32>, Column<'py, f32>, Column<'py, f32>);
type OwnStrengths<'py> = (Column<'py, u32>, Column<'py, f64>);

/// A memory graph: forks, writes on a fork, reads.
#[pyclass(frozen, module = "doxa._core")]
pub struct Engine {
    pub inner: Arc<engine::Engine>,
}

/// An optional time in microseconds.
fn time(value: i64) -> Option<i64> {
    (value != NO_TIME).then_some(value)
}

pub(crate) fn language(name: &str) -> Result<Language> {
    match name {
        "" => Ok(Language::None),
        "en" => Ok(Language::English),
        other => Err(Error::invalid("language", format!("{other:?}"), "\"en\" or \"\"")),
    }
}

fn request(k: usize, now: i64, tuning: &Tuning, filter: Option<&Filter>, spread: bool) -> Request {
    static PLAIN: LazyLock<Arc<filter::Filter>> = LazyLock::new(Arc::default);
    let filter = filter.map_or_else(|| PLAIN.clone(), |filter| filter.inner.clone());
    Request { k, now, tuning: tuning.inner.clone(), filter, spread }
}

impl Engine {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.snapshot()
    }
}

/// Reads the keywords of `set_columns`; a time given as None is cleared.
fn change(values: &Bound<'_, PyDict>) -> PyResult<Change> {
    let mut out = Change::default();
    for (name, value) in values {
        let name: String = name.extract()?;
        let slot = match name.as_str() {
            "last_used" => Some(&mut out.last_used),
            "recorded_at" => Some(&mut out.recorded_at),
            "valid_from" => Some(&mut out.valid_from),
            "valid_to" => Some(&mut out.valid_to),
            "event_at" => Some(&mut out.event_at),
            "evidence_at" => Some(&mut out.evidence_at),
            _ => None,
        };
        if let Some(time) = slot {
            *time = Some(value.extract::<Option<i64>>()?);
            continue;
        }
        match name.as_str() {
            "kind" => out.kind = value.extract()?,
            "importance" => out.importance = value.extract()?,
            "status" => out.status = value.extract()?,
            "category" => out.category = value.extract()?,
            "scope" => out.scope = value.extract()?,
            "row" => out.row = value.extract()?,
            "use_count" => out.use_count = value.extract()?,
            "confidence" => out.confidence = value.extract()?,
            other => {
                let text = format!("set_columns has no {other:?}; its names are those that columns() gives");
                return Err(pyo3::exceptions::PyTypeError::new_err(text));
            }
        }
    }
    Ok(out)
}

fn emptied(mut raw: RawHits, least: Option<f64>) -> RawHits {
    if least.is_some_and(|least| raw.sureness() < least) {
        raw.hits = Hits { named: raw.hits.named, ..Hits::default() };
    }
    raw
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (tuning, language="en"))]
    fn new(py: Python<'_>, tuning: &Tuning, language: &str) -> PyResult<Self> {
        let language = guarded(py, || self::language(language))?;
        Ok(Self { inner: Arc::new(engine::Engine::new(tuning.inner.clone(), language)) })
    }

    /// An engine from what `arrays()` gave, without rebuilding; the buffers must not change afterwards.
    #[staticmethod]
    #[pyo3(signature = (arrays, tuning, language="en"))]
    fn load(
        py: Python<'_>,
        arrays: &Bound<'_, PyMapping>,
        tuning: &Tuning,
        language: &str,
    ) -> PyResult<Self> {
        buffers::release_dropped(py);
        let lent = buffers::lend(arrays)?;
        let tuning = tuning.inner.clone();
        let loaded = detached(py, move || Snapshot::load(&lent, tuning, self::language(language)?));
        buffers::release_dropped(py);
        Ok(Self { inner: Arc::new(engine::Engine::from_snapshot(loaded?, 0)) })
    }

    /// The published version as read-only arrays; `compact()` first.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let snapshot = self.snapshot();
        let arrays = detached(py, move || snapshot.arrays())?;
        buffers::show(py, &arrays)
    }

    /// An engine of its own that shares everything until either writes.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        buffers::release_dropped(py);
        guarded(py, || Ok(Self { inner: Arc::new(self.inner.fork()) }))
    }

    /// Takes over a fork's version and shows it to readers.
    fn adopt(&self, py: Python<'_>, fork: &Self) -> PyResult<()> {
        buffers::release_dropped(py);
        guarded(py, || {
            self.inner.adopt(&fork.inner);
            Ok(())
        })
    }

    /// How often something was adopted.
    #[getter]
    fn version(&self) -> u64 {
        self.inner.version()
    }

    /// How many nodes there are.
    #[getter]
    fn node_count(&self) -> u32 {
        self.snapshot().node_count()
    }

    /// Documents and rows with recent changes.
    #[getter]
    fn pending(&self) -> usize {
        self.snapshot().pending()
    }

    /// Folds recent changes into flat arrays. Changes no answer.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        let engine = self.inner.clone();
        let done = detached(py, move || engine.compact());
        buffers::release_dropped(py);
        done
    }

    /// Adds a node of a type; nodes are numbered from 0.
    #[pyo3(signature = (id, r#type, row=0))]
    fn add_node(&self, py: Python<'_>, id: &str, r#type: u32, row: u32) -> PyResult<u32> {
        guarded(py, || self.inner.write(|snapshot, _| snapshot.add_node(id, r#type, row)))
    }

    /// Gives a proposition its text, in place of the text that it had.
    #[pyo3(signature = (node, title, summary="", body="", id_text="", date="", evidence=Vec::new()))]
    #[allow(clippy::too_many_arguments)]
    fn set_text(
        &self,
        py: Python<'_>,
        node: u32,
        title: &str,
        summary: &str,
        body: &str,
        id_text: &str,
        date: &str,
        evidence: Vec<String>,
    ) -> PyResult<()> {
        let evidence: Vec<&str> = evidence.iter().map(String::as_str).collect();
        let text = Text { title, summary, body, id: id_text, date, evidence: &evidence };
        let length =
            title.len() + summary.len() + body.len() + evidence.iter().map(|t| t.len()).sum::<usize>();
        let work = || self.inner.write(|snapshot, writer| snapshot.set_text(node, &text, writer));
        if length > DETACH_TEXT { detached(py, work) } else { guarded(py, work) }
    }

    /// Takes a proposition's text out of the index.
    fn clear_text(&self, py: Python<'_>, node: u32) -> PyResult<()> {
        guarded(py, || self.inner.write(|snapshot, _| snapshot.clear_text(node)))
    }

    /// Changes a node's columns; a keyword that is not given leaves its value, None clears a time.
    #[pyo3(signature = (node, **values))]
    fn set_columns(&self, py: Python<'_>, node: u32, values: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let Some(values) = values else { return Ok(()) };
        let change = change(values)?;
        guarded(py, || self.inner.write(|snapshot, _| snapshot.set_columns(node, &change)))
    }

    /// Gives an entity these names in place of those that it had.
    fn set_names(&self, py: Python<'_>, node: u32, names: Vec<String>) -> PyResult<()> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        guarded(py, || self.inner.write(|snapshot, writer| snapshot.set_names(node, &names, writer)))
    }

    /// Adds a link; False where the same link was there, which then has the new weight.
    #[pyo3(signature = (a, b, relation, weight=1.0))]
    fn add_link(&self, py: Python<'_>, a: u32, b: u32, relation: u32, weight: f64) -> PyResult<bool> {
        guarded(py, || self.inner.write(|snapshot, _| snapshot.add_link(a, b, relation, weight)))
    }

    /// Removes a link; False where there was none.
    fn remove_link(&self, py: Python<'_>, a: u32, b: u32, relation: u32) -> PyResult<bool> {
        guarded(py, || self.inner.write(|snapshot, _| snapshot.remove_link(a, b, relation)))
    }

    /// Changes the store's own constants.
    fn set_tuning(&self, py: Python<'_>, tuning: &Tuning) -> PyResult<()> {
        let (engine, tuning) = (self.inner.clone(), tuning.inner.clone());
        detached(py, move || {
            engine.write(|snapshot, _| {
                snapshot.set_tuning(tuning);
                Ok(())
            })
        })
    }

    /// The best propositions for a query.
    #[pyo3(signature = (query, k, now, tuning, filter=None, spread=true, min_confidence_of_hits=None))]
    #[allow(clippy::too_many_arguments)]
    fn recall(
        &self,
        py: Python<'_>,
        query: &str,
        k: usize,
        now: i64,
        tuning: &Tuning,
        filter: Option<&Filter>,
        spread: bool,
        min_confidence_of_hits: Option<f64>,
    ) -> PyResult<RawHits> {
        let snapshot = self.snapshot();
        let request = request(k, now, tuning, filter, spread);
        let large = snapshot.node_count() > DETACH_NODES;
        let work = move || {
            let mut hits = Hits::default();
            with_scratch(|scratch| snapshot.recall(query, &request, scratch, &mut hits));
            let raw = RawHits { snapshot, request, query: query.to_owned(), hits };
            Ok(emptied(raw, min_confidence_of_hits))
        };
        if large { detached(py, work) } else { guarded(py, work) }
    }

    /// Answers many queries on all cores.
    #[pyo3(signature = (queries, k, now, tuning, filter=None, spread=true, min_confidence_of_hits=None))]
    #[allow(clippy::too_many_arguments)]
    fn recall_many(
        &self,
        py: Python<'_>,
        queries: Vec<String>,
        k: usize,
        now: i64,
        tuning: &Tuning,
        filter: Option<&Filter>,
        spread: bool,
        min_confidence_of_hits: Option<f64>,
    ) -> PyResult<Vec<RawHits>> {
        let snapshot = self.snapshot();
        let request = request(k, now, tuning, filter, spread);
        detached(py, move || {
            let all = recall_many(&snapshot, &queries, &request)?;
            let raws = queries.into_iter().zip(all).map(|(query, hits)| {
                let raw = RawHits { snapshot: snapshot.clone(), request: request.clone(), query, hits };
                emptied(raw, min_confidence_of_hits)
            });
            Ok(raws.collect())
        })
    }

    /// What is linked with the given nodes, by activation; the nodes themselves are left out.
    #[pyo3(signature = (nodes, k, now, tuning, filter=None))]
    fn related(
        &self,
        py: Python<'_>,
        nodes: Vec<u32>,
        k: usize,
        now: i64,
        tuning: &Tuning,
        filter: Option<&Filter>,
    ) -> PyResult<RawHits> {
        let snapshot = self.snapshot();
        let request = request(k, now, tuning, filter, true);
        detached(py, move || {
            let mut hits = Hits::default();
            with_scratch(|scratch| snapshot.related(&nodes, &request, scratch, &mut hits))?;
            Ok(RawHits { snapshot, request, query: String::new(), hits })
        })
    }

    /// Strength of every proposition: (nodes, strength, base, recency, frequency) as arrays.
    fn rescore<'py>(&self, py: Python<'py>, now: i64, tuning: &Tuning) -> PyResult<Strengths<'py>> {
        let snapshot = self.snapshot();
        let tuning = tuning.inner.clone();
        let out = detached(py, move || Ok(snapshot.rescore(now, &tuning)))?;
        Ok((
            PyArray1::from_vec(py, out.nodes),
            PyArray1::from_vec(py, out.strength),
            PyArray1::from_vec(py, out.base),
            PyArray1::from_vec(py, out.recency),
            PyArray1::from_vec(py, out.usage),
        ))
    }

    /// Strength of every proposition by the C function `double(double days, int64 uses, int64 importance)`
    /// at `address`: (nodes, strength).
    fn rescore_with<'py>(&self, py: Python<'py>, now: i64, address: usize) -> PyResult<OwnStrengths<'py>> {
        let snapshot = self.snapshot();
        if address == 0 {
            return Err(raise(py, &Error::invalid("address", address, "the address of a function")));
        }
        // SAFETY: the caller passes the address of a function with exactly this
        // signature and keeps it alive for the call; `doxa.Memory.rescore`
        // checks both. It is what lets a compiled curve run without the
        // interpreter.
        let curve = unsafe { std::mem::transmute::<usize, extern "C" fn(f64, i64, i64) -> f64>(address) };
        // A ctypes callback takes the interpreter lock itself, so it must be free.
        let (nodes, strength) = detached(py, move || {
            Ok(snapshot.rescore_with(now, |days, uses, level| curve(days, uses, level)))
        })?;
        Ok((PyArray1::from_vec(py, nodes), PyArray1::from_vec(py, strength)))
    }

    /// The node with this id.
    fn node(&self, id: &str) -> Option<u32> {
        self.snapshot().node(id)
    }

    /// The id of a node.
    fn id(&self, py: Python<'_>, node: u32) -> PyResult<String> {
        let snapshot = self.snapshot();
        guarded(py, || Ok(snapshot.id(node)?.to_owned()))
    }

    /// The ids of nodes.
    fn ids<'py>(&self, py: Python<'py>, nodes: Vec<u32>) -> PyResult<Bound<'py, PyList>> {
        let snapshot = self.snapshot();
        guarded(py, || nodes.iter().try_for_each(|&node| snapshot.known(node)))?;
        PyList::new(py, nodes.iter().map(|&node| PyString::new(py, snapshot.id(node).unwrap_or(""))))
    }

    /// The row of a node in the caller's tables.
    fn row(&self, py: Python<'_>, node: u32) -> PyResult<u32> {
        let snapshot = self.snapshot();
        guarded(py, || snapshot.known(node).map(|()| snapshot.columns().cold(node).row))
    }

    /// The type code of a node.
    fn node_type(&self, py: Python<'_>, node: u32) -> PyResult<u32> {
        let snapshot = self.snapshot();
        guarded(py, || snapshot.known(node).map(|()| snapshot.columns().meta(node).node_type()))
    }

    /// The weight of a link, None where there is none.
    fn link_weight(&self, py: Python<'_>, a: u32, b: u32, relation: u32) -> PyResult<Option<f32>> {
        let snapshot = self.snapshot();
        guarded(py, || {
            snapshot.known(a)?;
            snapshot.known(b)?;
            Ok(snapshot.graph().weight(a, b, relation))
        })
    }

    /// All columns of a node.
    fn columns<'py>(&self, py: Python<'py>, node: u32) -> PyResult<Bound<'py, PyDict>> {
        let snapshot = self.snapshot();
        guarded(py, || snapshot.known(node))?;
        let (meta, cold) = (snapshot.columns().meta(node), snapshot.columns().cold(node));
        let out = PyDict::new(py);
        out.set_item("type", meta.node_type())?;
        out.set_item("kind", meta.kind())?;
        out.set_item("importance", meta.importance())?;
        out.set_item("status", meta.status())?;
        out.set_item("category", meta.category())?;
        out.set_item("scope", cold.scope)?;
        out.set_item("row", cold.row)?;
        out.set_item("use_count", cold.use_count)?;
        out.set_item("confidence", cold.confidence)?;
        for (name, value) in [
            ("last_used", cold.last_used),
            ("recorded_at", cold.recorded_at),
            ("valid_from", cold.valid_from),
            ("valid_to", cold.valid_to),
            ("event_at", cold.event_at),
            ("evidence_at", cold.evidence_at),
        ] {
            out.set_item(name, time(value))?;
        }
        out.set_item("has_text", snapshot.postings().record(node).is_some())?;
        out.set_item("is_proposition", meta.node_type() == PROPOSITION)?;
        Ok(out)
    }

    /// Links that touch a node, in their true direction: (from, to, relation, weight).
    fn links(&self, py: Python<'_>, node: u32) -> PyResult<Vec<(u32, u32, u32, f32)>> {
        let snapshot = self.snapshot();
        guarded(py, || snapshot.links(node))
    }

    /// Links that touch a node and carry energy.
    fn degree(&self, py: Python<'_>, node: u32) -> PyResult<u32> {
        let snapshot = self.snapshot();
        guarded(py, || snapshot.known(node).map(|()| snapshot.columns().degree(node)))
    }

    /// Entities whose whole name stands in a text.
    fn names_in(&self, py: Python<'_>, text: &str) -> PyResult<Vec<u32>> {
        let snapshot = self.snapshot();
        guarded(py, || Ok(with_scratch(|scratch| snapshot.names_in(text, scratch))))
    }

    /// Duplicate candidates for "title\nsummary": (node, certain, overlap). All that are equal or have the
    /// same content words (certain), then the best by rare terms with an upper bound of their overlap.
    #[pyo3(signature = (statement, scopes=None, limit=64))]
    fn candidates(
        &self,
        py: Python<'_>,
        statement: &str,
        scopes: Option<&[u8]>,
        limit: usize,
    ) -> PyResult<Vec<(u32, bool, f64)>> {
        let snapshot = self.snapshot();
        guarded(py, || {
            let found = with_scratch(|scratch| snapshot.candidates(statement, scopes, limit, scratch));
            Ok(found
                .into_iter()
                .map(|found| (found.node, found.kind != Match::Overlap, found.overlap))
                .collect())
        })
    }

    /// Compares a statement with others as the duplicate gate does, terms weighted by their rarity here:
    /// (verdict, similarity, reason) for each.
    fn compare(
        &self,
        py: Python<'_>,
        statement: &str,
        others: Vec<String>,
        same_threshold: f64,
        abstain_threshold: f64,
        abstain_threshold_cjk: f64,
    ) -> PyResult<Vec<(&'static str, f64, &'static str)>> {
        let snapshot = self.snapshot();
        let thresholds = Thresholds {
            same: same_threshold,
            abstain: abstain_threshold,
            abstain_cjk: abstain_threshold_cjk,
        };
        guarded(py, || {
            let found = snapshot.compare(statement, &others, &thresholds);
            Ok(found.into_iter().map(|(verdict, how, why)| (verdict.name(), how, why)).collect())
        })
    }

    /// Counts and sizes in bytes.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let snapshot = self.snapshot();
        let statistics = *snapshot.postings().statistics();
        let out = PyDict::new(py);
        out.set_item("nodes", snapshot.node_count())?;
        out.set_item("links", snapshot.link_count())?;
        out.set_item("documents", statistics.documents)?;
        out.set_item("terms", statistics.vocabulary)?;
        out.set_item("pending", snapshot.pending())?;
        let sizes = PyDict::new(py);
        for (name, size) in snapshot.sizes() {
            sizes.set_item(name, size)?;
        }
        out.set_item("bytes", sizes)?;
        Ok(out)
    }
}
