//! Every limit of the core, in one place.
//!
//! Holds named constants only. What exceeds a limit is refused with
//! [`crate::error::Error::Capacity`] or clamped, as each constant says.

/// Highest number of nodes: an edge keeps its target in 28 bits. More is refused.
pub const MAX_NODES: u32 = 1 << 28;

/// Highest term frequency that a posting holds. More is clamped: every sensible
/// saturation is flat long before.
pub const MAX_TERM_FREQUENCY: u32 = (1 << 11) - 1;

/// Longest field length in terms that a posting holds. More is clamped.
pub const MAX_FIELD_LENGTH: u32 = (1 << 17) - 1;

/// Highest number of results of one call. More is clamped to the node count anyway.
pub const MAX_RESULTS: usize = 1 << 20;

/// Lexical hits kept with all that is known of them while activation spreads, at least.
pub const KEPT: usize = 64;

/// Documents scored at a time: their cells (8 bytes each) stay in the innermost caches.
pub const WINDOW: u32 = 1 << 13;

/// Nodes that a walk along `supersedes` visits before it gives up.
pub const MAX_CHAIN: usize = 4096;

/// Posting entries that the search for duplicates walks.
pub const CANDIDATE_BUDGET: u64 = 2048;

/// The delta is folded into the base above this many documents or changed rows ...
pub const COMPACT_MIN: usize = 4096;

/// ... and above this fraction (one in so many) of the base.
pub const COMPACT_FRACTION: usize = 10;

/// Loose postings kept before they are sorted into a segment.
pub const OPEN_POSTINGS: usize = 1 << 20;

/// Days after which a belief without new evidence has half of its confidence.
pub const CONFIDENCE_HALF_LIFE_DAYS: f64 = 90.0;

/// Microseconds of a day.
pub const DAY_US: f64 = 86_400e6;

/// The time that stands for "none".
pub const NO_TIME: i64 = i64::MIN;

/// Terms of the longest entity name that is recognised in a query.
pub const MAX_NAME_TERMS: usize = 32;
