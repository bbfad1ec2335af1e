//! The doxa memory graph without Python.

pub mod digest;
pub mod text;
