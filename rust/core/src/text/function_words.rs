//! Function words of English and Chinese: they carry little of what a query asks for.
//!
//! They are never dropped. In a small store *what* and *did* are rare, so rarity alone
//! does not tame them.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

const ENGLISH: &str = "a about above after again against all also am an and any are as at be \
    because been before being below between both but by can could did do does doing done down \
    during each else ever few for from further had has have having he her here hers herself him \
    himself his how i if in into is it its itself just let like many may me might more most much \
    my myself now of off on once only or other our ours ourselves out over own please same shall \
    she should so some such than that the their theirs them themselves then there these they this \
    those through to too under until up upon us very was we were what when where whether which \
    while who whom whose why will with would you your yours yourself yourselves tell know \
    what's who's where's it's i'm don't doesn't didn't isn't aren't wasn't weren't";

/// Characters of which Chinese function words are made.
const CHINESE_CHARACTERS: &str = "的了着过吗呢吧啊呀么和与及或是在有我你他她它们这那哪谁几就也都还又很被把给让对为从到以之其而且但因所并个些什怎样如何请要会能可";

/// Chinese words of two characters that hold a character of other use.
const CHINESE_WORDS: &str = "什么 怎么 怎样 如何 为何 为什 哪个 哪些 哪里 多少 是否 有没 没有 一个 一些 \
    这个 那个 这些 那些 我们 你们 他们 她们 它们 自己 可以 应该 因为 所以 但是 如果 或者 以及 关于 时候";

static WORDS: LazyLock<FxHashSet<&'static str>> =
    LazyLock::new(|| ENGLISH.split_whitespace().chain(CHINESE_WORDS.split_whitespace()).collect());

static CHARACTERS: LazyLock<FxHashSet<char>> = LazyLock::new(|| CHINESE_CHARACTERS.chars().collect());

/// Whether a folded term is a function word, or a bigram made wholly of such characters.
///
/// ```
/// use doxa_core::text::is_function_word;
/// assert!(is_function_word("what") && is_function_word("什么") && is_function_word("的"));
/// assert!(!is_function_word("port") && !is_function_word("端口"));
/// ```
#[must_use]
pub fn is_function_word(term: &str) -> bool {
    if WORDS.contains(term) {
        return true;
    }
    !term.is_ascii() && term.len() <= 8 && term.chars().all(|c| CHARACTERS.contains(&c))
}
