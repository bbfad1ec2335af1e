//! The doxa memory graph without Python.
//!
//! One [`snapshot::Snapshot`] is a version of the whole memory: dictionaries,
//! postings, graph and columns that versions share until one of them writes. An
//! [`engine::Engine`] publishes versions to readers. Modules depend in one
//! direction: limits and errors, then flat and shared arrays, then the indexes,
//! then the steps of recall, then whole versions.

pub mod codes;
pub mod columns;
pub mod confidence;
pub mod cow;
pub mod dictionary;
pub mod digest;
pub mod engine;
pub mod error;
mod fetch;
pub mod filter;
pub mod flat;
pub mod forward;
pub mod gate;
pub mod graph;
mod lexical;
pub mod limits;
pub mod multimap;
pub mod names;
pub mod path;
pub mod persist;
pub mod postings;
mod query;
pub mod recall;
pub mod rescore;
pub mod scratch;
mod select;
pub mod similar;
pub mod snapshot;
mod spread;
pub mod strength;
mod succession;
pub mod tail;
pub mod text;
pub mod tuning;
