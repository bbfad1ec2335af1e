//! An append-only list whose versions share their blocks.
//!
//! Holds items in the order of appending. Invariant: block sizes fall
//! geometrically except while one owner appends alone. Knows nothing of the
//! items. Cost: append amortised O(log n), O(1) with one owner; clone O(log n).

use std::sync::Arc;

/// A persistent append-only list.
#[derive(Debug, Clone)]
pub struct Tail<T> {
    blocks: Vec<Arc<Vec<T>>>,
    len: usize,
}

impl<T> Default for Tail<T> {
    fn default() -> Self {
        Self { blocks: Vec::new(), len: 0 }
    }
}

impl<T: Copy> Tail<T> {
    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends one item.
    pub fn push(&mut self, item: T) {
        self.extend(&[item]);
    }

    /// Appends items; they stay together in one block.
    pub fn extend(&mut self, items: &[T]) {
        self.len += items.len();
        if let Some(last) = self.blocks.last_mut().and_then(Arc::get_mut) {
            last.extend_from_slice(items);
            return;
        }
        let mut fresh = items.to_vec();
        while let Some(last) = self.blocks.pop_if(|last| last.len() < 2 * fresh.len()) {
            fresh.splice(0..0, last.iter().copied());
        }
        self.blocks.push(Arc::new(fresh));
    }

    /// The blocks, oldest first.
    pub fn blocks(&self) -> impl Iterator<Item = &[T]> {
        self.blocks.iter().map(|block| block.as_slice())
    }

    /// The items, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        self.blocks().flat_map(|block| block.iter().copied())
    }

    /// The items from `start` to the end of the block that holds it; at most `len`.
    #[must_use]
    pub fn run(&self, mut start: usize, len: usize) -> &[T] {
        for block in self.blocks() {
            if start < block.len() {
                return &block[start..(start + len).min(block.len())];
            }
            start -= block.len();
        }
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_keep_their_items() {
        let mut versions = vec![Tail::default()];
        for i in 0..200 {
            let mut next = versions[i].clone();
            next.extend(&[i, i]);
            assert!(next.blocks().count() <= 12);
            versions.push(next);
        }
        for (n, tail) in versions.iter().enumerate() {
            let wanted: Vec<usize> = (0..n).flat_map(|i| [i, i]).collect();
            assert_eq!(tail.iter().collect::<Vec<_>>(), wanted);
            assert_eq!(tail.len(), 2 * n);
        }
        assert_eq!(versions[200].run(14, 2), &[7, 7]);
    }
}
