//! The user's settings: what holds for every command and the window unless an option says otherwise.

use super::failure::Failure;
use etcetera::BaseStrategy as _;
use oomscope_model::{Assumed, Bytes, OwnCode};
use oomscope_snapshot::load::{assume, read_small};
use oomscope_units as units;
use serde::{Deserialize, Deserializer, de::Error as _};
use std::env;
use std::io;
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
    #[serde(default)]
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

/// A size with a unit.
fn size<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    let text = String::deserialize(from)?;
    let bytes = units::parse_bytes(&text).filter(|&bytes| 0 < bytes);
    bytes.map(|bytes| Some(Bytes(bytes))).ok_or_else(|| D::Error::custom("expected a size such as \"80GiB\""))
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
    Ok(())
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

/// Whether a file is not there: its folder may be a file, too.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn parsed(text: &str, file: PathBuf) -> Result<Settings, Failure> {
    let settings = toml::from_str::<Settings>(text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        Failure::new(
            format_args!("{}:{line}: {}", file.display(), error.message()),
            format!("docs/settings.md lists the keys; {VARIABLE}= runs without settings"),
        )
    })?;
    let rules = settings.rules.as_deref().map(|rules| resolved(rules, &file));
    Ok(Settings { rules, file, ..settings })
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
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let wrong = |text: &str| parse(text).expect_err("it is wrong");
        assert!(wrong("\ntheem = 'dark'").starts_with("/me/oomscope/config.toml:2: unknown field `theem`"));
        assert!(wrong("theme = 'blue'").contains("unknown variant `blue`"));
        assert!(wrong("capacity = 'much'").contains("expected a size such as \"80GiB\""));
        assert!(wrong("capacity = '0'").contains("expected a size"));
        assert!(wrong("own_code = 'mine'").contains("config.toml:1: "));
    }
}
