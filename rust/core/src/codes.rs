//! The small numbers that stand for node types, kinds, statuses, relations and fields.
//!
//! Invariant: they are part of the persisted format and never change meaning.

/// A proposition: the unit of recall.
pub const PROPOSITION: u32 = 0;
/// What was actually said, read or measured.
pub const EVIDENCE: u32 = 1;
/// Something that happened.
pub const EVENT: u32 = 2;
/// Who or what propositions are about.
pub const ENTITY: u32 = 3;
/// A situation.
pub const CONTEXT: u32 = 4;
/// Number of node types.
pub const NODE_TYPES: u32 = 5;

/// How to act.
pub const NORM: u32 = 0;
/// Matters in progress.
pub const TASK: u32 = 2;
/// Number of kinds.
pub const KINDS: u32 = 4;

/// Number of importance levels.
pub const IMPORTANCES: usize = 4;

/// In force.
pub const ACTIVE: u32 = 0;
/// Disputed, being asked about.
pub const PENDING: u32 = 1;
/// Replaced by something else.
pub const SUPERSEDED: u32 = 2;
/// A task with its outcome.
pub const CLOSED: u32 = 3;
/// Moved out of default recall.
pub const ARCHIVED: u32 = 4;
/// Taken out for want of trust.
pub const QUARANTINED: u32 = 5;
/// Falsified, or its scene is gone.
pub const RETIRED: u32 = 6;
/// Number of statuses.
pub const STATUSES: u32 = 7;

/// Statuses that recall returns unless told otherwise.
pub const DEFAULT_STATUSES: u32 = 1 << ACTIVE | 1 << PENDING | 1 << SUPERSEDED | 1 << CLOSED;
/// Statuses that hold and relay no energy, whatever a filter says.
pub const SILENT_STATUSES: u32 = 1 << QUARANTINED | 1 << RETIRED;
/// Statuses of a standing head of a chain of supersession.
pub const STANDING_STATUSES: u32 = 1 << ACTIVE | 1 << PENDING | 1 << CLOSED;

/// Number of relations.
pub const RELATIONS: usize = 13;
/// To its subject; the one relation that flows against its direction.
pub const ABOUT: u32 = 5;
/// From new to old.
pub const SUPERSEDES: u32 = 10;

/// Number of text fields.
pub const FIELDS: usize = 6;
/// The statement in one line.
pub const TITLE: u32 = 0;
/// The self-contained statement.
pub const SUMMARY: u32 = 1;
/// Notes.
pub const BODY: u32 = 2;
/// The words of the id.
pub const ID: u32 = 3;
/// Dates written out.
pub const DATE: u32 = 4;
/// Text of the evidence.
pub const EVIDENCE_TEXT: u32 = 5;
/// Added to a field's code where the posting is of a stem.
pub const STEM: u32 = 8;
