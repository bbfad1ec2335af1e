//! What capital letters say before they are folded away: names, and small words that
//! are none where they are written large (`Plan A`, `10 AM`, `AND`).

use xxhash_rust::xxh3::xxh3_64;

use super::units::Role;
use super::words;
use crate::text::normalize;

/// Words of a text with whether each begins a sentence.
fn words_of(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut begins = true;
    text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | '“' | '”' | ',' | '/'))
        .filter_map(move |piece| {
            let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
            if word.is_empty() {
                begins |= piece.ends_with(['.', '!', '?', ':']);
                return None;
            }
            let first = begins;
            // The point of Dr. or St. ends no sentence.
            let title = word.len() <= 3 && word.starts_with(|c: char| c.is_ascii_uppercase());
            begins = piece.ends_with(['.', '!', '?', ':']) && !title;
            Some((word, first))
        })
}

/// Small words that the statement writes with a capital that no sentence begins, in lower
/// case: there they are names or emphasis and may not come and go.
pub fn emphasised(statement: &str) -> Vec<String> {
    let mut kept = Vec::new();
    if !statement.bytes().any(|b| b.is_ascii_uppercase())
        || !statement.bytes().any(|b| b.is_ascii_lowercase())
    {
        return kept;
    }
    for (word, begins) in words_of(statement) {
        // At the start of a sentence a capital says nothing, unless all letters have one.
        let large = word.len() <= 6 && word.bytes().all(|b| b.is_ascii_uppercase());
        let capital = word.starts_with(|c: char| c.is_ascii_uppercase());
        if !capital || (begins && (!large || word.len() == 1)) {
            continue;
        }
        let small = word.to_ascii_lowercase();
        if words::english(&small) == Role::Function && !kept.contains(&small) {
            kept.push(small);
        }
    }
    kept
}

/// Fingerprints of the words that have a capital and do not begin a sentence, and of
/// those that begin the statement (which may be names too).
pub fn capitalised(statement: &str) -> Vec<u64> {
    words_of(statement)
        .filter(|(word, _)| word.chars().any(char::is_uppercase))
        .map(|(word, _)| xxh3_64(normalize(word).as_bytes()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_word_in_capitals_is_kept() {
        assert_eq!(emphasised("Use Plan A for the rollout"), ["a"]);
        assert_eq!(emphasised("red AND green"), ["and"]);
        assert_eq!(emphasised("Ask Dr. An about it"), ["an"]);
        assert!(emphasised("A plan. A rollout").is_empty());
        assert!(emphasised("THE PLAN IS A GOOD ONE").is_empty());
    }
}
