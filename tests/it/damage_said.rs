//! Every answer about a damaged file says that it is damaged: documents in themselves, tables on standard error.

use crate::answers::Says::{Key, Notice, Refuses, Words};
use crate::answers::{ANSWERS, Says, address, text, words};
use crate::support::{run, sample};
use serde_json::Value;
use std::process::Output;

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
        let names = [file.as_str(), &whole, &address(&file).expect("something is live")];
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
        check([whole.as_str(), &whole, &address(&whole).expect("something is live")], false);
    }
}
