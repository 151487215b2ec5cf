//! `oomscope check`: limits and exit codes.

use crate::changes::{Recorded, change_named};
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

#[test]
fn a_recording_that_starts_late_says_since_when_and_fails_where_all_is_wanted() {
    let (code, text) = check("late_start.pickle.gz", &["--max-peak", "1TiB", "--no-oom"]);
    assert_eq!(code, Some(0), "{text}");
    for line in text.lines() {
        assert!(line.contains("; the recording starts on 20") && line.contains(" in use and "), "{line}");
    }
    for limit in [&["--max-peak", "1TiB"][..], &["--max-reserved", "1TiB"], &["--no-oom"]] {
        assert_eq!(check("late_start.pickle.gz", &[limit, &["--complete"]].concat()).0, Some(1));
        assert_eq!(check("streams.pickle", &[limit, &["--complete"]].concat()).0, Some(0));
    }
    // More than was recorded is above the limit all the same.
    assert_eq!(check("late_start.pickle.gz", &["--max-peak", "1KiB", "--complete"]).0, Some(3));
}

#[test]
fn contradictions_do_not_pass_unless_they_are_allowed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("changed.pickle");
    let mut changed = Recorded::sample();
    change_named("trace repeated")(&mut changed);
    std::fs::write(&path, changed.pickle()).expect("a temporary file");
    let path = path.to_string_lossy();
    for limit in [["--max-peak", "1TiB"], ["--max-reserved", "1TiB"], ["--baseline", &path]] {
        let refused = run([&["check", &path][..], &limit].concat());
        let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{errors}");
        assert!(errors.contains("contradicts itself"), "{errors}");
        let allowed = run([&["check", &path, "--allow-contradictions"][..], &limit].concat());
        assert_eq!(allowed.status.code(), Some(0), "{}", String::from_utf8_lossy(&allowed.stderr));
    }
}

#[test]
fn limits_go_by_the_counters_of_pytorch_where_the_recorder_noted_larger_ones() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("counted.pickle");
    let mut recorded = Recorded::sample();
    change_named("first half dropped")(&mut recorded);
    recorded.note_peaks(5 << 30, 6 << 30);
    std::fs::write(&path, recorded.pickle()).expect("a temporary file");
    let path = path.to_string_lossy();
    let held = |limits: &[&str]| {
        let output = run([&["check", &path, "--complete"][..], limits].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) = held(&["--max-peak", "4GiB", "--max-reserved", "7GiB"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("peak 5.00 GiB is 1.00 GiB above 4.00 GiB, by PyTorch's own counter"), "{text}");
    assert!(text.contains("reserved 6.00 GiB of 7.00 GiB, by PyTorch's own counter"), "{text}");
}

/// Figures of a sample as they are kept in a repository, in a folder of their own.
fn kept_figures(file: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("baseline.json");
    let figures = run(["stats", &sample(file).to_string_lossy(), "--format", "json"]);
    std::fs::write(&path, figures.stdout).expect("the file can be written");
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

#[test]
fn what_grew_since_a_baseline_is_named() {
    let (_folder, kept) = kept_figures("before_edit.pickle.gz");
    let snapshot = sample("before_edit.pickle.gz").to_string_lossy().into_owned();
    let (code, by_figures) = check("after_edit.pickle.gz", &["--baseline", &kept]);
    let (code_by_snapshot, by_snapshot) = check("after_edit.pickle.gz", &["--baseline", &snapshot]);
    assert_eq!((code, code_by_snapshot), (Some(3), Some(3)));
    assert_eq!(by_figures, by_snapshot, "a snapshot and its figures are the same baseline");
    assert_eq!(
        by_figures,
        "EXCEEDED: FILE, device 0: peak 2.62 GiB is 1.72 GiB above the baseline's 921 MiB\n\
         EXCEEDED: FILE, device 0: reserved 2.70 GiB is 1.64 GiB above the baseline's 1.06 GiB\n\
         EXCEEDED: FILE, device 0: activations 1.97 GiB is 1.72 GiB above the baseline's 256 MiB\n\
         EXCEEDED: FILE, device 0: train.py:26 forward 768 MiB is 640 MiB above the baseline's 128 MiB\n\
         EXCEEDED: FILE, device 0: train.py:40 forward 720 MiB is 640 MiB above the baseline's 80.0 MiB\n\
         EXCEEDED: FILE, device 0: train.py:25 forward 192 MiB is 160 MiB above the baseline's 32.0 MiB\n\
         EXCEEDED: FILE, device 0: train.py:39 forward 176 MiB is 160 MiB above the baseline's 16.1 MiB\n\
         EXCEEDED: FILE, device 0: train.py:27 forward 160 MiB is 160 MiB above the baseline's 0 B\n"
    );
    let (code, text) = check("after_edit.pickle.gz", &["--baseline", &kept, "--tolerance", "300%"]);
    assert_eq!((code, text.lines().filter(|line| line.starts_with("ok: ")).count()), (Some(0), 2), "{text}");
    let (code, comment) = check("after_edit.pickle.gz", &["--baseline", &kept, "--format", "markdown"]);
    assert_eq!(code, Some(3));
    assert!(comment.contains("| `train.py:26 forward` | 128 MiB | 768 MiB | 640 MiB |"), "{comment}");
}

#[test]
fn the_users_rules_name_the_categories_on_both_sides() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rules = folder.path().join("rules.toml");
    let text = "[[rule]]\ncategory = 'kv_cache'\nfile = 'train\\.py$'\nfunction = '^forward$'\n";
    std::fs::write(&rules, text).expect("the file can be written");
    let (rules, baseline) = (rules.to_string_lossy(), sample("before_edit.pickle.gz"));
    let baseline = baseline.to_string_lossy();
    let (code, text) = check("after_edit.pickle.gz", &["--baseline", &baseline, "--rules", &rules]);
    assert_eq!(code, Some(3));
    assert!(text.contains("KV cache 1.97 GiB is 1.72 GiB above the baseline's 256 MiB"), "{text}");
    // Without a baseline, nothing has a category.
    assert_eq!(check("after_edit.pickle.gz", &["--no-oom", "--rules", &rules]).0, Some(2));
}

#[test]
fn what_shrank_or_stayed_is_no_growth() {
    let (_folder, kept) = kept_figures("after_edit.pickle.gz");
    for file in ["after_edit.pickle.gz", "before_edit.pickle.gz"] {
        let (code, text) = check(file, &["--baseline", &kept, "--tolerance", "0"]);
        let is_fine = (code, text.contains("EXCEEDED")) == (Some(0), false);
        // Without a tolerance, what checkpointing recomputes shows.
        assert!(is_fine || file == "before_edit.pickle.gz", "{text}");
    }
    assert_eq!(check("before_edit.pickle.gz", &["--baseline", &kept]).0, Some(0));
}

#[test]
fn a_baseline_that_does_not_tell_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("b.json");
    for text in ["[", "[{}]", "[1]", "nothing", ""] {
        std::fs::write(&path, text).expect("the file can be written");
        assert_eq!(check("streams.pickle", &["--baseline", &path.to_string_lossy()]).0, Some(1), "{text}");
    }
    assert_eq!(check("streams.pickle", &["--no-oom", "--tolerance", "much"]).0, Some(2));
    assert_eq!(check("streams.pickle", &["--tolerance", "1%"]).0, Some(2));
}

/// The output of a check of a file against another one, in a format.
fn formatted(format: &str) -> String {
    let baseline = sample("before_edit.pickle.gz").display().to_string();
    let (code, text) = check("after_edit.pickle.gz", &["--baseline", &baseline, "--format", format]);
    assert_eq!(code, Some(3), "{text}");
    text
}

#[test]
fn a_workflow_is_told_the_lines_that_grew() {
    let text = formatted("github");
    let wanted = "::error file=/workspace/train/train.py,line=26,title=Memory grew::FILE, device 0: train.py:26 forward 768 MiB is 640 \
                  MiB above the baseline's 128 MiB";
    assert!(text.lines().any(|line| line == wanted), "{text}");
    assert_eq!(text.lines().count(), 8, "{text}");
}

#[test]
fn the_names_of_tests_are_the_same_for_every_run() {
    let names = |text: &str| -> Vec<String> {
        let names = text.lines().filter(|line| line.contains("<testcase"));
        names.filter_map(|line| Some(line.split_once(" name=\"")?.1.split_once('"')?.0.to_owned())).collect()
    };
    let found = names(&formatted("junit"));
    assert_eq!(found[..3], ["baseline: peak", "baseline: reserved", "baseline: activations"]);
    let same = sample("before_edit.pickle.gz").display().to_string();
    let (code, good) = check("before_edit.pickle.gz", &["--baseline", &same, "--format", "junit"]);
    assert_eq!((code, names(&good)), (Some(0), found[..2].to_vec()), "{good}");
    assert!(good.contains(r#"tests="2" failures="0" errors="0""#), "{good}");
}

#[test]
fn what_cannot_be_read_is_in_every_format() {
    for (format, wanted) in [
        ("github", "::error title=Not checked::cannot read none.pickle"),
        ("junit", r#"<error message="cannot read none.pickle"#),
        ("json", r#""message": "cannot read none.pickle"#),
    ] {
        let output = run(["check", "none.pickle", "--no-oom", "--format", format]);
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(wanted), "{text}");
    }
}
