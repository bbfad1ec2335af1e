//! Are two statements the same?
use crate::text::normalize;
use xxhash_rust::xxh3::xxh3_64;

/// Fingerprints of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statement {
    /// Of the normalised text.
    pub equal: u64,
    /// Of the content words.
    pub content: u64,
}

/// The fingerprints of `statement`.
#[must_use]
pub fn fingerprint(statement: &str) -> Statement {
    let form = normalize(statement);
    let equal = xxh3_64(form.as_bytes());
    Statement { equal, content: equal }
}
