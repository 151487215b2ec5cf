//! The file of settings, as the command line reads it.

use crate::support::{oomscope, sample};
use std::path::{Path, PathBuf};
use std::process::Output;

/// A folder as `XDG_CONFIG_HOME`, with settings in it.
fn settings(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("oomscope")).expect("a folder");
    std::fs::write(file(folder.path()), text).expect("a temporary file");
    folder
}

fn file(folder: &Path) -> PathBuf {
    folder.join("oomscope/config.toml")
}

/// Run the program with a folder of settings.
fn run(folder: &Path, args: &[&str]) -> Output {
    let mut program = oomscope();
    program.env_remove("OOMSCOPE_CONFIG").env("XDG_CONFIG_HOME", folder);
    program.args(args).output().expect("the program starts")
}

/// What it says on standard output and standard error, if it succeeds.
fn said(folder: &Path, args: &[&str]) -> [String; 2] {
    let output = run(folder, args);
    let [out, errors] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{args:?}: {errors}");
    [out, errors]
}

fn path(name: &str) -> String {
    sample(name).display().to_string()
}

#[test]
fn a_capacity_holds_where_the_recording_does_not_state_one() {
    let (none, some) = (settings(""), settings("capacity = '80GiB'"));
    let complete = path("annotated.pickle");
    let given = said(none.path(), &["fixes", "--capacity", "80GiB", &complete]);
    let [out, errors] = said(some.path(), &["fixes", &complete]);
    assert_eq!(out, given[0], "as the option would have it");
    assert!(out.contains("80.0 GiB (given)"), "{out}");
    assert_eq!(errors, "", "nobody reads a pipe");
    for command in ["report", "simulate"] {
        let given = said(none.path(), &[command, "--capacity", "80GiB", &complete]);
        assert_eq!(said(some.path(), &[command, &complete])[0], given[0], "{command}");
    }
    // The option comes first.
    assert!(said(some.path(), &["fixes", "--capacity", "40GiB", &complete])[0].contains("40.0 GiB (given)"));
}

#[test]
fn a_capacity_does_not_override_what_a_recording_states() {
    let (none, some) = (settings(""), settings("capacity = '1MiB'"));
    // Of an OOM, of what the recorder noted, of the host, and where more was reserved.
    for name in ["frag_oom.pickle", "half_a_device.pickle.gz", "pinned_host.pickle", "annotated.pickle"] {
        let args = ["report", &path(name), "--no-notes"];
        if name == "pinned_host.pickle" {
            let args = [&args[..], &["--device", "-1"]].concat();
            assert_eq!(said(some.path(), &args), said(none.path(), &args), "{name}");
        } else {
            assert_eq!(said(some.path(), &args), said(none.path(), &args), "{name}");
        }
    }
}

#[test]
fn rules_hold_for_every_command_until_an_option_names_others() {
    let folder = settings("rules = 'mine.toml'");
    let rules = folder.path().join("oomscope/mine.toml");
    std::fs::write(&rules, "[[rule]]\ncategory = 'kv_cache'\nfile = '.'\n").expect("a temporary file");
    let file = path("frag_oom.pickle");
    let [out, errors] = said(folder.path(), &["live", "--top", "5", &file]);
    assert!(out.contains("kv_cache") && errors.is_empty(), "{errors}{out}");
    let other = said(folder.path(), &["live", "--top", "5", "--rules", "", &file]);
    assert!(!other[0].contains("kv_cache") && other[1].is_empty(), "{other:?}");
    std::fs::remove_file(&rules).expect("it was there");
    let missing = run(folder.path(), &["live", &file]);
    let errors = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(errors.contains("the settings name it"), "{errors}");
    std::fs::write(&rules, "").expect("a temporary file");
    // They are an input, which no output replaces.
    let replaced = run(folder.path(), &["live", &file, "-o", &rules.to_string_lossy()]);
    assert!(!replaced.status.success());
}

#[test]
fn own_code_names_allocations_wherever_it_is_installed() {
    let (none, some) = (settings(""), settings("own_code = ['torch/nn/modules']"));
    let file = path("gpt_oom_forward.pickle");
    let site = |folder: &Path| said(folder, &["live", "--top", "30", "--at", "oom", &file])[0].clone();
    assert!(!site(none.path()).contains("linear.py:"), "{}", site(none.path()));
    assert!(site(some.path()).contains("linear.py:"), "{}", site(some.path()));
}

#[test]
fn what_cannot_be_understood_is_named_and_nothing_is_half_done() {
    let folder = settings("capacity = '80GiB'\ntheem = 'dark'\n");
    let file = path("frag_oom.pickle");
    let output = run(folder.path(), &["report", &file]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(errors.contains("config.toml:2: unknown field `theem`"), "{errors}");
    assert!(errors.contains("OOMSCOPE_CONFIG="), "{errors}");
    // What starts a program starts it, and help is help.
    assert!(run(folder.path(), &["completions", "bash"]).status.success());
    assert!(run(folder.path(), &["report", "--help"]).status.success());
    // Without the file, or with none.
    let mut program = oomscope();
    program.env("OOMSCOPE_CONFIG", "").env("XDG_CONFIG_HOME", folder.path());
    assert!(program.args(["stats", &file]).output().expect("the program starts").status.success());
    let mut program = oomscope();
    program.env("OOMSCOPE_CONFIG", folder.path().join("no.toml"));
    let output = program.args(["stats", &file]).output().expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.contains("cannot read the settings"), "{errors}");
}
