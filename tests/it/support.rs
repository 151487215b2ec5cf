//! What several modules need: paths, the program, and loading from memory.

use oomscope_model::Snapshot;
use oomscope_snapshot::load::{LoadError, Progress, load_from};
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file in `sample_snapshots`.
pub(crate) fn sample(name: &str) -> PathBuf {
    root().join("sample_snapshots").join(name)
}

/// The files in a folder whose name contains `.pickle`, sorted; with `deep` also those below it.
pub(crate) fn pickles_in(folder: &Path, deep: bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).expect("the folder can be listed");
    for entry in entries {
        let path = entry.expect("the folder can be listed").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && deep {
            found.extend(pickles_in(&path, deep));
        } else if name.ends_with(".pickle") || name.contains(".pickle.") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// What comes before the first dot of a file's name.
pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Load bytes as a file's content.
pub(crate) fn load_bytes(bytes: &[u8]) -> Result<Arc<Snapshot>, LoadError> {
    load_from(bytes, "test", &Progress::default()).map(Arc::new)
}

/// Names another program to test than the one that was built with the tests: one without the window.
const WITHOUT_WINDOW: &str = "OOMSCOPE_WITHOUT_WINDOW";

/// Where the program is.
pub(crate) fn program() -> PathBuf {
    std::env::var_os(WITHOUT_WINDOW).map_or_else(|| env!("CARGO_BIN_EXE_oomscope").into(), PathBuf::from)
}

/// Whether the program was built with its window.
pub(crate) fn has_window() -> bool {
    cfg!(feature = "window") && std::env::var_os(WITHOUT_WINDOW).is_none()
}

/// The program, without a display and without any setting of the caller.
pub(crate) fn oomscope() -> Command {
    let mut command = Command::new(program());
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "OOMSCOPE_LOG", "RUST_LOG", "COLUMNS"] {
        command.env_remove(name);
    }
    // Without the settings of whoever runs the tests.
    command.env("OOMSCOPE_CONFIG", "").stdin(Stdio::null());
    command
}

/// Run the program to its end.
pub(crate) fn run<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Output {
    oomscope().args(args).output().expect("the program starts")
}

/// Run the program with something on standard input.
pub(crate) fn run_with_input(args: &[&str], input: &[u8]) -> Output {
    let mut child = oomscope()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("standard input is piped");
    // The program may refuse its input before it has read all of it.
    stdin.write_all(input).ok();
    drop(stdin);
    child.wait_with_output().expect("the program ends")
}

/// Standard output of a run that must succeed.
pub(crate) fn stdout<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> String {
    let output = run(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "exit code {:?}: {errors}", output.status.code());
    String::from_utf8(output.stdout).expect("the output is text")
}

/// Standard output of a run that must succeed, as JSON.
pub(crate) fn json<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> serde_json::Value {
    serde_json::from_str(&stdout(args)).expect("the output is JSON")
}

/// A folder of recordings beside the repository, if there is one.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let folder = root().join("../shared/snapshots").join(folder);
    folder.is_dir().then_some(folder)
}

/// Say that something was not tested, past the test harness, which hides what passing tests print.
pub(crate) fn skipped(why: &str) {
    writeln!(std::io::stderr(), "SKIPPED: {why}").ok();
}
