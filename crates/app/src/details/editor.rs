//! Opening a source line in the user's editor: a program of their choice, started without a shell, and
//! only when they ask for it.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use tr::tr;

/// The command unless the user sets another one. On Windows, VS Code is started by a script, which has to be named whole.
pub(crate) const DEFAULT_COMMAND: &str =
    if cfg!(windows) { "code.cmd --goto {file}:{line}" } else { "code --goto {file}:{line}" };

/// The reason why the editor was not started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EditorError {
    /// The path comes from the recording; it may be of another machine.
    NoFile(String),
    /// The command is empty.
    NoCommand,
    /// The system refused.
    Refused {
        /// The program.
        program: String,
        /// The system's reason.
        reason: String,
    },
}

impl Display for EditorError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&match self {
            Self::NoFile(file) => tr!("there is no file {} on this machine", file),
            Self::NoCommand => tr!("no editor command is set"),
            Self::Refused { program, reason } => {
                tr!("{program} cannot be started: {reason}", program, reason)
            }
        })
    }
}

impl Error for EditorError {}

/// Start the editor at a line.
///
/// # Errors
/// When the file is not on this machine, or the program cannot be started.
pub(crate) fn open(command: &str, file: &str, line: i64) -> Result<(), EditorError> {
    // The path comes from the recording. A full one cannot be taken for an option of the editor.
    let found = Path::new(file);
    // Windows has a spelling for paths without links that editors do not read.
    let path = if cfg!(windows) { std::path::absolute(found) } else { found.canonicalize() };
    let path = path.ok().filter(|path| path.is_file());
    let path = path.ok_or_else(|| EditorError::NoFile(file.to_owned()))?;
    let words = words(command, &path.to_string_lossy(), line.max(1));
    let Some((program, arguments)) = words.split_first() else { return Err(EditorError::NoCommand) };
    let mut process = Command::new(program);
    process.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let refused =
        |error: std::io::Error| EditorError::Refused { program: program.clone(), reason: error.to_string() };
    let mut started = process.spawn().map_err(refused)?;
    // Until somebody waits for it, a process that has ended stays in the system's table.
    let waiting =
        thread::Builder::new().name("oomscope-editor".to_owned()).spawn(move || started.wait().ok());
    waiting
        .map(drop)
        .map_err(|error| EditorError::Refused { program: tr!("a thread"), reason: error.to_string() })
}

/// The command's words with their placeholders filled in. Double quotes keep spaces together; what is
/// filled in is never split.
fn words(command: &str, file: &str, line: i64) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut is_word, mut is_quoted) = (String::new(), false, false);
    for c in command.chars() {
        match c {
            '"' => {
                is_quoted = !is_quoted;
                is_word = true;
            }
            c if c.is_whitespace() && !is_quoted => {
                if std::mem::take(&mut is_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => {
                word.push(c);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    // The line comes first: a path may contain `{line}`.
    words.iter().map(|word| word.replace("{line}", &line.to_string()).replace("{file}", file)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_never_split() {
        assert_eq!(words(DEFAULT_COMMAND, "/a b/c.py", 7)[1..], ["--goto", "/a b/c.py:7"]);
        assert_eq!(
            words("\"/opt/my editor/bin\" +{line} \"\" {file}", "/x/{line}.py", 3),
            ["/opt/my editor/bin", "+3", "", "/x/{line}.py"]
        );
        assert!(words("  ", "/x", 1).is_empty());
    }

    #[test]
    fn only_files_of_this_machine_are_opened() {
        let missing = "/no/such/train.py; touch /tmp/owned";
        assert_eq!(open("true {file}", missing, 1), Err(EditorError::NoFile(missing.to_owned())));
        let file = tempfile::NamedTempFile::new().expect("a file can be made");
        let path = file.path().to_string_lossy();
        assert_eq!(open("", &path, 1), Err(EditorError::NoCommand));
        let refused = open("/no/such/editor {file}", &path, 1);
        assert!(matches!(refused, Err(EditorError::Refused { .. })), "{refused:?}");
    }
}
