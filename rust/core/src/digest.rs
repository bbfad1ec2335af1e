//! Cryptographic digests: BLAKE3, plain or keyed.
//!
//! One place decides which hash the store uses for its chain, its commitments
//! and its containers.

/// Length in bytes of every digest.
pub const DIGEST_LEN: usize = 32;

/// BLAKE3 of the concatenation of `parts`; keyed when a key is given.
#[must_use]
pub fn digest(parts: &[&[u8]], key: Option<&[u8; 32]>) -> [u8; DIGEST_LEN] {
    let mut hasher = match key {
        Some(key) => blake3::Hasher::new_keyed(key),
        None => blake3::Hasher::new(),
    };
    for part in parts {
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_parts_is_the_digest_of_their_concatenation() {
        assert_eq!(digest(&[b"a", b"bc"], None), digest(&[b"abc"], None));
        assert_ne!(digest(&[b"abc"], None), digest(&[b"abc"], Some(&[1; 32])));
    }
}
