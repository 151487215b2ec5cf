//! Who holds tensors, as a person names it.

use oomscope_model::{Census, TensorHolder};
use std::fmt;

/// What ends a step of a way through references: an attribute, an entry, a reference in words.
const BORDERS: [char; 3] = ['.', '[', ' '];

/// A variable that leads to tensors. Not yet fit to be shown: names are a program's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBy {
    /// The variable, as `self.history`.
    pub variable: String,
    /// Of several that were joined, the first; else the same.
    pub part: String,
    /// What it is a variable of, as `fit (train.py:36)`.
    pub place: String,
    /// The way from the part to one of its tensors, as `[17]` or `[3].args[1]`.
    pub entry: String,
    /// The type of the collection that the part is, as `list`; `None` where it is none, or the file does not say so.
    pub collection: Option<String>,
}

impl HeldBy {
    /// A holder of a census.
    pub fn of(census: &Census, holder: &TensorHolder) -> Self {
        let [variable, function, file, example] =
            [holder.variable, holder.function, holder.file, holder.example].map(|at| census.text(at));
        let entry = example.strip_prefix(variable).unwrap_or_default().to_owned();
        let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let place = match (file, holder.line) {
            ("", _) => function.to_owned(),
            (file, 0) => format!("{function} ({file})"),
            (file, line) => format!("{function} ({file}:{line})"),
        };
        let collection = holder.collection.map(|at| census.text(at).to_owned());
        Self { variable: variable.to_owned(), part: variable.to_owned(), place, entry, collection }
    }

    /// The variable that the way begins with, and what it is a variable of.
    pub fn root(&self) -> (String, String) {
        (root(&self.variable).to_owned(), self.place.clone())
    }

    /// Takes in another holder of the same variable: what both ways have in common remains.
    pub fn join(&mut self, other: &Self) {
        if self.variable == other.variable {
            return;
        }
        let [a, b] = [&self.variable, &other.variable];
        let same: usize =
            a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(char, _)| char.len_utf8()).sum();
        let is_border =
            |text: &str, at: usize| text[at..].chars().next().is_none_or(|c| BORDERS.contains(&c));
        let ends = (0..=same).rev().filter(|&at| a.is_char_boundary(at));
        let end = ends.into_iter().find(|&at| is_border(a, at) && is_border(b, at)).unwrap_or_default();
        let all = a[..end].to_owned();
        self.variable = if all.is_empty() { root(a).to_owned() } else { all };
    }
}

impl fmt::Display for HeldBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.variable, self.place)
    }
}

/// The variable that a way begins with.
fn root(variable: &str) -> &str {
    variable.split(BORDERS).next().unwrap_or(variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(variable: &str, collection: &str) -> HeldBy {
        let collection = Some(collection.to_owned());
        let part = variable.to_owned();
        let (place, entry) = ("fit (a.py:3)".to_owned(), "[1]".to_owned());
        HeldBy { variable: variable.to_owned(), part, place, entry, collection }
    }

    #[test]
    fn ways_of_one_variable_have_their_beginning_in_common() {
        for (first, second, both) in [
            ("seen[\"act0\"]", "seen[\"act1\"]", "seen"),
            ("self.bank.rows", "self.bank.row", "self.bank"),
            ("node.parent.children", "node.parent.parent.children", "node.parent"),
            ("self.a", "self.b", "self"),
            ("self.a", "self.a", "self.a"),
            ("ä.ü", "ä.ö", "ä"),
        ] {
            let mut joined = held(first, "list");
            assert_eq!(joined.root(), held(second, "list").root());
            joined.join(&held(second, "list"));
            assert_eq!((joined.variable.as_str(), joined.part.as_str()), (both, first));
        }
        assert_ne!(held("seen", "list").root(), held("seen2", "list").root());
        let mut joined = held("a.b", "list");
        joined.join(&held("a.c", "dict"));
        assert_eq!(
            (joined.to_string().as_str(), joined.collection.as_deref()),
            ("a in fit (a.py:3)", Some("list"))
        );
    }
}
