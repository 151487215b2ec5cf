//! `--rules`: the user's own rules for categories.

use crate::cli::failure::Failure;
use crate::cli::settings::settings;
use crate::cli::stderr;
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use oomscope_analysis::UserRules;
use oomscope_snapshot::load::{Input, MAX_RULES_BYTES, read_small, rules_nearby};
use std::path::{Path, PathBuf};

/// The option `--rules`.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct RulesFile {
    /// Apply your own rules for categories, from a TOML file
    ///
    /// They come before all rules of oomscope. An empty name applies none, whatever the settings say.
    /// docs/attribution.md says how they are written.
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    rules: Option<PathBuf>,
}

impl RulesFile {
    /// The file of the option, else of the settings. An empty name is that of none.
    pub(in crate::cli) fn path(&self) -> Option<&Path> {
        let named = self.rules.as_deref().or_else(|| settings()?.rules.as_deref());
        named.filter(|path| !path.as_os_str().is_empty())
    }

    /// Read the rules file; without one, there are no rules. A rules file near a recording is only
    /// mentioned, since it is the user who decides if it applies.
    pub(in crate::cli) fn read(&self, recordings: &[PathBuf]) -> Result<UserRules, Failure> {
        if self.rules.is_none() {
            mention_nearby(recordings);
        }
        let hint = match &self.rules {
            Some(_) => "--rules takes a TOML file",
            None => {
                "the settings name it; docs/settings.md says how, and OOMSCOPE_CONFIG= runs without settings"
            }
        };
        self.path().map_or_else(|| Ok(UserRules::default()), |path| read(path, hint))
    }
}

fn read(path: &Path, hint: &str) -> Result<UserRules, Failure> {
    let text = read_small(path, MAX_RULES_BYTES).map_err(|error| {
        Failure::new(format_args!("cannot read the rules {}: {error}", path.display()), hint)
    })?;
    UserRules::parse(&text).map_err(|error| {
        Failure::new(
            format_args!("{}: {error}", path.display()),
            "a rule is: [[rule]], category = 'kv_cache', and file, function, stack or site = 'regular expression'",
        )
    })
}

fn mention_nearby(recordings: &[PathBuf]) {
    let mut nearby: Vec<PathBuf> =
        recordings.iter().filter_map(|path| rules_nearby(&Input::File(path.clone()))).collect();
    // Recordings of one folder, which mostly follow one another, share the file.
    nearby.dedup();
    for file in nearby {
        stderr::notice(&format!("{0} is not used; --rules {0} uses it", file.display()));
    }
}
