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
    /// Folders as [`parts`] writes them.
    folders: Vec<String>,
}

impl OwnCode {
    /// The code below folders. A folder that begins with a slash or a drive is meant from the root; another one is a part of
    /// a path, such as `site-packages/mine`, which finds the code on every machine.
    pub fn below(folders: impl IntoIterator<Item = String>) -> Self {
        let folders =
            folders.into_iter().map(|folder| parts(&folder)).filter(|folder| folder.contains(|c| c != '/'));
        Self { folders: folders.collect() }
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
        let path = parts(path);
        self.folders
            .iter()
            .any(|folder| if is_from_root(folder) { path.starts_with(folder) } else { path.contains(folder) })
    }
}

/// A path as its parts, with a slash before and behind each: none is empty or a dot. Windows knows no case.
fn parts(path: &str) -> String {
    let is_absolute = path.starts_with(['/', '\\']);
    let mut out = String::from(if is_absolute { "//" } else { "/" });
    for part in path.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")) {
        out.push_str(part);
        out.push('/');
    }
    if out.as_bytes().get(2) == Some(&b':') { out.to_lowercase() } else { out }
}

/// Whether a folder is meant from the root or a drive.
fn is_from_root(folder: &str) -> bool {
    folder.starts_with("//") || folder.as_bytes().get(2) == Some(&b':')
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
        assert!(has("mine/mine", "/home/undermine/mine/mine/site-packages/model.py"));
        assert!(has("./torch//nn/", "/env/torch/nn/linear.py"));
        assert!(!has("", "/home/me/model.py"));
        assert!(!has("/", "/home/me/model.py"));
    }

    #[test]
    fn a_folder_from_the_root_is_at_the_beginning() {
        assert!(has("/opt/team", "/opt/team/model.py"));
        assert!(!has("/opt/team", "/mnt/opt/team/model.py"));
        assert!(has("C:\\team\\", "C:\\team\\model.py"));
        assert!(has("c:/env/lib/site-packages/mine", "C:\\env\\Lib\\site-packages\\mine\\model.py"));
        assert!(!has("C:/team", "D:/C:/team/model.py"));
    }
}
