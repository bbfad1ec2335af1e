//! The engine as a Python object: reads.

use std::sync::{Arc, Mutex, PoisonError};

use doxa_core::codes::PROPOSITION;
use doxa_core::engine::{self, recall_many, with_scratch};
use doxa_core::error::{Error, Result};
use doxa_core::gate::Match;
use doxa_core::limits::NO_TIME;
use doxa_core::recall::{Hits, Request};
use doxa_core::snapshot::Snapshot;
use doxa_core::text::Language;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::buffers;
use crate::failure::{detached, guarded};
use crate::hits::RawHits;
use crate::tuning::{Filter, Tuning};

/// Below this many nodes a read is quicker than giving the interpreter lock away and taking it back.
const DETACH_NODES: u32 = 2000;
/// Text above this many bytes is indexed with the interpreter lock released.
pub const DETACH_TEXT: usize = 4096;

/// A memory graph: forks, writes on a fork, reads.
#[pyclass(frozen, module = "doxa._core")]
pub struct Engine {
    pub inner: Arc<engine::Engine>,
}

/// An optional time in microseconds.
pub fn time(value: i64) -> Option<i64> {
    (value != NO_TIME).then_some(value)
}

fn language(name: &str) -> Result<Language> {
    match name {
        "" => Ok(Language::None),
        "en" => Ok(Language::English),
        other => Err(Error::invalid("language", format!("{other:?}"), "\"en\" or \"\"")),
    }
}

/// The process's own pool: threads do not survive a fork of the process.
fn pool() -> Result<Arc<rayon::ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<rayon::ThreadPool>)>> = Mutex::new(None);
    let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, pool)) = &*kept
        && *owner == process
    {
        return Ok(pool.clone());
    }
    let built = rayon::ThreadPoolBuilder::new().thread_name(|at| format!("doxa-{at}")).build();
    let pool = Arc::new(built.map_err(|problem| Error::invalid("threads", problem, "must be available"))?);
    if let Some((_, orphan)) = kept.take() {
        // Its threads stayed with the parent process; waiting for them would never end.
        std::mem::forget(orphan);
    }
    *kept = Some((process, pool.clone()));
    Ok(pool)
}

fn request(k: usize, now: i64, tuning: &Tuning, filter: &Filter, spread: bool) -> Request {
    Request { k, now, tuning: tuning.inner.clone(), filter: filter.inner.clone(), spread }
}

impl Engine {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.snapshot()
    }
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
    fn load(py: Python<'_>, arrays: &Bound<'_, PyDict>, tuning: &Tuning, language: &str) -> PyResult<Self> {
        buffers::release_dropped(py);
        let lent = buffers::lend(arrays)?;
        let tuning = tuning.inner.clone();
        let loaded = detached(py, move || {
            Snapshot::load(&lent, tuning, self::language(language)?)
        });
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

    /// The best propositions for a query.
    #[pyo3(signature = (query, k, now, tuning, filter, spread=true, min_confidence_of_hits=None))]
    #[allow(clippy::too_many_arguments)]
    fn recall(
        &self,
        py: Python<'_>,
        query: &str,
        k: usize,
        now: i64,
        tuning: &Tuning,
        filter: &Filter,
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
    #[pyo3(signature = (queries, k, now, tuning, filter, spread=true, min_confidence_of_hits=None))]
    #[allow(clippy::too_many_arguments)]
    fn recall_many(
        &self,
        py: Python<'_>,
        queries: Vec<String>,
        k: usize,
        now: i64,
        tuning: &Tuning,
        filter: &Filter,
        spread: bool,
        min_confidence_of_hits: Option<f64>,
    ) -> PyResult<Vec<RawHits>> {
        let snapshot = self.snapshot();
        let request = request(k, now, tuning, filter, spread);
        detached(py, move || {
            let all = recall_many(&snapshot, &queries, &request, &*pool()?);
            let raws = queries.into_iter().zip(all).map(|(query, hits)| {
                let raw = RawHits { snapshot: snapshot.clone(), request: request.clone(), query, hits };
                emptied(raw, min_confidence_of_hits)
            });
            Ok(raws.collect())
        })
    }

    /// What is linked with the given nodes, by activation; the nodes themselves are left out.
    #[pyo3(signature = (nodes, k, now, tuning, filter))]
    fn related(
        &self,
        py: Python<'_>,
        nodes: Vec<u32>,
        k: usize,
        now: i64,
        tuning: &Tuning,
        filter: &Filter,
    ) -> PyResult<RawHits> {
        let snapshot = self.snapshot();
        let request = request(k, now, tuning, filter, true);
        detached(py, move || {
            let mut hits = Hits::default();
            with_scratch(|scratch| snapshot.related(&nodes, &request, scratch, &mut hits))?;
            Ok(RawHits { snapshot, request, query: String::new(), hits })
        })
    }

    /// Strength of every proposition: (nodes, strength, recency, use, base) as arrays.
    #[allow(clippy::type_complexity)]
    fn rescore<'py>(
        &self,
        py: Python<'py>,
        now: i64,
        tuning: &Tuning,
    ) -> PyResult<(
        Bound<'py, PyArray1<u32>>,
        Bound<'py, PyArray1<f32>>,
        Bound<'py, PyArray1<f32>>,
        Bound<'py, PyArray1<f32>>,
        Bound<'py, PyArray1<f32>>,
    )> {
        let snapshot = self.snapshot();
        let tuning = tuning.inner.clone();
        let out = detached(py, move || Ok(snapshot.rescore(now, &tuning)))?;
        Ok((
            PyArray1::from_vec(py, out.nodes),
            PyArray1::from_vec(py, out.strength),
            PyArray1::from_vec(py, out.recency),
            PyArray1::from_vec(py, out.usage),
            PyArray1::from_vec(py, out.base),
        ))
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

    /// Duplicate candidates for "title\nsummary": (node, kind, overlap); kind is "equal", "content" or "overlap".
    #[pyo3(signature = (statement, scopes=None, limit=64))]
    fn candidates(
        &self,
        py: Python<'_>,
        statement: &str,
        scopes: Option<&[u8]>,
        limit: usize,
    ) -> PyResult<Vec<(u32, &'static str, f64)>> {
        let snapshot = self.snapshot();
        guarded(py, || {
            let found = with_scratch(|scratch| snapshot.candidates(statement, scopes, limit, scratch));
            let word = |kind| match kind {
                Match::Equal => "equal",
                Match::Content => "content",
                Match::Overlap => "overlap",
            };
            Ok(found.into_iter().map(|found| (found.node, word(found.kind), found.overlap)).collect())
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
        out.set_item("vocabulary", statistics.vocabulary)?;
        out.set_item("pending", snapshot.pending())?;
        let sizes = PyDict::new(py);
        for (name, size) in snapshot.sizes() {
            sizes.set_item(name, size)?;
        }
        out.set_item("bytes", sizes)?;
        Ok(out)
    }
}
