//! Paged arrays that versions share until one of them writes.
//!
//! Holds one value per index; what was never written is the default. Invariant:
//! every page is full size, so an index below [`Cow::len`] always has a page.
//! Does not know what the values mean. Cost: a read is three dependent loads; a
//! clone copies one pointer per 64 pages; the first write to a page after a
//! clone copies that page and 64 pointers.

use std::sync::Arc;

/// Pages in the middle level.
const FAN: usize = 64;

type Middle<T> = [Arc<[T]>; FAN];

/// A copy-on-write array with pages of `1 << BITS` values.
#[derive(Debug)]
pub struct Cow<T, const BITS: u32> {
    root: Vec<Arc<Middle<T>>>,
    blank: Arc<Middle<T>>,
    len: usize,
}

impl<T, const BITS: u32> Clone for Cow<T, BITS> {
    fn clone(&self) -> Self {
        Self { root: self.root.clone(), blank: self.blank.clone(), len: self.len }
    }
}

impl<T: Copy + Default, const BITS: u32> Default for Cow<T, BITS> {
    fn default() -> Self {
        let page: Arc<[T]> = vec![T::default(); 1 << BITS].into();
        Self { root: Vec::new(), blank: Arc::new(std::array::from_fn(|_| page.clone())), len: 0 }
    }
}

impl<T: Copy + Default, const BITS: u32> Cow<T, BITS> {
    /// An array with these values.
    #[must_use]
    pub fn from_values(values: &[T]) -> Self {
        let mut out = Self::default();
        let blank_page = out.blank[0].clone();
        for part in values.chunks(FAN << BITS) {
            let mut pages = part.chunks(1 << BITS);
            out.root.push(Arc::new(std::array::from_fn(|_| match pages.next() {
                Some(page) if page.len() == 1 << BITS => page.into(),
                Some(page) => {
                    let mut full = page.to_vec();
                    full.resize(1 << BITS, T::default());
                    full.into()
                }
                None => blank_page.clone(),
            })));
        }
        out.len = values.len();
        out
    }

    /// How many indices were written or made room for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the array has no index yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value at `index`, the default beyond the end.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> T {
        match self.root.get(index >> (BITS + FAN.trailing_zeros())) {
            Some(middle) => middle[(index >> BITS) % FAN][index & ((1 << BITS) - 1)],
            None => T::default(),
        }
    }

    /// Asks for the value at `index` ahead of time.
    #[inline]
    pub fn fetch(&self, index: usize) {
        if let Some(middle) = self.root.get(index >> (BITS + FAN.trailing_zeros())) {
            crate::fetch::line(&middle[(index >> BITS) % FAN][index & ((1 << BITS) - 1)]);
        }
    }

    /// The value at `index`, to be changed; the array grows to hold it.
    pub fn at(&mut self, index: usize) -> &mut T {
        let top = index >> (BITS + FAN.trailing_zeros());
        while self.root.len() <= top {
            self.root.push(self.blank.clone());
        }
        self.len = self.len.max(index + 1);
        let middle = Arc::make_mut(&mut self.root[top]);
        let page = Arc::make_mut(&mut middle[(index >> BITS) % FAN]);
        &mut page[index & ((1 << BITS) - 1)]
    }

    /// Sets the value at `index`.
    pub fn set(&mut self, index: usize, value: T) {
        *self.at(index) = value;
    }

    /// Appends a value.
    pub fn push(&mut self, value: T) {
        self.set(self.len, value);
    }

    /// The pages in order, the last one cut to the length.
    pub fn pages(&self) -> impl Iterator<Item = &[T]> {
        let pages = self.root.iter().flat_map(|middle| middle.iter());
        pages.enumerate().map_while(|(number, page)| {
            let start = number << BITS;
            (start < self.len).then(|| &page[..page.len().min(self.len - start)])
        })
    }

    /// All values in order.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        self.pages().flat_map(|page| page.iter().copied())
    }

    /// Bytes of the pages of this version, shared or not.
    #[must_use]
    pub fn size(&self) -> usize {
        self.len.next_multiple_of(1 << BITS) * size_of::<T>()
    }
}

/// A copy-on-write set of small numbers.
#[derive(Debug, Clone, Default)]
pub struct Bits {
    words: Cow<u64, 9>,
    count: usize,
}

impl Bits {
    /// Whether `index` is in the set.
    #[inline]
    #[must_use]
    pub fn has(&self, index: u32) -> bool {
        self.words.get(index as usize >> 6) >> (index & 63) & 1 == 1
    }

    /// Puts `index` in or takes it out.
    pub fn set(&mut self, index: u32, on: bool) {
        if self.has(index) == on {
            return;
        }
        *self.words.at(index as usize >> 6) ^= 1 << (index & 63);
        if on {
            self.count += 1;
        } else {
            self.count -= 1;
        }
    }

    /// How many numbers are in the set.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_to_a_clone_leaves_the_original_alone() {
        let mut a = Cow::<u32, 2>::default();
        for i in 0..1000 {
            a.push(i);
        }
        let mut b = a.clone();
        b.set(500, 7);
        b.push(1);
        assert_eq!((a.get(500), b.get(500)), (500, 7));
        assert_eq!((a.len(), b.len()), (1000, 1001));
        assert_eq!(a.iter().collect::<Vec<_>>(), (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn values_given_at_once_read_like_values_pushed() {
        let values: Vec<u32> = (0..777).collect();
        let a = Cow::<u32, 2>::from_values(&values);
        assert_eq!(a.iter().collect::<Vec<_>>(), values);
        assert_eq!((a.get(776), a.get(777), a.get(1 << 20)), (776, 0, 0));
    }

    #[test]
    fn bits_count_their_members() {
        let mut bits = Bits::default();
        bits.set(100_000, true);
        bits.set(100_000, true);
        assert_eq!((bits.has(100_000), bits.has(1), bits.count()), (true, false, 1));
        bits.set(100_000, false);
        assert_eq!(bits.count(), 0);
    }
}
