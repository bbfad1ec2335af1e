//! A result as columns; what costs time is computed when asked for.

use std::sync::Arc;

use doxa_core::engine::with_scratch;
use doxa_core::recall::{Hits, Request};
use doxa_core::snapshot::Snapshot;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::failure::{detached, guarded};

/// A result in columns, best first, with the version that gave it.
#[pyclass(frozen, module = "doxa._core")]
pub struct RawHits {
    pub snapshot: Arc<Snapshot>,
    pub request: Request,
    pub query: String,
    pub hits: Hits,
}

impl RawHits {
    fn at(&self, index: usize) -> PyResult<u32> {
        self.hits.nodes.get(index).copied().ok_or_else(|| {
            let text = format!("hit {index}: there are {}", self.hits.len());
            pyo3::exceptions::PyIndexError::new_err(text)
        })
    }

    /// How surely the result answers the query.
    pub fn sureness(&self) -> f64 {
        with_scratch(|scratch| {
            self.snapshot.confidence_of(&self.query, &self.hits, &self.request.tuning, scratch)
        })
    }
}

#[pymethods]
impl RawHits {
    fn __len__(&self) -> usize {
        self.hits.len()
    }

    /// The propositions.
    #[getter]
    fn nodes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.hits.nodes)
    }

    /// combined + activation + succession.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.hits.scores)
    }

    /// α relevance + β strength, reduced where superseded; 0 without a lexical hit.
    #[getter]
    fn combined<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.hits.combined)
    }

    /// The part of `combined` that relevance makes.
    #[getter]
    fn relevance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.hits.relevance)
    }

    /// The part of `combined` that strength makes.
    #[getter]
    fn strength<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.hits.strength)
    }

    /// What spread to it.
    #[getter]
    fn activation<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.hits.activation)
    }

    /// Gain from a superseded hit that it replaces.
    #[getter]
    fn succession<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.hits.succession)
    }

    /// 1: superseded; 2: its scope only may apply; 4: lexical hit.
    #[getter]
    fn flags<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        PyArray1::from_slice(py, &self.hits.flags)
    }

    /// The ids, as a list of str.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(
            py,
            self.hits.nodes.iter().map(|&node| PyString::new(py, self.snapshot.id(node).unwrap_or(""))),
        )
    }

    /// Rows in the caller's tables.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        let columns = self.snapshot.columns();
        PyArray1::from_vec(py, self.hits.nodes.iter().map(|&node| columns.cold(node).row).collect())
    }

    /// Entities that the query names.
    #[getter]
    fn named(&self) -> Vec<u32> {
        self.hits.named.clone()
    }

    /// Where activation came from: (node, energy).
    #[getter]
    fn seeds(&self) -> Vec<(u32, f32)> {
        self.hits.sources.clone()
    }

    /// Whether anything relevant is known, 0 to 1.
    #[getter]
    fn confidence(&self, py: Python<'_>) -> PyResult<f64> {
        guarded(py, || Ok(self.sureness()))
    }

    /// The strongest chain of links from a seed to hit `index`: (from, relation, to) in the order of the walk.
    fn path(&self, py: Python<'_>, index: usize) -> PyResult<Vec<(u32, u32, u32)>> {
        let node = self.at(index)?;
        detached(py, || {
            let (tuning, filter) = (&self.request.tuning, &self.request.filter);
            Ok(self.snapshot.path(&self.hits.sources, node, tuning, filter))
        })
    }

    /// The standing heads of a superseded hit's chain.
    fn successor(&self, py: Python<'_>, index: usize) -> PyResult<Vec<u32>> {
        let node = self.at(index)?;
        guarded(py, || Ok(self.snapshot.successors(node)))
    }
}
