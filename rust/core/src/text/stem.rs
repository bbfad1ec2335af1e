//! The English Snowball stemmer ("Porter 2") over a fixed buffer.
//!
//! Written here because the hot path may not allocate: a stem costs some tens of
//! nanoseconds and no heap. A test holds it equal to the `rust-stemmers` crate.
//! Stems lower-case ASCII words only; everything else is left alone.

/// Words longer than this are not stemmed.
pub const LONGEST: usize = 48;

/// Writes the stem of `word` to `to` and returns its length; `None` where the stem is
/// the word itself or the word is none that is stemmed.
pub fn stem(word: &[u8], to: &mut [u8; LONGEST]) -> Option<usize> {
    if !(3..=LONGEST).contains(&word.len()) {
        return None;
    }
    if !word.iter().all(|b| b.is_ascii_lowercase() || *b == b'\'') {
        return None;
    }
    if word.len() <= 6
        && let Some(fixed) = exception(word)
    {
        to[..fixed.len()].copy_from_slice(fixed);
        return (fixed != word).then_some(fixed.len());
    }
    let mut stemmer = Stemmer::new(word);
    stemmer.run();
    let stem = stemmer.text();
    to[..stem.len()].copy_from_slice(stem);
    (!stem.is_empty() && stem != word).then_some(stem.len())
}

fn exception(word: &[u8]) -> Option<&'static [u8]> {
    Some(match word {
        b"skis" => b"ski",
        b"skies" => b"sky",
        b"dying" => b"die",
        b"lying" => b"lie",
        b"tying" => b"tie",
        b"idly" => b"idl",
        b"gently" => b"gentl",
        b"ugly" => b"ugli",
        b"early" => b"earli",
        b"only" => b"onli",
        b"singly" => b"singl",
        b"sky" => b"sky",
        b"news" => b"news",
        b"howe" => b"howe",
        b"atlas" => b"atlas",
        b"cosmos" => b"cosmos",
        b"bias" => b"bias",
        b"andes" => b"andes",
        _ => return None,
    })
}

/// A suffix and what takes its place.
type Rule = (&'static [u8], &'static [u8]);

struct Stemmer {
    letters: [u8; LONGEST],
    len: usize,
    r1: usize,
    r2: usize,
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

impl Stemmer {
    fn new(word: &[u8]) -> Self {
        let word = word.strip_prefix(b"'").unwrap_or(word);
        let mut letters = [0; LONGEST];
        letters[..word.len()].copy_from_slice(word);
        let mut this = Self { letters, len: word.len(), r1: 0, r2: 0 };
        this.mark_consonant_y();
        this.mark_regions();
        this
    }

    fn text(&self) -> &[u8] {
        &self.letters[..self.len]
    }

    fn run(&mut self) {
        self.step_1a();
        if !matches!(
            self.text(),
            b"inning"
                | b"outing"
                | b"canning"
                | b"herring"
                | b"earring"
                | b"proceed"
                | b"exceed"
                | b"succeed"
        ) {
            self.step_1b();
            self.step_1c();
            self.step_2();
            self.step_3();
            self.step_4();
            self.step_5();
        }
        let len = self.len;
        self.letters[..len].iter_mut().filter(|b| **b == b'Y').for_each(|b| *b = b'y');
    }

    fn mark_consonant_y(&mut self) {
        if !self.text().contains(&b'y') {
            return;
        }
        for i in 0..self.len {
            if self.letters[i] == b'y' && (i == 0 || is_vowel(self.letters[i - 1])) {
                self.letters[i] = b'Y';
            }
        }
    }

    fn mark_regions(&mut self) {
        self.r1 = match self.text() {
            w if w.starts_with(b"gener") || w.starts_with(b"arsen") => 5,
            w if w.starts_with(b"commun") => 6,
            _ => self.region_from(0),
        };
        self.r2 = self.region_from(self.r1);
    }

    /// Just after the first non-vowel that follows a vowel at or after `start`.
    fn region_from(&self, start: usize) -> usize {
        let word = self.text();
        (start + 1..self.len)
            .find(|&i| !is_vowel(word[i]) && is_vowel(word[i - 1]))
            .map_or(self.len, |i| i + 1)
    }

    /// Compares the last letter first: most suffixes fail there.
    #[inline]
    fn ends(&self, suffix: &[u8]) -> bool {
        let (len, of) = (suffix.len(), self.len);
        len <= of && self.letters[of - 1] == suffix[len - 1] && self.letters[of - len..of] == *suffix
    }

    fn in_r1(&self, suffix: &[u8]) -> bool {
        self.len - suffix.len() >= self.r1
    }

    fn in_r2(&self, suffix: &[u8]) -> bool {
        self.len - suffix.len() >= self.r2
    }

    fn replace(&mut self, suffix: &[u8], with: &[u8]) {
        let at = self.len - suffix.len();
        self.letters[at..at + with.len()].copy_from_slice(with);
        self.len = at + with.len();
    }

    fn has_vowel_before(&self, end: usize) -> bool {
        self.letters[..end].iter().any(|&b| is_vowel(b))
    }

    /// Whether `letters[..end]` ends in a short syllable.
    fn ends_short(&self, end: usize) -> bool {
        let w = &self.letters[..end];
        match end {
            0 | 1 => false,
            2 => is_vowel(w[0]) && !is_vowel(w[1]),
            _ => {
                let (a, b, c) = (w[end - 3], w[end - 2], w[end - 1]);
                !is_vowel(a) && is_vowel(b) && !is_vowel(c) && !matches!(c, b'w' | b'x' | b'Y')
            }
        }
    }

    fn step_1a(&mut self) {
        for suffix in [&b"'s'"[..], b"'s", b"'"] {
            if !self.text().contains(&b'\'') {
                break;
            }
            if self.ends(suffix) {
                self.replace(suffix, b"");
                break;
            }
        }
        if self.ends(b"sses") {
            self.replace(b"sses", b"ss");
        } else if self.ends(b"ied") || self.ends(b"ies") {
            let with: &[u8] = if self.len > 4 { b"i" } else { b"ie" };
            self.replace(b"ies", with);
        } else if self.ends(b"s")
            && !self.ends(b"us")
            && !self.ends(b"ss")
            && self.len >= 2
            && self.has_vowel_before(self.len - 2)
        {
            self.len -= 1;
        }
    }

    fn step_1b(&mut self) {
        for suffix in [&b"eedly"[..], b"eed"] {
            if self.ends(suffix) {
                if self.in_r1(suffix) {
                    self.replace(suffix, b"ee");
                }
                return;
            }
        }
        for suffix in [&b"ingly"[..], b"edly", b"ing", b"ed"] {
            if self.ends(suffix) {
                if self.has_vowel_before(self.len - suffix.len()) {
                    self.replace(suffix, b"");
                    self.mend();
                }
                return;
            }
        }
    }

    /// What step 1b does after it has cut a suffix off.
    fn mend(&mut self) {
        let doubles: [&[u8]; 9] = [b"bb", b"dd", b"ff", b"gg", b"mm", b"nn", b"pp", b"rr", b"tt"];
        if self.ends(b"at") || self.ends(b"bl") || self.ends(b"iz") {
            self.replace(b"", b"e");
        } else if doubles.iter().any(|d| self.ends(d)) {
            self.len -= 1;
        } else if self.r1 >= self.len && self.ends_short(self.len) {
            self.replace(b"", b"e");
        }
    }

    fn step_1c(&mut self) {
        if self.len > 2
            && matches!(self.letters[self.len - 1], b'y' | b'Y')
            && !is_vowel(self.letters[self.len - 2])
        {
            self.letters[self.len - 1] = b'i';
        }
    }

    /// The first of these rules whose suffix the word has.
    fn rule(&self, rules: &'static [Rule]) -> Option<Rule> {
        rules.iter().copied().find(|(suffix, _)| self.ends(suffix))
    }

    fn step_2(&mut self) {
        let rules: &[Rule] = match self.letters[self.len.max(1) - 1] {
            b'l' => &[(b"ational", b"ate"), (b"tional", b"tion")],
            b's' => &[(b"fulness", b"ful"), (b"iveness", b"ive"), (b"ousness", b"ous")],
            b'n' => &[(b"ization", b"ize"), (b"ation", b"ate")],
            b'm' => &[(b"alism", b"al")],
            b'r' => &[(b"ator", b"ate"), (b"izer", b"ize")],
            b'i' => &[
                (b"biliti", b"ble"),
                (b"lessli", b"less"),
                (b"aliti", b"al"),
                (b"entli", b"ent"),
                (b"fulli", b"ful"),
                (b"iviti", b"ive"),
                (b"ousli", b"ous"),
                (b"abli", b"able"),
                (b"alli", b"al"),
                (b"anci", b"ance"),
                (b"enci", b"ence"),
                (b"bli", b"ble"),
            ],
            _ => return,
        };
        if let Some((suffix, with)) = self.rule(rules) {
            if self.in_r1(suffix) {
                self.replace(suffix, with);
            }
        } else if self.ends(b"ogi") {
            if self.in_r1(b"ogi") && self.ends(b"logi") {
                self.replace(b"ogi", b"og");
            }
        } else if self.ends(b"li") && self.in_r1(b"li") && self.len > 2 {
            let before = self.letters[self.len - 3];
            if b"cdeghkmnrt".contains(&before) {
                self.replace(b"li", b"");
            }
        }
    }

    fn step_3(&mut self) {
        let rules: &[Rule] = match self.letters[self.len.max(1) - 1] {
            b'e' if self.ends(b"ative") => {
                if self.in_r1(b"ative") && self.in_r2(b"ative") {
                    self.replace(b"ative", b"");
                }
                return;
            }
            b'e' => &[(b"alize", b"al"), (b"icate", b"ic")],
            b'i' => &[(b"iciti", b"ic")],
            b'l' => &[(b"ational", b"ate"), (b"tional", b"tion"), (b"ical", b"ic"), (b"ful", b"")],
            b's' => &[(b"ness", b"")],
            _ => return,
        };
        if let Some((suffix, with)) = self.rule(rules)
            && self.in_r1(suffix)
        {
            self.replace(suffix, with);
        }
    }

    fn step_4(&mut self) {
        let rules: &[Rule] = match self.letters[self.len.max(1) - 1] {
            b't' => &[(b"ement", b""), (b"ment", b""), (b"ant", b""), (b"ent", b"")],
            b'e' => &[
                (b"able", b""),
                (b"ance", b""),
                (b"ence", b""),
                (b"ible", b""),
                (b"ate", b""),
                (b"ive", b""),
                (b"ize", b""),
            ],
            b'm' => &[(b"ism", b"")],
            b'i' => &[(b"iti", b"")],
            b's' => &[(b"ous", b"")],
            b'l' => &[(b"al", b"")],
            b'r' => &[(b"er", b"")],
            b'c' => &[(b"ic", b"")],
            b'n' if self.ends(b"sion") || self.ends(b"tion") => &[(b"ion", b"")],
            _ => return,
        };
        if let Some((suffix, _)) = self.rule(rules)
            && self.in_r2(suffix)
        {
            self.replace(suffix, b"");
        }
    }

    fn step_5(&mut self) {
        if self.ends(b"e") {
            let short = self.ends_short(self.len - 1);
            if self.in_r2(b"e") || (self.in_r1(b"e") && !short) {
                self.len -= 1;
            }
        } else if self.ends(b"ll") && self.in_r2(b"l") {
            self.len -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stem(word: &str) -> String {
        let mut out = [0; LONGEST];
        let len = super::stem(word.as_bytes(), &mut out);
        len.map_or(word.to_owned(), |len| String::from_utf8_lossy(&out[..len]).into_owned())
    }

    fn reference(word: &str) -> String {
        rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::English).stem(word).into_owned()
    }

    #[test]
    fn known_words_get_the_published_stems() {
        for (word, expect) in [
            ("consistency", "consist"),
            ("running", "run"),
            ("generously", "generous"),
            ("communities", "communiti"),
            ("relational", "relat"),
            ("hoping", "hope"),
            ("cries", "cri"),
            ("ties", "tie"),
            ("anna's", "anna"),
            ("knightly", "knight"),
            ("only", "onli"),
            ("skies", "sky"),
            ("news", "news"),
            ("idly", "idl"),
        ] {
            assert_eq!(stem(word), expect);
        }
    }

    #[test]
    fn words_made_of_every_pair_of_suffixes_agree_with_the_reference() {
        let roots = ["be", "hop", "gener", "commun", "tray", "sky"];
        let suffixes = "s es ed ing ly ies ied eed eedly edly ingly ational tional enci anci abli \
            entli izer ization ation ator alism aliti alli fulness ousli ousness iveness iviti \
            biliti bli logi fulli lessli li alize icate iciti ical ful ness ative al ance ence er \
            ic able ible ant ement ment ent ism ate iti ous ive ize sion tion e ll y 's ss us";
        for root in roots {
            for first in suffixes.split_whitespace().chain([""]) {
                for second in suffixes.split_whitespace().chain([""]) {
                    let word = format!("{root}{first}{second}");
                    assert_eq!(stem(&word), reference(&word), "{word}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn any_word_agrees_with_the_reference(word in "[a-z]{0,6}[aeioylnst']{1,6}[a-z]{0,3}") {
            let expect = reference(&word);
            prop_assume!(!expect.is_empty());
            prop_assert_eq!(stem(&word), expect);
        }
    }
}
