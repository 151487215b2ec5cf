//! How paths are written and read: `~`, relative paths, and the part that is still being typed.

use std::path::{Component, Path, PathBuf, is_separator};

/// The folders that short paths start from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    home: Option<PathBuf>,
    current: PathBuf,
}

/// A path in writing: a folder, and the start of a name in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) folder: PathBuf,
    pub(super) leaf: String,
}

impl Places {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        Self {
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            current: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        }
    }

    /// The user's own folder, or the current one if there is none.
    pub(crate) fn home(&self) -> &Path {
        self.home.as_deref().unwrap_or(&self.current)
    }

    /// The folder to look into if no file says a better one. A program that was started from a menu has no
    /// current folder of its own.
    pub(crate) fn start(&self) -> &Path {
        if self.current.parent().is_none() { self.home() } else { &self.current }
    }

    /// The path that a text means: quotes and spaces around it are not a part of it.
    pub(crate) fn path(&self, text: &str) -> PathBuf {
        let text = bare(text);
        let after_home =
            text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with(is_separator));
        match (after_home, &self.home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches(is_separator)),
            _ => self.current.join(text),
        }
    }

    /// The folder that is written already, and the rest.
    pub(super) fn split(&self, text: &str) -> Written {
        let text = bare(text);
        let start =
            text.rfind(is_separator).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
        let leaf = &text[start..];
        if matches!(leaf, "." | ".." | "~") {
            return Written { folder: self.path(text), leaf: String::new() };
        }
        Written { folder: self.path(&text[..start]), leaf: leaf.to_owned() }
    }

    /// A path as text, with `~` for the user's folder.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let below = self.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
        match below {
            Some(rest) => Path::new("~").join(rest).display().to_string(),
            None => path.display().to_string(),
        }
    }

    /// A folder as text, ready for a name behind it.
    pub(crate) fn shown_folder(&self, folder: &Path) -> String {
        let mut text = self.shown(folder);
        if !text.ends_with(is_separator) {
            text.push(std::path::MAIN_SEPARATOR);
        }
        text
    }
}

/// A folder's parent as it is written: `a/..` has one, too.
pub(super) fn parent(folder: &Path) -> Option<PathBuf> {
    match folder.components().next_back() {
        Some(Component::ParentDir) => Some(folder.join("..")),
        Some(Component::CurDir) | None => None,
        _ => folder.parent().map(Path::to_owned),
    }
}

/// A text as terminals and file managers copy it, without quotes and spaces around it. A path that begins within it, behind the
/// folder that was there before, is meant alone: `/data/runs//tmp/a.pickle`, `/data/runs/~/a.pickle`.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let text = within('"').or_else(|| within('\'')).unwrap_or(text);
    let begins = |at: usize| {
        let mut chars = text[at..].chars();
        match chars.next() {
            Some('~') => chars.next().is_none_or(is_separator),
            first => first.is_some_and(is_separator),
        }
    };
    // Two separators at the very start are those of a machine on Windows.
    let separators = text.match_indices(is_separator).filter(|&(at, _)| at != 0);
    let anew = separators.map(|(at, separator)| at + separator.len()).rfind(|&at| begins(at));
    anew.map_or(text, |at| &text[at..])
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn places() -> Places {
        Places { home: Some("/home/me".into()), current: "/work".into() }
    }

    #[test]
    fn a_text_is_a_path_from_home_or_from_the_current_folder() {
        let path = |text: &str| places().path(text);
        assert_eq!(path("~/runs/a.pickle"), Path::new("/home/me/runs/a.pickle"));
        assert_eq!(path("~"), Path::new("/home/me"));
        assert_eq!(path("~you/a"), Path::new("/work/~you/a"));
        assert_eq!(path(" 'my runs/a.pickle' "), Path::new("/work/my runs/a.pickle"));
        assert_eq!(path("/a"), Path::new("/a"));
        assert_eq!(path("/"), Path::new("/"));
    }

    #[test]
    fn a_path_that_is_typed_behind_a_folder_is_meant_alone() {
        let path = |text: &str| places().path(text);
        assert_eq!(path("/data/runs//tmp/a.pickle"), Path::new("/tmp/a.pickle"));
        assert_eq!(path("/data/runs/~/a.pickle"), Path::new("/home/me/a.pickle"));
        assert_eq!(path("/data/runs/~"), Path::new("/home/me"));
        assert_eq!(path("~//tmp//srv/a"), Path::new("/srv/a"));
        assert_eq!(path("runs//tmp/a"), Path::new("/tmp/a"));
        assert_eq!(path("/data/~runs/a~"), Path::new("/data/~runs/a~"));
        assert_eq!(places().split("/data//tm"), Written { folder: "/".into(), leaf: "tm".to_owned() });
        assert_eq!(bare("//host/share/a"), "//host/share/a");
    }

    #[test]
    fn the_part_behind_the_last_folder_is_still_being_written() {
        let split = |text: &str| {
            let Written { folder, leaf } = places().split(text);
            (folder.display().to_string(), leaf)
        };
        let is = |folder: &str, leaf: &str| (folder.to_owned(), leaf.to_owned());
        assert_eq!(split("~/runs/sn"), is("/home/me/runs/", "sn"));
        assert_eq!(split("sn"), is("/work/", "sn"));
        assert_eq!(split("/"), is("/", ""));
        assert_eq!(split("~"), is("/home/me/", ""));
        assert_eq!(split("../.."), is("/work/../..", ""));
        assert_eq!(split(""), is("/work/", ""));
    }

    #[test]
    fn paths_are_shown_from_home() {
        assert_eq!(places().shown(Path::new("/home/me/a.pickle")), "~/a.pickle");
        assert_eq!(places().shown_folder(Path::new("/home/me")), "~/");
        assert_eq!(places().shown_folder(Path::new("/data/runs")), "/data/runs/");
        assert_eq!(places().shown_folder(Path::new("/")), "/");
    }

    #[test]
    fn a_program_from_a_menu_starts_at_home() {
        let from_menu = Places { current: "/".into(), ..places() };
        assert_eq!(from_menu.start(), Path::new("/home/me"));
        assert_eq!(places().start(), Path::new("/work"));
    }

    #[test]
    fn a_folder_has_a_parent_however_it_is_written() {
        assert_eq!(parent(Path::new("/a/b/")), Some("/a".into()));
        assert_eq!(parent(Path::new("/a/..")), Some("/a/../..".into()));
        assert_eq!(parent(Path::new("/")), None);
    }
}
