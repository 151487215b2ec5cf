//! The user's settings: what holds for every command and the window unless an option says otherwise.

use super::failure::Failure;
use super::stderr;
use etcetera::BaseStrategy as _;
use oomscope_model::{Assumed, Bytes, OwnCode};
use oomscope_snapshot::load::{assume, read_small};
use oomscope_units as units;
use serde::{Deserialize, Deserializer, de::Error as _};
use std::env;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Names the file of settings; empty for none.
const VARIABLE: &str = "OOMSCOPE_CONFIG";

/// Where the file lies in the user's folder of settings.
const FILE: &str = "oomscope/config.toml";

/// Most bytes of the file: it has a few lines.
const MAX_BYTES: u64 = 1 << 20;

/// The settings of this process, once they are read.
static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// The user's settings. Everything is left out by default.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    /// Memory of a device, in bytes, where a recording does not state it.
    #[serde(default, deserialize_with = "size")]
    capacity: Option<Bytes>,
    /// The user's own rules for categories; from the folder of the settings, unless it is absolute.
    pub(super) rules: Option<PathBuf>,
    /// Folders of Python code that is the user's own.
    #[serde(default, deserialize_with = "folders")]
    own_code: Vec<String>,
    /// The theme that the window opens with.
    pub(super) theme: Option<Theme>,
    /// The file that they are from.
    #[serde(skip)]
    pub(super) file: PathBuf,
}

/// A theme of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Theme {
    Dark,
    Light,
    System,
}

/// A size with a unit, or bytes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Size {
    Text(String),
    Bytes(i64),
}

fn size<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    let found = match Size::deserialize(from) {
        Ok(Size::Text(text)) => units::parse_bytes(&text),
        Ok(Size::Bytes(bytes)) => Some(bytes),
        Err(_) => None,
    };
    let bytes = found.filter(|&bytes| 0 < bytes);
    bytes
        .map(|bytes| Some(Bytes(bytes)))
        .ok_or_else(|| D::Error::custom("capacity: expected a size such as \"80GiB\""))
}

/// Folders, none of which is empty.
fn folders<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let found = Vec::<String>::deserialize(from)?;
    if found.iter().any(|folder| folder.trim().is_empty()) {
        return Err(D::Error::custom("own_code: expected folders such as \"site-packages/mine\""));
    }
    Ok(found)
}

/// Read the settings, and let them hold from now on.
///
/// # Errors
/// When there is a file that cannot be read, or one was named that is not there.
pub(super) fn apply() -> Result<(), Failure> {
    let Some(settings) = read()? else { return Ok(()) };
    log::debug!("settings of {}: {settings:?}", settings.file.display());
    assume(Assumed {
        device_memory: settings.capacity,
        own_code: OwnCode::below(settings.own_code.iter().cloned()),
    });
    // They are read once.
    SETTINGS.set(settings).ok();
    if let Some(told) = told().filter(|_| io::stderr().is_terminal()) {
        stderr::notice(&told);
    }
    Ok(())
}

/// The settings that change answers, in a line.
pub(super) fn told() -> Option<String> {
    let settings = settings()?;
    let memory = settings
        .capacity
        .map(|bytes| format!("{} of memory where a recording does not state it", units::bytes(bytes.0)));
    let rules = settings.rules.as_ref().map(|rules| format!("rules of {}", rules.display()));
    let all: Vec<String> = memory.into_iter().chain(rules).collect();
    (!all.is_empty()).then(|| format!("settings of {}: {}", settings.file.display(), all.join(", ")))
}

/// The settings that hold; `None` where there are none.
pub(super) fn settings() -> Option<&'static Settings> {
    SETTINGS.get()
}

fn read() -> Result<Option<Settings>, Failure> {
    let named = env::var_os(VARIABLE);
    let path = match &named {
        Some(name) if name.is_empty() => return Ok(None),
        Some(name) => PathBuf::from(name),
        None => match etcetera::choose_base_strategy() {
            Ok(strategy) => strategy.config_dir().join(FILE),
            // Without a home there are no settings.
            Err(_) => return Ok(None),
        },
    };
    match read_small(&path, MAX_BYTES) {
        Ok(text) => parsed(&text, path).map(Some),
        Err(error) if named.is_none() && is_missing(&error) => Ok(None),
        Err(error) => Err(Failure::new(
            format_args!("cannot read the settings {}: {error}", path.display()),
            format!("{VARIABLE}= runs without settings"),
        )),
    }
}

/// Whether there is no file for this user: its folder may be a file, or another user's.
fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

fn parsed(text: &str, file: PathBuf) -> Result<Settings, Failure> {
    let mut settings = toml::from_str::<Settings>(text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        Failure::new(
            format_args!("{}:{line}: {}", file.display(), error.message()),
            format!("docs/settings.md lists the keys; {VARIABLE}= runs without settings"),
        )
    })?;
    settings.rules = settings.rules.as_deref().map(|rules| resolved(rules, &file));
    for folder in &mut settings.own_code {
        if let (Some(rest), Ok(home)) = (folder.strip_prefix("~/"), etcetera::home_dir()) {
            *folder = home.join(rest).to_string_lossy().into_owned();
        }
    }
    Ok(Settings { file, ..settings })
}

/// A path as the settings name it: `~` is the home, and what is not absolute lies beside them.
fn resolved(path: &Path, file: &Path) -> PathBuf {
    if let (Ok(rest), Ok(home)) = (path.strip_prefix("~"), etcetera::home_dir()) {
        return home.join(rest);
    }
    file.parent().unwrap_or_else(|| Path::new("")).join(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, String> {
        parsed(text, PathBuf::from("/me/oomscope/config.toml")).map_err(|failure| match failure {
            Failure::Message { message, .. } => message,
            Failure::Silent(_) => String::new(),
        })
    }

    #[test]
    fn every_key_is_read() {
        let all =
            "capacity = '80GiB'\nrules = 'mine.toml'\nown_code = ['site-packages/mine']\ntheme = 'light'\n";
        let found = parse(all).expect("settings");
        assert_eq!(found.capacity, Some(Bytes(80 << 30)));
        assert_eq!(parse("capacity = 1024").expect("settings").capacity, Some(Bytes(1024)));
        assert_eq!(found.rules.as_deref(), Some(Path::new("/me/oomscope/mine.toml")));
        assert_eq!(found.own_code, ["site-packages/mine"]);
        assert_eq!(found.theme, Some(Theme::Light));
        assert!(parse("").expect("no settings are settings").rules.is_none());
    }

    #[test]
    fn rules_lie_where_they_are_named() {
        let rules = |name: &str| parse(&format!("rules = '{name}'")).expect("settings").rules;
        assert_eq!(rules("/etc/rules.toml").as_deref(), Some(Path::new("/etc/rules.toml")));
        let home = etcetera::home_dir().expect("a home");
        assert_eq!(rules("~/rules.toml"), Some(home.join("rules.toml")));
        let own = parse("own_code = ['~/lib', 'mine']").expect("settings").own_code;
        assert_eq!(own, [home.join("lib").to_string_lossy().into_owned(), "mine".to_owned()]);
    }

    #[test]
    fn a_home_of_somebody_else_has_no_settings() {
        use io::ErrorKind::{InvalidData, NotADirectory, NotFound, PermissionDenied};
        assert!([NotADirectory, NotFound, PermissionDenied].map(io::Error::from).iter().all(is_missing));
        assert!(!is_missing(&InvalidData.into()));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let wrong = |text: &str| parse(text).expect_err("it is wrong");
        assert!(wrong("\ntheem = 'dark'").starts_with("/me/oomscope/config.toml:2: unknown field `theem`"));
        assert!(wrong("theme = 'blue'").contains("unknown variant `blue`"));
        assert!(wrong("capacity = 'much'").contains("expected a size such as \"80GiB\""));
        assert!(wrong("capacity = '0'").contains("capacity: expected a size"));
        assert!(wrong("capacity = true").contains("capacity: expected a size"));
        assert!(wrong("own_code = ['']").contains("own_code: expected folders"));
        assert!(wrong("own_code = 'mine'").contains("config.toml:1: "));
    }
}
