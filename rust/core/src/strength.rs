//! Strength of a node: base by importance, recency, frequency.
//!
//! hotness(m) = base(imp) + w_t exp(-d / hl(imp)) + w_u ln(1 + uc)
//!
//! Holds the formula twice: factored, with one stored weight per node, so that a
//! read is a multiply and an add; and direct, in double precision, for constants
//! or times that the stored weights do not fit. Invariant: both agree to 1e-6.
//! Does not know where values are stored. Cost: two flops, or one exponential.

use crate::codes::IMPORTANCES;
use crate::columns::{Cold, Hot, Meta};
use crate::limits::{DAY_US, NO_TIME};
use crate::tuning::Tuning;

/// Time constants that the stored weight may lie from its origin, either way,
/// before f32 loses it.
const REACH: f64 = 40.0;

/// The stored pair of a node: what does not depend on time, and the weight of recency as of `origin`.
#[must_use]
pub fn pair(tuning: &Tuning, meta: Meta, cold: &Cold, origin: i64) -> (f32, f32) {
    let given = tuning.given();
    let level = meta.importance() as usize;
    let fixed = given.base[level] + given.w_u * libm::log1p(f64::from(cold.use_count));
    if cold.last_used == NO_TIME {
        return (fixed as f32, 0.0);
    }
    let days = (cold.last_used as f64 - origin as f64) / DAY_US;
    let recency = given.w_t * libm::exp((days / given.half_life[level]).min(2.0 * REACH));
    (fixed as f32, recency as f32)
}

/// Whether a time lies too far after the origin for stored weights.
#[must_use]
pub fn out_of_reach(tuning: &Tuning, origin: i64, time: i64) -> bool {
    let shortest = tuning.given().half_life.iter().copied().fold(f64::MAX, f64::min);
    (time as f64 - origin as f64) / DAY_US > REACH * shortest
}

/// An upper bound of strength where nothing was used more than `max_uses` times.
#[must_use]
pub fn bound(tuning: &Tuning, max_uses: u32) -> f32 {
    let given = tuning.given();
    let base = given.base.iter().copied().fold(0.0, f64::max);
    let most = base + given.w_t + given.w_u * libm::log1p(f64::from(max_uses));
    (most * (1.0 + 1e-5)) as f32
}

/// The three terms of strength in double precision: base, recency, use.
#[must_use]
pub fn terms(tuning: &Tuning, meta: Meta, cold: &Cold, now: i64) -> [f64; 3] {
    let given = tuning.given();
    let level = meta.importance() as usize;
    let recency = if cold.last_used == NO_TIME {
        0.0
    } else {
        let days = ((now as f64 - cold.last_used as f64) / DAY_US).max(0.0);
        given.w_t * libm::exp(-days / given.half_life[level])
    };
    [given.base[level], recency, given.w_u * libm::log1p(f64::from(cold.use_count))]
}

/// Strength as of one moment, ready to be read for many nodes.
#[derive(Debug, Clone)]
pub enum Heat<'a> {
    /// From the stored pairs.
    Stored {
        /// exp((origin - now) / hl) by importance.
        growth: [f32; IMPORTANCES],
        /// w_t: recency of what was used at or after `now`.
        cap: f32,
    },
    /// From the cold columns.
    Direct {
        /// The constants.
        tuning: &'a Tuning,
        /// The moment.
        now: i64,
    },
}

impl<'a> Heat<'a> {
    /// Strength as of `now`; `stored` are the constants and the origin of the stored pairs.
    #[must_use]
    pub fn new(tuning: &'a Tuning, now: i64, stored: (&Tuning, i64)) -> Self {
        let given = tuning.given();
        let days = (stored.1 as f64 - now as f64) / DAY_US;
        let reach = given.half_life.iter().all(|hl| days / hl <= REACH);
        if !reach || !tuning.same_strength(stored.0) {
            return Self::Direct { tuning, now };
        }
        let growth = std::array::from_fn(|level| libm::exp(days / given.half_life[level]) as f32);
        Self::Stored { growth, cap: given.w_t as f32 }
    }

    /// Strength of a node.
    #[inline]
    pub fn of(&self, hot: Hot, cold: impl FnOnce() -> Cold) -> f32 {
        match self {
            Self::Stored { growth, cap } => {
                hot.fixed + (hot.recency * growth[hot.meta.importance() as usize % IMPORTANCES]).min(*cap)
            }
            Self::Direct { tuning, now } => terms(tuning, hot.meta, &cold(), *now).iter().sum::<f64>() as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_and_direct_strength_agree_within_reach() {
        let tuning = Tuning::default();
        let day = DAY_US as i64;
        for level in 0..4 {
            for used in [-200 * day, -3 * day, 0, day, 100 * day] {
                for now in [-200 * day, 0, 2 * day, 400 * day] {
                    let meta = Meta::default().with_importance(level);
                    let cold = Cold { last_used: used, use_count: 3, ..Cold::default() };
                    let (fixed, recency) = pair(&tuning, meta, &cold, 0);
                    let hot = Hot { fixed, recency, meta };
                    let stored = Heat::new(&tuning, now, (&tuning, 0)).of(hot, || cold);
                    let direct: f64 = terms(&tuning, meta, &cold, now).iter().sum();
                    assert!((f64::from(stored) - direct).abs() < 1e-6, "{level} {used} {now}");
                }
            }
        }
    }

    #[test]
    fn the_bound_is_above_every_strength() {
        let tuning = Tuning::default();
        let meta = Meta::default().with_importance(3);
        let cold = Cold { last_used: 0, use_count: 9, ..Cold::default() };
        let most: f64 = terms(&tuning, meta, &cold, 0).iter().sum();
        assert!(f64::from(bound(&tuning, 9)) > most);
    }
}
