//! The files that a command reads.

use super::opened::Opened;
use super::rules::RulesFile;
use crate::cli::failure::Failure;
use crate::cli::loading;
use crate::cli::output::Destination;
use clap::Args;
use oomscope_analysis::UserRules;
use std::path::{Path, PathBuf};

/// `FILE` and `--rules`: one recording, and the user's rules about it.
#[derive(Debug, Args)]
pub(in crate::cli) struct Source {
    /// Snapshot to read; '-' is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    rules: RulesFile,
}

/// `FILE…`: recordings to go through one after the other.
#[derive(Debug, Args)]
pub(in crate::cli) struct Files {
    /// Snapshots to read; '-' is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(in crate::cli) paths: Vec<PathBuf>,
}

impl Source {
    pub(in crate::cli) fn of_file(file: PathBuf) -> Self {
        Self { file, rules: RulesFile::default() }
    }

    /// The destination that `--output` names. Ask for it before [`Self::open`], so that a file that must not be
    /// overwritten is refused before a large recording is read.
    pub(in crate::cli) fn destination<'a>(
        &self,
        output: Option<&'a Path>,
    ) -> Result<Destination<'a>, Failure> {
        self.destination_beside(output, [])
    }

    /// [`Self::destination`] of a command that reads other files, too.
    pub(in crate::cli) fn destination_beside<'a, 'i>(
        &'i self,
        output: Option<&'a Path>,
        others: impl IntoIterator<Item = &'i Path>,
    ) -> Result<Destination<'a>, Failure> {
        let inputs = self.rules.path().into_iter().chain(others).chain([self.file.as_path()]);
        Destination::new(output, inputs)
    }

    /// The recording's file; `None` where it comes from standard input.
    pub(in crate::cli) fn path(&self) -> Option<&Path> {
        (!self.is_stdin()).then_some(&self.file)
    }

    /// Whether the recording comes from standard input.
    pub(in crate::cli) fn is_stdin(&self) -> bool {
        self.file == Path::new("-")
    }

    /// Read the rules and then the recording, which takes longer.
    pub(in crate::cli) fn open(&self) -> Result<Opened<'_>, Failure> {
        self.open_with(self.rules.read(std::slice::from_ref(&self.file))?)
    }

    /// Read the recording, with rules that were read already.
    pub(in crate::cli) fn open_with(&self, rules: UserRules) -> Result<Opened<'_>, Failure> {
        let snapshot = loading::load(&self.file)?;
        Ok(Opened { file: &self.file, snapshot, rules })
    }
}
