//! One call of a tool: its arguments, the recordings that it opens, and the remarks about its answer.

use super::answer::bounded;
use super::folders::Folders;
use super::parameter::{Kind, Parameter};
use super::refusal::Refusal;
use super::shelf::Shelf;
use crate::cli::loading::warnings;
use crate::cli::select::{Opened, RulesFile};
use crate::cli::settings;
use clap::Args;
use oomscope_analysis::UserRules;
use oomscope_snapshot::load::ManyProgress;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// Remarks of one answer, at most: more would not be read.
const MAX_REMARKS: usize = 20;

/// A call whose arguments have the right names and types.
pub(super) struct Call<'a> {
    pub(super) parameters: &'a [Parameter],
    pub(super) arguments: &'a Map<String, Value>,
    pub(super) folders: &'a Folders,
    pub(super) shelf: RefCell<&'a mut Shelf>,
    /// Tells that the client cancelled the request.
    pub(super) progress: &'a ManyProgress,
    pub(super) remarks: RefCell<Vec<String>>,
}

impl Call<'_> {
    /// The argument of a name, if it is a text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }

    /// Whether an argument is given as true.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.arguments.get(name) == Some(&Value::Bool(true))
    }

    /// The allowed file that an argument names.
    pub(super) fn file(&self, name: &str) -> Result<PathBuf, Refusal> {
        self.folders.file(self.text(name).unwrap_or_default())
    }

    /// The arguments as those of a command, with further options and the paths that it reads. They are parsed as the
    /// command line is, and refused in the same words.
    pub(super) fn args<T: Args>(&self, options: &[&str], paths: &[&Path]) -> Result<T, Refusal> {
        let given = self.parameters.iter().filter_map(|p| p.option(self.arguments.get(p.name)));
        let options = options.iter().map(|&option| option.to_owned()).chain(given);
        let operands = self.parameters.iter().filter(|p| p.kind == Kind::Operand);
        let operands = operands.filter_map(|p| self.text(p.name)).map(Into::into);
        let words = std::iter::once("oomscope".into())
            .chain(options.map(Into::into))
            .chain(std::iter::once("--".into()))
            .chain(paths.iter().map(|path| path.as_os_str().to_owned()))
            .chain(operands);
        let command = T::augment_args(clap::Command::new("oomscope"));
        let found = command.try_get_matches_from(words).and_then(|found| T::from_arg_matches(&found));
        found.map_err(|error| Refusal::Arguments(first_line(&error)))
    }

    /// A recording, with what the user's settings say.
    pub(super) fn open<'p>(&self, path: &'p Path) -> Result<Opened<'p>, Refusal> {
        let snapshot = self.shelf.borrow_mut().get(path, self.progress)?;
        let name = self.folders.name(path);
        for warning in warnings(&name.display().to_string(), &snapshot) {
            self.remark(&warning);
        }
        Ok(Opened { file: name, snapshot, rules: self.rules()? })
    }

    /// The rules of the user's settings. What of these changes answers is said beside the answer.
    pub(super) fn rules(&self) -> Result<UserRules, Refusal> {
        if let Some(told) = settings::told() {
            self.remark(&told);
        }
        Ok(RulesFile::default().read(&[])?)
    }

    /// Forget the snapshots that are kept, to make room for others.
    pub(super) fn clear_shelf(&self) {
        self.shelf.borrow_mut().clear();
    }

    /// Say something beside the answer, once.
    pub(super) fn remark(&self, text: &str) {
        let (mut remarks, text) = (self.remarks.borrow_mut(), bounded(text));
        if remarks.len() < MAX_REMARKS && !remarks.contains(&text) {
            remarks.push(text);
        }
    }
}

/// The message of a parser, without the ways out that a command line has.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
