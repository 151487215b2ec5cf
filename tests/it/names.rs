//! A type name means one thing. A noun that fits everywhere says nothing, so each of these names two things at most.

use crate::source_tree::SourceTree;

/// Nouns that fit nearly anything in this program.
const NOUNS: [&str; 7] = ["Facts", "Part", "Pass", "Place", "Role", "Row", "Step"];

const MAX_MEANINGS: usize = 2;

#[test]
fn a_noun_that_fits_everywhere_names_two_things_at_most() {
    let trees = SourceTree::all();
    for noun in NOUNS {
        let files: Vec<_> = trees.iter().flat_map(|tree| tree.files_that_declare(noun)).collect();
        assert!(files.len() <= MAX_MEANINGS, "{noun} is declared in {files:?}: say which one");
    }
}
