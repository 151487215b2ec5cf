//! `--rules`: the user's own rules for categories.

use super::{Failure, output};
use crate::analysis::UserRules;
use crate::load::{Input, rules_nearby};
use std::path::{Path, PathBuf};

/// Read a file of rules; no rules without one. Says so where one lies near a recording: it is not for us to use it.
pub(super) fn read(path: Option<&Path>, recordings: &[&Path]) -> Result<UserRules, Failure> {
    let Some(path) = path else {
        let mut nearby: Vec<PathBuf> =
            recordings.iter().filter_map(|path| rules_nearby(&Input::File(path.to_path_buf()))).collect();
        nearby.dedup();
        for file in nearby {
            output::notice(&format!("{0} is not used; --rules {0} uses it", file.display()));
        }
        return Ok(UserRules::default());
    };
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
