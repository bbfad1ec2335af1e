//! Words that carry grammar rather than matter, in English and Chinese.
//!
//! Terms are only flagged by these lists and never dropped: recall weighs a flagged
//! query term less. The duplicate gate has a list of its own, far shorter, since
//! a negation or a preposition changes what a statement says.

/// Sorted by bytes.
#[rustfmt::skip]
const ENGLISH: [&str; 180] = [
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "aren't", "as", "at",
    "be", "because", "been", "before", "being", "between", "both", "but", "by", "can", "can't",
    "cannot", "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "doing", "don't",
    "during", "each", "either", "else", "ever", "for", "from", "get", "gets", "got", "had",
    "hadn't", "has", "hasn't", "have", "haven't", "having", "he", "he's", "her", "here", "hers",
    "herself", "him", "himself", "his", "how", "how's", "i", "i'd", "i'll", "i'm", "i've", "if",
    "in", "into", "is", "isn't", "it", "it'll", "it's", "its", "itself", "just", "let", "let's",
    "may", "me", "might", "mine", "must", "my", "myself", "neither", "no", "nor", "not", "of",
    "off", "on", "onto", "or", "other", "our", "ours", "ourselves", "out", "over", "own",
    "please", "shall", "she", "she'd", "she'll", "she's", "should", "shouldn't", "so", "some",
    "such", "than", "that", "that's", "the", "their", "theirs", "them", "themselves", "then",
    "there", "there's", "these", "they", "they'd", "they'll", "they're", "they've", "this",
    "those", "through", "to", "too", "under", "until", "up", "upon", "us", "very", "was",
    "wasn't", "we", "we'd", "we'll", "we're", "we've", "were", "weren't", "what", "what's",
    "when", "where", "where's", "whether", "which", "while", "who", "who's", "whom", "whose",
    "why", "will", "with", "within", "without", "won't", "would", "wouldn't", "yet", "you",
    "you'd", "you'll", "you're", "you've", "your", "yours", "yourself",
];

/// Characters that are function words by themselves; a bigram of two of them is one too.
#[rustfmt::skip]
const CHINESE: [char; 71] = [
    '与', '且', '个', '为', '么', '之', '也', '了', '于', '些', '从', '他', '以', '们', '但', '何',
    '你', '其', '再', '则', '到', '却', '又', '及', '只', '吗', '否', '吧', '呀', '呢', '和', '咱',
    '哦', '哪', '啊', '嘛', '在', '地', '她', '它', '将', '就', '已', '并', '很', '得', '您', '我',
    '或', '所', '把', '是', '曾', '最', '有', '来', '没', '的', '着', '给', '而', '能', '要', '让',
    '该', '请', '谁', '还', '这', '那', '都',
];

/// Bigrams that are function words, or the joint of two.
#[rustfmt::skip]
const CHINESE_PAIRS: [&str; 107] = [
    "一个", "一些", "一样", "不会", "不是", "不能", "不要", "不过", "为什", "为何", "么样", "之前",
    "之后", "之间", "也是", "什么", "什麽", "他们", "他們", "以前", "以及", "以后", "但是", "你们",
    "关于", "其中", "其他", "几个", "只是", "只有", "可以", "可能", "各个", "告诉", "咱们", "哪个",
    "哪些", "哪儿", "哪里", "因为", "多少", "大家", "她们", "如何", "如果", "它们", "对于", "将要",
    "就是", "已经", "并且", "应当", "应该", "必须", "怎么", "怎样", "怎麼", "我们", "我們", "或者",
    "所以", "按照", "时候", "是不", "是否", "是在", "是谁", "時候", "曾经", "有些", "有没", "有的",
    "某个", "某些", "根据", "正在", "每个", "没有", "然后", "然而", "由于", "的时", "的是", "而且",
    "能否", "能够", "自己", "虽然", "请问", "谁是", "谁的", "还是", "还有", "这个", "这些", "这样",
    "这里", "這個", "通过", "那个", "那么", "那些", "那個", "那样", "那里", "都是", "需要",
];

/// A set of packed words, laid out by the compiler: a look-up is a multiplication and a
/// comparison or two.
struct Set<const SLOTS: usize>([u128; SLOTS]);

impl<const SLOTS: usize> Set<SLOTS> {
    const fn empty() -> Self {
        assert!(SLOTS.is_power_of_two());
        Self([0; SLOTS])
    }

    const fn slot(key: u128) -> usize {
        let mixed = (key as u64 ^ ((key >> 64) as u64).rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (64 - SLOTS.trailing_zeros())) as usize
    }

    const fn with(mut self, key: u128) -> Self {
        let mut at = Self::slot(key);
        while self.0[at] != 0 && self.0[at] != key {
            at = (at + 1) % SLOTS;
        }
        self.0[at] = key;
        self
    }

    #[inline]
    fn has(&self, key: u128) -> bool {
        let mut at = Self::slot(key);
        loop {
            let found = self.0[at];
            if found == key || found == 0 {
                return found == key;
            }
            at = (at + 1) % SLOTS;
        }
    }
}

/// A word of at most 16 bytes as a number; 0 for a longer one.
const fn packed(word: &[u8]) -> u128 {
    let mut key = 0;
    let mut at = 0;
    while at < word.len() && word.len() <= 16 {
        key = key << 8 | word[at] as u128;
        at += 1;
    }
    key
}

/// The code of a character of three bytes.
const fn three(bytes: &[u8], at: usize) -> u32 {
    (bytes[at] as u32 & 0xf) << 12 | (bytes[at + 1] as u32 & 0x3f) << 6 | bytes[at + 2] as u32 & 0x3f
}

const fn pair(first: u32, second: u32) -> u128 {
    (first as u128) << 32 | second as u128
}

static ENGLISH_SET: Set<512> = {
    let mut set = Set::empty();
    let mut at = 0;
    while at < ENGLISH.len() {
        set = set.with(packed(ENGLISH[at].as_bytes()));
        at += 1;
    }
    set
};

static CHARACTER_SET: Set<256> = {
    let mut set = Set::empty();
    let mut at = 0;
    while at < CHINESE.len() {
        set = set.with(CHINESE[at] as u128);
        at += 1;
    }
    set
};

static PAIR_SET: Set<256> = {
    let mut set = Set::empty();
    let mut at = 0;
    while at < CHINESE_PAIRS.len() {
        let bytes = CHINESE_PAIRS[at].as_bytes();
        let (first, second) = (three(bytes, 0), three(bytes, 3));
        set = set.with(pair(first, second));
        at += 1;
    }
    set
};

/// True for an English function word in lower case.
#[inline]
#[must_use]
pub fn is_english(word: &str) -> bool {
    match word.len() {
        0 | 11.. => false,
        // The common case needs no wide arithmetic.
        len @ ..=8 => {
            let mut bytes = [0; 8];
            bytes[8 - len..].copy_from_slice(word.as_bytes());
            ENGLISH_SET.has(u128::from(u64::from_be_bytes(bytes)))
        }
        _ => ENGLISH_SET.has(packed(word.as_bytes())),
    }
}

/// True for a CJK character that is a function word, for a bigram that is one, and for a
/// bigram of two of them.
#[inline]
#[must_use]
pub fn is_chinese(term: &str) -> bool {
    let mut chars = term.chars();
    let (Some(first), second, None) = (chars.next(), chars.next(), chars.next()) else {
        return false;
    };
    let alone = |c: char| CHARACTER_SET.has(u128::from(c as u32));
    match second {
        None => alone(first),
        Some(second) => (alone(first) && alone(second)) || PAIR_SET.has(pair(first as u32, second as u32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_free_of_doubles() {
        assert!(ENGLISH.is_sorted() && ENGLISH.windows(2).all(|w| w[0] != w[1]));
        assert!(CHINESE.is_sorted() && CHINESE.windows(2).all(|w| w[0] != w[1]));
        assert!(CHINESE_PAIRS.is_sorted() && CHINESE_PAIRS.windows(2).all(|w| w[0] != w[1]));
        assert!(ENGLISH.iter().all(|w| w.len() <= 10 && is_english(w)));
        assert!(CHINESE.iter().all(|c| is_chinese(c.encode_utf8(&mut [0; 4]))));
        assert!(CHINESE_PAIRS.iter().all(|pair| pair.len() == 6 && is_chinese(pair)));
    }

    #[test]
    fn question_words_are_function_words_in_both_languages() {
        for word in ["what", "did", "the", "don't", "who's", "herself"] {
            assert!(is_english(word), "{word}");
        }
        for pair in ["什么", "怎么", "我们", "是的"] {
            assert!(is_chinese(pair), "{pair}");
        }
        assert!(is_chinese("的") && !is_chinese("京"));
        assert!(!is_english("memory") && !is_chinese("北京") && !is_chinese(""));
    }
}
