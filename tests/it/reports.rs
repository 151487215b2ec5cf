//! Reports as their readers get them, and what must never get into one.

use crate::support::{self, run, sample, stdout};
use oomscope_analysis::{Attribution, UserRules};
use oomscope_diagnosis::{DiagnosisRequest, diagnose};
use oomscope_model::{
    Action, Anchor, Bytes, DeviceId, Event, EventTable, Frame, Recording, SegmentTable, Setting,
    SettingValue, Snapshot, StackId, Timeline, TimelineInput,
};
use oomscope_report::notes::{Note, Place};
use oomscope_report::{
    Document, MAX_MARKDOWN_CHARS, PageParts, ReportInput, TextDetail, TextStyle, report_html, report_json,
    report_markdown, report_text,
};
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn path(name: &str) -> String {
    sample(name).to_string_lossy().into_owned()
}

/// What stands in the golden file, after writing it if `OOMSCOPE_WRITE_GOLDEN` is set.
/// Look at the difference before it is committed.
pub(crate) fn golden(name: &str, found: &str) -> String {
    let file: PathBuf = support::root().join("tests/golden_reports").join(name);
    if std::env::var_os("OOMSCOPE_WRITE_GOLDEN").is_some() {
        std::fs::write(&file, found).expect("the golden file can be written");
    }
    std::fs::read_to_string(file).unwrap_or_default()
}

#[test]
fn the_reports_of_the_samples_read_as_they_should() {
    for file in support::pickles_in(&sample(""), false) {
        let name = format!("{}.txt", support::stem(&file));
        let found = stdout(["report", "--redact", "--verbose", &file.to_string_lossy()]);
        assert_eq!(found, golden(&name, &found), "{name}");
    }
}

#[test]
fn the_first_screen_says_what_happened_why_and_what_to_change() {
    for file in ["frag_oom", "gpt_oom_forward", "leak_eval_losses", "compact"] {
        let name = format!("{file}.first_screen.txt");
        let sample =
            if file == "compact" { "compact.pickle.gz".to_owned() } else { format!("{file}.pickle") };
        let found = stdout(["report", "--redact", &path(&sample)]);
        assert!(found.lines().count() <= 48, "{name} is longer than a screen");
        assert_eq!(found, golden(&name, &found), "{name}");
    }
}

#[test]
fn a_report_for_a_ticket_reads_as_it_should() {
    let found = stdout(["report", "--redact", "--format", "markdown", &path("frag_oom.pickle")]);
    assert_eq!(found, golden("frag_oom.md", &found));
}

/// What is wrong with the figures of a report: parts that are larger than their wholes, lines that hold more than was
/// ever in use, savings of more than there was.
fn impossible(report: &Value, most_bytes: i64) -> Vec<String> {
    let mut wrong = Vec::new();
    for finding in report["findings"].as_array().expect("findings") {
        for figure in finding["figures"].as_array().expect("figures") {
            let is_above =
                figure["part_of"].as_f64().is_some_and(|whole| figure["value"].as_f64() > Some(whole));
            if is_above {
                wrong.push(format!("{}: {figure}", finding["title"]));
            }
        }
        let sites = finding["evidence"]["sites"].as_array().expect("sites");
        let held = sites.iter().filter(|site| site["role"] == "live" || site["role"] == "kept");
        for site in held.filter(|site| site["bytes"].as_i64() > Some(most_bytes)) {
            wrong.push(format!("{}: {site}", finding["title"]));
        }
    }
    wrong
}

#[test]
fn no_figure_is_larger_than_its_whole() {
    let mut paths = support::pickles_in(&support::sample(""), false);
    match support::shared("") {
        Some(folder) => paths.extend(support::pickles_in(&folder.join("rig"), true)),
        None => support::skipped("the figures of the shared recordings: the folder is missing"),
    }
    let mut figures = 0;
    for path in paths {
        let name = path.to_string_lossy();
        let report = support::json(["report", &name, "--format", "json"]);
        let stats = support::json(["stats", &name, "--format", "json"]);
        // What failed counts as well: a request may be larger than all that there was.
        let devices = stats.as_array().expect("devices");
        let most =
            |key: &str| devices.iter().filter_map(|device| device["peak"][key].as_i64()).max().unwrap_or(0);
        let requested = report["findings"][0]["evidence"]["requested_bytes"].as_i64().unwrap_or(0);
        let most = most("reserved").max(most("active")).max(requested);
        assert_eq!(impossible(&report, most), Vec::<String>::new(), "{name}");
        let said = report["findings"].as_array().expect("findings").iter();
        figures += said.map(|finding| finding["figures"].as_array().map_or(0, Vec::len)).sum::<usize>();
    }
    assert!(1000 < figures, "only {figures} figures were looked at");
}

#[test]
fn the_json_has_what_its_description_says() {
    let file = path("gpt_oom_forward.pickle");
    let report = support::json(["report", &file, "--format", "json"]);
    assert_eq!(report["schema"], "oomscope-report");
    assert_eq!(report["version"], 2);
    assert_eq!(report["verdict"], "capacity");
    let description =
        std::fs::read_to_string(support::root().join("docs/report.md")).expect("the description can be read");
    for key in keys(&report) {
        assert!(description.contains(&format!("`{key}`")), "docs/report.md does not describe {key}");
    }
    let findings = report["findings"].as_array().expect("findings");
    let rank = |f: &Value| ["critical", "warning", "info"].iter().position(|s| f["severity"] == **s);
    let ranks: Vec<_> = findings.iter().map(rank).collect();
    assert!(ranks.is_sorted() && ranks.iter().all(Option::is_some), "{ranks:?}");
}

/// Every key that a program can rely on. What a finding's evidence is called depends on the finding.
fn keys(report: &Value) -> Vec<String> {
    fn collect(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Object(map) => map.iter().filter(|(key, _)| *key != "facts").for_each(|(key, value)| {
                let is_figure = value.is_number() && key.ends_with("_bytes");
                if !is_figure {
                    out.push(key.clone());
                }
                collect(value, out);
            }),
            Value::Array(list) => list.iter().for_each(|value| collect(value, out)),
            _ => {}
        }
    }
    let mut out = Vec::new();
    for key in ["schema", "version", "tool", "file", "device", "verdict"] {
        assert!(!report[key].is_null(), "{key}");
    }
    for part in [&report["moment"], &report["dump"], &report["recording"]] {
        collect(part, &mut out);
    }
    for finding in report["findings"].as_array().into_iter().flatten() {
        out.extend(finding.as_object().into_iter().flat_map(|map| map.keys().cloned()));
        for list in ["sites", "stacks", "allocations"] {
            collect(&finding["evidence"][list], &mut out);
        }
    }
    out.sort();
    out.dedup();
    out
}

#[test]
fn a_moment_that_does_not_exist_is_refused() {
    let output = run(["report", &path("compact.pickle.gz"), "--at", "oom"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no out-of-memory event"));
}

/// Names that mean something in every medium.
const HOSTILE: [&str; 7] = [
    "</details></code></pre><script>alert(1)</script>",
    "```` | a | b | ``` **bold** [x](http://x) @someone #1 ![i](i)",
    "\u{1b}[31mred\u{1b}[0m\r\n## heading\u{202e}",
    "<img src=x onerror=alert(1)>\" onload='x'",
    "C:\\Users\\alice\\secret\\a b.py",
    "/home/alice/secret-host/project/train|`x`.py",
    "\u{2028}]]>--></script><!-- \\u003c '\";alert(2)//",
];

/// An event in a slot of the address space.
fn event(action: Action, slot: u64, size: i64, stack: StackId) -> Event {
    Event {
        action,
        addr: Some((slot + 1) << 32),
        size: Bytes(size),
        time_us: None,
        stream: Some(0),
        stack,
        pool: None,
        compile_context: None,
        user_metadata: None,
        internal_metadata: None,
        category: None,
        forward_stack: StackId::EMPTY,
        device_free: (action == Action::Oom).then_some(Bytes(5 << 20)),
    }
}

/// A recording with an OOM in which every text is hostile, with stacks of this many frames.
pub(crate) fn hostile(frames: usize, stacks: usize) -> Recording {
    let mut snapshot = Snapshot::default();
    let mut events = EventTable::default();
    let mut push = |action, slot, size, stack| events.push(&event(action, slot, size, stack));
    for at in 0..stacks {
        let ids: Vec<_> = (0..frames)
            .map(|i| {
                let text =
                    |offset: usize| format!("{}{at}.{i}.py", HOSTILE[(at + i + offset) % HOSTILE.len()]);
                let file = snapshot.strings.intern(text(0).as_bytes()).0;
                let name = snapshot.strings.intern(text(1).as_bytes()).0;
                snapshot.frames.intern(Frame { file, line: i as i64, name, fx: None }, None)
            })
            .collect();
        let stack = snapshot.stacks.intern(&ids);
        push(Action::SegmentAlloc, at as u64, 32 << 20, stack);
        push(Action::Alloc, at as u64, 30 << 20, stack);
    }
    push(Action::Oom, 0, 64 << 20, StackId(1));
    let text = SettingValue::Text(HOSTILE.join(" "));
    snapshot.settings.push(Setting { name: "PYTORCH_CUDA_ALLOC_CONF".to_owned(), value: text });
    Recording::only(snapshot, timeline(events))
}

fn timeline(events: EventTable) -> Timeline {
    Timeline::build(TimelineInput {
        device: DeviceId(0),
        events,
        segments: SegmentTable::default(),
        anchor: Anchor::TraceOnly,
    })
}

/// A program that tries again after each of many failures, by calls that are this deep, and keeps what every attempt made.
fn failing_again_and_again(failures: u64, depth: usize) -> Recording {
    let mut snapshot = Snapshot::default();
    let file = snapshot.strings.intern(b"/home/me/train.py").0;
    let frames: Vec<_> = (0..depth)
        .map(|line| {
            let name = snapshot.strings.intern(format!("f{line}").as_bytes()).0;
            snapshot.frames.intern(Frame { file, line: line as i64, name, fx: None }, None)
        })
        .collect();
    let stack = snapshot.stacks.intern(&frames);
    let mut events = EventTable::default();
    for at in 0..failures {
        events.push(&event(Action::SegmentAlloc, at, 32 << 20, stack));
        events.push(&event(Action::Alloc, at, 30 << 20, stack));
        events.push(&event(Action::Oom, 0, 64 << 20, stack));
    }
    Recording::only(snapshot, timeline(events))
}

/// Each pass over all that is live, for each failure, or each call of a function for each line of a stack would show.
#[test]
fn many_failures_and_deep_calls_cost_little_time() {
    let start = Instant::now();
    let recording = failing_again_and_again(20_000, 100_000);
    let document = document(&recording, 20, false);
    let mut text = Vec::new();
    report_text(&mut text, &document, TextDetail::Verbose, TextStyle::default())
        .expect("memory can be written to");
    let took = start.elapsed();
    // Without optimisation.
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(String::from_utf8_lossy(&text).contains("20,000"));
}

pub(crate) fn document(recording: &Recording, top: usize, redacted: bool) -> Document {
    let attribution = Attribution::of(recording, &UserRules::default());
    let diagnosis = diagnose(recording, &attribution, DiagnosisRequest::default()).expect("there is an OOM");
    let name = HOSTILE.join("/");
    let filter = Some(HOSTILE.join(" "));
    let place = Place { filter, unknown: vec![HOSTILE[0].to_owned()], ..Place::default() };
    let notes: Vec<Note> =
        HOSTILE.iter().map(|text| Note { text: (*text).to_owned(), place: place.clone() }).collect();
    Document::new(&ReportInput {
        name: &name,
        recording,
        diagnosis: &diagnosis,
        remedies: None,
        modules: None,
        top,
        notes: &notes,
        redacted,
    })
}

#[test]
fn nothing_from_a_file_has_a_meaning_for_the_medium() {
    let recording = hostile(8, 6);
    let document = document(&recording, 20, false);
    let mut text = Vec::new();
    report_text(&mut text, &document, TextDetail::Verbose, TextStyle::default())
        .expect("memory can be written to");
    let text = String::from_utf8(text).expect("text");
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");

    let page = report_html(&document, &PageParts::default());
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(!page.contains("<img") && page.contains("&lt;script&gt;"));
    assert_eq!(page.matches("<details").count(), page.matches("</details>").count());

    let markdown = report_markdown(&document);
    assert_eq!(markdown.matches("<details>").count(), outside_code(&markdown, "</details>"), "{markdown}");
    assert_eq!(outside_code(&markdown, "<script") + outside_code(&markdown, "<img"), 0, "{markdown}");
    assert_eq!(outside_code(&markdown, "@someone"), 0, "{markdown}");
    for row in markdown.lines().filter(|line| line.starts_with("| ")) {
        let bars = row.replace("\\|", "").matches('|').count();
        assert!((3..=4).contains(&bars), "{row}");
    }

    let mut json = Vec::new();
    report_json(&mut json, &document).expect("memory can be written to");
    let json: Value = serde_json::from_slice(&json).expect("JSON");
    assert!(json["findings"].as_array().is_some_and(|findings| !findings.is_empty()));
}

/// How often something stands in a Markdown text outside of its fenced blocks and code spans.
fn outside_code(markdown: &str, what: &str) -> usize {
    let mut fence: Option<String> = None;
    let mut n = 0;
    for line in markdown.lines() {
        let ticks: String = line.trim_start().chars().take_while(|&c| c == '`').collect();
        match &fence {
            Some(open) if ticks.len() >= open.len() && line.trim() == ticks => fence = None,
            Some(_) => {}
            None if 3 <= ticks.len() && line.trim_start().trim_start_matches('`') == "text" => {
                fence = Some(ticks);
            }
            None => n += without_spans(line).matches(what).count(),
        }
    }
    n
}

/// A line without what stands in code spans.
fn without_spans(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        if rest[..start].ends_with('\\') {
            out.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        }
        let run: String = rest[start..].chars().take_while(|&c| c == '`').collect();
        let behind = &rest[start + run.len()..];
        let mut at = 0;
        let end = loop {
            let Some(found) = behind[at..].find('`').map(|i| at + i) else { break None };
            let length = behind[found..].chars().take_while(|&c| c == '`').count();
            if length == run.len() {
                break Some(found);
            }
            at = found + length;
        };
        out.push_str(&rest[..start]);
        match end {
            Some(end) => rest = &behind[end + run.len()..],
            None => rest = behind,
        }
    }
    out + rest
}

#[test]
fn a_ticket_takes_every_report() {
    let recording = hostile(400, 60);
    let report = report_markdown(&document(&recording, usize::MAX, false));
    assert!(report.chars().count() <= MAX_MARKDOWN_CHARS, "{}", report.chars().count());
    assert!(report.contains("Shortened to fit an issue"));
    assert!(report.contains("### How it was recorded"));
}

#[test]
fn a_redacted_report_names_no_folder_and_no_user() {
    let recording = hostile(8, 6);
    let document = document(&recording, 20, true);
    let mut out = Vec::new();
    report_text(&mut out, &document, TextDetail::Verbose, TextStyle::default())
        .expect("memory can be written to");
    report_json(&mut out, &document).expect("memory can be written to");
    let page = report_html(&document, &PageParts::default());
    let out = String::from_utf8(out).expect("text") + &report_markdown(&document) + &page;
    for private in ["alice", "secret", "/home", "Users"] {
        assert!(!out.contains(private), "{private}");
    }
    assert!(out.contains(".0.py"));
}

#[test]
fn the_users_rules_hold_in_reports_and_pictures() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rules = folder.path().join("rules.toml");
    std::fs::write(&rules, "[[rule]]\ncategory = 'comm'\nstack = 'forward'\n").expect("a file");
    let rules = rules.to_string_lossy().into_owned();
    let (file, out) = (path("gpt_oom_forward.pickle"), folder.path().join("a.png"));
    let categories = |args: &[&str]| {
        let report = support::json(["report", &file, "--format", "json"].iter().chain(args));
        report.to_string()
    };
    assert!(!categories(&[]).contains("communication"));
    assert!(categories(&["--rules", &rules]).contains("communication"));
    let picture = |args: &[&str]| {
        let first = ["render", &file, "--color-by", "category", "-o", out.to_str().expect("a path")];
        let found = run(first.iter().chain(args));
        assert!(found.status.success(), "{found:?}");
        std::fs::read(&out).expect("the picture")
    };
    assert!(picture(&[]) != picture(&["--rules", &rules]));
    assert!(
        picture(&["--filter", "category:comm", "--only"])
            != picture(&["--filter", "category:comm", "--only", "--rules", &rules])
    );
    let refused = run(["report", &file, "--rules", "/nowhere/rules.toml"]);
    assert!(
        !refused.status.success()
            && String::from_utf8_lossy(&refused.stderr).contains("--rules takes a TOML file")
    );
}
