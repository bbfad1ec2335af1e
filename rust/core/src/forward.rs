//! What one document contributes to the index, as a few bytes.
//!
//! Holds two fingerprints of the statement, the length of each field and the
//! distinct terms, so that a change of text can be taken back without the old
//! text. Invariant: [`read`] never fails on bytes that [`check`] accepted, and
//! gives back what [`write`] was given. Cost: about two bytes per term.

use crate::codes::FIELDS;

/// What one document contributes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// Fingerprint of the normalised statement.
    pub equal: u64,
    /// Fingerprint of its content words.
    pub content: u64,
    /// Length of each field in primary terms.
    pub lengths: [u32; FIELDS],
    /// Distinct terms, rising.
    pub terms: Vec<u32>,
}

fn put(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take(raw: &mut &[u8]) -> Option<u32> {
    let mut number = 0u64;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = raw.split_first()?;
        *raw = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(number).ok();
        }
    }
    None
}

fn take_word(raw: &mut &[u8]) -> Option<u64> {
    let (word, rest) = raw.split_first_chunk()?;
    *raw = rest;
    Some(u64::from_le_bytes(*word))
}

/// The record as bytes.
#[must_use]
pub fn write(record: &Record) -> Vec<u8> {
    let mut out = Vec::with_capacity(24 + 2 * record.terms.len());
    out.extend_from_slice(&record.equal.to_le_bytes());
    out.extend_from_slice(&record.content.to_le_bytes());
    record.lengths.iter().for_each(|&length| put(&mut out, length));
    let mut last = 0;
    for &term in &record.terms {
        put(&mut out, term.wrapping_sub(last));
        last = term;
    }
    out
}

fn head(raw: &mut &[u8]) -> Option<(u64, u64, [u32; FIELDS])> {
    let (equal, content) = (take_word(raw)?, take_word(raw)?);
    let mut lengths = [0; FIELDS];
    for length in &mut lengths {
        *length = take(raw)?;
    }
    Some((equal, content, lengths))
}

/// The record of bytes; what is damaged reads as absent.
#[must_use]
pub fn read(mut raw: &[u8]) -> Record {
    let Some((equal, content, lengths)) = head(&mut raw) else { return Record::default() };
    let mut terms = Vec::new();
    let mut last = 0u32;
    while let Some(step) = take(&mut raw) {
        last = last.wrapping_add(step);
        terms.push(last);
    }
    Record { equal, content, lengths, terms }
}

/// The lengths of a record whose terms are rising and below `limit`; `None` where it is not sound.
#[must_use]
pub fn check(mut raw: &[u8], limit: u32) -> Option<[u32; FIELDS]> {
    let (_, _, lengths) = head(&mut raw)?;
    let (mut last, mut first) = (0u64, true);
    while !raw.is_empty() {
        let step = take(&mut raw)?;
        if step == 0 && !first {
            return None;
        }
        (last, first) = (last + u64::from(step), false);
        if last >= u64::from(limit) {
            return None;
        }
    }
    Some(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_as_written() {
        let record = Record {
            equal: u64::MAX,
            content: 7,
            lengths: [1, 0, 300, 70_000, 0, 2],
            terms: vec![0, 1, 500, 1 << 27],
        };
        let raw = write(&record);
        assert_eq!(read(&raw), record);
        assert_eq!(check(&raw, 1 << 28), Some(record.lengths));
        assert_eq!(check(&raw, 1 << 27), None);
        assert_eq!(check(&raw[..20], 1 << 28), None);
        assert_eq!(read(&raw[..5]), Record::default());
    }
}
