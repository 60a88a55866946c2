//! Finding a word among candidates: exact, by unique prefix, or the nearest one. ASCII case is
//! ignored.

/// What a word stands for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pick<T> {
    /// One candidate, typed in full or by a prefix no other has.
    One(T),
    /// Several; their spellings.
    Several(Vec<&'static str>),
    /// None.
    Nothing,
}

/// Picks from `candidates` (spelling, what it stands for). Several spellings of the same thing are
/// one.
pub(crate) fn pick<T: PartialEq + Copy>(word: &str, candidates: &[(&'static str, T)]) -> Pick<T> {
    if let Some((_, target)) = candidates
        .iter()
        .find(|(spelling, _)| spelling.eq_ignore_ascii_case(word))
    {
        return Pick::One(*target);
    }
    let matching: Vec<&(&'static str, T)> = candidates
        .iter()
        .filter(|(spelling, _)| has_prefix(spelling, word))
        .collect();
    match matching.as_slice() {
        [] => Pick::Nothing,
        [(_, target), others @ ..] if others.iter().all(|(_, other)| other == target) => {
            Pick::One(*target)
        }
        [_, ..] => Pick::Several(matching.iter().map(|(spelling, _)| *spelling).collect()),
    }
}

/// Tells whether `text` begins with `prefix`, which is not empty.
pub(crate) fn has_prefix(text: &str, prefix: &str) -> bool {
    !prefix.is_empty()
        && text
            .get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Returns the candidate that `word` most likely means.
/// Shape: at most a third of its letters differ, and at least one letter may; the first of equals.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let word: Vec<char> = word.to_ascii_lowercase().chars().collect();
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    let most = (word.len() / 3).max(1);
    candidates
        .map(|candidate| (distance(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= most && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Counts the letters to insert, remove, replace, or swap with their neighbour.
fn distance(word: &[char], candidate: &str) -> usize {
    let other: Vec<char> = candidate.to_ascii_lowercase().chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in word.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && word[i - 1] == *b {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

/// No word of the language is longer than this; it bounds the work for nonsense.
const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_wins_over_a_longer_word_with_the_same_start() {
        let words = [("newServiceRequest", 1), ("newServiceRequestUnit", 2)];
        assert_eq!(pick("NEWSERVICEREQUEST", &words), Pick::One(1));
        assert_eq!(pick("newServiceRequestU", &words), Pick::One(2));
        assert_eq!(
            pick("newS", &words),
            Pick::Several(vec!["newServiceRequest", "newServiceRequestUnit"])
        );
    }

    #[test]
    fn two_spellings_of_one_thing_are_not_ambiguous() {
        let words = [("newServiceRequest", 1), ("newServiceRequestRate", 1)];
        assert_eq!(pick("newS", &words), Pick::One(1));
        assert_eq!(pick("x", &words), Pick::Nothing);
        assert_eq!(pick("", &words), Pick::Nothing);
    }

    #[test]
    fn a_prefix_that_splits_a_character_matches_nothing() {
        assert!(!has_prefix("aé", "aÃ"));
        assert!(!has_prefix("é", "e"));
    }

    #[test]
    fn nearest_tolerates_one_slip_in_three_letters() {
        let words = ["add", "set", "show", "service"];
        assert_eq!(nearest("shwo", words.into_iter()), Some("show"));
        assert_eq!(nearest("SERVCE", words.into_iter()), Some("service"));
        assert_eq!(nearest("ad", words.into_iter()), Some("add"));
        assert_eq!(nearest("frobnicate", words.into_iter()), None);
        assert_eq!(nearest(&"s".repeat(100_000), words.into_iter()), None);
    }
}
