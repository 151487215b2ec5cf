//! The files that a command reads.

use super::opened::Opened;
use super::rules::RulesFile;
use crate::cli::failure::Failure;
use crate::cli::loading;
use crate::cli::output::Destination;
use clap::Args;
use std::path::{Path, PathBuf};

/// `FILE` and `--rules`: one recording, and the user's rules about it.
#[derive(Debug, Args)]
pub(in crate::cli) struct Source {
    /// A snapshot; '-' is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    rules: RulesFile,
}

/// `FILE…`: recordings to go through one after the other.
#[derive(Debug, Args)]
pub(in crate::cli) struct Files {
    /// Snapshots; '-' is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(in crate::cli) paths: Vec<PathBuf>,
}

impl Source {
    /// The destination that `--output` names. Ask for it before [`Self::open`], so that a file that must not be
    /// overwritten is refused before a large recording is read.
    pub(in crate::cli) fn destination<'a>(
        &self,
        output: Option<&'a Path>,
    ) -> Result<Destination<'a>, Failure> {
        Destination::new(output, self.rules.path().into_iter().chain([self.file.as_path()]))
    }

    /// Read the rules and then the recording, which takes longer.
    pub(in crate::cli) fn open(&self) -> Result<Opened<'_>, Failure> {
        let rules = self.rules.read(std::slice::from_ref(&self.file))?;
        let snapshot = loading::load(&self.file)?;
        Ok(Opened { file: &self.file, snapshot, rules })
    }
}
