//! Python binding of the doxa core. Converts values, releases the interpreter
//! lock around long work and maps errors; holds no logic of its own.

use pyo3::prelude::*;

mod buffers;
mod digest;
mod engine;
mod failure;
mod hits;
mod text;
mod tuning;

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    digest::register(module)?;
    text::register(module)?;
    module.add("PIPELINE_ID", doxa_core::text::PIPELINE_ID)?;
    module.add_class::<engine::Engine>()?;
    module.add_class::<hits::RawHits>()?;
    module.add_class::<tuning::Filter>()?;
    module.add_class::<tuning::Tuning>()?;
    Ok(())
}
