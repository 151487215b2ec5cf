//! Every answer about a damaged file says that it is damaged: documents in themselves, tables on standard error.

use crate::support::{run, sample};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// How an answer says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
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
const ANSWERS: [(Says, &str); 36] = [
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

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).to_lowercase()
}

/// Whether a document has the key that says it.
fn has_key(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_key),
        Value::Object(map) => {
            map.get("damage").is_some_and(|damage| damage["offset"].is_u64())
                || map.get("complete") == Some(&Value::Bool(false))
                || map.get("is_damaged") == Some(&Value::Bool(true))
                || map.values().any(has_key)
        }
        _ => false,
    }
}

fn words(command: &str, [file, whole, address]: [&str; 3], out: &Path) -> Vec<String> {
    let place = |word: &str| match word {
        "FILE" => file.to_owned(),
        "WHOLE" => whole.to_owned(),
        "ADDRESS" => address.to_owned(),
        "OUT.png" | "OUT.pickle" => out.join(word).to_string_lossy().into_owned(),
        other => other.to_owned(),
    };
    command.split(' ').map(place).collect()
}

/// Whether an output says that the file is damaged, in the way that it should.
fn says(how: Says, output: &Output) -> bool {
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    match how {
        Words => output.status.success() && out.contains("damaged"),
        Key => {
            let rows = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
            output.status.success() && rows.map(|row| row.expect("JSON")).any(|row| has_key(&row))
        }
        Notice => output.status.success() && errors.contains("damaged"),
        Refuses => output.status.code() == Some(1) && errors.contains("damaged"),
    }
}

/// An address that is live at the end of a file.
fn address(file: &str) -> String {
    let live = run(["live", file, "--at", "end", "--top", "1", "--format", "json"]);
    let rows: Value = serde_json::from_slice(&live.stdout).expect("JSON");
    rows[0]["addr"].as_str().expect("something is live").to_owned()
}

#[test]
fn every_answer_about_a_damaged_file_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let whole = sample("frag_oom.pickle");
    let bytes = std::fs::read(&whole).expect("the sample can be read");
    let mut garbled = bytes.clone();
    garbled[bytes.len() * 3 / 4..][..64].fill(0xff);
    for (name, content) in [("cut.pickle", &bytes[..bytes.len() / 2]), ("garbled.pickle", &garbled)] {
        let file = folder.path().join(name);
        std::fs::write(&file, content).expect("a temporary file");
        let [file, whole] = [&file, &whole].map(|path| path.to_string_lossy().into_owned());
        let names = [file.as_str(), &whole, &address(&file)];
        let check = |names: [&str; 3], is_damaged: bool| {
            for (how, command) in ANSWERS {
                let output = run(words(command, names, folder.path()));
                let errors = text(&output.stderr);
                assert_eq!(says(how, &output), is_damaged, "{name}: {how:?} {command}\n{errors}");
                // Whoever looks at the terminal sees it in any case; `ranks` has it in its rows.
                let is_told = errors.contains("damaged") || command.starts_with("ranks");
                assert!(is_told || !is_damaged, "{name}: {command}\n{errors}");
            }
        };
        check(names, true);
        // A whole file is never called damaged.
        check([whole.as_str(), &whole, &address(&whole)], false);
    }
}
