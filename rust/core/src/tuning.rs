//! The constants of all formulas, checked and compiled for the hot loops.
//!
//! Holds one immutable value per parameter set. Invariant: every number is
//! finite and in range, so no formula can give NaN. Does not know where the
//! numbers come from. Cost: made once per parameter set, shared by an `Arc`.

use crate::codes::{FIELDS, IMPORTANCES, RELATIONS, STEM};
use crate::error::{Error, Result};

/// The ranking function of the flat match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relevance {
    /// Sum over distinct query terms of the weight of the best field.
    Count,
    /// BM25 over fields.
    Bm25,
}

/// Whose degree damps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damp {
    /// The node that sends.
    Sender,
    /// The node that receives.
    Receiver,
}

/// Which way energy goes along links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Along them.
    Out,
    /// Both ways.
    Both,
}

/// The constants as given, named as in the formulas.
#[derive(Debug, Clone, PartialEq)]
pub struct Constants {
    /// Weight of relevance.
    pub alpha: f64,
    /// Weight of strength.
    pub beta: f64,
    /// Factor for what is superseded, 0 to 1.
    pub rho: f64,
    /// Weight of a hit in the title (and the id).
    pub w_title: f64,
    /// Weight of a hit in the summary (and a date).
    pub w_summary: f64,
    /// Weight of a hit in the body (and the evidence).
    pub w_body: f64,
    /// Strength by importance.
    pub base: [f64; IMPORTANCES],
    /// Time constant in days by importance.
    pub half_life: [f64; IMPORTANCES],
    /// Weight of recency.
    pub w_t: f64,
    /// Weight of frequency.
    pub w_u: f64,
    /// Hops of the spread, 0 to 8.
    pub hops: u32,
    /// Decay per hop, 0 to 1.
    pub lam: f64,
    /// Pruning threshold of one contribution.
    pub theta: f64,
    /// How many seeds spread.
    pub max_seeds: usize,
    /// How sharply weaker seeds are turned down.
    pub seed_power: f64,
    /// Whose degree damps.
    pub damp: Damp,
    /// Degree up to which nothing is damped; 0 is the published form.
    pub damp_allowance: f64,
    /// Which way energy goes.
    pub direction: Direction,
    /// By relation code, 0 to 1.
    pub conductance: [f64; RELATIONS],
    /// Whether what replaced a superseded hit is lifted above it.
    pub lift_successor: bool,
    /// The ranking function.
    pub relevance: Relevance,
    /// BM25's saturation.
    pub k1: f64,
    /// BM25's length normalisation, 0 to 1.
    pub b: f64,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            beta: 0.1,
            rho: 0.3,
            w_title: 2.0,
            w_summary: 1.0,
            w_body: 0.75,
            base: [0.0, 0.2, 0.4, 0.6],
            half_life: [7.0, 21.0, 45.0, 60.0],
            w_t: 1.0,
            w_u: 0.05,
            hops: 3,
            lam: 0.9,
            theta: 0.02,
            max_seeds: 8,
            seed_power: 1.0,
            damp: Damp::Sender,
            damp_allowance: 8.0,
            direction: Direction::Out,
            conductance: [0.4, 0.8, 0.5, 0.8, 0.4, 1.0, 1.0, 0.4, 0.15, 0.15, 0.0, 0.0, 0.0],
            lift_successor: true,
            relevance: Relevance::Bm25,
            k1: 0.8,
            b: 0.6,
        }
    }
}

/// Degrees whose damping is tabled.
const DAMPS: usize = 256;
/// Largest value of any constant, so that products stay finite in f32.
const LARGEST: f64 = 1e6;
/// Factor of function words in a query.
pub const FUNCTION_WORD: f64 = 0.3;
/// Factor of stems.
pub const STEM_WEIGHT: f64 = 0.5;
/// Factor where a proposition is about the one entity that the query names.
pub const NAMED_ENTITY: f64 = 1.2;

/// Compiled constants.
#[derive(Debug, Clone)]
pub struct Tuning {
    given: Constants,
    /// Weight by posting code (field + stem flag); 0: not searched.
    pub(crate) field: [f32; 16],
    /// Whether a hit with this posting code makes a seed.
    pub(crate) seeds: [bool; 16],
    /// Conductance by relation code.
    pub(crate) conductance: [f32; 16],
    /// The largest conductance.
    pub(crate) best_conductance: f32,
    /// Bit per relation whose conductance is above 0.
    pub(crate) carrying: u32,
    damps: [f32; DAMPS],
}

impl Tuning {
    /// Checks and compiles.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the first constant that is out of range.
    pub fn new(given: Constants) -> Result<Self> {
        check(&given)?;
        let mut field = [0.0f32; 16];
        let mut seeds = [false; 16];
        let count = given.relevance == Relevance::Count;
        let weights =
            [given.w_title, given.w_summary, given.w_body, given.w_title, given.w_summary, given.w_body];
        for (code, &weight) in weights.iter().enumerate().take(if count { 3 } else { FIELDS }) {
            field[code] = searched(weight);
            seeds[code] = code < 2 && field[code] > 0.0;
            if !count {
                field[code | STEM as usize] = searched(weight * STEM_WEIGHT);
                seeds[code | STEM as usize] = seeds[code];
            }
        }
        let mut conductance = [0.0f32; 16];
        let mut carrying = 0;
        for (relation, &value) in given.conductance.iter().enumerate() {
            conductance[relation] = value as f32;
            carrying |= u32::from(conductance[relation] > 0.0) << relation;
        }
        let best_conductance = conductance.iter().copied().fold(0.0, f32::max);
        let damps = std::array::from_fn(|degree| damping(degree as u32, given.damp_allowance));
        Ok(Self { given, field, seeds, conductance, best_conductance, carrying, damps })
    }

    /// The constants as given.
    #[must_use]
    pub fn given(&self) -> &Constants {
        &self.given
    }

    /// hubDamp of a degree.
    #[inline]
    #[must_use]
    pub fn damp(&self, degree: u32) -> f32 {
        match self.damps.get(degree as usize) {
            Some(&factor) => factor,
            None => damping(degree, self.given.damp_allowance),
        }
    }

    /// Whether strength is computed by the same constants.
    #[must_use]
    pub fn same_strength(&self, other: &Self) -> bool {
        let (a, b) = (&self.given, &other.given);
        a.base == b.base && a.half_life == b.half_life && a.w_t == b.w_t && a.w_u == b.w_u
    }
}

impl Default for Tuning {
    fn default() -> Self {
        // The defaults are in range; a test says so.
        Self::new(Constants::default()).unwrap_or_else(|_| unreachable!("default constants are in range"))
    }
}

/// A field whose weight vanishes is not searched.
fn searched(weight: f64) -> f32 {
    if weight < 1e-30 { 0.0 } else { weight as f32 }
}

fn damping(degree: u32, allowance: f64) -> f32 {
    let degree = f64::from(degree);
    let log =
        if allowance == 0.0 { libm::log(1.0 + degree) } else { libm::log((degree / allowance).max(1.0)) };
    (1.0 / (1.0 + log)) as f32
}

fn check(given: &Constants) -> Result<()> {
    let within = |name, value: f64, low: f64, high: f64| {
        if value >= low && value <= high {
            return Ok(());
        }
        Err(Error::invalid(name, value, format!("a number from {low} to {high}")))
    };
    for (name, value, high) in [
        ("alpha", given.alpha, LARGEST),
        ("beta", given.beta, LARGEST),
        ("rho", given.rho, 1.0),
        ("w_title", given.w_title, LARGEST),
        ("w_summary", given.w_summary, LARGEST),
        ("w_body", given.w_body, LARGEST),
        ("w_t", given.w_t, LARGEST),
        ("w_u", given.w_u, LARGEST),
        ("lam", given.lam, 1.0),
        ("theta", given.theta, LARGEST),
        ("seed_power", given.seed_power, 16.0),
        ("damp_allowance", given.damp_allowance, LARGEST),
        ("k1", given.k1, LARGEST),
        ("b", given.b, 1.0),
    ] {
        within(name, value, 0.0, high)?;
    }
    for &value in &given.base {
        within("base", value, 0.0, LARGEST)?;
    }
    for &value in &given.half_life {
        within("half_life", value, 1e-6, LARGEST)?;
    }
    for &value in &given.conductance {
        within("conductance", value, 0.0, 1.0)?;
    }
    within("hops", f64::from(given.hops), 0.0, 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_in_range() {
        assert_eq!(Tuning::default().given().hops, 3);
    }

    #[test]
    fn not_a_number_is_refused_by_name() {
        let error = Tuning::new(Constants { theta: f64::NAN, ..Constants::default() }).unwrap_err();
        assert!(error.to_string().starts_with("theta: NaN is not allowed"), "{error}");
    }

    #[test]
    fn damping_by_table_and_by_formula_agree() {
        for allowance in [0.0, 8.0] {
            let tuning =
                Tuning::new(Constants { damp_allowance: allowance, ..Constants::default() }).unwrap();
            for degree in [0, 1, 8, 9, 255, 256, 100_000] {
                assert_eq!(tuning.damp(degree), damping(degree, allowance));
            }
        }
        assert_eq!(Tuning::default().damp(8), 1.0);
    }
}
