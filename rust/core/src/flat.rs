//! A flat immutable array, in memory of our own or of somebody else's.
//!
//! Holds numbers that never change. Invariant: foreign memory was checked for
//! alignment and size when the array was made, so reading cannot fail. Does not
//! know what the numbers mean. Cost: a clone is one reference count; a slice of
//! foreign memory is one virtual call, so hot loops take it once.

use std::sync::Arc;

use bytemuck::Pod;

use crate::error::{Error, Result};

/// Bytes that live as long as their owner: a mapped file, a buffer of another library.
pub trait Bytes: Send + Sync {
    /// The bytes; the same ones at every call.
    fn bytes(&self) -> &[u8];
}

impl Bytes for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }
}

/// An immutable array of plain numbers.
pub enum Flat<T: Pod> {
    /// In memory of our own.
    Owned(Arc<Vec<T>>),
    /// In foreign memory, aligned for `T` and a whole number of items long.
    Foreign(Arc<dyn Bytes>),
}

impl<T: Pod> Clone for Flat<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Owned(items) => Self::Owned(items.clone()),
            Self::Foreign(bytes) => Self::Foreign(bytes.clone()),
        }
    }
}

impl<T: Pod> Default for Flat<T> {
    fn default() -> Self {
        Self::Owned(Arc::default())
    }
}

impl<T: Pod> From<Vec<T>> for Flat<T> {
    fn from(items: Vec<T>) -> Self {
        Self::Owned(Arc::new(items))
    }
}

impl<T: Pod> Flat<T> {
    /// Wraps foreign bytes without a copy; copies where they are not aligned for `T`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] where the length is not a whole number of items.
    pub fn foreign(name: &str, bytes: Arc<dyn Bytes>) -> Result<Self> {
        let raw = bytes.bytes();
        if !raw.len().is_multiple_of(size_of::<T>()) {
            return Err(Error::corrupt(
                name,
                format!("{} bytes are not a whole number of items of {}", raw.len(), size_of::<T>()),
            ));
        }
        match bytemuck::try_cast_slice::<u8, T>(raw) {
            Ok(_) => Ok(Self::Foreign(bytes)),
            Err(_) => Ok(Self::from(bytemuck::pod_collect_to_vec::<u8, T>(raw))),
        }
    }

    /// The items.
    #[must_use]
    pub fn items(&self) -> &[T] {
        match self {
            Self::Owned(items) => items,
            Self::Foreign(bytes) => bytemuck::cast_slice(bytes.bytes()),
        }
    }

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes taken, wherever they lie.
    #[must_use]
    pub fn size(&self) -> usize {
        std::mem::size_of_val(self.items())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_bytes_of_a_wrong_length_are_refused() {
        let bytes: Arc<dyn Bytes> = Arc::new(vec![0u8; 7]);
        assert!(Flat::<u32>::foreign("x", bytes).is_err());
    }

    #[test]
    fn foreign_bytes_read_as_numbers() {
        let bytes: Arc<dyn Bytes> = Arc::new(vec![1u8, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(Flat::<u32>::foreign("x", bytes).unwrap().items(), &[1, 2]);
    }
}
