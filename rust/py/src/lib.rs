//! Python binding of the doxa core. Converts values, releases the interpreter
//! lock around long work and maps errors; holds no logic of its own.

use pyo3::prelude::*;

mod digest;

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    digest::register(module)
}
