//! What a call returns, and what bars energy.
//!
//! Holds a compiled filter. Invariant: what is barred is never returned. Scope,
//! status and time bar; kind, category, confidence and an explicit list only
//! decide what is returned. Does not know scopes, only a verdict for each scope
//! code. Cost: nothing on the hot path while [`Filter::is_plain`].

use crate::codes::{DEFAULT_STATUSES, KINDS, NORM, PROPOSITION, SILENT_STATUSES, SUPERSEDED, TASK};
use crate::columns::{Cold, Columns, Meta};
use crate::error::{Error, Result};
use crate::limits::{CONFIDENCE_HALF_LIFE_DAYS, DAY_US, NO_TIME};

/// A filter, compiled.
#[derive(Debug, Clone)]
pub struct Filter {
    statuses: u32,
    kinds: u32,
    categories: Option<[u64; 4]>,
    scopes: Option<Vec<u8>>,
    valid_at: Option<i64>,
    min_confidence: Option<f64>,
    only: Option<Vec<u32>>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            statuses: DEFAULT_STATUSES,
            kinds: (1 << KINDS) - 1,
            categories: None,
            scopes: None,
            valid_at: None,
            min_confidence: None,
            only: None,
        }
    }
}

impl Filter {
    /// Only these statuses (bit mask by status code).
    #[must_use]
    pub fn statuses(mut self, mask: u32) -> Self {
        self.statuses = mask;
        self
    }

    /// Only these kinds (bit mask by kind code).
    #[must_use]
    pub fn kinds(mut self, mask: u32) -> Self {
        self.kinds = mask;
        self
    }

    /// Only these categories (256 bits by category code).
    #[must_use]
    pub fn categories(mut self, mask: [u64; 4]) -> Self {
        self.categories = Some(mask);
        self
    }

    /// A verdict per scope code: 0 does not apply, 1 may apply, 2 applies. A code beyond the end does not apply.
    #[must_use]
    pub fn scopes(mut self, verdicts: Vec<u8>) -> Self {
        self.scopes = Some(verdicts);
        self
    }

    /// Only what is true at this time (microseconds).
    #[must_use]
    pub fn valid_at(mut self, time: i64) -> Self {
        self.valid_at = Some(time);
        self
    }

    /// Only what has at least this confidence, faded to `now`.
    ///
    /// # Errors
    /// [`Error::Invalid`] where it is not a number.
    pub fn min_confidence(mut self, least: f64) -> Result<Self> {
        if least.is_nan() {
            return Err(Error::invalid("min_confidence", least, "a number from -1 to 1"));
        }
        self.min_confidence = Some(least);
        Ok(self)
    }

    /// Only these nodes.
    #[must_use]
    pub fn only(mut self, mut nodes: Vec<u32>) -> Self {
        nodes.sort_unstable();
        nodes.dedup();
        self.only = Some(nodes);
        self
    }

    /// Whether status alone bars, and by the default.
    pub(crate) fn is_plain(&self) -> bool {
        self.statuses == DEFAULT_STATUSES && self.scopes.is_none() && self.valid_at.is_none()
    }

    /// Whether everything that is not barred is returned.
    fn returns_all(&self) -> bool {
        self.kinds == (1 << KINDS) - 1
            && self.categories.is_none()
            && self.min_confidence.is_none()
            && self.only.is_none()
    }

    /// Whether a proposition is out of the question for results.
    pub(crate) fn bars(&self, columns: &Columns, node: u32, meta: Meta) -> bool {
        if self.statuses >> meta.status() & 1 == 0 {
            return true;
        }
        if self.scopes.is_none() && self.valid_at.is_none() {
            return false;
        }
        let cold = columns.cold(node);
        if self.scopes.is_some() && self.scope_verdict(&cold) == 0 {
            return true;
        }
        self.valid_at.is_some_and(|time| {
            (cold.valid_from != NO_TIME && time < cold.valid_from)
                || (cold.valid_to != NO_TIME && time >= cold.valid_to)
        })
    }

    /// Whether energy neither enters nor leaves a node of any type.
    pub(crate) fn silences(&self, columns: &Columns, node: u32, meta: Meta) -> bool {
        SILENT_STATUSES >> meta.status() & 1 == 1
            || (meta.node_type() == PROPOSITION && self.bars(columns, node, meta))
    }

    /// Whether a proposition may be in the result.
    pub(crate) fn returns(&self, columns: &Columns, node: u32, meta: Meta, now: i64) -> bool {
        if meta.node_type() != PROPOSITION || self.bars(columns, node, meta) {
            return false;
        }
        if self.returns_all() {
            return true;
        }
        if self.kinds >> meta.kind() & 1 == 0 {
            return false;
        }
        if let Some(mask) = &self.categories {
            let category = meta.category() as usize;
            if mask[category >> 6] >> (category & 63) & 1 == 0 {
                return false;
            }
        }
        if let Some(nodes) = &self.only
            && nodes.binary_search(&node).is_err()
        {
            return false;
        }
        // Columns keep single precision: a stored value meets itself.
        self.min_confidence
            .is_none_or(|least| confidence(&columns.cold(node), meta, now) as f32 >= least as f32)
    }

    /// 0 does not apply, 1 may apply, 2 applies (or no situation was given).
    pub(crate) fn scope_verdict(&self, cold: &Cold) -> u8 {
        match &self.scopes {
            Some(verdicts) => verdicts.get(cold.scope as usize).copied().unwrap_or(0),
            None => 2,
        }
    }

    /// Whether the filter lets superseded propositions through.
    pub(crate) fn has_superseded(&self) -> bool {
        self.statuses >> SUPERSEDED & 1 == 1
    }
}

/// Confidence as of `now`: it fades towards 0 since the last evidence, except for norms and tasks.
#[must_use]
pub fn confidence(cold: &Cold, meta: Meta, now: i64) -> f64 {
    let stored = f64::from(cold.confidence);
    if meta.kind() == NORM || meta.kind() == TASK {
        return stored;
    }
    let since = if cold.evidence_at == NO_TIME { cold.recorded_at } else { cold.evidence_at };
    if since == NO_TIME {
        return stored;
    }
    let days = (now as f64 - since as f64).max(0.0) / DAY_US;
    stored * libm::pow(0.5, days / CONFIDENCE_HALF_LIFE_DAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_halves_in_ninety_days_except_for_norms() {
        let cold = Cold { confidence: 0.8, recorded_at: 0, ..Cold::default() };
        let later = (90.0 * DAY_US) as i64;
        let knowledge = Meta::default().with_kind(1);
        assert!((confidence(&cold, knowledge, later) - f64::from(0.4f32)).abs() < 1e-7);
        assert_eq!(confidence(&cold, Meta::default(), later), f64::from(0.8f32));
    }

    #[test]
    fn valid_time_is_half_open() {
        let mut columns = Columns::default();
        columns.add(PROPOSITION, 0);
        columns.edit_cold(0, |cold| (cold.valid_from, cold.valid_to) = (10, 20));
        let bars = |time| Filter::default().valid_at(time).bars(&columns, 0, columns.meta(0));
        assert_eq!([9, 10, 19, 20].map(bars), [true, false, false, true]);
    }
}
