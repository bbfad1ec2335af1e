//! Longest common subsequence of two sequences of fingerprints, in bounded time.
//!
//! Bit-parallel (Hyyrö 2004): 64 cells of the table per machine word. What both begin
//! and end with is matched first, so that a long text against an edited copy costs
//! next to nothing; of what remains, the first [`LONGEST`] elements of each side are
//! compared. The result is exact up to there and beyond it a lower bound, so that a
//! long pair may look less alike than it is, never more.

/// Elements of each side that are compared once common ends are matched.
pub const LONGEST: usize = 4096;

/// Length of the longest common subsequence of `a` and `b`.
#[must_use]
pub fn common_subsequence(a: &[u64], b: &[u64]) -> usize {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[head..], &b[head..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let a = &a[..(a.len() - tail).min(LONGEST)];
    let b = &b[..(b.len() - tail).min(LONGEST)];
    head + tail + if a.is_empty() || b.is_empty() { 0 } else { bit_parallel(a, b) }
}

fn bit_parallel(a: &[u64], b: &[u64]) -> usize {
    let mut places: Vec<(u64, usize)> = a.iter().copied().zip(0..).collect();
    places.sort_unstable();
    let words = a.len().div_ceil(64);
    let mut unmatched = vec![u64::MAX; words];
    let mut mask = vec![0_u64; words];
    for symbol in b {
        let first = places.partition_point(|(other, _)| other < symbol);
        let here = places[first..].iter().take_while(|(other, _)| other == symbol);
        let mut any = false;
        for &(_, at) in here.clone() {
            mask[at / 64] |= 1 << (at % 64);
            any = true;
        }
        if !any {
            continue;
        }
        let mut carry = false;
        for (v, m) in unmatched.iter_mut().zip(&mask) {
            let u = *v & m;
            let (sum, over) = v.overflowing_add(u);
            let (sum, again) = sum.overflowing_add(u64::from(carry));
            carry = over || again;
            *v = sum | (*v & !m);
        }
        for &(_, at) in here {
            mask[at / 64] = 0;
        }
    }
    let spare = words * 64 - a.len();
    let mut matched: usize = unmatched.iter().map(|v| v.count_zeros() as usize).sum();
    if spare > 0 {
        // Bits past the end start as ones; a carry may have cleared some.
        let past = !(u64::MAX >> spare);
        matched -= (!unmatched[words - 1] & past).count_ones() as usize;
    }
    matched
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reference(a: &[u64], b: &[u64]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut corner = 0;
            for (j, y) in b.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if x == y { corner + 1 } else { above.max(row[j]) };
                corner = above;
            }
        }
        row[b.len()]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn it_agrees_with_the_table_of_the_textbook(
            a in prop::collection::vec(0_u64..9, 0..200),
            b in prop::collection::vec(0_u64..9, 0..200),
        ) {
            prop_assert_eq!(common_subsequence(&a, &b), reference(&a, &b));
        }
    }

    #[test]
    fn long_sequences_stay_within_bounds() {
        let a: Vec<u64> = (0..200_000).collect();
        let mut b = a.clone();
        b[100_000] = 7;
        assert_eq!(common_subsequence(&a, &a), 200_000);
        assert_eq!(common_subsequence(&a, &b), 199_999);
        let c: Vec<u64> = (0..200_000).map(|i| (i * 7919) % 1000).collect();
        assert!(common_subsequence(&a, &c) <= LONGEST);
    }
}
