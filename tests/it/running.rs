//! `oomscope run` and `oomscope doctor` become `python -m oomscope`, with the Python that is meant.

use crate::support::{oomscope, program, root, skipped};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A Python that has the package: it prints its arguments and ends with code 7, or by a signal.
const HAS_PACKAGE: &str = r#"
case "$1" in
-c) exit 0 ;;
esac
case "$4" in
killed) kill -TERM $$ ;;
esac
printf '%s|' "$0" "$@"
exit 7"#;

const HAS_NONE: &str = "exit 1";

/// Makes a Python of this script, and returns the folder that it is in.
fn python(bin: &Path, name: &str, script: &str) -> PathBuf {
    fs::create_dir_all(bin).expect("a folder");
    let path = bin.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
    bin.to_owned()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder")
}

/// Runs the program with this search path, and no environment active.
fn run(mut program: Command, path: &Path, args: &[&str]) -> Output {
    program.env_remove("VIRTUAL_ENV").env("PATH", path).args(args).output().expect("the program starts")
}

/// The arguments that Python got, and the Python.
fn arguments(output: &Output) -> Vec<String> {
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.trim_end_matches('|').split('|').map(str::to_owned).collect()
}

fn errors(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn python_on_the_path_gets_all_arguments_as_they_are() {
    let folder = folder();
    let path = python(folder.path(), "python3", HAS_PACKAGE);
    let given = ["run", "--dir", "a b", "-m", "train", "--help", "--", "-x"];
    let found = arguments(&run(oomscope(), &path, &given));
    assert_eq!(found[1..3], ["-m", "oomscope"]);
    assert_eq!(found[3..], given);
    assert_eq!(arguments(&run(oomscope(), &path, &["doctor", "--no-cost"]))[3..], ["doctor", "--no-cost"]);
    let estimated = ["estimate", "train.py", "--device", "80GiB", "--", "--lr", "1"];
    assert_eq!(arguments(&run(oomscope(), &path, &estimated))[3..], estimated);
    assert_eq!(arguments(&run(oomscope(), &path, &["run", "--help"]))[3..], ["run", "--help"]);
}

#[test]
fn signals_are_pythons_own() {
    let folder = folder();
    let path = python(folder.path(), "python3", HAS_PACKAGE);
    assert_eq!(run(oomscope(), &path, &["run", "killed"]).status.signal(), Some(15));
}

#[test]
fn an_active_environment_is_meant_whatever_others_have() {
    let folder = folder();
    let path = python(&folder.path().join("path"), "python3", HAS_PACKAGE);
    let active = folder.path().join("active");
    let run_active = || {
        let mut program = oomscope();
        program.env("PATH", &path).env("VIRTUAL_ENV", &active).args(["run", "train.py"]);
        program.output().expect("the program starts")
    };
    let missing = errors(&run_active());
    assert!(
        missing.starts_with("oomscope: cannot run ") && missing.contains("active/bin/python"),
        "{missing}"
    );
    python(&active.join("bin"), "python", HAS_NONE);
    let none = errors(&run_active());
    assert!(none.contains("active/bin/python has no package oomscope"), "{none}");
    assert!(none.contains("active/bin/python -m pip install oomscope"), "{none}");
    python(&active.join("bin"), "python", HAS_PACKAGE);
    assert!(arguments(&run_active())[0].ends_with("active/bin/python"));
}

#[test]
fn the_python_beside_the_program_comes_before_the_path_if_it_has_the_package() {
    let folder = folder();
    let path = python(&folder.path().join("path"), "python3", HAS_PACKAGE);
    let bin = folder.path().join("bin");
    for (script, expected) in [(HAS_NONE, "path/python3"), (HAS_PACKAGE, "bin/python3")] {
        python(&bin, "python3", script);
        let link = bin.join("oomscope");
        if !link.exists() {
            fs::hard_link(program(), &link).expect("a link");
        }
        let found = arguments(&run(Command::new(&link), &path, &["run", "train.py"]));
        assert!(found[0].ends_with(expected), "{found:?}");
    }
}

#[test]
fn without_python_it_says_what_to_try() {
    let folder = folder();
    let errors = errors(&run(oomscope(), folder.path(), &["run", "train.py"]));
    assert!(errors.starts_with("oomscope: cannot run python3: "), "{errors}");
    assert!(errors.contains("hint: activate the environment that has torch"), "{errors}");
}

#[test]
fn a_real_python_runs_a_program() {
    let mut program = oomscope();
    program.env_remove("VIRTUAL_ENV").env("PYTHONPATH", root().join("python"));
    let folder = folder();
    fs::write(folder.path().join("p.py"), "import sys; print(sys.argv); sys.exit(5)").expect("a program");
    if Command::new("python3").arg("--version").output().is_err() {
        skipped("there is no python3");
        return;
    }
    let output = program.args(["run", "p.py", "--x"]).current_dir(folder.path()).output();
    let output = output.expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "['p.py', '--x']\n", "{errors}");
    assert_eq!(output.status.code(), Some(5), "{errors}");
}

#[test]
fn help_needs_no_package() {
    let folder = folder();
    let path = python(folder.path(), "python3", "exit 1");
    for command in ["run", "estimate", "doctor"] {
        let output = run(oomscope(), &path, &[command, "--help"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        assert!(text.contains(&format!("Usage: oomscope {command} [ARGS]...")), "{text}");
        assert!(text.contains(&format!("Install the package to see the options of {command}: ")), "{text}");
        assert!(text.contains("python3 -m pip install oomscope"), "{text}");
    }
    // Where it would run a program, it cannot.
    assert!(errors(&run(oomscope(), &path, &["run", "train.py", "--help"])).contains("no package oomscope"));
}
