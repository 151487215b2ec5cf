//! Every answer that the command line gives about a file, and how it says what is wrong with it.

use crate::support::run;
use serde_json::Value;
use std::path::Path;

/// How an answer says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// In words, in the document.
    Words,
    /// Under a key of the JSON.
    Key,
    /// On standard error alone: tables and pictures have no place for it.
    Notice,
    /// It refuses to answer.
    Refuses,
}

use Says::{Key, Notice, Refuses, Words};

/// Every answer that the command line gives; `FILE` is the file, `OUT` a file to write.
pub(crate) const ANSWERS: [(Says, &str); 36] = [
    (Words, "stats FILE"),
    (Key, "stats FILE --format json"),
    (Words, "live FILE"),
    (Key, "live FILE --format json"),
    (Notice, "live FILE --format csv"),
    (Words, "explain FILE ADDRESS --at end"),
    (Key, "explain FILE ADDRESS --at end --format json"),
    (Words, "report FILE"),
    (Words, "report FILE --verbose"),
    (Words, "report FILE --redact"),
    (Words, "report FILE --format markdown"),
    (Words, "report FILE --format html"),
    (Key, "report FILE --format json"),
    (Words, "diff FILE WHOLE"),
    (Words, "diff WHOLE FILE --format markdown"),
    (Words, "diff WHOLE FILE --format html"),
    (Key, "diff WHOLE FILE --format json"),
    (Words, "simulate FILE"),
    (Words, "simulate FILE --sweep"),
    (Key, "simulate FILE --format json"),
    (Words, "remedies FILE"),
    (Key, "remedies FILE --format json"),
    (Words, "ranks FILE WHOLE"),
    (Words, "ranks FILE WHOLE --format markdown"),
    (Words, "ranks FILE WHOLE --format html"),
    (Key, "ranks FILE WHOLE --format json"),
    (Key, "ranks FILE WHOLE --format jsonl --table ranks"),
    (Notice, "export FILE --format csv --table events"),
    (Notice, "export FILE --format jsonl --table stacks"),
    (Notice, "export FILE --format folded"),
    (Notice, "export FILE --format pprof"),
    (Notice, "export FILE --format perfetto"),
    (Notice, "render FILE -o OUT.png"),
    (Notice, "cut FILE -o OUT.pickle"),
    (Refuses, "check FILE --no-oom"),
    (Refuses, "check WHOLE --baseline FILE"),
];

/// An output in lower case.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).to_lowercase()
}

/// The words of a command line.
pub(crate) fn words(command: &str, [file, whole, address]: [&str; 3], out: &Path) -> Vec<String> {
    let place = |word: &str| match word {
        "FILE" => file.to_owned(),
        "WHOLE" => whole.to_owned(),
        "ADDRESS" => address.to_owned(),
        "OUT.png" | "OUT.pickle" => out.join(word).to_string_lossy().into_owned(),
        other => other.to_owned(),
    };
    command.split(' ').map(place).collect()
}

/// An address that is live at the end of a file, if any is.
pub(crate) fn address(file: &str) -> Option<String> {
    let live = run(["live", file, "--at", "end", "--top", "1", "--format", "json"]);
    let rows: Value = serde_json::from_slice(&live.stdout).expect("JSON");
    rows[0]["addr"].as_str().map(str::to_owned)
}
