//! Do two statements say the same? The duplicate gate, without knowledge of a store.
//!
//! *Equal*: one normal form. *Same*: nothing but words that may come and go differs,
//! and the rest stands in the same order, so that no number, date, version, unit, name,
//! negation, quantifier or identifier can have changed or moved. *Abstain*: much in
//! common, for a person or a model to judge. Invariant: two statements that are *same*
//! have one content fingerprint, those that are *equal* one of each kind, so that both
//! are found by look-up and never missed. Cost: linear, but for the common subsequence,
//! whose cost is capped (see `order`).

mod names;
mod order;
mod units;
mod words;

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use xxhash_rust::xxh3::xxh3_64;

use crate::text::{Language, Terms, normalize};
use crate::tuning::FUNCTION_WORD;
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
    let units = cut(&form, &names::emphasised(statement));
    let bytes: Vec<u8> = content(&units).flat_map(|unit| unit.hash.to_le_bytes()).collect();
    let content = if bytes.is_empty() { equal } else { xxh3_64(&bytes) };
    Statement { equal, content }
}

/// All but what may come and go.
fn content(units: &[Unit]) -> impl Iterator<Item = &Unit> {
    units.iter().filter(|unit| unit.role != Role::Function)
}

/// From where on the gate says what.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Thresholds {
    /// Least agreement of order for *same*.
    pub same: f64,
    /// Least similarity for *abstain*.
    pub abstain: f64,
    /// The same where most of either text is CJK.
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
    /// Only words that may come and go differ.
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
    terms: Terms,
    names: Vec<u64>,
    cjk: bool,
}

impl Prepared {
    /// Reads `statement`.
    #[must_use]
    pub fn new(statement: &str) -> Self {
        let form = normalize(statement);
        let units = cut(&form, &names::emphasised(statement));
        let mut terms = Terms::new();
        terms.analyze(statement, Language::None);
        Self {
            cjk: 2 * units.iter().filter(|unit| unit.cjk).count() > units.len(),
            hashes: units.iter().map(|unit| unit.hash).collect(),
            names: names::capitalised(statement),
            units,
            terms,
            form,
        }
    }
}

/// Compares `a` and `b`: the verdict, the similarity it rests on, and why. Terms weigh
/// alike, function words less.
///
/// ```
/// use doxa_core::similar::{Thresholds, Verdict, compare};
/// let say = |a, b| compare(a, b, &Thresholds::default()).0;
/// assert_eq!(say("The port is 8080.", "the port is 8080"), Verdict::Equal);
/// assert_eq!(say("The cache is kept in the home folder", "Cache kept in the home folder"), Verdict::Same);
/// assert_eq!(say("The port is 8080", "The port is 8081"), Verdict::Abstain);
/// ```
#[must_use]
pub fn compare(a: &str, b: &str, thresholds: &Thresholds) -> (Verdict, f64, &'static str) {
    compare_prepared(&Prepared::new(a), &Prepared::new(b), thresholds, |_, function| {
        if function { FUNCTION_WORD } else { 1.0 }
    })
}

/// The same for prepared statements; `weight` is that of a term, told whether it is a
/// function word (a store's idf, say).
pub fn compare_prepared(
    a: &Prepared,
    b: &Prepared,
    thresholds: &Thresholds,
    weight: impl Fn(&str, bool) -> f64,
) -> (Verdict, f64, &'static str) {
    if a.form == b.form {
        return (Verdict::Equal, 1.0, "equal after normalisation");
    }
    let common = common_subsequence(&a.hashes, &b.hashes);
    let order = 2.0 * common as f64 / (a.hashes.len() + b.hashes.len()).max(1) as f64;
    let says = |statement: &Prepared| content(&statement.units).next().is_some();
    if order >= thresholds.same && says(a) && content(&a.units).eq(content(&b.units)) {
        return (Verdict::Same, order, "only function words differ");
    }
    let similarity = order.max(jaccard(&a.terms, &b.terms, weight));
    let cjk = a.cjk || b.cjk;
    if similarity < if cjk { thresholds.abstain_cjk } else { thresholds.abstain } {
        return (Verdict::Different, similarity, "little in common");
    }
    (Verdict::Abstain, similarity, difference(a, b))
}

/// Jaccard similarity of the sets of term bigrams; a text of one term has that term for
/// a bigram. Two texts without terms are alike when their normal forms are.
///
/// ```
/// use doxa_core::similar::bigram_similarity;
/// assert_eq!(bigram_similarity("red green blue", "red green grey"), 1.0 / 3.0);
/// ```
#[must_use]
pub fn bigram_similarity(a: &str, b: &str) -> f64 {
    let mut scratch = Terms::new();
    let mut bigrams = |text: &str| {
        scratch.analyze(text, Language::None);
        let terms: Vec<u64> = scratch.primary().map(|term| xxh3_64(term.as_bytes())).collect();
        let pairs = terms.windows(2).map(|pair| (pair[0], pair[1]));
        let mut set: Vec<(u64, u64)> = match terms[..] {
            [only] => vec![(only, 0)],
            _ => pairs.collect(),
        };
        set.sort_unstable();
        set.dedup();
        set
    };
    let (x, y) = (bigrams(a), bigrams(b));
    if x.is_empty() && y.is_empty() {
        return if normalize(a) == normalize(b) { 1.0 } else { 0.0 };
    }
    let shared = x.iter().filter(|pair| y.binary_search(pair).is_ok()).count();
    shared as f64 / (x.len() + y.len() - shared) as f64
}

/// Weighted Jaccard similarity of the primary terms.
fn jaccard(a: &Terms, b: &Terms, weight: impl Fn(&str, bool) -> f64) -> f64 {
    let mut terms: Vec<(u64, u8, f64)> = Vec::with_capacity(a.len() + b.len());
    for (side, statement) in [(1, a), (2, b)] {
        let primary = statement.iter().filter(|(_, kind, _)| kind.is_primary());
        terms.extend(
            primary.map(|(term, _, function)| (xxh3_64(term.as_bytes()), side, weight(term, function))),
        );
    }
    // One order for both directions: a float sum depends on it.
    terms.sort_unstable_by_key(|&(hash, side, _)| (hash, side));
    let (mut shared, mut all) = (0.0, 0.0);
    for equal in terms.chunk_by(|x, y| x.0 == y.0) {
        let worth = equal[0].2;
        all += worth;
        shared += if equal[0].1 != equal[equal.len() - 1].1 { worth } else { 0.0 };
    }
    if all > 0.0 { shared / all } else { 0.0 }
}

/// What most keeps two statements from being the same.
fn difference(a: &Prepared, b: &Prepared) -> &'static str {
    let mut counts: HashMap<u64, (i64, Role), FxBuildHasher> = HashMap::default();
    for (sign, statement) in [(1, a), (-1, b)] {
        for unit in content(&statement.units) {
            counts.entry(unit.hash).or_insert((0, unit.role)).0 += sign;
        }
    }
    counts.retain(|_, (count, _)| *count != 0);
    if counts.is_empty() {
        return "the order differs";
    }
    let role = |role: Role| counts.values().any(|&(_, other)| other == role);
    let name = |statement: &Prepared| statement.names.iter().any(|name| counts.contains_key(name));
    if role(Role::Number) {
        "a number differs"
    } else if role(Role::Negation) {
        "a negation differs"
    } else if role(Role::Code) {
        "an identifier, version or operator differs"
    } else if name(a) || name(b) {
        "a name differs"
    } else if role(Role::Modal) {
        "a quantifier or modal differs"
    } else {
        "words differ"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn say(a: &str, b: &str) -> (Verdict, f64, &'static str) {
        compare(a, b, &Thresholds::default())
    }

    fn is_duplicate(a: &str, b: &str) -> bool {
        matches!(say(a, b).0, Verdict::Equal | Verdict::Same)
    }

    #[test]
    fn what_only_dresses_a_statement_does_not_count() {
        for (a, b) in [
            ("The deploy script lives in tools/deploy.sh.", "Deploy script lives in `tools/deploy.sh`"),
            ("The service doesn't keep any state", "The service does not keep any state"),
            ("We run five workers per host", "We run 5 workers per host"),
            ("A retry waits 5ms at first", "a retry waits 5 ms at first"),
            ("The cache is in-memory only", "the cache is in memory only"),
            ("数据库在每天凌晨三点备份", "数据库在每天凌晨3点备份。"),
            ("部署完成了，服务正常运行", "部署完成，服务正常运行"),
        ] {
            assert!(is_duplicate(a, b), "{a:?} {b:?}: {:?}", say(a, b));
        }
    }

    #[test]
    fn a_changed_guard_is_never_a_duplicate_and_is_named() {
        for (a, b, reason) in [
            ("The port is 8080", "The port is 8081", "a number differs"),
            (
                "Released on 2024-01-05",
                "Released on 2024-01-06",
                "an identifier, version or operator differs",
            ),
            (
                "Needs v2.1 of the client",
                "Needs v2.2 of the client",
                "an identifier, version or operator differs",
            ),
            ("It takes 5 ms", "It takes 5 s", "words differ"),
            ("It takes -5 steps", "It takes 5 steps", "a number differs"),
            ("Anna owns the parser", "Ben owns the parser", "a name differs"),
            ("The cache is enabled", "The cache is not enabled", "a negation differs"),
            ("You may restart it", "You must restart it", "a quantifier or modal differs"),
            ("It always fails", "It sometimes fails", "a quantifier or modal differs"),
            ("Written in C", "Written in C++", "an identifier, version or operator differs"),
            ("Moves data from A1 to B1", "Moves data from B1 to A1", "the order differs"),
            ("服务可以重启", "服务不可以重启", "a negation differs"),
            ("每天备份三次", "每天备份五次", "a number differs"),
            ("The server was up", "The server is up", "words differ"),
        ] {
            let (verdict, _, why) = say(a, b);
            assert!(matches!(verdict, Verdict::Abstain), "{a:?} {b:?}: {verdict:?}");
            assert_eq!(why, reason, "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_letter_that_is_a_name_is_no_article() {
        assert!(!is_duplicate(
            "Rollout uses Plan A for the northern region",
            "Rollout uses plan for the northern region"
        ));
        assert!(!is_duplicate(
            "The weekly meeting starts at 10 am in room four",
            "The weekly meeting starts at 10 in room four"
        ));
        assert!(is_duplicate(
            "A plan is used for the northern region",
            "The plan is used for the northern region"
        ));
    }

    #[test]
    fn unrelated_statements_are_different() {
        let (verdict, similarity, why) = say("The port is 8080", "Anna prefers green tea");
        assert_eq!((verdict, why), (Verdict::Different, "little in common"));
        assert!(similarity < 0.2);
    }

    #[test]
    fn texts_without_a_word_are_equal_only_to_themselves() {
        assert_eq!(say("!!!", "!!!").0, Verdict::Equal);
        assert_eq!(say("!!!", "???").0, Verdict::Different);
        assert_eq!(say("", "").0, Verdict::Equal);
        assert_ne!(say("the", "a").0, Verdict::Same);
    }

    #[test]
    fn a_long_text_is_compared_in_bounded_time() {
        let long = "alpha beta gamma delta epsilon ".repeat(7000);
        let other = "epsilon delta gamma beta alpha ".repeat(7000);
        assert_eq!(say(&long, &long).0, Verdict::Equal);
        assert_eq!(say(&long, &format!("the {long}")).0, Verdict::Same);
        assert_eq!(say(&long, &other).0, Verdict::Abstain);
    }

    #[test]
    fn a_weight_decides_what_overlap_is_worth() {
        let rare = |term: &str, _: bool| if term == "kestrel" { 9.0 } else { 0.5 };
        let (a, b) = (Prepared::new("kestrel is one of many"), Prepared::new("look, there flies kestrel"));
        let (verdict, similarity, _) = compare_prepared(&a, &b, &Thresholds::default(), rare);
        assert_eq!(verdict, Verdict::Abstain);
        assert!(similarity > 0.7);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn same_and_equal_are_found_by_fingerprints(
            words in prop::collection::vec("the|a|is|not|five|5|port|v2\\.1|C\\+\\+|Anna|don't|A|am|的|了|三|端口|-5", 1..9),
            other in prop::collection::vec("the|a|is|not|five|5|port|v2\\.1|C\\+\\+|Anna|don't|A|am|的|了|三|端口|-5", 1..9),
            extra in prop::collection::vec(0_usize..9, 0..3),
        ) {
            let a = words.join(" ");
            let mut mixed = words.clone();
            for at in extra {
                mixed.insert(at.min(mixed.len()), "the".into());
            }
            for b in [mixed.join(" "), other.join(" ")] {
                let (verdict, similarity, _) = compare(&a, &b, &Thresholds { same: 0.3, ..Thresholds::default() });
                let (x, y) = (fingerprint(&a), fingerprint(&b));
                prop_assert_eq!(verdict == Verdict::Equal, x.equal == y.equal);
                if verdict <= Verdict::Same {
                    prop_assert_eq!(x.content, y.content);
                }
                prop_assert!((0.0..=1.0).contains(&similarity));
                prop_assert_eq!(verdict, compare(&b, &a, &Thresholds { same: 0.3, ..Thresholds::default() }).0);
            }
        }

        #[test]
        fn any_two_texts_can_be_compared(a in "\\PC{0,20}", b in "\\PC{0,20}") {
            let (verdict, similarity, _) = say(&a, &b);
            prop_assert!((0.0..=1.0).contains(&similarity));
            prop_assert_eq!(verdict == Verdict::Equal, fingerprint(&a).equal == fingerprint(&b).equal);
        }
    }
}
