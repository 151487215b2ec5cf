//! The bundled samples, and what their README says about each.

use foldhash::HashMap;
use std::path::{Path, PathBuf};

const FOLDER: &str = "sample_snapshots";

/// A bundled snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) path: PathBuf,
    /// What it is a recording of; empty where the README does not say.
    pub(super) what: String,
    /// What to see in it.
    pub(super) shows: String,
}

/// The samples, beside the program or in the current folder.
pub(super) fn find() -> Vec<Sample> {
    let beside = std::env::current_exe().ok();
    let places = std::iter::once(Path::new("")).chain(beside.iter().flat_map(|exe| exe.ancestors().skip(1)));
    let folder = places.map(|place| place.join(FOLDER)).find(|folder| folder.is_dir());
    folder.map_or_else(Vec::new, |folder| in_folder(&folder))
}

fn in_folder(folder: &Path) -> Vec<Sample> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let is_snapshot = |path: &PathBuf| path.to_string_lossy().contains(".pickle");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_snapshot).collect();
    paths.sort();
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    let mut known = table(&readme);
    let sample = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (what, shows) = known.remove(name.as_ref()).unwrap_or_default();
        Sample { path, what, shows }
    };
    paths.into_iter().map(sample).collect()
}

/// The rows of the README's table, by file name.
fn table(readme: &str) -> HashMap<String, (String, String)> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let plain = |cell: &str| cell.trim_end_matches([' ', '|']).replace('`', "");
        let (name, what, shows) = (cells.next()?, cells.next()?, cells.next()?);
        Some((plain(name), (plain(what), plain(shows))))
    };
    readme.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_says_something_about_every_sample() {
        let samples = in_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER));
        assert!(!samples.is_empty());
        for Sample { path, what, shows } in samples {
            assert!(!what.is_empty() && !shows.is_empty() && !shows.contains('`'), "{}", path.display());
        }
    }

    #[test]
    fn a_table_row_has_a_file_and_two_texts() {
        let rows =
            table("| file | what |\n| --- | --- |\n| `a.pickle` | a `b` | c (`d`), e |\ntext | more\n");
        assert_eq!(rows.len(), 1);
        assert_eq!(rows.get("a.pickle"), Some(&("a b".to_owned(), "c (d), e".to_owned())));
    }
}
