//! Words that were probably meant.

/// Longer words, in bytes, are no misspelt ones; comparing them would only take time.
const LONGEST: usize = 64;

/// The known word that a misspelt one, in any case, probably means.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if LONGEST < word.len() {
        return None;
    }
    let word = word.to_lowercase();
    // A short word is near to everything.
    let near = |known: &str| if known.len().min(word.len()) < 6 { 1 } else { 2 };
    let all = known.into_iter().map(|known| (distance(&word, known), known));
    all.filter(|(distance, known)| *distance <= near(known)).min_by_key(|found| found.0).map(|found| found.1)
}

/// The end of an error about a word that is none of the known: `; did you mean activation?`, or nothing.
pub fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(word, known).map_or_else(String::new, |known| format!("; did you mean {known}?"))
}

/// Letters to add, remove, replace or swap with their neighbour to get from one to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if 1 < i && 1 < j && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_words_find_theirs() {
        let known = ["activation", "oom", "peak", "report"];
        for (word, expected) in [
            ("actvation", Some("activation")),
            ("Acitvatoin", Some("activation")),
            ("repot", Some("report")),
            ("pek", Some("peak")),
            ("act", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
        assert_eq!(did_you_mean("repotr", known), "; did you mean report?");
        assert_eq!(did_you_mean("rep", known), "");
        let long = "a".repeat(LONGEST + 1);
        assert_eq!(nearest(&long, [long.as_str()]), None);
    }
}
