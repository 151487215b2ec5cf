//! Files that are written, lines that nobody reads, and several inputs of which one is bad: nothing the
//! user has is lost, and a verdict does not depend on its reader.

use crate::support::{oomscope, program, root, run, sample, skipped, stdout};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn path(name: &str) -> String {
    sample(name).to_string_lossy().into_owned()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A copy of a sample, and the folder that keeps it.
fn copy(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::copy(sample(name), &path).expect("the sample can be copied");
    (folder, path)
}

/// Run the program with a standard output that nobody reads.
fn unread(args: &[&str]) -> Output {
    let mut child = oomscope()
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    child.wait_with_output().expect("the program ends")
}

#[test]
fn a_verdict_does_not_depend_on_its_reader() {
    let oom = path("frag_oom.pickle");
    for limit in [&["--max-peak", "1"][..], &["--no-oom"]] {
        let args = [&["check", &oom][..], limit].concat();
        let output = unread(&args);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(3), String::new()), "{args:?}");
    }
    // Files behind the first are looked at, too.
    let output = unread(&["check", &path("streams.pickle"), &oom, "--no-oom"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(unread(&["check", &path("streams.pickle"), "--no-oom"]).status.code(), Some(0));
    assert_eq!(unread(&["check", "no/such.pickle", "--no-oom"]).status.code(), Some(1));
    assert_eq!(unread(&["stats", "no/such.pickle", &oom]).status.code(), Some(1));
}

#[cfg(target_os = "linux")]
#[test]
fn a_verdict_stands_where_its_lines_cannot_be_written() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the device is there");
    let output = oomscope()
        .args(["check", &path("frag_oom.pickle"), "--no-oom"])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("cannot write the output"), "{}", text(&output.stderr));
}

#[test]
fn a_recording_is_never_overwritten() {
    let (folder, recording) = copy("frag_oom.pickle");
    let before = std::fs::read(&recording).expect("the recording");
    let recording = recording.to_string_lossy().into_owned();
    let link = folder.path().join("link.png");
    std::fs::hard_link(&recording, &link).expect("a link");
    let link = link.to_string_lossy().into_owned();
    let roundabout = folder.path().join(".").join("frag_oom.pickle").to_string_lossy().into_owned();
    for args in [
        ["report", &recording, "-o", &recording],
        ["report", &recording, "-o", &roundabout],
        ["live", &recording, "-o", &recording],
        ["render", &recording, "-o", &link],
        ["render", &link, "-o", &link],
    ] {
        let output = run(args);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {errors}");
        assert!(errors.contains("is the file that is read"), "{args:?}: {errors}");
        assert!(std::fs::read(&recording).expect("the recording") == before, "{args:?}");
    }
}

/// Every command that writes files, with `OUT` for the file or the folder; the recording is standard input.
const WRITERS: [&str; 13] = [
    "live - -o OUT",
    "report - -o OUT",
    "report - --format html -o OUT",
    "diff - --at-a 5 --at-b oom -o OUT",
    "diff - --at-a 5 --at-b oom --svg OUT",
    "render - -o OUT.png",
    "export - --format perfetto -o OUT",
    "export - --format csv --table events -o OUT",
    "export - --format csv -o OUT/",
    "cut - -o OUT",
    "lay-out - -o OUT",
    "ranks - -o OUT",
    "ranks - --format csv -o OUT/",
];

#[test]
fn what_standard_input_comes_from_is_never_overwritten() {
    let (folder, recording) = copy("frag_oom.pickle");
    let before = std::fs::read(&recording).expect("the recording");
    // The files of a folder of tables, of which one is the recording under another name.
    let tables = folder.path().join("tables");
    std::fs::create_dir(&tables).expect("a temporary folder");
    let picture = folder.path().join("link.png");
    for link in [&tables.join("events.csv"), &tables.join("ranks.csv"), &picture] {
        std::fs::hard_link(&recording, link).expect("a link");
    }
    for command in WRITERS {
        let word = |word: &str| match word {
            "OUT" => recording.clone(),
            "OUT.png" => picture.clone(),
            "OUT/" => tables.clone(),
            word => word.into(),
        };
        let input = std::fs::File::open(&recording).expect("the recording");
        let output = oomscope().args(command.split(' ').map(word)).stdin(input).output();
        let output = output.expect("the program starts");
        let errors = text(&output.stderr);
        assert!(std::fs::read(&recording).expect("the recording") == before, "{command}");
        assert_eq!(output.status.code(), Some(1), "{command}: {errors}");
        assert!(errors.contains("is the file that is read"), "{command}: {errors}");
    }
    // Another file is written, also where there is no standard input at all.
    let out = folder.path().join("out.md");
    let report = "exec \"$0\" report \"$1\" --no-remedies -o \"$2\" <&-";
    let mut shell = Command::new("sh");
    let status = shell.args(["-c", report]).arg(program()).args([&recording, &out]).status();
    assert!(status.expect("the shell starts").success() && out.is_file());
}

#[test]
fn every_command_that_writes_files_is_among_those() {
    let command = oomscope::cli::command();
    let writes = |command: &&clap::Command| command.get_arguments().any(|arg| arg.get_id() == "output");
    let writers: Vec<&str> = command.get_subcommands().filter(writes).map(clap::Command::get_name).collect();
    assert!(!writers.is_empty());
    for name in writers {
        assert!(WRITERS.iter().any(|known| known.split(' ').next() == Some(name)), "{name}");
    }
}

#[test]
fn other_files_that_a_report_reads_are_not_overwritten_either() {
    let (folder, recording) = copy("frag_oom.pickle");
    let [other, notes] =
        ["rank1.pickle", "frag_oom.pickle.oomscope.toml"].map(|name| folder.path().join(name));
    std::fs::copy(&recording, &other).expect("a copy");
    std::fs::write(&notes, "").expect("a temporary file");
    for out in [other, notes] {
        let before = std::fs::read(&out).expect("the file");
        let mut command = oomscope();
        command.arg("report").arg(&recording).args(["--no-remedies", "--ranks"]).arg(folder.path());
        let output = command.arg("-o").arg(&out).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(1), "{}", out.display());
        assert!(std::fs::read(&out).expect("the file") == before, "{}", out.display());
    }
}

#[test]
fn rules_are_not_overwritten_either() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rules = folder.path().join("rules.toml");
    std::fs::write(&rules, "[[rule]]\ncategory = 'comm'\nfile = 'x'\n").expect("a temporary file");
    let rules = rules.to_string_lossy();
    let output = run(["report", &path("frag_oom.pickle"), "--rules", &rules, "-o", &rules]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("is the file that is read"));
}

#[test]
fn a_file_says_what_standard_output_does() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("out");
    let oom = path("frag_oom.pickle");
    for args in [
        &["report", &oom, "--format", "json"][..],
        &["report", &oom, "--format", "markdown"],
        &["live", &oom],
        &["live", &oom, "--format", "json"],
        &["live", &oom, "--format", "csv"],
    ] {
        // An earlier, longer file goes as a whole.
        std::fs::write(&out, vec![b'#'; 10 << 20]).expect("a temporary file");
        assert_eq!(stdout([args, &["-o", &out.to_string_lossy()]].concat()), "");
        let file = std::fs::read_to_string(&out).expect("the output");
        assert!(file == stdout(args), "{args:?}");
        assert!(file == stdout([args, &["-o", "-"]].concat()), "{args:?}");
    }
}

/// Run the program where no file can be longer than some blocks of 512 bytes, as on a full disk.
#[cfg(unix)]
fn run_on_full_disk<A: AsRef<OsStr>>(blocks: u32, args: impl IntoIterator<Item = A>) -> Output {
    let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).arg(program()).args(args);
    shell.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").output().expect("the shell starts")
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_what_was_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("out.png");
    std::fs::write(&out, "what was there").expect("a temporary file");
    let oom = path("frag_oom.pickle");
    let target = out.to_string_lossy();
    for args in [
        &["report", &oom, "--format", "html", "-o", &target][..],
        &["render", &oom, "-o", &target],
        &["live", &oom, "--format", "json", "-o", &target],
    ] {
        let output = run_on_full_disk(8, args);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {errors}");
        assert!(errors.contains("cannot write") && errors.contains("hint: "), "{args:?}: {errors}");
        assert_eq!(std::fs::read_to_string(&out).expect("the file"), "what was there", "{args:?}");
        let names = std::fs::read_dir(folder.path()).expect("the folder").count();
        assert_eq!(names, 1, "{args:?} leaves something behind");
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let output = run(["report", &path("frag_oom.pickle"), "-o", "no/such/folder/a.html"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot write no/such/folder/a.html"), "{}", text(&output.stderr));
}

#[test]
fn a_bad_file_does_not_hide_the_others() {
    let (first, last) = (path("streams.pickle"), path("pools.pickle"));
    let bad = root().join("Cargo.toml").to_string_lossy().into_owned();
    let output = run(["stats", &first, &bad, "no/such.pickle", &last]);
    let (shown, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
    assert!(shown == stdout(["stats", &first, &last]), "{shown}");
    assert_eq!(errors.lines().count(), 4, "{errors}");
    assert!(errors.contains("Cargo.toml") && errors.contains("no/such.pickle"), "{errors}");

    let output = run(["stats", &bad, &first, &bad, &last, "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout) == stdout(["stats", &first, &last, "--format", "json"]));
    assert_eq!(text(&output.stderr).matches("Cargo.toml").count(), 2);
    // An empty array would look like an answer.
    let output = run(["stats", &bad, "--format", "json"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()));
}

#[test]
fn a_check_goes_on_behind_a_bad_file() {
    let (good, oom) = (path("streams.pickle"), path("frag_oom.pickle"));
    let bad = root().join("Cargo.toml").to_string_lossy().into_owned();
    let state_only = path("history_state_only.pickle");
    let output = run(["check", &good, &bad, &state_only, &good, "--no-oom"]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert_eq!(text(&output.stdout).matches("ok: ").count(), 2);
    assert!(errors.contains("Cargo.toml") && errors.contains("history_state_only"), "{errors}");
    // A limit that is exceeded is the stronger statement.
    let output = run(["check", &bad, &oom, "--no-oom"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("Cargo.toml"));
    assert!(text(&output.stdout).starts_with("EXCEEDED: "));
}

#[test]
fn json_of_many_files_is_one_array() {
    let files = ["streams.pickle", "two_devices_oom.pickle", "pools.pickle"].map(path);
    let args = |files: &[String]| -> Vec<String> {
        ["stats", "--format", "json"].map(str::to_owned).iter().chain(files).cloned().collect()
    };
    let parse = |text: &str| -> Vec<Value> { serde_json::from_str(text).expect("an array") };
    let all = parse(&stdout(args(&files)));
    let each: Vec<Value> =
        files.iter().flat_map(|file| parse(&stdout(args(std::slice::from_ref(file))))).collect();
    assert_eq!(all, each);
    assert_eq!(all.len(), 4);
    assert!(Path::new(all[3]["file"].as_str().expect("a path")).ends_with("pools.pickle"));
}

/// What a command prints on a terminal so many cells wide; `None` where there is no program that makes a terminal.
#[cfg(target_os = "linux")]
fn on_a_terminal(cells: usize, args: &str) -> Option<String> {
    let command = format!("stty rows 40 cols {cells}; {} {args}", program().display());
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).env("OOMSCOPE_CONFIG", "").env("NO_COLOR", "1");
    let Ok(output) = script.stdin(Stdio::null()).output() else {
        skipped("a narrow terminal: there is no program `script`, which makes one");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    Some(String::from_utf8_lossy(&output.stdout).replace('\r', ""))
}

#[cfg(target_os = "linux")]
#[test]
fn tables_leave_out_columns_on_a_narrow_terminal_and_nowhere_else() {
    let file = sample("frag_oom.pickle");
    let args = format!("live --top 3 {}", file.display());
    let Some(narrow) = on_a_terminal(70, &args) else { return };
    assert!(narrow.contains("\n   size        bytes  event     age  category    site\n"), "{narrow}");
    assert!(
        narrow.ends_with("(the terminal is too narrow for: device · address · pool · stream)\n"),
        "{narrow}"
    );
    let wide = on_a_terminal(200, &args).expect("there was one");
    assert_eq!(wide, stdout(["live", "--top", "3", &file.to_string_lossy()]), "as in a pipe");
}
