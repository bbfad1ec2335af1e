//! Fingerprint → values, as sorted arrays and recent changes.
//!
//! Holds sets of values by 64-bit key. Invariant: the values of a key are
//! sorted and distinct; a key with recent changes is read from the delta alone.
//! Does not know what a key was made of. Cost: a look-up is a binary search; a
//! change copies the values of its key.

use std::sync::Arc;

use bytemuck::Pod;

use crate::dictionary::Map;
use crate::error::{Error, Result};
use crate::flat::Flat;

/// A persistent set-valued map.
#[derive(Clone)]
pub struct Multimap<V: Pod> {
    keys: Flat<u64>,
    values: Flat<V>,
    fresh: Map<u64, Arc<Vec<V>>>,
}

impl<V: Pod> Default for Multimap<V> {
    fn default() -> Self {
        Self { keys: Flat::default(), values: Flat::default(), fresh: Map::default() }
    }
}

impl<V: Pod + Ord> Multimap<V> {
    /// A map of persisted arrays, checked.
    ///
    /// # Errors
    /// [`Error::Corrupt`] where keys fall or lengths differ.
    pub fn load(name: &str, keys: Flat<u64>, values: Flat<V>) -> Result<Self> {
        if keys.len() != values.len() {
            return Err(Error::corrupt(format!("{name}_values"), "must be as long as the keys"));
        }
        if !keys.items().is_sorted() {
            return Err(Error::corrupt(format!("{name}_keys"), "must not fall"));
        }
        Ok(Self { keys, values, fresh: Map::default() })
    }

    fn base(&self, key: u64) -> &[V] {
        let keys = self.keys.items();
        let start = keys.partition_point(|&k| k < key);
        let len = keys[start..].iter().take_while(|&&k| k == key).count();
        self.values.items().get(start..start + len).unwrap_or(&[])
    }

    /// The values of a key, sorted.
    #[must_use]
    pub fn get(&self, key: u64) -> &[V] {
        if !self.fresh.is_empty()
            && let Some(values) = self.fresh.get(&key)
        {
            return values;
        }
        self.base(key)
    }

    fn edit(&mut self, key: u64) -> &mut Vec<V> {
        if !self.fresh.contains_key(&key) {
            self.fresh.insert(key, Arc::new(self.base(key).to_vec()));
        }
        // Just put there where it was missing.
        self.fresh.get_mut(&key).map(Arc::make_mut).unwrap_or_else(|| unreachable!("inserted above"))
    }

    /// Adds a value.
    pub fn add(&mut self, key: u64, value: V) {
        let values = self.edit(key);
        if let Err(at) = values.binary_search(&value) {
            values.insert(at, value);
        }
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: u64, value: V) {
        let values = self.edit(key);
        if let Ok(at) = values.binary_search(&value) {
            values.remove(at);
        }
    }

    /// Keys with recent changes.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.fresh.len()
    }

    /// Folds recent changes into the base.
    pub fn compact(&mut self) {
        if self.fresh.is_empty() {
            return;
        }
        let mut fresh: Vec<(u64, Arc<Vec<V>>)> =
            self.fresh.iter().map(|(&key, values)| (key, values.clone())).collect();
        fresh.sort_unstable_by_key(|&(key, _)| key);
        let (old_keys, old_values) = (self.keys.items(), self.values.items());
        let mut keys = Vec::with_capacity(old_keys.len() + fresh.len());
        let mut values = Vec::with_capacity(old_keys.len() + fresh.len());
        let mut at = 0;
        for (key, new) in &fresh {
            let start = at + old_keys[at..].partition_point(|k| k < key);
            keys.extend_from_slice(&old_keys[at..start]);
            values.extend_from_slice(&old_values[at..start]);
            at = start + old_keys[start..].partition_point(|k| k <= key);
            keys.resize(keys.len() + new.len(), *key);
            values.extend_from_slice(new);
        }
        keys.extend_from_slice(&old_keys[at..]);
        values.extend_from_slice(&old_values[at..]);
        *self = Self { keys: keys.into(), values: values.into(), fresh: Map::default() };
    }

    /// The base's arrays.
    #[must_use]
    pub fn arrays(&self) -> (Flat<u64>, Flat<V>) {
        (self.keys.clone(), self.values.clone())
    }

    /// Bytes taken by the base, and about so many by the delta.
    #[must_use]
    pub fn size(&self) -> usize {
        self.keys.size() + self.values.size() + self.fresh.len() * 80
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_reads_the_same_before_and_after_compaction() {
        let mut map = Multimap::<u32>::default();
        for value in [5, 3, 3, 9] {
            map.add(7, value);
        }
        map.add(1, 1);
        map.compact();
        map.add(7, 4);
        map.remove(7, 9);
        map.remove(1, 1);
        map.add(100, 2);
        let read = |map: &Multimap<u32>| [1, 7, 50, 100].map(|key| map.get(key).to_vec());
        let before = read(&map);
        assert_eq!(before, [vec![], vec![3, 4, 5], vec![], vec![2]]);
        map.compact();
        assert_eq!(read(&map), before);
        let (keys, values) = map.arrays();
        assert_eq!(read(&Multimap::load("m", keys, values).unwrap()), before);
    }
}
