//! What the window may say without a translation: words of files, and what other packages say.
//!
//! A single word that other packages say, too, may hide one that is not marked: `tests/it/texts.rs` finds that in the sources.

use crate::App;
use crate::tests::sample;
use eframe::egui::Key;
use oomscope_model::{Snapshot, StrId};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The packages whose words reports and pictures consist of. Those are in English.
const PACKAGES: [&str; 12] = [
    "analysis",
    "diagnosis",
    "draw",
    "export",
    "model",
    "pickle",
    "program",
    "remedies",
    "report",
    "simulator",
    "snapshot",
    "units",
];

/// Keys that are called otherwise than the window library calls them.
const KEYS: [&str; 4] = ["Alt", "Ctrl", "Esc", "Shift"];

/// What pictures say of a category, and where it was allocated.
const LABELS: [&str; 1] = ["activations below"];

/// What the window library says by itself, to assistive technology.
const OF_LIBRARY: [&str; 2] = ["close window", "resize panel"];

/// Code that the start page shows.
const CODE: [&str; 8] = [
    "oomscope run train.py --lr 1e-4",
    "torchrun --nproc-per-node 8 -m oomscope run train.py",
    "from torch.cuda import memory",
    "try:",
    "memory._record_memory_history()",
    "train()  # what runs out of memory",
    "finally:",
    "memory._dump_snapshot(\"snapshot.pickle\")",
];

/// The table of the samples that the program carries.
const SAMPLES: &str = include_str!("../../../assets/samples/README.md");

/// What figures are followed by.
const UNITS: [&str; 13] =
    ["B", "KiB", "MiB", "GiB", "TiB", "bytes", "byte", "s", "ms", "µs", "min", "h", "UTC"];

/// Words that need no translation.
#[derive(Default)]
pub(super) struct Words {
    /// Words of files.
    names: BTreeSet<String>,
    /// What other packages say: the parts of their texts between placeholders, word by word.
    phrases: BTreeSet<Vec<String>>,
    /// Those that are a whole text.
    whole: BTreeSet<Vec<String>>,
    /// The largest number of words of a phrase.
    longest: usize,
}

impl Words {
    /// Add what is named in the files that are open.
    pub(super) fn add_files(&mut self, app: &mut App) {
        if self.phrases.is_empty() {
            self.add_packages();
            OF_LIBRARY.iter().chain(&CODE).chain(&LABELS).for_each(|text| self.add_phrase(text, true));
            SAMPLES.split(['|', '\n']).for_each(|cell| self.add_phrase(cell, true));
            self.add_phrase(crate::preferences::Preferences::default().editor_command.as_str(), true);
            Key::ALL.iter().map(|key| key.name()).chain(KEYS).for_each(|key| self.add_names(key));
            self.add_paths(&sample(""));
        }
        for document in &mut app.documents {
            let title = document.title().to_owned();
            self.add_names(&title);
            let Some(file) = document.open_file() else { continue };
            let Some(device) = file.device() else { continue };
            self.add_names(&device.at.query);
            let snapshot: &Snapshot = device.recording.snapshot();
            for id in 0..snapshot.strings.len() {
                self.add_names(&snapshot.strings.name(StrId(id as u32)));
            }
        }
    }

    pub(super) fn add_names(&mut self, text: &str) {
        self.names.extend(words(text));
    }

    /// Add the names of everything in a folder.
    fn add_paths(&mut self, folder: &Path) {
        self.add_names(&folder.to_string_lossy());
        for entry in fs::read_dir(folder).expect("the samples are there") {
            let path = entry.expect("the samples are there").path();
            if path.is_dir() { self.add_paths(&path) } else { self.add_names(&path.to_string_lossy()) }
        }
    }

    fn add_phrase(&mut self, text: &str, is_whole: bool) {
        let phrase = lowercase(text);
        self.longest = self.longest.max(phrase.len());
        if is_whole {
            self.whole.insert(phrase.clone());
        }
        self.phrases.insert(phrase);
    }

    fn add_packages(&mut self) {
        for package in PACKAGES {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(package).join("src");
            self.add_folder(&folder);
        }
    }

    fn add_folder(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).expect("the sources are there") {
            let path = entry.expect("the sources are there").path();
            if path.is_dir() {
                self.add_folder(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = fs::read_to_string(path).expect("the sources are text");
                for text in literals(&source) {
                    let parts = text.split(['{', '}', '\n']);
                    let is_whole = parts.clone().filter(|part| !words(part).is_empty()).count() == 1;
                    parts.for_each(|part| self.add_phrase(part, is_whole));
                }
            }
        }
    }

    /// Whether a text consists of figures, of words of files, and of what other packages say.
    pub(super) fn explain(&self, text: &str) -> bool {
        let mut words = words(text);
        // The start of a name that is cut there is not known.
        if text.trim_start().starts_with('…') && !words.is_empty() {
            words.remove(0);
        }
        let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        // For each number of words from the start, how many of them are names or stand in phrases of several; nothing where they are
        // not explained.
        let mut told = vec![Some(0)];
        for end in 1..=words.len() {
            let name =
                told[end - 1].filter(|_| self.names.contains(&words[end - 1])).map(|before| before + 1);
            let starts = end.saturating_sub(self.longest)..end;
            let phrases = starts.filter_map(|start| {
                let length = end - start;
                let before = told[start].filter(|_| self.says(&lower[start..end]))?;
                Some(if 1 < length { before + length } else { before })
            });
            told.push(phrases.chain(name).max());
        }
        // Nearly every word is said somewhere: single words explain what stands between phrases, and no more.
        let is_told = told.last().copied().flatten().is_some_and(|count| 0 < count);
        words.is_empty() || is_told || self.is_list(text)
    }

    /// Whether a text is a list of what other packages say without any other word, as a list of categories with their shares.
    fn is_list(&self, text: &str) -> bool {
        let is_separator = |c: char| ",:·()".contains(c) || c.is_ascii_digit();
        text.split(is_separator).map(lowercase).all(|part| part.is_empty() || self.whole.contains(&part))
    }
}

impl Words {
    /// Whether another package says this; `units::counted` makes one of several words its plural.
    fn says(&self, phrase: &[String]) -> bool {
        let one = phrase.split_last().and_then(|(last, rest)| {
            let last = last.strip_suffix('s')?.to_owned();
            Some(rest.iter().cloned().chain([last]).collect::<Vec<_>>())
        });
        self.phrases.contains(phrase) || one.is_some_and(|one| self.phrases.contains(&one))
    }
}

/// The words of a text, in small letters.
fn lowercase(text: &str) -> Vec<String> {
    words(text).iter().map(|word| word.to_lowercase()).collect()
}

/// The words of a text, without figures, their units, and what is code: places, as `train.py:55`, and terms, as `category:other`.
fn words(text: &str) -> Vec<String> {
    let is_code = |part: &str| {
        part.match_indices([':', '=']).any(|(at, _)| part[at + 1..].starts_with(char::is_alphanumeric))
    };
    let others = text.split([' ', '(', ')', ',', '\n']).filter(|part| !is_code(part));
    let parts = others.flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\''));
    let is_word = |part: &&str| {
        part.chars().any(char::is_alphabetic)
            && !part.starts_with(|c: char| c.is_ascii_digit())
            && !UNITS.contains(part)
    };
    parts.filter(is_word).map(str::to_owned).collect()
}

/// The texts in quotes of a source in Rust, without those of its tests.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let here = &rest[at..];
        rest = if here.starts_with("//") {
            here.find('\n').map_or("", |end| &here[end..])
        } else if let Some(inside) = here.strip_prefix('"') {
            let hashes = rest[..at].chars().rev().take_while(|c| *c == '#').count();
            let end = format!("\"{}", "#".repeat(hashes));
            let length = if hashes == 0 { end_of_text(inside) } else { inside.find(&end) };
            let length = length.unwrap_or(inside.len());
            found.push(unescaped(&inside[..length]));
            inside.get(length + 1 + hashes..).unwrap_or_default()
        } else if here.starts_with("'\"'") || here.starts_with("'\\\"'") {
            &here[here[1..].find('\'').map_or(1, |end| end + 2)..]
        } else {
            &here[1..]
        };
    }
    found
}

fn end_of_text(inside: &str) -> Option<usize> {
    let mut is_escaped = false;
    inside.char_indices().find_map(|(at, c)| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end.then_some(at)
    })
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            // A line that goes on: spaces at the start of the next one are none of the text.
            ('\\', Some('\n')) => out.push(' '),
            ('\\', Some('n' | 't')) => out.push('\n'),
            ('\\', Some(escaped)) => out.push(escaped),
            (c, _) => out.push(c),
        }
    }
    out
}

#[test]
fn texts_of_a_source_are_found() {
    let source = "fn a() { b(\"one \\\"two\\\"\"); // \"three\"\n c('\"', r#\"four \"five\"\"#); }\n#[cfg(test)]\nmod tests { \"six\" }";
    assert_eq!(literals(source), ["one \"two\"", "four \"five\""]);
    assert_eq!(words("12.0 MiB of train.py:5, it's 0x1f in train.py"), ["of", "it's", "in", "train", "py"]);
}
