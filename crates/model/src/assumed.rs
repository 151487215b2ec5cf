//! What the user says about all recordings, where these do not say it themselves.

use crate::Bytes;

/// What the user says about all recordings, where these do not say it themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assumed {
    /// All memory of a device, in bytes.
    pub device_memory: Option<Bytes>,
    /// Code that is the user's own, wherever it is installed.
    pub own_code: OwnCode,
}

/// Folders whose Python code is the user's own, besides what lies outside of installed packages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnCode {
    /// Folders with slashes between their parts and none at the end.
    folders: Vec<String>,
}

impl OwnCode {
    /// The code below folders. A folder that begins with a slash or a drive is meant from the root; another one is a part of
    /// a path, such as `site-packages/mine`, which finds the code on every machine.
    pub fn below(folders: impl IntoIterator<Item = String>) -> Self {
        let folders = folders.into_iter().map(|folder| slashed(&folder).trim_end_matches('/').to_owned());
        Self { folders: folders.filter(|folder| !folder.is_empty()).collect() }
    }

    /// Whether no folder was named.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Whether the file at a path lies in one of the folders.
    pub fn has(&self, path: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let path = slashed(path);
        self.folders.iter().any(|folder| is_below(&path, folder))
    }
}

fn slashed(path: &str) -> String {
    path.replace('\\', "/")
}

/// Whether a path has a folder as whole parts of it, from the root where the folder is one from the root.
fn is_below(path: &str, folder: &str) -> bool {
    let is_from_root = folder.starts_with('/') || folder.get(1..3) == Some(":/");
    let mut places = path.match_indices(folder).map(|(at, _)| at);
    places.any(|at| {
        let begins_a_part = at == 0 || (!is_from_root && path.as_bytes()[at - 1] == b'/');
        begins_a_part && path[at + folder.len()..].starts_with('/')
    })
}

#[cfg(test)]
mod tests {
    use super::OwnCode;

    fn has(folder: &str, path: &str) -> bool {
        OwnCode::below([folder.to_owned()]).has(path)
    }

    #[test]
    fn a_folder_is_meant_as_whole_parts_of_a_path() {
        assert!(has("site-packages/mine", "/env/lib/python3.11/site-packages/mine/model.py"));
        assert!(has("mine/", "mine/model.py"));
        assert!(has("mine", "C:\\env\\site-packages\\mine\\nn\\model.py"));
        assert!(!has("mine", "/env/site-packages/mine.py"));
        assert!(!has("mine", "/env/site-packages/undermine/model.py"));
        assert!(!has("", "/home/me/model.py"));
        assert!(!has("/", "/home/me/model.py"));
    }

    #[test]
    fn a_folder_from_the_root_is_at_the_beginning() {
        assert!(has("/opt/team", "/opt/team/model.py"));
        assert!(!has("/opt/team", "/mnt/opt/team/model.py"));
        assert!(has("C:\\team\\", "C:\\team\\model.py"));
        assert!(!has("C:/team", "D:/C:/team/model.py"));
    }
}
