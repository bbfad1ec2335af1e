//! Digests of byte strings and buffers.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// BLAKE3 digest (32 bytes) of any contiguous buffer, keyed when `key` (32 bytes) is given.
#[pyfunction]
#[pyo3(signature = (data, key=None))]
fn digest<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    key: Option<[u8; 32]>,
) -> PyResult<Bound<'py, PyBytes>> {
    let hash = if let Ok(bytes) = data.cast::<PyBytes>() {
        let slice = bytes.as_bytes();
        if slice.len() < DETACH_BYTES {
            doxa_core::digest::digest(&[slice], key.as_ref())
        } else {
            py.detach(|| doxa_core::digest::digest(&[slice], key.as_ref()))
        }
    } else {
        let buffer = PyBuffer::<u8>::get(data)?;
        if !buffer.is_c_contiguous() {
            return Err(pyo3::exceptions::PyBufferError::new_err(
                "digest: the buffer is not contiguous; pass bytes or a contiguous memoryview",
            ));
        }
        let slice: &[u8] = if buffer.len_bytes() == 0 {
            &[]
        } else {
            // SAFETY: the buffer is contiguous, not empty, and held for the whole call; callers
            // never change bytes that they verify.
            unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), buffer.len_bytes()) }
        };
        py.detach(|| doxa_core::digest::digest(&[slice], key.as_ref()))
    };
    Ok(PyBytes::new(py, &hash))
}

/// Below this size hashing is quicker than giving the interpreter lock away.
const DETACH_BYTES: usize = 64 * 1024;

/// Adds this module's functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(digest, module)?)
}
