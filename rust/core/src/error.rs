//! Every way in which the core refuses, by cause.
//!
//! Fields, not prose: the binding matches each variant without a wildcard, so a
//! new one does not compile until it has a Python class.

use thiserror::Error;

/// What the core refuses, and why.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Error {
    /// A value that the rules do not allow.
    #[error("{name}: {value} is not allowed: {rule}")]
    Invalid {
        /// Which argument.
        name: &'static str,
        /// The value as given.
        value: String,
        /// The rule that it breaks.
        rule: String,
    },
    /// A node number that was never given out.
    #[error("node {node}: not in the graph, which has {count} nodes; use a number that add_node returned")]
    UnknownNode {
        /// The number as given.
        node: u32,
        /// How many nodes there are.
        count: u32,
    },
    /// An id that is taken.
    #[error("id {id:?}: already in the graph as node {node}; ids are unique")]
    DuplicateId {
        /// The id as given.
        id: String,
        /// Whose it is.
        node: u32,
    },
    /// A limit of the representation.
    #[error("{what}: {value} exceeds the limit of {limit}; split the store")]
    Capacity {
        /// What there is too much of.
        what: &'static str,
        /// How much.
        value: u64,
        /// The limit.
        limit: u64,
    },
    /// Persisted arrays that contradict each other or themselves.
    #[error("array {array:?}: {rule}; rebuild the index from the journal")]
    Corrupt {
        /// The array.
        array: String,
        /// What should hold.
        rule: String,
    },
    /// Arrays written with another text pipeline or language.
    #[error("the index was built with {found}, this store uses {wanted}: re-index, never mix")]
    OtherPipeline {
        /// What the arrays say.
        found: String,
        /// What the engine was asked for.
        wanted: String,
    },
}

/// Result of the core.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An [`Error::Invalid`].
    pub fn invalid(name: &'static str, value: impl std::fmt::Display, rule: impl Into<String>) -> Self {
        Self::Invalid { name, value: value.to_string(), rule: rule.into() }
    }

    /// An [`Error::Corrupt`].
    pub fn corrupt(array: impl Into<String>, rule: impl Into<String>) -> Self {
        Self::Corrupt { array: array.into(), rule: rule.into() }
    }
}
