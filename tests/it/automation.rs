//! The action for GitHub and the hook for pre-commit, by the shell commands that they run.

use crate::support::{oomscope, root, sample};
use std::path::Path;
use std::process::{Command, Output};

/// The folder of the program, which the shell is to find.
fn search_path() -> String {
    let program = oomscope().get_program().to_owned();
    let folder = Path::new(&program).parent().expect("the program lies in a folder").display().to_string();
    format!("{folder}:{}", std::env::var("PATH").unwrap_or_default())
}

/// Run the action's script in a folder.
fn action(folder: &Path, files: &str, limits: &str) -> Output {
    Command::new("bash")
        .arg(root().join(".github/actions/check/check.sh"))
        .current_dir(folder)
        .env("PATH", search_path())
        .env("FILES", files)
        .env("LIMITS", limits)
        .env("GITHUB_WORKSPACE", "/workspace/train")
        .env("GITHUB_STEP_SUMMARY", folder.join("summary.md"))
        .output()
        .expect("bash starts")
}

/// A folder with some samples.
fn folder(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in names {
        std::fs::copy(sample(name), folder.path().join(name)).expect("a sample can be copied");
    }
    folder
}

#[test]
fn the_action_annotates_what_grew_and_fails_the_job() {
    let folder = folder(&["before_edit.pickle.gz", "after_edit.pickle.gz"]);
    let output =
        action(folder.path(), "after_*.pickle.gz", "--baseline before_edit.pickle.gz --tolerance 2%");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("::error file=train.py,line=26,title=Memory grew::"), "{text}");
    let summary = std::fs::read_to_string(folder.path().join("summary.md")).expect("a summary");
    assert!(summary.contains("Memory: limits are exceeded"), "{summary}");
    let output = action(folder.path(), "before_*.pickle.gz", "--baseline before_edit.pickle.gz");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_action_says_that_no_file_matches() {
    let folder = folder(&[]);
    let output = action(folder.path(), "*.pickle", "--no-oom");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stdout)
            .contains("::error title=No snapshot::No file matches *.pickle")
    );
}

#[test]
fn the_hook_is_a_command_that_takes_files() {
    let hooks =
        std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).expect("the hooks can be read");
    let of = |key: &str| {
        let line = hooks.lines().find_map(|line| line.trim().strip_prefix(key)).expect("a key of the hook");
        line.trim_start_matches(':').trim().to_owned()
    };
    let args = of("args");
    let args = args.trim_matches(['[', ']']);
    let command = format!("{} {args} \"$@\"", of("entry"));
    let run = |name: &str| {
        let mut shell = Command::new("bash");
        shell.args(["-c", &command, "hook"]).arg(sample(name)).env("PATH", search_path());
        shell.output().expect("bash starts").status.code()
    };
    assert_eq!((run("streams.pickle"), run("frag_oom.pickle")), (Some(0), Some(3)));
}
