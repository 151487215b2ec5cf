//! Leaves out the folders of paths, which name users, hosts and projects.

use super::basename;

/// A text in which every word that looks like a path is its last part: `/home/me/train.py:5` reads `train.py:5`.
pub fn without_folders(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(char::is_whitespace) {
        let end = word.trim_end().len();
        let (path, space) = word.split_at(end);
        out.push_str(if is_path(path) { basename(path) } else { path });
        out.push_str(space);
    }
    out
}

fn is_path(word: &str) -> bool {
    let has_folders = 2 <= word.matches('/').count() || word.contains(":\\") || word.starts_with("\\\\");
    let from_home = word.starts_with("~/") || word.starts_with('/');
    has_folders || (from_home && 1 < word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_paths_lose_their_folders() {
        let text = "see /home/me/train.py:5 main, C:\\Users\\me\\a.py and ~/x 5 / 6, read/write";
        assert_eq!(without_folders(text), "see train.py:5 main, a.py and x 5 / 6, read/write");
        assert_eq!(without_folders("/srv/a b\tc"), "a b\tc");
    }
}
