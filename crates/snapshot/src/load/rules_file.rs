//! Finds a file with the user's rules near a recording.

use super::Input;
use std::path::{Path, PathBuf};

/// Name of the rules file.
pub const RULES_FILE: &str = "oomscope-rules.toml";

/// The rules file beside a recording, else the one in the working folder. It is only offered: the user decides
/// whether it is applied.
pub fn rules_nearby(input: &Input) -> Option<PathBuf> {
    let beside = match input {
        Input::File(path) => path.parent().map(|folder| folder.join(RULES_FILE)),
        Input::Stdin | Input::Bundled { .. } => None,
    };
    let here = Path::new(RULES_FILE).to_owned();
    beside.into_iter().chain([here]).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lies_beside_the_recording() {
        let folder = tempfile::tempdir().expect("a folder");
        let input = Input::File(folder.path().join("oom.pickle"));
        assert_eq!(rules_nearby(&input), None);
        let file = folder.path().join(RULES_FILE);
        std::fs::write(&file, "").expect("it can be written");
        assert_eq!(rules_nearby(&input), Some(file));
    }
}
