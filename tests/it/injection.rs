//! Names in a recording are shown and never obeyed: not by terminals, browsers, spreadsheets, Markdown or flame graphs.

use crate::pickles::{block, dict, event, frame, int, list, pickle, segment, snapshot, text, with};
use crate::support::run;
use oomscope_units::is_unprintable;
use std::path::Path;

/// What some reader would obey.
const HOSTILE: [&str; 12] = [
    "\u{1b}[2J\u{1b}]0;owned\u{7}",
    "\u{9b}31m\u{7f}\u{8}",
    "\u{202e}gnp.\u{2066}",
    "a\nb\r\nc 5",
    "a | b | c",
    "`code` **bold** [link](javascript:alert(1)) ![x](http://x/y)",
    "<script>alert(1)</script>",
    "</title></style></script><img src=x onerror=alert(1)>",
    "\" onload=\"alert(1)\" x='",
    "=cmd|'/c calc'!A0",
    "@SUM(1+1)",
    "a;b;c &lt; ]]> --> {{x}} ${x}",
];

/// A recording with an OOM in which every text is hostile: a stack for each text.
fn recording() -> Vec<u8> {
    let (base, each) = (1_u64 << 21, 8_i64 << 20);
    let at = |i: usize| base + i as u64 * each as u64;
    let frames = |hostile: &str| list([frame(hostile, 1, hostile), frame("train.py", 2, hostile)]);
    let mut events = vec![event("segment_alloc", base, each * 16)];
    let mut blocks = Vec::new();
    for (i, hostile) in HOSTILE.iter().enumerate() {
        let more = [
            ("frames", frames(hostile)),
            ("time_us", int(1_700_000_000_000_000 + i as i64)),
            ("category", text(hostile)),
            ("user_metadata", text(hostile)),
            ("compile_context", text(hostile)),
        ];
        events.push(with(&event("alloc", at(i), each), more));
        blocks.push(with(&block("active_allocated", at(i), each, each), [("frames", frames(hostile))]));
    }
    events.push(with(
        &event("oom", 0, 1 << 30),
        [("device_free", int(1 << 20)), ("frames", frames(HOSTILE[6]))],
    ));
    events.extend(HOSTILE.map(|action| event(action, 1, 1)));
    let free = each * (16 - HOSTILE.len() as i64);
    blocks.push(block("inactive", at(HOSTILE.len()), free, 0));
    let annotations = HOSTILE.iter().enumerate().flat_map(|(i, name)| {
        ["START", "END"].map(|stage| {
            let time = 1_700_000_000_000_000 + i as i64;
            dict([("stage", text(stage)), ("name", text(name)), ("device", int(0)), ("time_us", int(time))])
        })
    });
    let settings = HOSTILE.map(|name| (name, text(name)));
    let facts = ["recorder", "torch", "reason"].map(|key| (key, text(HOSTILE[0])));
    let all = with(
        &snapshot([segment(0, base, each * 16, blocks)], [list(events)]),
        [
            ("allocator_settings", dict(settings)),
            ("external_annotations", list(annotations)),
            ("oomscope", dict(facts)),
            (HOSTILE[0], text(HOSTILE[0])),
            (HOSTILE[6], text(HOSTILE[6])),
        ],
    );
    pickle(&all)
}

/// What reads an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Terminal,
    Json,
    JsonLines,
    Csv,
    Markdown,
    Html,
    Svg,
    Folded,
}

use Reader::{Csv, Folded, Html, Json, JsonLines, Markdown, Svg, Terminal};

const OUTPUTS: [(Reader, &str); 30] = [
    (Terminal, "stats FILE --modules --iterations"),
    (Json, "stats FILE --format json"),
    (Terminal, "live FILE"),
    (Json, "live FILE --format json"),
    (Csv, "live FILE --format csv"),
    (Terminal, "explain FILE 0x200000"),
    (Json, "explain FILE 0x200000 --format json"),
    (Terminal, "report FILE --verbose"),
    (Json, "report FILE --format json"),
    (Markdown, "report FILE --format markdown"),
    (Html, "report FILE --format html"),
    (Terminal, "diff FILE FILE --at-a 2 --at-b oom"),
    (Json, "diff FILE --at-a 2 --at-b oom --format json"),
    (Markdown, "diff FILE --at-a 2 --at-b oom --format markdown"),
    (Html, "diff FILE --at-a 2 --at-b oom --format html"),
    (Terminal, "ranks FILE FILE"),
    (Json, "ranks FILE FILE --format json"),
    (Markdown, "ranks FILE FILE --format markdown"),
    (Html, "ranks FILE FILE --format html"),
    (Csv, "ranks FILE --format csv --table lines"),
    (Terminal, "simulate FILE --sweep"),
    (Terminal, "remedies FILE"),
    (Terminal, "check FILE --baseline FILE --no-oom"),
    (Markdown, "check FILE --baseline FILE --no-oom --format markdown"),
    (Csv, "export FILE --format csv --table frames"),
    (Csv, "export FILE --format csv --table ranges"),
    (JsonLines, "export FILE --format jsonl --table frames"),
    (Csv, "export FILE --format csv --table events"),
    (Folded, "export FILE --format folded --at oom"),
    (Svg, "render FILE --view stacks -o OUT.svg"),
];

/// A part of a page's tags that a name got into: outside of quotes, or as an element of its own.
fn in_tags(page: &str) -> Option<String> {
    page.split('<').skip(1).find_map(|part| {
        let tag = part.split_once('>').map_or(part, |(tag, _)| tag);
        let is_own = !["script>alert", "img src=x"].iter().any(|start| part.starts_with(start));
        let outside = tag.split('"').step_by(2).any(|outside| outside.contains("alert"));
        (!is_own || outside).then(|| part.chars().take(80).collect())
    })
}

/// Markdown without its code, which shows everything as it is.
fn without_code(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('`') {
        out.push_str(&rest[..at]);
        let ticks = rest[at..].chars().take_while(|&c| c == '`').count();
        let (fence, body) = rest[at..].split_at(ticks);
        // As many backticks end it, no fewer and no more.
        let mut from = 0;
        let end = loop {
            let Some(found) = body[from..].find('`').map(|found| found + from) else { break None };
            let run = body[found..].chars().take_while(|&c| c == '`').count();
            if run == ticks {
                break Some(found + run);
            }
            from = found + run;
        };
        if end.is_none() {
            out.push_str(fence);
        }
        rest = &body[end.unwrap_or(0)..];
    }
    out + rest
}

/// What is wrong with an output for its reader.
fn problem(reader: Reader, out: &str) -> Option<String> {
    let control = out.chars().find(|&c| c != '\n' && is_unprintable(c));
    if let Some(c) = control.filter(|&c| reader != Csv || c != '\r') {
        return Some(format!("{c:?} reaches the reader"));
    }
    match reader {
        Terminal => None,
        Json => serde_json::from_str::<serde_json::Value>(out).err().map(|error| error.to_string()),
        JsonLines => out
            .lines()
            .find_map(|line| serde_json::from_str::<serde_json::Value>(line).err())
            .map(|error| error.to_string()),
        Csv => {
            let mut rows = csv::ReaderBuilder::new().has_headers(false).from_reader(out.as_bytes());
            let mut rows = rows.records().map(|row| row.expect("all rows have the same fields"));
            let runs = |cell: &str| cell.starts_with(['=', '@', '\t', '\r']);
            rows.find_map(|row| row.iter().find(|cell| runs(cell)).map(|cell| format!("a formula: {cell}")))
        }
        Markdown => {
            let text = without_code(out);
            let found = ["<script", "<img", "](javascript", "![x]", "**bold**"];
            found.iter().find(|part| text.contains(**part)).map(|part| {
                let at = text.find(part).unwrap_or_default();
                text[at..].chars().take(80).collect()
            })
        }
        Html | Svg => in_tags(out),
        Folded => {
            let is_weight =
                |line: &&str| line.rsplit_once(' ').is_some_and(|(_, n)| n.parse::<u64>().is_ok());
            let lines = out.lines().count();
            let bad = out.lines().find(|line| !is_weight(line) || 2 < line.split(';').count());
            bad.map(str::to_owned).or((lines != HOSTILE.len()).then(|| format!("{lines} lines")))
        }
    }
}

fn check(file: &Path, folder: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let out = folder.join("out.svg");
    for (reader, command) in OUTPUTS {
        let word = |word: &str| match word {
            "FILE" => file.to_string_lossy().into_owned(),
            "OUT.svg" => out.to_string_lossy().into_owned(),
            other => other.to_owned(),
        };
        let output = run(command.split(' ').map(word));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        // A limit of `check` is exceeded.
        assert!(matches!(output.status.code(), Some(0 | 3)), "{command}: {errors}");
        let bytes = if reader == Svg { std::fs::read(&out).expect("the picture") } else { output.stdout };
        let text = String::from_utf8(bytes).expect("UTF-8");
        assert!(!text.is_empty(), "{command}: {errors}");
        problems.extend(problem(reader, &text).map(|problem| format!("{command}: {problem}")));
        problems.extend(problem(Terminal, &errors).map(|problem| format!("{command}, errors: {problem}")));
    }
    problems
}

#[test]
fn names_in_a_recording_are_shown_and_never_obeyed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("run.pickle");
    std::fs::write(&file, recording()).expect("a temporary file");
    assert_eq!(check(&file, folder.path()), [""; 0]);
}

#[cfg(unix)]
#[test]
fn names_of_files_are_never_obeyed_either() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in
        ["=x\u{1b}[31m\n<script>alert(1)<script>.pickle", "`a` | **bold** \" onload=\"alert(1)\".pickle"]
    {
        let file = folder.path().join(name);
        std::fs::write(&file, recording()).expect("a temporary file");
        assert_eq!(check(&file, folder.path()), [""; 0], "{name:?}");
    }
}
