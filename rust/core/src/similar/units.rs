//! A statement as the gate compares it: words unstemmed, CJK by characters, numbers in
//! one spelling, each with its role.
//!
//! Works on the normal form of a text, so it sees neither case nor prose punctuation.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::words;
use crate::text::{Class, class};

/// What a unit does in a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Says something.
    Content,
    /// May come and go.
    Function,
    /// A number in any spelling, with its sign.
    Number,
    /// Turns the statement round.
    Negation,
    /// How much, how often, how strictly.
    Modal,
    /// An identifier, a version, an operator, an emoji.
    Code,
}

/// One word, character or number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Fingerprint of its one spelling.
    pub hash: u64,
    /// What it does.
    pub role: Role,
    /// A character of an unspaced script.
    pub cjk: bool,
}

/// Keeps a number apart from a word that is spelled alike.
const NUMBER: u64 = 1;

/// Cuts a normal form into units; the words in `kept` may not come and go.
pub fn cut(form: &str, kept: &[String]) -> Vec<Unit> {
    let mut units = Cutter { units: Vec::new(), kept };
    let mut rest = form;
    while let Some(c) = rest.chars().next() {
        if c == ' ' {
            rest = &rest[1..];
        } else if class(c) == Class::Cjk {
            let len = rest
                .char_indices()
                .find(|&(_, c)| !matches!(class(c), Class::Cjk | Class::Mark))
                .map_or(rest.len(), |(at, _)| at);
            units.run(&rest[..len]);
            rest = &rest[len..];
        } else {
            let len = rest
                .char_indices()
                .find(|&(_, c)| c == ' ' || class(c) == Class::Cjk)
                .map_or(rest.len(), |(at, _)| at);
            units.token(&rest[..len]);
            rest = &rest[len..];
        }
    }
    units.units
}

struct Cutter<'k> {
    units: Vec<Unit>,
    kept: &'k [String],
}

impl Cutter<'_> {
    fn push(&mut self, text: &str, role: Role) {
        let seed = if role == Role::Number { NUMBER } else { 0 };
        let hash = xxh3_64_with_seed(text.as_bytes(), seed);
        self.units.push(Unit { hash, role, cjk: false });
    }

    /// A run of an unspaced script, with its numerals read.
    fn run(&mut self, run: &str) {
        let mut rest = run;
        while let Some(c) = rest.chars().next() {
            if let Some((value, len)) = numeral(rest) {
                self.push(&value.to_string(), Role::Number);
                rest = &rest[len..];
                continue;
            }
            let mut len = c.len_utf8();
            len += rest[len..]
                .chars()
                .take_while(|&c| class(c) == Class::Mark)
                .map(char::len_utf8)
                .sum::<usize>();
            let hash = xxh3_64(&rest.as_bytes()[..len]);
            self.units.push(Unit { hash, role: words::character(c), cjk: true });
            rest = &rest[len..];
        }
    }

    /// What stands between two spaces.
    fn token(&mut self, token: &str) {
        let plain = |c: char| class(c).is_letter() || class(c) == Class::Mark;
        if token.chars().all(plain) {
            self.word(token);
        } else if token.contains('\'') && token.chars().all(|c| plain(c) || c == '\'') {
            self.contraction(token);
        } else if token.contains('-') && token.chars().all(|c| plain(c) || c == '-' || c == '\'') {
            let words = token.split('-').filter(|word| !word.is_empty());
            if token.starts_with('-') {
                self.push(token, Role::Code);
            } else {
                words.for_each(|word| self.token(word));
            }
        } else {
            self.number_or_code(token);
        }
    }

    fn word(&mut self, word: &str) {
        if let Some(digits) = words::number(word) {
            self.push(digits, Role::Number);
        } else if word == "cannot" {
            self.push("can", Role::Modal);
            self.push("not", Role::Negation);
        } else {
            let clock = word == "am" && self.units.last().is_some_and(|u| u.role == Role::Number);
            let kept = clock || self.kept.iter().any(|kept| kept == word);
            self.push(word, if kept { Role::Content } else { words::english(word) });
        }
    }

    /// `don't` is `do not`, `it's` is `it is`; a possessive loses its tail.
    fn contraction(&mut self, token: &str) {
        let irregular = match token {
            "won't" => Some("will"),
            "can't" => Some("can"),
            "shan't" => Some("shall"),
            _ => token.strip_suffix("n't"),
        };
        if let Some(base) = irregular.filter(|base| !base.is_empty()) {
            self.word(base);
            self.push("not", Role::Negation);
            return;
        }
        match token.rsplit_once('\'') {
            Some((base, tail)) if words::tail(tail).is_some() => {
                self.word(base);
                self.word(words::tail(tail).unwrap_or(tail));
            }
            _ => self.push(token, Role::Content),
        }
    }

    /// `-5`, `5ms` as `5 ms`, `50%`; anything else is code.
    fn number_or_code(&mut self, token: &str) {
        let sign = token.strip_prefix(['-', '+', '~']).map_or(0, |_| 1);
        let digits =
            token[sign..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(token.len(), |at| at + sign);
        let (number, unit) = token.split_at(digits);
        let counts = number[sign..].starts_with(|c: char| c.is_ascii_digit())
            && number.matches('.').count() < 2
            && !number.ends_with('.')
            && unit.chars().all(|c| class(c).is_letter() || matches!(c, '%' | '°' | '‰'));
        if !counts {
            self.push(token, Role::Code);
            return;
        }
        self.push(number.strip_prefix('+').unwrap_or(number), Role::Number);
        if !unit.is_empty() {
            self.push(unit, Role::Content);
        }
    }
}

/// Value and byte length of the Chinese numeral that `text` starts with: digits one by
/// one (`二零二四`), or up to 99 by tens (`三十五`). Larger units are left alone, since
/// `万一` and `百度` are words.
fn numeral(text: &str) -> Option<(u64, usize)> {
    let mut digits = 0_u64;
    let mut count = 0;
    let mut len = 0;
    let mut chars = text.chars();
    let mut next = chars.next();
    while let Some(digit) = next.and_then(words::chinese_digit) {
        digits = digits.checked_mul(10)?.checked_add(u64::from(digit))?;
        count += 1;
        len += 3;
        next = chars.next();
    }
    if next == Some('十') && count <= 1 && digits != 0 || (count == 0 && next == Some('十')) {
        len += 3;
        next = chars.next();
        let ones = next.and_then(words::chinese_digit).map(u64::from);
        if ones.is_some() {
            len += 3;
            next = chars.next();
        }
        digits = if count == 0 { 10 } else { digits * 10 } + ones.unwrap_or(0);
        count += 1;
    }
    let larger = matches!(next, Some('十' | '百' | '千' | '万' | '亿'))
        || next.and_then(words::chinese_digit).is_some();
    (count > 0 && !larger).then_some((digits, len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::normalize;

    fn units(text: &str) -> Vec<Unit> {
        cut(&normalize(text), &[])
    }

    fn content(text: &str) -> Vec<u64> {
        let units = units(text).into_iter();
        units.filter(|u| u.role != Role::Function).map(|u| u.hash).collect()
    }

    #[test]
    fn one_number_has_one_spelling() {
        for (a, b) in [
            ("five servers", "5 servers"),
            ("5ms", "5 ms"),
            ("三台机器", "3台机器"),
            ("三十五人", "35 人"),
            ("二零二四年", "2024年"),
            ("十三", "13"),
            ("1,000 rows", "1000 rows"),
            ("50 %", "50%"),
        ] {
            assert_eq!(content(a), content(b), "{a} {b}");
        }
        for (a, b) in [("-5", "5"), ("1.5", "15"), ("百度", "100度"), ("二十", "20 10"), ("5ms", "5s")] {
            assert_ne!(content(a), content(b), "{a} {b}");
        }
    }

    #[test]
    fn a_contraction_is_what_it_stands_for() {
        assert_eq!(content("don't stop"), content("do not stop"));
        assert_eq!(content("can't"), content("cannot"));
        assert_eq!(content("it's red"), content("it is red"));
        assert_ne!(content("won't"), content("will"));
    }

    #[test]
    fn roles_follow_the_lists() {
        let roles = |text: &str| units(text).iter().map(|u| u.role).collect::<Vec<_>>();
        assert_eq!(
            roles("the port must not be 80 in v2.1"),
            [
                Role::Function,
                Role::Content,
                Role::Modal,
                Role::Negation,
                Role::Content,
                Role::Number,
                Role::Content,
                Role::Code
            ]
        );
        assert_eq!(roles("的不必好"), [Role::Function, Role::Negation, Role::Modal, Role::Content]);
    }
}
