//! The engine as a Python object: writes, meant for a fork.

use doxa_core::snapshot::{Change, Text};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::engine::{DETACH_TEXT, Engine};
use crate::failure::{detached, guarded};
use crate::tuning::Tuning;

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

#[pymethods]
impl Engine {
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
        let length = title.len() + summary.len() + body.len() + evidence.iter().map(|t| t.len()).sum::<usize>();
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
}
