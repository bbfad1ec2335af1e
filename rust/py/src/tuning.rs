//! Compiled constants and filters as Python objects.

use std::sync::Arc;

use doxa_core::error::Error;
use doxa_core::filter;
use doxa_core::tuning::{self, Constants, Damp, Direction, Relevance};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::{guarded, raise};

/// Compiled constants of the formulas; see `doxa.Params`.
#[pyclass(frozen, module = "doxa._core")]
pub struct Tuning {
    pub inner: Arc<tuning::Tuning>,
}

fn choice<T: Copy>(name: &'static str, given: &str, choices: &[(&str, T)]) -> Result<T, Error> {
    choices.iter().find(|(word, _)| *word == given).map(|&(_, value)| value).ok_or_else(|| {
        let words: Vec<String> = choices.iter().map(|(word, _)| format!("{word:?}")).collect();
        Error::invalid(name, format!("{given:?}"), format!("one of {}", words.join(", ")))
    })
}

fn set(py: Python<'_>, to: &mut Constants, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let fail = |error: Error| raise(py, &error);
    match name {
        "alpha" => to.alpha = value.extract()?,
        "beta" => to.beta = value.extract()?,
        "rho" => to.rho = value.extract()?,
        "w_title" => to.w_title = value.extract()?,
        "w_summary" => to.w_summary = value.extract()?,
        "w_body" => to.w_body = value.extract()?,
        "base" => to.base = value.extract()?,
        "half_life" => to.half_life = value.extract()?,
        "w_t" => to.w_t = value.extract()?,
        "w_u" => to.w_u = value.extract()?,
        "hops" => to.hops = value.extract()?,
        "lam" => to.lam = value.extract()?,
        "theta" => to.theta = value.extract()?,
        "max_seeds" => to.max_seeds = value.extract()?,
        "seed_power" => to.seed_power = value.extract()?,
        "damp_allowance" => to.damp_allowance = value.extract()?,
        "conductance" => to.conductance = value.extract()?,
        "lift_successor" => to.lift_successor = value.extract()?,
        "k1" => to.k1 = value.extract()?,
        "b" => to.b = value.extract()?,
        "damp" => {
            let choices = [("sender", Damp::Sender), ("receiver", Damp::Receiver)];
            to.damp = choice("damp", value.extract()?, &choices).map_err(fail)?;
        }
        "direction" => {
            let choices = [("out", Direction::Out), ("both", Direction::Both)];
            to.direction = choice("direction", value.extract()?, &choices).map_err(fail)?;
        }
        "relevance" => {
            let choices = [("count", Relevance::Count), ("bm25", Relevance::Bm25)];
            to.relevance = choice("relevance", value.extract()?, &choices).map_err(fail)?;
        }
        other => {
            let text = format!("Tuning has no {other:?}; its names are those of doxa.Params");
            return Err(pyo3::exceptions::PyTypeError::new_err(text));
        }
    }
    Ok(())
}

#[pymethods]
impl Tuning {
    #[new]
    #[pyo3(signature = (**constants))]
    fn new(py: Python<'_>, constants: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut given = Constants::default();
        if let Some(constants) = constants {
            for (name, value) in constants {
                set(py, &mut given, name.extract()?, &value)?;
            }
        }
        let inner = guarded(py, || tuning::Tuning::new(given))?;
        Ok(Self { inner: Arc::new(inner) })
    }
}

/// What a call returns, and what bars energy.
#[pyclass(frozen, module = "doxa._core")]
pub struct Filter {
    pub inner: Arc<filter::Filter>,
}

#[pymethods]
impl Filter {
    #[new]
    #[pyo3(signature = (*, statuses=None, kinds=None, categories=None, scopes=None, valid_at=None, min_confidence=None, only=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        statuses: Option<u32>,
        kinds: Option<u32>,
        categories: Option<&Bound<'_, PyAny>>,
        scopes: Option<&[u8]>,
        valid_at: Option<i64>,
        min_confidence: Option<f64>,
        only: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let mut out = filter::Filter::default();
        if let Some(mask) = statuses {
            out = out.statuses(mask);
        }
        if let Some(mask) = kinds {
            out = out.kinds(mask);
        }
        if let Some(mask) = categories {
            let bytes: Vec<u8> = mask.call_method1("to_bytes", (32, "little"))?.extract()?;
            let mut words = [0u64; 4];
            for (at, byte) in bytes.iter().enumerate().take(32) {
                words[at / 8] |= u64::from(*byte) << (8 * (at % 8));
            }
            out = out.categories(words);
        }
        if let Some(verdicts) = scopes {
            out = out.scopes(verdicts.to_vec());
        }
        if let Some(time) = valid_at {
            out = out.valid_at(time);
        }
        if let Some(least) = min_confidence {
            out = guarded(py, || out.min_confidence(least))?;
        }
        if let Some(nodes) = only {
            out = out.only(nodes);
        }
        Ok(Self { inner: Arc::new(out) })
    }
}
