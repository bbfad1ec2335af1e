//! Strings numbered in the order of their coming.
//!
//! Holds text → number and back, for terms and for ids. Invariant: numbers are
//! dense, never change and are never reused; the base holds `0..base_len`, the
//! delta the rest. Does not know what the strings mean. Cost: a look-up hashes
//! once and reads about one cache line of slots and one string.

use std::sync::Arc;

use imbl::shared_ptr::DefaultSharedPtr;
use rustc_hash::FxBuildHasher;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::flat::Flat;

/// A persistent map whose iteration order is never looked at.
pub type Map<K, V> = imbl::GenericHashMap<K, V, FxBuildHasher, DefaultSharedPtr>;

/// The immutable part: strings end to end and an open-addressing table.
#[derive(Clone, Default)]
pub struct Frozen {
    bytes: Flat<u8>,
    /// `offsets[i]..offsets[i + 1]` is string `i`; one longer than the strings.
    offsets: Flat<u32>,
    /// High half: part of the hash; low half: number + 1. Zero is empty.
    slots: Flat<u64>,
}

impl Frozen {
    fn build(strings: &[&str]) -> Result<Self> {
        let mut bytes = Vec::with_capacity(strings.iter().map(|s| s.len()).sum());
        let mut offsets = Vec::with_capacity(strings.len() + 1);
        offsets.push(0);
        let mut slots = vec![0u64; (strings.len() * 3 / 2 + 1).next_power_of_two()];
        let mask = slots.len() - 1;
        for (number, text) in strings.iter().enumerate() {
            bytes.extend_from_slice(text.as_bytes());
            let end = u32::try_from(bytes.len()).map_err(|_| Error::Capacity {
                what: "bytes of ids or terms",
                value: bytes.len() as u64,
                limit: u64::from(u32::MAX),
            })?;
            offsets.push(end);
            let hash = xxh3_64(text.as_bytes());
            let mut at = hash as usize & mask;
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = (hash >> 32) << 32 | (number as u64 + 1);
        }
        Ok(Self { bytes: bytes.into(), offsets: offsets.into(), slots: slots.into() })
    }

    /// Checks foreign arrays, so that nothing in them can make a look-up fail.
    ///
    /// # Errors
    /// [`Error::Corrupt`] with the array and the rule.
    pub fn load(name: &str, bytes: Flat<u8>, offsets: Flat<u32>, slots: Flat<u64>) -> Result<Self> {
        let (marks, table) = (offsets.items(), slots.items());
        if marks.first() != Some(&0) || marks.last().map(|&end| end as usize) != Some(bytes.len()) {
            return Err(Error::corrupt(
                format!("{name}_offsets"),
                "must start at 0 and end at the bytes' length",
            ));
        }
        if !marks.is_sorted() {
            return Err(Error::corrupt(format!("{name}_offsets"), "must not fall"));
        }
        let text = std::str::from_utf8(bytes.items())
            .map_err(|_| Error::corrupt(format!("{name}_bytes"), "must be UTF-8"))?;
        if !marks.iter().all(|&at| text.is_char_boundary(at as usize)) {
            return Err(Error::corrupt(format!("{name}_offsets"), "must not cut a character"));
        }
        let count = marks.len() as u64 - 1;
        let used = table.iter().filter(|&&slot| slot != 0).count() as u64;
        let free = !table.is_empty() && table.len().is_power_of_two() && used < table.len() as u64;
        if used != count || !free || table.iter().any(|slot| slot & 0xffff_ffff > count) {
            return Err(Error::corrupt(
                format!("{name}_slots"),
                "must hold each number once and a free slot",
            ));
        }
        Ok(Self { bytes, offsets, slots })
    }

    fn len(&self) -> u32 {
        self.offsets.len().saturating_sub(1) as u32
    }

    fn get(&self, number: u32) -> &str {
        let marks = self.offsets.items();
        let (start, end) = (marks[number as usize] as usize, marks[number as usize + 1] as usize);
        // Checked when the dictionary was made; a foreign file that changes
        // under us must give a wrong answer at worst.
        std::str::from_utf8(&self.bytes.items()[start..end]).unwrap_or("")
    }

    fn find(&self, text: &str, hash: u64) -> Option<u32> {
        let slots = self.slots.items();
        let mask = slots.len().checked_sub(1)?;
        let (bytes, marks) = (self.bytes.items(), self.offsets.items());
        let mut at = hash as usize & mask;
        for _ in 0..slots.len() {
            let slot = slots[at];
            if slot == 0 {
                return None;
            }
            if slot >> 32 == hash >> 32 {
                let number = (slot as u32).wrapping_sub(1) as usize;
                if let (Some(&start), Some(&end)) = (marks.get(number), marks.get(number + 1))
                    && bytes.get(start as usize..end as usize) == Some(text.as_bytes())
                {
                    return Some(number as u32);
                }
            }
            at = (at + 1) & mask;
        }
        None
    }
}

/// A dictionary: a frozen base and what came since.
#[derive(Clone, Default)]
pub struct Dictionary {
    base: Frozen,
    fresh: Map<Arc<str>, u32>,
    list: imbl::Vector<Arc<str>>,
}

impl Dictionary {
    /// A dictionary of checked arrays alone.
    #[must_use]
    pub fn from_frozen(base: Frozen) -> Self {
        Self { base, ..Self::default() }
    }

    /// How many strings there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.base.len() + self.list.len() as u32
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of `text`.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<u32> {
        let known = self.base.find(text, xxh3_64(text.as_bytes()));
        if known.is_some() || self.fresh.is_empty() {
            return known;
        }
        self.fresh.get(text).copied()
    }

    /// The number of `text`, a new one where it is not there.
    pub fn intern(&mut self, text: &str) -> u32 {
        if let Some(number) = self.find(text) {
            return number;
        }
        let number = self.len();
        let text: Arc<str> = text.into();
        self.list.push_back(text.clone());
        self.fresh.insert(text, number);
        number
    }

    /// The string with this number, empty where there is none.
    #[must_use]
    pub fn get(&self, number: u32) -> &str {
        if number < self.base.len() {
            return self.base.get(number);
        }
        self.list.get((number - self.base.len()) as usize).map_or("", |text| text)
    }

    /// How many strings came since the base.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.list.len()
    }

    /// Folds what came since into a new base.
    ///
    /// # Errors
    /// [`Error::Capacity`] above 4 GiB of strings.
    pub fn compact(&mut self) -> Result<()> {
        if self.list.is_empty() && !self.base.slots.is_empty() {
            return Ok(());
        }
        let strings: Vec<&str> = (0..self.base.len())
            .map(|number| self.base.get(number))
            .chain(self.list.iter().map(|text| &**text))
            .collect();
        *self = Self::from_frozen(Frozen::build(&strings)?);
        Ok(())
    }

    /// The base's arrays: bytes, offsets, slots.
    #[must_use]
    pub fn arrays(&self) -> (Flat<u8>, Flat<u32>, Flat<u64>) {
        (self.base.bytes.clone(), self.base.offsets.clone(), self.base.slots.clone())
    }

    /// Bytes taken by the base, and about so many by the delta.
    #[must_use]
    pub fn size(&self) -> usize {
        self.base.bytes.size() + self.base.offsets.size() + self.base.slots.size() + self.list.len() * 96
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_compaction() {
        let mut words = Dictionary::default();
        assert_eq!(words.find("a"), None);
        for round in 0..3 {
            for i in 0..50 {
                let number = words.intern(&format!("w{round}-{i}"));
                assert_eq!(number, round * 50 + i);
            }
            let before = words.clone();
            words.compact().unwrap();
            assert_eq!(before.find("w0-7"), Some(7));
            assert_eq!(words.get(round * 50), format!("w{round}-0"));
        }
        assert_eq!(words.find("w2-49"), Some(149));
        assert_eq!(words.intern("w1-0"), 50);
        assert_eq!(words.get(9999), "");
    }

    #[test]
    fn arrays_that_contradict_each_other_are_refused() {
        let mut words = Dictionary::default();
        words.intern("eins");
        words.intern("zwei");
        words.compact().unwrap();
        let (bytes, offsets, slots) = words.arrays();
        assert!(Frozen::load("t", bytes.clone(), offsets.clone(), slots.clone()).is_ok());
        assert!(Frozen::load("t", bytes.clone(), vec![0, 9, 8].into(), slots.clone()).is_err());
        assert!(Frozen::load("t", bytes.clone(), offsets.clone(), vec![1, 2].into()).is_err());
        assert!(Frozen::load("t", bytes, offsets, vec![1, 9, 0, 0].into()).is_err());
    }
}
