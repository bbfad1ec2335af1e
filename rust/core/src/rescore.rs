//! Strength of every proposition at one moment: a batch job.
//!
//! Holds one pass over the hot column. Invariant: the terms add up to the
//! strength that recall uses. Does not know ids. Cost: a multiply and an add per
//! node where the stored weights fit, else an exponential.

use crate::codes::PROPOSITION;
use crate::limits::{DAY_US, NO_TIME};
use crate::snapshot::Snapshot;
use crate::strength::{self, Heat};
use crate::tuning::Tuning;

/// Strength in columns, by rising node.
#[derive(Debug, Clone, Default)]
pub struct Strengths {
    /// The propositions.
    pub nodes: Vec<u32>,
    /// The sum of the three terms.
    pub strength: Vec<f32>,
    /// Weight of recency.
    pub recency: Vec<f32>,
    /// Weight of frequency.
    pub usage: Vec<f32>,
    /// Base by importance.
    pub base: Vec<f32>,
}

impl Snapshot {
    /// Strength of all propositions as of `now`.
    #[must_use]
    pub fn rescore(&self, now: i64, tuning: &Tuning) -> Strengths {
        let nodes = self.node_count() as usize;
        let mut out = Strengths {
            nodes: Vec::with_capacity(nodes),
            strength: Vec::with_capacity(nodes),
            recency: Vec::with_capacity(nodes),
            usage: Vec::with_capacity(nodes),
            base: Vec::with_capacity(nodes),
        };
        let heat = Heat::new(tuning, now, (&self.tuning, self.origin));
        let bases = tuning.given().base.map(|base| base as f32);
        let hots = self.columns.hot_pages().flatten().enumerate();
        for (node, hot) in hots.filter(|(_, hot)| hot.meta.node_type() == PROPOSITION) {
            out.nodes.push(node as u32);
            let base = bases[hot.meta.importance() as usize % bases.len()];
            let (recency, usage) = match &heat {
                Heat::Stored { growth, cap } => {
                    let recency = hot.recency * growth[hot.meta.importance() as usize % growth.len()];
                    (recency.min(*cap), hot.fixed - base)
                }
                Heat::Direct { tuning, now } => {
                    let [_, recency, usage] =
                        strength::terms(tuning, hot.meta, &self.columns.cold(node as u32), *now);
                    (recency as f32, usage as f32)
                }
            };
            out.strength.push(base + usage + recency);
            out.recency.push(recency);
            out.usage.push(usage);
            out.base.push(base);
        }
        out
    }

    /// Strength of all propositions by a curve of the caller's own: days since the last use,
    /// number of uses, importance code. A curve that gives no number counts as 0.
    #[must_use]
    pub fn rescore_with(&self, now: i64, curve: impl Fn(f64, i64, i64) -> f64) -> (Vec<u32>, Vec<f64>) {
        let hots = self.columns.hot_pages().flatten();
        let colds = self.columns.cold_pages().flatten();
        let mut out = (Vec::new(), Vec::new());
        for (node, (hot, cold)) in hots.zip(colds).enumerate() {
            if hot.meta.node_type() != PROPOSITION {
                continue;
            }
            let since = if cold.last_used == NO_TIME { now } else { cold.last_used };
            let days = ((now as f64 - since as f64) / DAY_US).max(0.0);
            let strength = curve(days, i64::from(cold.use_count), i64::from(hot.meta.importance()));
            out.0.push(node as u32);
            out.1.push(if strength.is_nan() { 0.0 } else { strength });
        }
        out
    }
}
