//! `--rules`: the user's own rules for categories.

use super::Failure;
use crate::analysis::UserRules;
use std::path::Path;

/// Read a file of rules; no rules without one.
pub(super) fn read(path: Option<&Path>) -> Result<UserRules, Failure> {
    let Some(path) = path else { return Ok(UserRules::default()) };
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::new(
            format_args!("cannot read the rules {}: {error}", path.display()),
            "--rules takes a TOML file",
        )
    })?;
    UserRules::parse(&text).map_err(|error| {
        Failure::new(
            format_args!("{}: {error}", path.display()),
            "a rule is: [[rule]], category = 'kv_cache', and file, function or stack = 'regular expression'",
        )
    })
}
