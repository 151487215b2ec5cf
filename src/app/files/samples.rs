//! The bundled samples, with their descriptions from the README.

use std::path::{Path, PathBuf};

/// The folder of the samples in the source.
const FOLDER: &str = "sample_snapshots";

/// A bundled snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) struct Sample {
    pub(in crate::app) path: PathBuf,
    /// The program that was recorded; empty if the README does not say.
    pub(in crate::app) program: String,
    /// The point of the sample.
    pub(in crate::app) shows: String,
}

/// The samples, beside the program or in the current folder, in the order of their README.
pub(in crate::app) fn find() -> Vec<Sample> {
    let beside = std::env::current_exe().ok();
    let places = std::iter::once(Path::new("")).chain(beside.iter().flat_map(|exe| exe.ancestors().skip(1)));
    let folder = places.map(|place| place.join(FOLDER)).find(|folder| folder.is_dir());
    folder.map_or_else(Vec::new, |folder| in_folder(&folder))
}

fn in_folder(folder: &Path) -> Vec<Sample> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let is_snapshot = |path: &PathBuf| path.to_string_lossy().contains(".pickle");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_snapshot).collect();
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    let known = table(&readme);
    let place = |path: &PathBuf| known.iter().position(|row| path.ends_with(&row[0])).unwrap_or(known.len());
    paths.sort_by_cached_key(|path| (place(path), path.clone()));
    let sample = |path: PathBuf| {
        let [_, program, shows] = known.get(place(&path)).cloned().unwrap_or_default();
        Sample { path, program, shows }
    };
    paths.into_iter().map(sample).collect()
}

/// The rows of the README's table: the file's name, the program that was recorded, and the point of it.
fn table(readme: &str) -> Vec<[String; 3]> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let plain = |cell: &str| cell.trim_end_matches([' ', '|']).replace('`', "");
        let (name, program, shows) = (cells.next()?, cells.next()?, cells.next()?);
        Some([plain(name), plain(program), plain(shows)])
    };
    readme.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_says_something_about_every_sample() {
        let samples = in_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER));
        assert!(samples.first().is_some_and(|first| first.path.ends_with("gpt_oom_forward.pickle")));
        for Sample { path, program, shows } in samples {
            assert!(!program.is_empty() && !shows.is_empty() && !shows.contains('`'), "{}", path.display());
        }
    }

    #[test]
    fn a_table_row_has_a_file_and_two_texts() {
        let rows =
            table("| file | what |\n| --- | --- |\n| `a.pickle` | a `b` | c (`d`), e |\ntext | more\n");
        assert_eq!(rows, [["a.pickle", "a b", "c (d), e"].map(str::to_owned)]);
    }
}
