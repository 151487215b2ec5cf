//! `oomscope check`: limits and exit codes.

use crate::support::{run, sample};

fn check(file: &str, limits: &[&str]) -> (Option<i32>, String) {
    let path = sample(file);
    let path = path.to_string_lossy();
    let args: Vec<&str> = ["check", &path].into_iter().chain(limits.iter().copied()).collect();
    let output = run(args);
    (output.status.code(), String::from_utf8_lossy(&output.stdout).replace(&*path, "FILE"))
}

#[test]
fn limits_that_hold_end_with_0_and_others_with_3() {
    let (code, text) =
        check("frag_oom.pickle", &["--max-peak", "3GiB", "--max-reserved", "4GiB", "--no-oom"]);
    assert_eq!(code, Some(3));
    assert_eq!(
        text,
        "ok: FILE, device 0: peak 2.63 GiB of 3.00 GiB\n\
         EXCEEDED: FILE, device 0: reserved 4.03 GiB is 28.0 MiB above 4.00 GiB, after event 1,376\n\
         EXCEEDED: FILE, device 0: 1 request failed, the last at event 2,528 for 1004 MiB\n"
    );
    let (code, text) = check("streams.pickle", &["--no-oom"]);
    assert_eq!((code, text.as_str()), (Some(0), "ok: FILE, device 0: no failed request\n"));
}

#[test]
fn every_device_but_the_host_is_checked() {
    let (code, text) = check("two_devices_oom.pickle", &["--max-peak", "1TiB"]);
    assert_eq!((code, text.lines().count()), (Some(0), 2));
    let (code, text) = check("pinned_host.pickle", &["--max-peak", "1TiB"]);
    assert_eq!((code, text.lines().count()), (Some(0), 1));
}

#[test]
fn a_check_without_a_limit_is_wrong_usage() {
    assert_eq!(check("streams.pickle", &[]).0, Some(2));
    assert_eq!(check("streams.pickle", &["--max-peak", "much"]).0, Some(2));
}

#[test]
fn a_damaged_file_does_not_pass() {
    let whole = std::fs::read(sample("streams.pickle")).expect("the sample can be read");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("cut.pickle");
    std::fs::write(&file, &whole[..whole.len() / 2]).expect("the file can be written");
    let output = run(["check", &file.to_string_lossy(), "--no-oom"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("damaged"));
}

#[test]
fn a_file_without_events_does_not_tell() {
    for limits in [&["--no-oom"][..], &["--max-peak", "1TiB"]] {
        let (code, text) = check("history_state_only.pickle", limits);
        assert_eq!(code, Some(1), "{text}");
    }
}
