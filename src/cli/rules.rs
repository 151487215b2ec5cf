//! `--rules`: the user's own rules for categories.

use super::Failure;
use crate::analysis::Rules;
use std::path::Path;

/// Read a file of rules; no rules without one.
pub(super) fn read(path: Option<&Path>) -> Result<Rules, Failure> {
    let Some(path) = path else { return Ok(Rules::default()) };
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::new(
            format_args!("cannot read the rules {}: {error}", path.display()),
            "--rules takes a TOML file",
        )
    })?;
    Rules::parse(&text).map_err(|error| {
        Failure::new(
            format_args!("{}: {error}", path.display()),
            "a rule is: [[rule]], category = 'kv_cache', and file, function or stack = 'regular expression'",
        )
    })
}
