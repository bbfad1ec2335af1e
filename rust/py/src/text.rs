//! Terms, normal forms, similarity, and the comparison of the duplicate gate.

use doxa_core::error::Error;
use doxa_core::similar::{self, Thresholds};
use doxa_core::text::{self, Terms};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::engine::language as language_named;
use crate::failure::{detached, guarded, raise};

/// From this many bytes on a text is worth giving the interpreter lock away.
const DETACH_BYTES: usize = 4096;

/// The text of a Python string; what is no Unicode text is refused by name.
fn read<'a>(py: Python<'_>, name: &'static str, value: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    value.to_str().map_err(|_| {
        let shown = value.repr().map(|shown| shown.to_string()).unwrap_or_default();
        let rule = "text in Unicode, without lone surrogates; decode it with errors=\"replace\" first";
        raise(py, &Error::invalid(name, shown.chars().take(80).collect::<String>(), rule))
    })
}

fn run<T: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    if bytes < DETACH_BYTES { guarded(py, || Ok(work())) } else { detached(py, || Ok(work())) }
}

/// Return the primary terms of a text in order: what an index holds and a query asks for.
///
/// Parameters
/// ----------
/// text : str
///     Any text, in any language.
/// language : {"en", ""}
///     The language of the store. It decides about stems only, which are not primary: the
///     terms returned are the same.
///
/// Returns
/// -------
/// list of str
///     Words, character bigrams of scripts without spaces, identifiers whole and in parts,
///     emoji, numbers.
///
/// Raises
/// ------
/// InvalidValue
///     For a lone surrogate or an unknown language.
///
/// Examples
/// --------
/// >>> import doxa
/// >>> doxa.terms("Runs on v2.1, 北京")
/// ['runs', 'on', 'v2.1', 'v2', '2.1', '北京']
#[pyfunction]
#[pyo3(signature = (text, language="en"))]
fn terms(py: Python<'_>, text: &Bound<'_, PyString>, language: &str) -> PyResult<Vec<String>> {
    let text = read(py, "text", text)?;
    let language = language_named(language).map_err(|error| raise(py, &error))?;
    run(py, text.len(), || {
        let mut terms = Terms::new();
        terms.analyze(text, language);
        terms.primary().map(str::to_owned).collect()
    })
}

/// Return the form that two texts share when they are equal but for dress.
///
/// Case, width, white space and the punctuation of prose are folded; punctuation that
/// carries meaning stays (``C++``, ``-5``, ``v2.1``, ``!=``). Idempotent.
///
/// Parameters
/// ----------
/// text : str
///     Any text.
///
/// Returns
/// -------
/// str
///     The normal form.
///
/// Raises
/// ------
/// InvalidValue
///     For a lone surrogate.
///
/// Examples
/// --------
/// >>> import doxa
/// >>> doxa.normalize("Use  C++, “now”!")
/// 'use c++ now'
/// >>> doxa.normalize("使用 Python 开发。") == doxa.normalize("使用Python开发")
/// True
#[pyfunction]
fn normalize(py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<String> {
    let text = read(py, "text", text)?;
    run(py, text.len(), || text::normalize(text))
}

/// Return the Jaccard similarity of the term bigrams of two texts, in [0, 1].
///
/// Parameters
/// ----------
/// a, b : str
///     Any texts. A text of one term has that term for a bigram.
///
/// Returns
/// -------
/// float
///     Bigrams in common by bigrams in all, both as sets.
///
/// Raises
/// ------
/// InvalidValue
///     For a lone surrogate.
///
/// Examples
/// --------
/// >>> import doxa
/// >>> round(doxa.similarity("red green blue", "red green grey"), 3)
/// 0.333
#[pyfunction]
fn similarity(py: Python<'_>, a: &Bound<'_, PyString>, b: &Bound<'_, PyString>) -> PyResult<f64> {
    let (a, b) = (read(py, "a", a)?, read(py, "b", b)?);
    run(py, a.len() + b.len(), || similar::bigram_similarity(a, b))
}

/// Compare two statements as the duplicate gate does.
///
/// Parameters
/// ----------
/// a, b : str
///     Two statements.
/// same_threshold : float
///     Least agreement of order for *same*, in [0, 1].
/// abstain_threshold, abstain_threshold_cjk : float
///     Least similarity for *abstain*, in [0, 1]; the second where most of either text is CJK.
///
/// Returns
/// -------
/// tuple of (str, float, str)
///     The verdict (``"equal"``, ``"same"``, ``"abstain"``, ``"different"``), the similarity
///     that it rests on, and the reason.
///
/// Raises
/// ------
/// InvalidValue
///     For a lone surrogate, or a threshold outside [0, 1].
///
/// Examples
/// --------
/// >>> from doxa import _core
/// >>> _core.compare("The port is 8080.", "the port is 8080")
/// ('equal', 1.0, 'equal after normalisation')
/// >>> _core.compare("The port is 8080", "The port is 8081")
/// ('abstain', 0.75, 'a number differs')
#[pyfunction]
#[pyo3(signature = (a, b, same_threshold=0.85, abstain_threshold=0.4, abstain_threshold_cjk=0.3))]
fn compare(
    py: Python<'_>,
    a: &Bound<'_, PyString>,
    b: &Bound<'_, PyString>,
    same_threshold: f64,
    abstain_threshold: f64,
    abstain_threshold_cjk: f64,
) -> PyResult<(&'static str, f64, &'static str)> {
    for (name, value) in [
        ("same_threshold", same_threshold),
        ("abstain_threshold", abstain_threshold),
        ("abstain_threshold_cjk", abstain_threshold_cjk),
    ] {
        if !(0.0..=1.0).contains(&value) {
            return Err(raise(py, &Error::invalid(name, value, "a number in [0, 1]")));
        }
    }
    let (a, b) = (read(py, "a", a)?, read(py, "b", b)?);
    let thresholds =
        Thresholds { same: same_threshold, abstain: abstain_threshold, abstain_cjk: abstain_threshold_cjk };
    let (verdict, similarity, reason) = run(py, a.len() + b.len(), || similar::compare(a, b, &thresholds))?;
    Ok((verdict.name(), similarity, reason))
}

/// Adds this module's functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(terms, module)?)?;
    module.add_function(wrap_pyfunction!(normalize, module)?)?;
    module.add_function(wrap_pyfunction!(similarity, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)
}
