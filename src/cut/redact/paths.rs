//! Paths in which numbers stand for folders.
//!
//! The folders by which torch, installed packages and the interpreter's own library are recognised stay, and so does
//! everything below them. Of the program's own files only the names stay. Numbers rather than hashes: whoever guesses a path can
//! confirm a hash of it.

use crate::analysis::path_in_torch;
use foldhash::HashMap;
use std::collections::BTreeSet;

/// Folders that tell who owns a file below them.
const OWNERS: [&str; 5] = ["torch", "torchgen", "functorch", "site-packages", "dist-packages"];

/// The start of the folders of code that torch generates; the user's name follows.
const GENERATED: &str = "torchinductor_";

/// The numbers of folders.
#[derive(Debug, Default)]
pub(super) struct Folders {
    /// By the path up to the folder.
    numbers: HashMap<String, usize>,
}

impl Folders {
    /// Number the folders of all paths, in alphabetical order, so that equal programs get equal numbers.
    pub(super) fn of<'p>(paths: impl Iterator<Item = &'p str>) -> Self {
        let mut found = BTreeSet::new();
        for path in paths {
            walk(path, |folder| {
                found.insert(folder.to_owned());
                String::new()
            });
        }
        Self { numbers: found.into_iter().zip(1..).collect() }
    }

    /// The path with numbers for its folders.
    pub(super) fn redacted(&self, path: &str) -> String {
        walk(path, |folder| {
            self.numbers.get(folder).map_or_else(|| "d".to_owned(), |number| format!("d{number}"))
        })
    }
}

/// A path in which `name` names those folders that may not stay, each by the path up to it.
fn walk(path: &str, mut name: impl FnMut(&str) -> String) -> String {
    let kept_from = path.len() - known_tail(path);
    let mut out = String::with_capacity(path.len());
    let mut at = 0;
    for part in path.split_inclusive(['/', '\\']) {
        let start = at;
        at += part.len();
        let folder = part.strip_suffix(['/', '\\']);
        match folder.filter(|folder| start < kept_from && !is_telling(folder)) {
            None => out.push_str(part),
            Some(folder) => {
                if folder.starts_with(GENERATED) {
                    out.push_str(GENERATED);
                } else if folder.ends_with("-packages") {
                    // Some rules recognise packages by the ending alone.
                    out.push_str(&name(&path[..start + folder.len()]));
                    out.push_str("-packages");
                    out.push_str(&part[folder.len()..]);
                    continue;
                }
                out.push_str(&name(&path[..start + folder.len()]));
                out.push_str(&part[folder.len()..]);
            }
        }
    }
    out
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
}
