//! The remedies that a user asks for, by their ids.

use super::price::Allowed;
use super::registry::FAMILIES;
use super::settings;
use oomscope_simulator::Settings;
use oomscope_units as units;
use std::fmt;

/// A remedy, or several at once, that a user asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The ids of its parts, as they were given.
    pub(super) parts: Vec<String>,
}

/// What a user wishes to be tried.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wish {
    /// Nothing but these; empty for all that apply.
    pub only: Vec<Wanted>,
    /// Whether all are tried in very large recordings, too, where each takes a good part of a second.
    pub all: bool,
    /// What it may cost.
    pub allowed: Allowed,
}

impl From<Vec<Wanted>> for Wish {
    fn from(only: Vec<Wanted>) -> Self {
        Self { only, ..Self::default() }
    }
}

/// An id that no remedy has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownId {
    /// The id.
    pub id: String,
    /// What is wrong with a setting, if it is one.
    pub reason: Option<String>,
}

impl fmt::Display for UnknownId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Some(reason) => write!(f, "'{}': {reason}", self.id),
            None => write!(f, "there is no fix '{}'{}", self.id, units::did_you_mean(&self.id, ids())),
        }
    }
}

/// All ids; `N` and `NAME=VALUE` stand for others.
pub fn ids() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|family| family.ids.iter().copied())
}

impl Wanted {
    /// Read ids that are joined by `+`.
    ///
    /// # Errors
    /// If there is no remedy with one of them.
    pub fn parse(text: &str) -> Result<Self, UnknownId> {
        let parts: Vec<String> = text.trim().split('+').map(|id| id.trim().to_owned()).collect();
        parts.iter().try_for_each(|id| check(id))?;
        Ok(Self { parts })
    }
}

impl Wanted {
    /// Whether one of its parts has one of some ids.
    pub(super) fn is_of(&self, patterns: &[&str]) -> bool {
        self.parts.iter().any(|id| patterns.iter().any(|pattern| is_named(pattern, id)))
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts.join("+"))
    }
}

fn check(id: &str) -> Result<(), UnknownId> {
    if let Some((name, value)) = settings::parse(id) {
        let checked = Settings::default().set(name, value);
        return checked.map_err(|error| UnknownId { id: id.to_owned(), reason: Some(error.to_string()) });
    }
    let is_known = ids().any(|known| known != settings::ID && is_named(known, id));
    if is_known { Ok(()) } else { Err(UnknownId { id: id.to_owned(), reason: None }) }
}

/// Whether an id is one of those that a pattern stands for.
fn is_named(pattern: &str, id: &str) -> bool {
    match pattern.split_once('N') {
        _ if pattern == settings::ID => settings::parse(id).is_some(),
        Some((before, after)) => {
            let number = id.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            number
                .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        }
        None => pattern == id,
    }
}
