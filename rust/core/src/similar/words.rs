//! The gate's own words: which may differ between two statements that say the same,
//! which never may, and which are spellings of one number.
//!
//! The list of words that may differ is short on purpose. Prepositions, pronouns,
//! tenses, modals and negations are function words to a grammar, and yet "from A to
//! B", "was", "must" and "not" decide what a statement says.

use super::units::Role;

/// Role of an English word in lower case.
pub fn english(word: &str) -> Role {
    match word {
        "a" | "an" | "the" | "is" | "are" | "am" | "that" | "this" | "these" | "and" | "please" => {
            Role::Function
        }
        "not" | "no" | "never" | "none" | "nobody" | "nothing" | "nowhere" | "neither" | "nor"
        | "without" | "unless" | "except" | "hardly" | "barely" | "rarely" | "seldom" | "non" | "lacks"
        | "lack" | "avoid" | "forbid" | "forbidden" | "prohibited" | "disable" | "disabled" | "deny"
        | "denied" | "refuse" | "refused" => Role::Negation,
        "all" | "any" | "some" | "every" | "each" | "most" | "many" | "few" | "several" | "both"
        | "either" | "always" | "usually" | "often" | "sometimes" | "only" | "may" | "might" | "must"
        | "should" | "shall" | "can" | "could" | "will" | "would" | "need" | "needs" | "more" | "less"
        | "least" => Role::Modal,
        _ => Role::Content,
    }
}

/// Role of a character of an unspaced script. Particles only: other characters that are
/// function words by themselves stand in names too (李得胜, 和平).
pub fn character(c: char) -> Role {
    match c {
        '的' | '了' | '呢' | '啊' | '呀' | '吧' | '哦' | '嘛' | '是' => Role::Function,
        '不' | '没' | '沒' | '无' | '無' | '未' | '非' | '勿' | '别' | '別' | '莫' | '否' | '禁' | '免'
        | '拒' => Role::Negation,
        '必' | '须' | '應' | '应' | '该' | '可' | '能' | '会' | '都' | '全' | '每' | '各' | '仅' | '只'
        | '总' | '常' | '些' | '最' => Role::Modal,
        _ => Role::Content,
    }
}

/// The digits of an English number word.
pub fn number(word: &str) -> Option<&'static str> {
    Some(match word {
        "zero" => "0",
        "one" => "1",
        "two" => "2",
        "three" => "3",
        "four" => "4",
        "five" => "5",
        "six" => "6",
        "seven" => "7",
        "eight" => "8",
        "nine" => "9",
        "ten" => "10",
        "eleven" => "11",
        "twelve" => "12",
        "thirteen" => "13",
        "fourteen" => "14",
        "fifteen" => "15",
        "sixteen" => "16",
        "seventeen" => "17",
        "eighteen" => "18",
        "nineteen" => "19",
        "twenty" => "20",
        "thirty" => "30",
        "forty" => "40",
        "fifty" => "50",
        "sixty" => "60",
        "seventy" => "70",
        "eighty" => "80",
        "ninety" => "90",
        "hundred" => "100",
        "thousand" => "1000",
        "million" => "1000000",
        "billion" => "1000000000",
        _ => return None,
    })
}

/// The value of a Chinese digit.
pub fn chinese_digit(c: char) -> Option<u32> {
    Some(match c {
        '零' | '〇' => 0,
        '一' => 1,
        '二' | '两' => 2,
        '三' => 3,
        '四' => 4,
        '五' => 5,
        '六' => 6,
        '七' => 7,
        '八' => 8,
        '九' => 9,
        _ => return None,
    })
}

/// What a contraction's tail stands for.
pub fn tail(tail: &str) -> Option<&'static str> {
    Some(match tail {
        "s" | "re" | "m" => "is",
        "ve" => "have",
        "ll" => "will",
        _ => return None,
    })
}
