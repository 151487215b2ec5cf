//! Notes beside a recording and places in one, as scripts and other people meet them.

use crate::support::{json, oomscope, run, sample, stdout};
use std::path::{Path, PathBuf};

const NOTES: &str = r#"
format = "oomscope-notes"
version = 1

[[note]]
text = "see /home/alice/plan.md <b>now</b>"
place = 'event=2528 select=alloc:1000 filter="stack:/home/alice/run/index.py"'

[[note]]
text = "no place"
"#;

/// A recording with a file of notes, and the folder that keeps both.
fn recording(notes: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.pickle");
    std::fs::copy(sample("frag_oom.pickle"), &path).expect("the sample can be copied");
    std::fs::write(folder.path().join("run.pickle.oomscope.toml"), notes).expect("a temporary file");
    (folder, path)
}

fn report(path: &Path, options: &[&str]) -> String {
    let path = path.to_string_lossy();
    stdout(["report", "--no-remedies", &path].into_iter().chain(options.iter().copied()))
}

#[test]
fn every_report_has_the_notes_beside_its_recording() {
    let (_folder, path) = recording(NOTES);
    let text = report(&path, &[]);
    let line = "  see /home/alice/plan.md <b>now</b> (event 2,528 · ";
    assert!(text.contains("\nNotes\n") && text.contains(line), "{text}");
    let markdown = report(&path, &["--format", "markdown"]);
    assert!(markdown.contains("### Notes\n\n- see /home/alice/plan.md &lt;b&gt;now&lt;/b&gt; (event 2,528"));
    let html = report(&path, &["--format", "html"]);
    assert!(html.contains("Notes") && html.contains("&lt;b&gt;now&lt;/b&gt;") && !html.contains("<b>now"));
    let path_text = path.to_string_lossy();
    let found = json(["report", "--no-remedies", "--format", "json", &path_text]);
    assert_eq!(found["notes"][0]["event"], 2528);
    assert_eq!(found["notes"][1]["text"], "no place");
    assert_eq!(found["notes"][1]["place"], "");
    let go = found["notes"][0]["go"].as_str().expect("a place");
    assert!(go.starts_with("event=2528 select=alloc:1000 filter="), "{go}");
}

#[test]
fn notes_are_left_out_or_redacted_on_request() {
    let (_folder, path) = recording(NOTES);
    assert!(!report(&path, &["--no-notes"]).contains("Notes"));
    for format in ["text", "markdown", "html", "json"] {
        let found = report(&path, &["--redact", "--format", format]);
        assert!(found.contains("plan.md") && !found.contains("alice"), "{format}");
    }
}

#[test]
fn a_report_survives_any_file_of_notes() {
    let head = "format = \"oomscope-notes\"\nversion = 1\n";
    let deep = format!("{head}x = {}", "[".repeat(5000));
    let many = format!("{head}{}", "[[note]]\ntext = \"x\"\nplace = \"select=alloc:0x1\"\n".repeat(20_000));
    for (notes, why) in [
        ("not toml [", "cannot be read"),
        ("[net]\nretry = 3\n", "has no line format"),
        (&deep, "cannot be read"),
        (&many, "more than 1,000 notes"),
        (&"#".repeat(2 << 20), "larger than 1 MiB"),
    ] {
        let (_folder, path) = recording(notes);
        let output = run([Path::new("report"), Path::new("--no-remedies"), &path]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        assert!(errors.contains("run.pickle.oomscope.toml: ") && errors.contains(why), "{errors}");
    }
}

#[test]
fn a_place_is_understood_or_refused_before_anything_is_read() {
    let go = |place: &str| {
        let mut command = oomscope();
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        command.args(["no such file.pickle", "--go", place]).output().expect("the program runs")
    };
    let refused = go("event=10 select=block:3");
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("'block:3' is no value of select=") && errors.contains("character 17"),
        "{errors}"
    );
    let understood = go("event=10 zoom=3");
    let errors = String::from_utf8_lossy(&understood.stderr).into_owned();
    assert_eq!(understood.status.code(), Some(1), "{errors}");
    assert!(errors.contains("'zoom=3' is not known"), "{errors}");
    assert_eq!(run(["--go", "event=3"]).status.code(), Some(2), "a place is a place in a file");
}
