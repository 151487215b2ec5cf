//! `--rules`: the user's own rules for categories.

use crate::cli::failure::Failure;
use crate::cli::settings::settings;
use crate::cli::stderr;
use clap::Args;
use oomscope_analysis::UserRules;
use oomscope_snapshot::load::{Input, MAX_RULES_BYTES, read_small, rules_nearby};
use std::path::{Path, PathBuf};

/// The option `--rules`.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct RulesFile {
    /// Apply your own rules for categories, from a TOML file
    ///
    /// They come before all rules of oomscope. docs/attribution.md says how they are written.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
}

impl RulesFile {
    /// The file of the option, else of the settings.
    pub(in crate::cli) fn path(&self) -> Option<&Path> {
        self.rules.as_deref().or_else(|| settings()?.rules.as_deref())
    }

    /// Read the rules file; without one, there are no rules. A rules file near a recording is only
    /// mentioned, since it is the user who decides if it applies.
    pub(in crate::cli) fn read(&self, recordings: &[PathBuf]) -> Result<UserRules, Failure> {
        if let Some(path) = self.path() {
            self.mention_settings();
            return read(path);
        }
        mention_nearby(recordings);
        Ok(UserRules::default())
    }

    /// Say that rules are used which no option names.
    fn mention_settings(&self) {
        let used = settings().filter(|_| self.rules.is_none());
        if let Some((settings, rules)) =
            used.and_then(|settings| Some((settings, settings.rules.as_deref()?)))
        {
            stderr::notice(&format!("rules of {}, as {} says", rules.display(), settings.file.display()));
        }
    }
}

fn read(path: &Path) -> Result<UserRules, Failure> {
    let text = read_small(path, MAX_RULES_BYTES).map_err(|error| {
        Failure::new(
            format_args!("cannot read the rules {}: {error}", path.display()),
            "--rules takes a TOML file",
        )
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
