//! The samples: those of the source, with their descriptions from the README, else the few that the program carries.

use super::names::file_name;
use oomscope_snapshot::load::{FileStamp, Input};
use std::path::{Path, PathBuf};

/// The folder of the samples in the source.
const FOLDER: &str = "sample_snapshots";

/// The rows of that folder's table for the samples that the program carries.
const README: &str = include_str!("../../assets/samples/README.md");

/// Samples that are offered first, each for another answer. Compressed, they are a part of the program, so that it has
/// something to show wherever it runs; together they are smaller than its fonts.
const BUNDLED: [(&str, &[u8]); 4] = [
    ("gpt_oom_forward.pickle", include_bytes!("../../assets/samples/gpt_oom_forward.pickle.gz")),
    ("frag_oom.pickle", include_bytes!("../../assets/samples/frag_oom.pickle.gz")),
    ("two_devices_oom.pickle", include_bytes!("../../assets/samples/two_devices_oom.pickle.gz")),
    ("leak_bank.pickle.gz", include_bytes!("../../assets/samples/leak_bank.pickle.gz")),
];

/// A snapshot to try the program with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) input: Input,
    pub(crate) name: String,
    pub(crate) stamp: Option<FileStamp>,
    /// The program that was recorded; empty if the README does not say.
    pub(crate) program: String,
    /// The point of the sample.
    pub(crate) shows: String,
}

/// The samples that the window offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Samples {
    pub(crate) first: Vec<Sample>,
    /// The folder with all of them, where there is one.
    pub(crate) folder: Option<PathBuf>,
}

/// The samples beside the program or in the current folder, else the bundled ones.
pub(crate) fn find() -> Samples {
    let beside = std::env::current_exe().ok();
    let places = std::iter::once(Path::new("")).chain(beside.iter().flat_map(|exe| exe.ancestors().skip(1)));
    let folder = places.map(|place| place.join(FOLDER)).find(|folder| folder.is_dir());
    let first = BUNDLED.iter().map(|&(name, bytes)| offered(name, bytes, folder.as_deref())).collect();
    Samples { first, folder }
}

/// A sample in its folder if it is there, so that the file can be found; else from the program.
fn offered(name: &'static str, bytes: &'static [u8], folder: Option<&Path>) -> Sample {
    let path = folder.map(|folder| folder.join(name)).filter(|path| path.is_file());
    let [_, program, shows] = table(README).into_iter().find(|row| row[0] == name).unwrap_or_default();
    Sample {
        name: path.as_deref().map_or_else(|| name.to_owned(), file_name),
        stamp: path.as_deref().and_then(FileStamp::of),
        input: path.map_or(Input::Bundled { name, bytes }, Input::File),
        program,
        shows,
    }
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

    fn samples_folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FOLDER)
    }

    #[test]
    fn the_readme_says_something_about_every_sample() {
        let all = std::fs::read_to_string(samples_folder().join("README.md")).expect("it is there");
        let known = table(&all);
        assert_eq!(table(README).len(), BUNDLED.len());
        assert!(table(README).iter().all(|row| known.contains(row)), "the program carries rows of it");
        for entry in samples_folder().read_dir().expect("the samples are there").flatten() {
            let name = file_name(&entry.path());
            let row = known.iter().find(|row| row[0] == name);
            if name.contains(".pickle") {
                let [_, program, shows] = row.expect("the README names every sample");
                assert!(!program.is_empty() && !shows.is_empty() && !shows.contains('`'), "{name}");
            }
        }
    }

    #[test]
    fn what_the_program_carries_is_what_the_folder_has() {
        use std::io::Read as _;
        let plain = |bytes: &[u8]| {
            let mut out = Vec::new();
            flate2::read::GzDecoder::new(bytes).read_to_end(&mut out).expect("gzip");
            out
        };
        let mut all_bytes = 0;
        for (name, bytes) in BUNDLED {
            all_bytes += bytes.len();
            let sample = std::fs::read(samples_folder().join(name)).expect("a sample of this name");
            let sample = if sample.starts_with(&[0x1f, 0x8b]) { plain(&sample) } else { sample };
            assert!(plain(bytes) == sample, "{name} differs");
        }
        assert!(all_bytes < 100_000, "{all_bytes} bytes");
    }

    #[test]
    fn without_the_folder_the_bundled_ones_are_offered() {
        let (name, bytes) = BUNDLED[0];
        let sample = offered(name, bytes, None);
        assert_eq!(sample.input, Input::Bundled { name, bytes });
        assert!(sample.shows.contains("attention"));
        let found = offered(name, bytes, Some(&samples_folder()));
        assert_eq!(found.input, Input::File(samples_folder().join(name)));
        assert!(found.stamp.is_some());
    }

    #[test]
    fn a_table_row_has_a_file_and_two_texts() {
        let rows =
            table("| file | what |\n| --- | --- |\n| `a.pickle` | a `b` | c (`d`), e |\ntext | more\n");
        assert_eq!(rows, [["a.pickle", "a b", "c (d), e"].map(str::to_owned)]);
    }
}
