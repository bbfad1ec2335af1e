//! Which entities does a query name?
//!
//! Holds, for each entity, fingerprints of the term sequences of its names and
//! of all their prefixes, so that a query is read from each of its terms as far
//! as some name goes on. Invariant: an entity's old names are gone once it is
//! given others. Does not know what an entity is. Cost: a look-up per term of
//! the query, and one more for each term that goes on.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::Result;
use crate::flat::Flat;
use crate::limits::{MAX_NAME_TERMS, MAX_NODES};
use crate::multimap::Multimap;
use crate::text::{Language, TermKind, Terms};

/// Marks a value as a prefix, so that whole names sort first.
const PREFIX: u32 = 1 << 31;
/// Where a sequence starts.
const SEED: u64 = 0x6e61_6d65_735f_7631;

/// The names of all entities.
#[derive(Clone, Default)]
pub struct Names {
    /// Fingerprint (lowest bit clear) → entity, or entity + [`PREFIX`].
    by_sequence: Multimap<u32>,
    /// Entity → fingerprints; the lowest bit marks a prefix.
    by_entity: Multimap<u64>,
}

/// The four persisted arrays.
pub(crate) type Arrays = ((Flat<u64>, Flat<u32>), (Flat<u64>, Flat<u64>));

fn extend(sequence: u64, term: &str) -> u64 {
    xxh3_64_with_seed(term.as_bytes(), sequence) & !1
}

impl Names {
    /// Gives an entity these names instead of those it had.
    pub fn set(&mut self, entity: u32, names: &[&str], language: Language, terms: &mut Terms) {
        let old = self.by_entity.get(u64::from(entity)).to_vec();
        for mark in old {
            self.by_entity.remove(u64::from(entity), mark);
            self.by_sequence.remove(mark & !1, entity | if mark & 1 == 1 { PREFIX } else { 0 });
        }
        for name in names {
            terms.analyze(name, language);
            let mut sequence = SEED;
            let mut words = whole(terms).take(MAX_NAME_TERMS + 1).peekable();
            let mut marks = Vec::new();
            while let Some(word) = words.next() {
                sequence = extend(sequence, word);
                marks.push(sequence | u64::from(words.peek().is_some()));
            }
            if marks.len() > MAX_NAME_TERMS {
                continue;
            }
            for mark in marks {
                self.by_entity.add(u64::from(entity), mark);
                self.by_sequence.add(mark & !1, entity | if mark & 1 == 1 { PREFIX } else { 0 });
            }
        }
    }

    /// Whether there are no names at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_sequence.arrays().0.is_empty() && self.by_sequence.pending() == 0
    }

    /// Entities whose whole name stands in the analysed text, rising. A name within a longer name does not count.
    pub fn find(&self, terms: &Terms, found: &mut Vec<(usize, usize, u32)>, out: &mut Vec<u32>) {
        out.clear();
        if self.is_empty() {
            return;
        }
        found.clear();
        let mut rest = whole(terms);
        let mut start = 0;
        loop {
            let mut sequence = SEED;
            for (length, word) in rest.clone().take(MAX_NAME_TERMS).enumerate() {
                sequence = extend(sequence, word);
                let values = self.by_sequence.get(sequence);
                if values.is_empty() {
                    break;
                }
                let entities = values.iter().take_while(|&&value| value & PREFIX == 0);
                found.extend(entities.map(|&entity| (start, start + length + 1, entity)));
            }
            if rest.next().is_none() {
                break;
            }
            start += 1;
        }
        // By rising start, the longer first: a name lies within another one exactly where an
        // earlier one of another extent reaches as far.
        found.sort_unstable_by_key(|&(start, end, entity)| (start, usize::MAX - end, entity));
        let (mut reach, mut last) = (0, (usize::MAX, 0));
        for &(start, end, entity) in found.iter() {
            if end > reach || (start, end) == last {
                out.push(entity);
                (reach, last) = (end, (start, end));
            }
        }
        out.sort_unstable();
        out.dedup();
    }

    /// Keys with recent changes.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.by_entity.pending()
    }

    /// Folds recent changes into the base.
    pub fn compact(&mut self) {
        self.by_sequence.compact();
        self.by_entity.compact();
    }

    pub(crate) fn arrays(&self) -> Arrays {
        (self.by_sequence.arrays(), self.by_entity.arrays())
    }

    pub(crate) fn load(arrays: Arrays, nodes: u32) -> Result<Self> {
        let (sequences, entities) = arrays;
        let known = |value: &u32| value & !PREFIX < nodes.min(MAX_NODES);
        if !sequences.1.items().iter().all(known) {
            return Err(crate::error::Error::corrupt("names_values", "must be known nodes"));
        }
        Ok(Self {
            by_sequence: Multimap::load("names", sequences.0, sequences.1)?,
            by_entity: Multimap::load("named", entities.0, entities.1)?,
        })
    }

    /// Bytes taken.
    #[must_use]
    pub fn size(&self) -> usize {
        self.by_sequence.size() + self.by_entity.size()
    }
}

/// The terms of which names are sequences: no parts, no stems.
fn whole(terms: &Terms) -> impl Iterator<Item = &str> + Clone {
    terms.iter().filter(|(_, kind, _)| *kind == TermKind::Whole).map(|(term, _, _)| term)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(names: &Names, query: &str) -> Vec<u32> {
        let (mut terms, mut found, mut out) = (Terms::new(), Vec::new(), Vec::new());
        terms.analyze(query, Language::English);
        names.find(&terms, &mut found, &mut out);
        out
    }

    #[test]
    fn a_long_query_is_read_in_linear_time() {
        let (mut names, mut terms) = (Names::default(), Terms::new());
        names.set(1, &["数据"], Language::English, &mut terms);
        assert_eq!(find(&names, &"数据".repeat(200_000)), [1]);
    }

    #[test]
    fn whole_names_are_found_and_the_longest_wins() {
        let (mut names, mut terms) = (Names::default(), Terms::new());
        names.set(1, &["New York", "NYC"], Language::English, &mut terms);
        names.set(2, &["York"], Language::English, &mut terms);
        names.set(3, &["New York City"], Language::English, &mut terms);
        assert_eq!(find(&names, "flights to new york, please"), [1]);
        assert_eq!(find(&names, "from York to NYC"), [1, 2]);
        assert_eq!(find(&names, "New York City"), [3]);
        assert_eq!(find(&names, "new"), [0u32; 0]);
        names.compact();
        names.set(1, &["Big Apple"], Language::English, &mut terms);
        assert_eq!(find(&names, "new york and the big apple"), [1, 2]);
        names.compact();
        assert_eq!(find(&names, "new york and the big apple"), [1, 2]);
    }
}
