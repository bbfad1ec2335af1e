//! Words that carry grammar rather than matter, in English and Chinese.
//!
//! Terms are only flagged by these lists and never dropped: recall weighs a flagged
//! query term less. The duplicate gate has a list of its own, far shorter, since
//! a negation or a preposition changes what a statement says.

/// Sorted by bytes, so that a look-up is a binary search.
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

/// True for an English function word in lower case.
#[inline]
#[must_use]
pub fn is_english(word: &str) -> bool {
    word.len() <= 10 && ENGLISH.binary_search(&word).is_ok()
}

/// True for a single character that is a function word.
#[inline]
#[must_use]
pub fn is_chinese_character(character: &str) -> bool {
    let mut chars = character.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => CHINESE.binary_search(&c).is_ok(),
        _ => false,
    }
}

/// True for a bigram that is a function word or made of two.
#[inline]
#[must_use]
pub fn is_chinese_pair(pair: &str) -> bool {
    let mut chars = pair.chars();
    let (Some(first), Some(second), None) = (chars.next(), chars.next(), chars.next()) else {
        return false;
    };
    (CHINESE.binary_search(&first).is_ok() && CHINESE.binary_search(&second).is_ok())
        || CHINESE_PAIRS.binary_search(&pair).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_free_of_doubles() {
        assert!(ENGLISH.is_sorted() && ENGLISH.windows(2).all(|w| w[0] != w[1]));
        assert!(CHINESE.is_sorted() && CHINESE.windows(2).all(|w| w[0] != w[1]));
        assert!(CHINESE_PAIRS.is_sorted() && CHINESE_PAIRS.windows(2).all(|w| w[0] != w[1]));
        assert!(ENGLISH.iter().all(|w| w.len() <= 10));
    }

    #[test]
    fn question_words_are_function_words_in_both_languages() {
        for word in ["what", "did", "the", "don't", "who's", "herself"] {
            assert!(is_english(word), "{word}");
        }
        for pair in ["什么", "怎么", "我们", "是的"] {
            assert!(is_chinese_pair(pair), "{pair}");
        }
        assert!(is_chinese_character("的") && !is_chinese_character("京"));
        assert!(!is_english("memory") && !is_chinese_pair("北京"));
    }
}
