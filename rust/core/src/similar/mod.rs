//! Do two statements say the same? The duplicate gate, without knowledge of a store.
//!
//! *Equal*: one normal form. *Same*: nothing but words that may come and go differs,
//! and the rest stands in the same order, so that no number, date, version, unit, name,
//! negation, quantifier or identifier can have changed or moved. *Abstain*: much in
//! common, for a person or a model to judge. Invariant: two statements that are *same*
//! have one content fingerprint, those that are *equal* one of each kind, so that both
//! are found by look-up and never missed. Cost: linear, but for the common subsequence,
//! whose cost is capped (see `order`).

mod order;
mod units;
mod words;

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use xxhash_rust::xxh3::xxh3_64;

use crate::text::{Language, Terms, normalize};
use order::common_subsequence;
use units::{Role, Unit, cut};

/// Fingerprints of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statement {
    /// Of the normal form: equal statements have it in common.
    pub equal: u64,
    /// Of the content words in their order: statements that are the same have it in common.
    pub content: u64,
}

/// The fingerprints of `statement`.
#[must_use]
pub fn fingerprint(statement: &str) -> Statement {
    let form = normalize(statement);
    let equal = xxh3_64(form.as_bytes());
    Statement { equal, content: content_print(&cut(&form)).unwrap_or(equal) }
}

/// `None` where a statement has no content words.
fn content_print(units: &[Unit]) -> Option<u64> {
    let bytes: Vec<u8> = content(units).flat_map(u64::to_le_bytes).collect();
    (!bytes.is_empty()).then(|| xxh3_64(&bytes))
}

fn content(units: &[Unit]) -> impl Iterator<Item = u64> {
    units.iter().filter(|unit| unit.role != Role::Function).map(|unit| unit.hash)
}

/// From where on the gate says what.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Thresholds {
    /// Least agreement of order for *same*.
    pub same: f64,
    /// Least similarity for *abstain*.
    pub abstain: f64,
    /// The same where most of the text is CJK.
    pub abstain_cjk: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { same: 0.85, abstain: 0.4, abstain_cjk: 0.3 }
    }
}

/// What the gate says about two statements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// Equal after normalisation.
    Equal,
    /// Only function words differ.
    Same,
    /// Perhaps the same: for a judge.
    Abstain,
    /// Not the same.
    Different,
}

impl Verdict {
    /// The verdict in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Same => "same",
            Self::Abstain => "abstain",
            Self::Different => "different",
        }
    }
}

/// A statement made ready to be compared with many.
pub struct Prepared {
    form: String,
    units: Vec<Unit>,
    hashes: Vec<u64>,
    names: Vec<u64>,
    cjk: bool,
}

impl Prepared {
    /// Reads `statement`.
    #[must_use]
    pub fn new(statement: &str) -> Self {
        let form = normalize(statement);
        let units = cut(&form);
        let cjk = 2 * units.iter().filter(|unit| unit.cjk).count() > units.len();
        Self { hashes: units.iter().map(|unit| unit.hash).collect(), units, names: Vec::new(), cjk, form }
    }
}

/// Compares `a` and `b`: the verdict, the similarity it rests on, and why.
#[must_use]
pub fn compare(a: &str, b: &str, thresholds: &Thresholds) -> (Verdict, f64, &'static str) {
    let (x, y) = (Prepared::new(a), Prepared::new(b));
    if x.form == y.form {
        return (Verdict::Equal, 1.0, "equal after normalisation");
    }
    let lcs = common_subsequence(&x.hashes, &y.hashes);
    let order = 2.0 * lcs as f64 / (x.hashes.len() + y.hashes.len()).max(1) as f64;
    let agree = content(&x.units).eq(content(&y.units)) && content(&x.units).next().is_some();
    if agree && order >= thresholds.same {
        return (Verdict::Same, order, "only function words differ");
    }
    let similarity = order.max(jaccard(a, b, &mut Terms::new()));
    let cut = if x.cjk || y.cjk { thresholds.abstain_cjk } else { thresholds.abstain };
    if similarity >= cut {
        (Verdict::Abstain, similarity, "words differ")
    } else {
        (Verdict::Different, similarity, "little in common")
    }
}

fn jaccard(a: &str, b: &str, terms: &mut Terms) -> f64 {
    let mut weights: HashMap<u64, (u8, f64), FxBuildHasher> = HashMap::default();
    for (side, text) in [(1, a), (2, b)] {
        terms.analyze(text, Language::None);
        for (term, kind, function) in terms.iter() {
            if kind.is_primary() {
                let weight = if function { 0.3 } else { 1.0 };
                weights.entry(xxh3_64(term.as_bytes())).or_insert((0, weight)).0 |= side;
            }
        }
    }
    let (mut shared, mut all) = (0.0, 0.0);
    for (sides, weight) in weights.values() {
        all += weight;
        shared += if *sides == 3 { *weight } else { 0.0 };
    }
    if all > 0.0 { shared / all } else { 0.0 }
}

/// Experiment.
#[must_use]
pub fn probe(a: &str, b: &str) -> (bool, bool, bool, f64, f64, f64, bool) {
    let (x, y) = (Prepared::new(a), Prepared::new(b));
    let lcs = common_subsequence(&x.hashes, &y.hashes);
    let order = 2.0 * lcs as f64 / (x.hashes.len() + y.hashes.len()).max(1) as f64;
    let strict = lcs as f64 / x.hashes.len().max(y.hashes.len()).max(1) as f64;
    let agree = content(&x.units).eq(content(&y.units)) && content(&x.units).next().is_some();
    let mut m: Vec<u64> = content(&x.units).collect();
    let mut n: Vec<u64> = content(&y.units).collect();
    m.sort_unstable();
    n.sort_unstable();
    (x.form == y.form, agree, m == n, order, strict, jaccard(a, b, &mut Terms::new()), x.cjk || y.cjk)
}
