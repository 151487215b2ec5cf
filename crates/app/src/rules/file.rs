//! The rules file that changes go to: the one that is used, else one beside the recording, else one of the window's own.

use super::change::RuleChange;
use super::text::changed;
use oomscope_analysis::{Category, UserRules};
use oomscope_export::save::{Existing, NewFile, SaveError};
use oomscope_snapshot::load::{MAX_RULES_BYTES, RULES_FILE, read_small};
use oomscope_units as units;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use tr::tr;

/// The places that rules can be kept in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// The file whose rules are in use.
    pub(crate) used: Option<PathBuf>,
    /// The folder of the recording.
    pub(crate) beside: Option<PathBuf>,
    /// The folder with the window's settings.
    pub(crate) settings: Option<PathBuf>,
}

/// The rules after a change.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) path: PathBuf,
    pub(crate) rules: UserRules,
}

impl Places {
    /// The files to write to, best first.
    fn files(&self) -> Vec<PathBuf> {
        match &self.used {
            Some(used) => vec![used.clone()],
            None => {
                [&self.beside, &self.settings].into_iter().flatten().map(|at| at.join(RULES_FILE)).collect()
            }
        }
    }
}

/// Change the rules in the first file that can be written. `decision` is the category that rules give to the stack
/// that the change is about.
///
/// # Errors
/// A sentence that says why nothing was written.
pub(crate) fn change(
    places: &Places,
    change: &RuleChange,
    decision: impl Fn(&UserRules) -> Option<Category>,
) -> Result<Changed, String> {
    let mut refused = tr!("there is no folder to write rules to");
    for path in places.files() {
        let shown = units::printable(&path.to_string_lossy());
        let text = read(&path).map_err(|error| format!("{shown}: {error}"))?;
        let (text, rules) = changed(&text, change, &decision).map_err(|error| format!("{shown}: {error}"))?;
        if change.category.is_some() && decision(&rules) != change.category {
            return Err(tr!("no rule can tell this line from others in {shown}", shown));
        }
        match write(&path, &text) {
            Ok(()) => return Ok(Changed { path, rules }),
            Err(error) => refused = units::printable(&error.to_string()),
        }
    }
    Err(refused)
}

/// The rules of a file.
///
/// # Errors
/// A sentence that says why there are none.
pub(crate) fn read_rules(path: &Path) -> Result<UserRules, String> {
    let text = read(path)?;
    UserRules::parse(&text).map_err(|error| error.to_string())
}

/// The text of a rules file; empty if there is none.
fn read(path: &Path) -> Result<String, String> {
    match read_small(path, MAX_RULES_BYTES) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|error| error.to_string()),
    }
}

/// Replace a rules file as a whole. One without any rule or word goes.
fn write(path: &Path, text: &str) -> Result<(), SaveError> {
    if text.is_empty() {
        return match fs::remove_file(path) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(SaveError::Refused { path: path.to_owned(), source })
            }
            _ => Ok(()),
        };
    }
    let mut file = NewFile::create(path)?;
    let refused = |source| SaveError::Refused { path: path.to_owned(), source };
    file.write_all(text.as_bytes()).map_err(refused)?;
    file.finish(Existing::Replace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Scope;
    use oomscope_analysis::SiteFrame;
    use oomscope_model::StackId;

    fn input(category: Option<Category>) -> RuleChange {
        let (file, name) = ("/me/train.py".to_owned(), "attention".to_owned());
        let frame = SiteFrame { file, line: 55, name, is_own: false };
        RuleChange { frame, scope: Scope::Site, category, stack: StackId(1) }
    }

    fn places(beside: &Path, settings: &Path) -> Places {
        Places { used: None, beside: Some(beside.to_owned()), settings: Some(settings.to_owned()) }
    }

    #[test]
    fn rules_go_beside_the_recording_and_away_again() {
        let (beside, settings) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let places = places(beside.path(), settings.path());
        let says = |_: &UserRules| Some(Category::Input);
        let done = change(&places, &input(Some(Category::Input)), says).expect("it can be written");
        assert_eq!(done.path, beside.path().join(RULES_FILE));
        let text = fs::read_to_string(&done.path).expect("the file");
        assert!(text.contains("category = \"input\"") && !done.rules.is_empty(), "{text}");
        change(&places, &input(None), says).expect("it can be taken back");
        assert!(!done.path.exists());
    }

    #[test]
    fn where_the_folder_cannot_be_written_rules_go_to_the_settings() {
        let settings = tempfile::tempdir().expect("a folder");
        let places = places(Path::new("/no/such/folder"), settings.path());
        let says = |_: &UserRules| Some(Category::Input);
        let done = change(&places, &input(Some(Category::Input)), says).expect("it can be written");
        assert_eq!(done.path, settings.path().join(RULES_FILE));
        let nowhere = change(&Places::default(), &input(Some(Category::Input)), says);
        assert_eq!(nowhere.err().as_deref(), Some("there is no folder to write rules to"));
    }

    #[test]
    fn a_file_with_a_mistake_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(RULES_FILE);
        fs::write(&path, "[[rule]]\ncategory = 'weights'\n").expect("it can be written");
        let places = places(folder.path(), folder.path());
        let error = change(&places, &input(Some(Category::Input)), |_| Some(Category::Input)).err();
        assert!(error.is_some_and(|error| error.contains("'weights' is no category")));
        assert_eq!(fs::read_to_string(&path).expect("the file"), "[[rule]]\ncategory = 'weights'\n");
    }
}
