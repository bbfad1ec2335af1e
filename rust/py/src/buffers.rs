//! Arrays that cross between Python and the core without a copy.
//!
//! Invariant: memory lent to the core stays alive and unchanged for as long as
//! any version reads it; memory lent to Python is read-only. A Python buffer is
//! let go with the interpreter lock held, never inside the core's own locks:
//! what is dropped elsewhere waits in [`RELEASED`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use doxa_core::flat::Bytes;
use doxa_core::persist::{Array, Item};
use numpy::ndarray::ArrayView1;
use numpy::{Element, PyArray1};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

/// Buffers that the core dropped, to be released by the next call from Python.
static RELEASED: Mutex<Vec<PyUntypedBuffer>> = Mutex::new(Vec::new());

/// Releases what the core dropped meanwhile.
pub fn release_dropped(_attached: Python<'_>) {
    let dropped = std::mem::take(&mut *RELEASED.lock().unwrap_or_else(PoisonError::into_inner));
    drop(dropped);
}

/// A Python buffer lent to the core.
struct Lent {
    buffer: Option<PyUntypedBuffer>,
}

impl Bytes for Lent {
    fn bytes(&self) -> &[u8] {
        match &self.buffer {
            Some(buffer) if buffer.len_bytes() > 0 => {
                // SAFETY: the view is C-contiguous (checked in `lend`), so it is
                // `len_bytes` bytes from `buf_ptr`; it is held until `self` drops.
                // Callers lend memory that nobody writes: a map of a file, or
                // arrays that they give away. This is what spares a copy of
                // half a gigabyte on opening a large store.
                unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), buffer.len_bytes()) }
            }
            _ => &[],
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            RELEASED.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }
}

/// Buffers by name, lent to the core.
pub fn lend(arrays: &Bound<'_, PyMapping>) -> PyResult<HashMap<String, Arc<dyn Bytes>>> {
    let mut out: HashMap<String, Arc<dyn Bytes>> = HashMap::new();
    for item in arrays.items()? {
        let (name, value): (String, Bound<'_, PyAny>) = item.extract()?;
        let buffer = PyUntypedBuffer::get(&value)?;
        if !buffer.is_c_contiguous() {
            let text = format!("array {name:?}: is not contiguous; pass contiguous arrays");
            return Err(pyo3::exceptions::PyBufferError::new_err(text));
        }
        out.insert(name, Arc::new(Lent { buffer: Some(buffer) }));
    }
    Ok(out)
}

/// Keeps core memory alive for NumPy.
#[pyclass(frozen, module = "doxa._core")]
struct Owner {
    bytes: Arc<dyn Bytes>,
}

fn view<'py, T: Element>(
    py: Python<'py>,
    bytes: &Arc<dyn Bytes>,
    cast: impl FnOnce(&dyn Bytes) -> &[T],
) -> PyResult<Bound<'py, PyAny>> {
    let owner = Bound::new(py, Owner { bytes: bytes.clone() })?;
    let items = cast(&*owner.get().bytes);
    let owner = owner.clone().into_any();
    // SAFETY: `owner` holds the memory, which never moves or changes, and is
    // the array's base object; the array is made read-only below.
    let array = unsafe { PyArray1::borrow_from_array(&ArrayView1::from(items), owner) };
    let flags = PyDict::new(py);
    flags.set_item("write", false)?;
    array.call_method("setflags", (), Some(&flags))?;
    Ok(array.into_any())
}

/// Core arrays as read-only NumPy arrays by name.
pub fn show<'py>(py: Python<'py>, arrays: &[Array]) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for array in arrays {
        let value = match array.item {
            Item::U8 => view(py, &array.bytes, Array::as_u8)?,
            Item::U32 => view(py, &array.bytes, Array::as_u32)?,
            Item::U64 => view(py, &array.bytes, Array::as_u64)?,
        };
        out.set_item(array.name, value)?;
    }
    Ok(out)
}
