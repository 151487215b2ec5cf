//! Paths in which numbers stand for folders.
//!
//! The folders by which torch, installed packages and the interpreter's own library are recognised stay, and so does
//! everything below them. Of the program's own files only the names stay. Numbers rather than hashes: whoever guesses a path can
//! confirm a hash of it.

use foldhash::HashMap;
use oomscope_analysis::path_in_torch;
use std::collections::BTreeSet;

/// Folders that tell who owns a file below them.
const OWNERS: [&str; 5] = ["torch", "torchgen", "functorch", "site-packages", "dist-packages"];

/// The start of the folders of code that torch generates; the user's name follows.
const GENERATED: &str = "torchinductor_";

/// Some rules recognise packages by this ending alone.
const PACKAGES: &str = "-packages";

const SEPARATORS: [char; 2] = ['/', '\\'];

/// Where a path stands while it is walked from folder to folder; 0 is the start.
type FolderIx = usize;

/// The numbers of folders.
#[derive(Debug, Default)]
pub(super) struct Folders {
    /// The places below each place. The whole path to each would take the square of its length.
    places: HashMap<(FolderIx, Box<str>), FolderIx>,
    /// By place.
    numbers: HashMap<FolderIx, usize>,
}

impl Folders {
    /// Number the folders of all paths in the alphabetical order of the paths, so that equal programs get equal numbers.
    pub(super) fn of<'p>(paths: impl Iterator<Item = &'p str>) -> Self {
        let mut out = Self::default();
        for path in paths.collect::<BTreeSet<_>>() {
            let mut at = 0;
            for part in parts(path) {
                let next = out.places.len() + 1;
                at = *out.places.entry((at, part.folder.into())).or_insert(next);
                if !part.stays {
                    let next = out.numbers.len() + 1;
                    out.numbers.entry(at).or_insert(next);
                }
            }
        }
        out
    }

    /// The path with numbers for its folders.
    pub(super) fn redacted(&self, path: &str) -> String {
        let mut out = String::with_capacity(path.len());
        let mut at = Some(0);
        let mut end = 0;
        for PathPart { folder, stays } in parts(path) {
            end += folder.len() + 1;
            at = at.and_then(|at| self.places.get(&(at, folder.into()))).copied();
            if stays {
                out.push_str(folder);
            } else {
                let (start, rest) = telling_ends(folder);
                out.push_str(start);
                out.push('d');
                if let Some(number) = at.and_then(|at| self.numbers.get(&at)) {
                    out.push_str(&number.to_string());
                }
                out.push_str(rest);
            }
            out.push_str(&path[end - 1..end]);
        }
        out + &path[end..]
    }
}

/// A folder of a path.
struct PathPart<'p> {
    folder: &'p str,
    stays: bool,
}

/// The folders of a path, in order.
fn parts(path: &str) -> impl Iterator<Item = PathPart<'_>> {
    let kept_from = path.len() - known_tail(path);
    path.split_inclusive(SEPARATORS).scan(0, move |at, part| {
        let start = *at;
        *at += part.len();
        let folder = part.strip_suffix(SEPARATORS)?;
        Some(PathPart { folder, stays: kept_from <= start || is_telling(folder) })
    })
}

/// What a folder without its name keeps at its two ends.
fn telling_ends(folder: &str) -> (&str, &str) {
    if folder.starts_with(GENERATED) {
        (GENERATED, "")
    } else if folder.ends_with(PACKAGES) {
        ("", PACKAGES)
    } else {
        ("", "")
    }
}

/// Whether a folder stays wherever it is.
fn is_telling(folder: &str) -> bool {
    let is_drive = folder.len() == 2 && folder.ends_with(':');
    folder.is_empty() || is_drive || folder == "." || folder == ".." || OWNERS.contains(&folder)
}

/// Bytes at the end of a path that stay as they are: the file's name and, in torch, in an installed package or in the interpreter's
/// library, the folders from there on.
fn known_tail(path: &str) -> usize {
    let slashes = path.replace('\\', "/");
    let name = slashes.rsplit('/').next().map_or(0, str::len);
    let package = slashes.rfind("-packages/").map(|at| path.len() - at - "-packages/".len());
    let library = slashes.rfind("/lib/python3").map(|at| path.len() - at - 1);
    let torch = path_in_torch(&slashes).map(str::len);
    [package, library, torch].into_iter().flatten().fold(name, usize::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(path: &str) -> String {
        Folders::of(std::iter::once(path)).redacted(path)
    }

    #[test]
    fn own_files_keep_their_name_alone() {
        assert_eq!(redacted("/home/alice/acme/train.py"), "/d1/d2/d3/train.py");
        assert_eq!(redacted("C:\\Users\\alice\\train.py"), "C:\\d1\\d2\\train.py");
        assert_eq!(redacted("train.py"), "train.py");
        assert_eq!(redacted("<frozen runpy>"), "<frozen runpy>");
        assert_eq!(redacted("/home/alice/torch/secret/train.py"), "/d1/d2/torch/d3/train.py");
    }

    #[test]
    fn torch_packages_and_the_library_keep_their_place() {
        let torch = "/home/alice/env/lib/python3.11/site-packages/torch/optim/adam.py";
        assert_eq!(redacted(torch), "/d1/d2/d3/lib/python3.11/site-packages/torch/optim/adam.py");
        assert_eq!(redacted("/home/alice/pytorch/torch/nn/init.py"), "/d1/d2/d3/torch/nn/init.py");
        assert_eq!(redacted("/usr/lib/python3.11/threading.py"), "/d1/lib/python3.11/threading.py");
        assert_eq!(redacted("/tmp/torchinductor_alice/ab/cab.py"), "/d1/torchinductor_d2/d3/cab.py");
        assert_eq!(redacted("/x/my-packages/lib/a.py"), "/d1/d2-packages/lib/a.py");
    }

    #[test]
    fn equal_folders_have_equal_numbers() {
        let paths = ["/home/alice/b/x.py", "/home/alice/a/x.py"];
        let folders = Folders::of(paths.into_iter());
        let read = paths.map(|path| folders.redacted(path));
        assert_eq!(read, ["/d1/d2/d4/x.py", "/d1/d2/d3/x.py"]);
    }

    #[test]
    fn a_path_of_very_many_folders_takes_little_more_than_its_length() {
        let path = "/a".repeat(1 << 20) + "/x.py";
        let short = redacted(&path);
        assert!(short.starts_with("/d1/d2/d3") && short.ends_with("/d1048576/x.py"), "{}", short.len());
    }

    #[test]
    fn folders_that_were_not_seen_have_no_number() {
        let folders = Folders::of(std::iter::once("/home/alice/x.py"));
        assert_eq!(folders.redacted("/home/bob/c/y.py"), "/d1/d/d/y.py");
    }
}
