//! From core errors and panics to Python exceptions.
//!
//! Holds the table of classes. Invariant: no panic leaves as pyo3's
//! `PanicException`, which `except Exception` would not catch.

use std::panic::{AssertUnwindSafe, catch_unwind};

use doxa_core::error::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The Python exception for a core error.
pub fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let details = PyDict::new(py);
    let put = |name: &str, value: Bound<'_, PyAny>| details.set_item(name, value);
    let class = match error {
        Error::Invalid { name, value, rule } => {
            return build(py, "InvalidValue", error, |class| {
                details.set_item("field", name)?;
                details.set_item("value", value)?;
                details.set_item("rule", rule)?;
                class
                    .call((error.to_string(),), Some(&details))
                    .or_else(|_| class.call1((error.to_string(),)))
            });
        }
        Error::UnknownNode { node, .. } => {
            let _ = node.into_pyobject(py).map(|node| put("node", node.into_any()));
            "NotFound"
        }
        Error::DuplicateId { .. } => "AlreadyExists",
        Error::Capacity { .. } => "StoreFull",
        Error::Corrupt { .. } | Error::OtherPipeline { .. } => "StoreCorrupt",
    };
    build(py, class, error, |class| class.call((error.to_string(),), Some(&details)))
}

fn build<'py>(
    py: Python<'py>,
    name: &str,
    error: &Error,
    make: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> PyErr {
    let made =
        py.import("doxa.errors").and_then(|errors| errors.getattr(name)).and_then(|class| make(&class));
    match made {
        Ok(value) => PyErr::from_value(value),
        Err(problem) => {
            let text = format!("{error} (and its class doxa.errors.{name} could not be made: {problem})");
            pyo3::exceptions::PyRuntimeError::new_err(text)
        }
    }
}

/// Runs core code; its errors and panics become exceptions.
pub fn guarded<T>(py: Python<'_>, work: impl FnOnce() -> Result<T>) -> PyResult<T> {
    settle(py, catch_unwind(AssertUnwindSafe(work)))
}

/// The same with the interpreter lock released, for work of more than about 50 µs.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let outcome = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    settle(py, outcome)
}

fn settle<T>(py: Python<'_>, outcome: std::thread::Result<Result<T>>) -> PyResult<T> {
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(raise(py, &error)),
        Err(payload) => {
            let text = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            let text = format!("a fault of doxa itself: {text}; please report it");
            let made = py
                .import("doxa.errors")
                .and_then(|errors| errors.getattr("InternalError"))
                .and_then(|class| class.call1((text.clone(),)));
            Err(made.map_or_else(|_| pyo3::exceptions::PyRuntimeError::new_err(text), PyErr::from_value))
        }
    }
}
