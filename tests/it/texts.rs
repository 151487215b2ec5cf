//! The texts of the window: the catalog for translators lists all of them, and their placeholders fit.

use crate::source_tree::SourceTree;
use crate::support::root;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The sources whose texts are listed, below the root of the repository.
const SOURCES: &str = "crates/app/src";

/// The catalog, below the root of the repository.
const CATALOG: &str = "crates/app/assets/texts/oomscope.pot";

/// The head of the catalog.
const HEAD: &str = "\
# The texts of oomscope's window. OOMSCOPE_WRITE_GOLDEN=1 cargo test --test it texts writes this file.
msgid \"\"
msgstr \"\"
\"Content-Type: text/plain; charset=UTF-8\\n\"
\"Content-Transfer-Encoding: 8bit\\n\"
";

/// Macros whose texts nobody reads in the window, by their names.
const OTHER_MACROS: [&str; 9] =
    ["cfg", "debug", "debug_assert", "error", "include_bytes", "include_str", "info", "trace", "warn"];

/// Functions whose texts are ids, names of threads and tasks, or what is looked for in other texts.
const NAMING: [&str; 22] = [
    "ask",
    "bare",
    "bottom",
    "from_id_salt",
    "id_salt",
    "load_texture",
    "make_persistent_id",
    "name",
    "of",
    "push_id",
    "replace",
    "request_discard",
    "rows_ui",
    "split_once",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
    "table",
    "top",
    "trim_end_matches",
    "unique",
    "with",
];

/// What else is no text of the window, by file. What reads as code is not listed.
const NO_TEXTS: [(&str, &[&str]); 30] = [
    // Terms of filters, and names of rules.
    ("context/about.rs", &["rules-file"]),
    ("context/terms.rs", &["site", "stack"]),
    ("rules/text.rs", &["site", "stack", "[[rule]]\ncategory = \"{}\"\n{key} = {}\n"]),
    // Names of keys.
    ("dialog.rs", &["Esc"]),
    ("export/panel.rs", &["Enter"]),
    ("keys.rs", &["Tab, Shift+Tab", "Enter, Space"]),
    ("open_panel.rs", &["Enter"]),
    // Parts of the names of files.
    (
        "export/choice.rs",
        &["html", "reserved", "curves", "segments", "segment-timeline", "stacks", "report", "timeline"],
    ),
    ("export/preset.rs", &["snapshot"]),
    ("files/glances/mod.rs", &["files"]),
    ("notebook/keeper.rs", &["notes"]),
    // Code, and examples of what is written.
    ("details/facts.rs", &["FX {}"]),
    ("fixes/own.rs", &["export {}"]),
    ("fixes/panel.rs", &["80GiB"]),
    (
        "files/start_page.rs",
        &[
            "oomscope run train.py --lr 1e-4",
            "torchrun --nproc-per-node 8 -m oomscope run train.py",
            "from torch.cuda import memory\nmemory._record_memory_history()\ntry:\n    train()  # what runs out of memory\n\
             finally:\n    memory._dump_snapshot(\"snapshot.pickle\")",
        ],
    ),
    ("details/editor.rs", &["code --goto {file}:{line}", "code.cmd --goto {file}:{line}"]),
    // Names of threads, pictures and parts, which nobody sees.
    ("device/filtering.rs", &["filter"]),
    ("files/folder/ranks.rs", &["lines"]),
    ("headless.rs", &["Headless", "size"]),
    ("query_field/field.rs", &["terms"]),
    ("range/panel.rs", &["figures of the range"]),
    ("segment_map/maps.rs", &["segments"]),
    ("segment_timeline/pictures.rs", &["segments"]),
    ("stacks/panel.rs", &["allocation sites"]),
    ("timeline/pictures.rs", &["timeline"]),
    // Columns, which are told apart by their English names.
    ("tables/iterations.rs", &["Peak", "At event", "In", "Growth", "Left behind", "Still there", "Phases"]),
    // The caption of a picture, which is in English as reports are.
    ("export/job.rs", &["as it was before it was changed"]),
    // Names of programs, of what is stored, and of what the system says.
    ("dialog_log.rs", &["rfd", "zenity"]),
    ("lib.rs", &["layout", "preferences", "oomscope", "DISPLAY"]),
    ("open_files.rs", &["{} — oomscope", "oomscope"]),
];

/// A text in the sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Message {
    context: Option<String>,
    text: String,
    plural: Option<String>,
    /// What is filled in: each by its name, or by nothing.
    arguments: Vec<Option<String>>,
}

/// The sources of the window without tests, in their order: the path of each below its folder, and its tokens.
fn sources() -> Vec<(PathBuf, TokenStream)> {
    let trees = SourceTree::all();
    let files = trees.iter().flat_map(|tree| tree.modules.values()).map(|module| module.file.as_path());
    let files: BTreeSet<&Path> = files.filter(|file| file.starts_with(SOURCES)).collect();
    let read = |file: &Path| {
        let source = std::fs::read_to_string(root().join(file)).expect("the module has a file");
        // Tests stand below the code, after an attribute of their own.
        let end =
            source.find("\nmod tests {").map_or(source.len(), |at| source[..at].rfind('\n').unwrap_or(at));
        let source = &source[..end];
        let within = file.strip_prefix(SOURCES).expect("it is one of the sources");
        (within.to_owned(), source.parse().expect("the sources are Rust"))
    };
    files.into_iter().map(read).collect()
}

/// All texts, each with its file, in their order.
fn texts() -> Vec<(Message, PathBuf)> {
    let mut all = Vec::new();
    for (file, tokens) in sources() {
        let mut found = Vec::new();
        texts_in(tokens, &mut found);
        all.extend(found.into_iter().map(|text| (text, file.clone())));
    }
    all
}

/// The texts that macros mark among tokens.
fn texts_in(tokens: TokenStream, out: &mut Vec<Message>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        let is_macro = matches!(tokens[..at].last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '!');
        let name = match at.checked_sub(2).map(|before| &tokens[before]) {
            Some(TokenTree::Ident(name)) if is_macro => name.to_string(),
            _ => String::new(),
        };
        if (name == "tr" || name == "marked") && group.delimiter() == Delimiter::Parenthesis {
            out.extend(text(group.stream()));
        }
        texts_in(group.stream(), out);
    }
}

/// Literals with words among tokens that nothing marks.
fn unmarked_in(tokens: TokenStream, out: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let before = |back: usize| at.checked_sub(back).map(|at| tokens[at].to_string()).unwrap_or_default();
        let name = if before(1) == "!" { before(2) } else { before(1) };
        match token {
            // Attributes: what they say is written to standard error, where there is no window.
            TokenTree::Group(_) if before(1) == "#" || before(2) == "#" => {}
            TokenTree::Group(group)
                if NAMING.contains(&name.as_str()) && group.delimiter() == Delimiter::Parenthesis => {}
            TokenTree::Group(_) if before(1) == "!" && OTHER_MACROS.contains(&name.as_str()) => {}
            TokenTree::Group(group) if before(1) == "!" && (name == "tr" || name == "marked") => {
                let parts = split_at_commas(group.stream()).into_iter().skip(1);
                parts.for_each(|part| unmarked_in(part.into_iter().collect(), out));
            }
            TokenTree::Group(group) => unmarked_in(group.stream(), out),
            token => out.extend(literal(token).filter(|text| has_words(text))),
        }
    }
}

/// Whether a text has a word outside of its placeholders, and is not code: a term, a path, a key with another one.
fn has_words(text: &str) -> bool {
    let is_code = |at: usize| text[at + 1..].starts_with(|c: char| c != ' ');
    if !text.contains(char::is_whitespace)
        && text.match_indices([':', '=', '/', '.', '_', '+']).any(|(at, _)| is_code(at))
    {
        return false;
    }
    let outside = text.split('{').map(|part| part.split_once('}').map_or(part, |(_, after)| after));
    let is_word = |part: &str| part.split(|c: char| !c.is_alphabetic()).any(|word| 1 < word.chars().count());
    outside.into_iter().any(is_word)
}

/// What a macro marks; `None` if that is no literal.
fn text(tokens: TokenStream) -> Option<Message> {
    let mut parts = split_at_commas(tokens).into_iter();
    let head = parts.next()?;
    let literals: Vec<String> = head.iter().filter_map(literal).collect();
    let is =
        |at: usize, what| matches!(head.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == what);
    let mut literals = literals.into_iter();
    let context = if is(1, '=') { literals.next() } else { None };
    let text = literals.next()?;
    let plural = literals.next();
    let mut arguments = Vec::new();
    for part in parts.filter(|part| !part.is_empty()) {
        let name = match (part.first(), part.get(1)) {
            (Some(TokenTree::Ident(name)), None) => Some(name.to_string()),
            (Some(TokenTree::Ident(name)), Some(TokenTree::Punct(punct))) if punct.as_char() == '=' => {
                Some(name.to_string())
            }
            _ => None,
        };
        arguments.push(name);
    }
    Some(Message { context, text, plural, arguments })
}

fn split_at_commas(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => parts.push(Vec::new()),
            token => parts.last_mut().expect("there is a first part").push(token),
        }
    }
    parts
}

/// The value of a literal that is a text.
fn literal(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else { return None };
    match syn::Lit::new(literal.clone()) {
        syn::Lit::Str(text) => Some(text.value()),
        _ => None,
    }
}

/// The placeholders of a text, sorted: names, and nothing for those that are filled in by order. An error if it has a brace that is
/// none.
fn placeholders(text: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let inside = rest[at..].strip_prefix('{').ok_or_else(|| format!("a brace too many in {text:?}"))?;
        let (name, after) = inside.split_once('}').ok_or_else(|| format!("an open brace in {text:?}"))?;
        if !name.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
            return Err(format!("{{{name}}} is no placeholder, in {text:?}"));
        }
        found.push(name.to_owned());
        rest = after;
    }
    found.sort_unstable();
    Ok(found)
}

/// What is wrong with a text, if anything is.
fn fault(text: &Message) -> Option<String> {
    let found = match placeholders(&text.text) {
        Ok(found) => found,
        Err(fault) => return Some(fault),
    };
    if let Some(plural) = &text.plural {
        match placeholders(plural) {
            Ok(others) if others == found => {}
            Ok(_) => return Some(format!("other placeholders in {:?} than in {plural:?}", text.text)),
            Err(fault) => return Some(fault),
        }
    }
    let by_order = found.iter().filter(|name| name.is_empty()).count();
    // A text without arguments is not filled in: braces are braces.
    if text.arguments.is_empty() {
        return None;
    }
    let is_named = |name: &Option<String>| name.as_ref().is_some_and(|name| found.contains(name));
    let is_used = |(at, name): (usize, &Option<String>)| at < by_order || is_named(name);
    let is_known = |name: &String| name.is_empty() || text.arguments.contains(&Some(name.clone()));
    let is_whole = by_order <= text.arguments.len()
        && text.arguments.iter().enumerate().all(is_used)
        && found.iter().all(is_known);
    (!is_whole).then(|| format!("placeholders and arguments of {:?}: {:?}", text.text, text.arguments))
}

/// A text as it stands in a catalog.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn catalog(texts: &[(Message, PathBuf)]) -> String {
    let mut files: BTreeMap<(Option<&String>, &str), Vec<&Path>> = BTreeMap::new();
    for (text, file) in texts {
        let of_text = files.entry((text.context.as_ref(), &text.text)).or_default();
        if of_text.last() != Some(&file.as_path()) {
            of_text.push(file);
        }
    }
    let mut out = HEAD.to_owned();
    for (text, _) in texts {
        // Where a text stands more than once, the first one has the entry.
        let Some(files) = files.remove(&(text.context.as_ref(), text.text.as_str())) else { continue };
        out.push('\n');
        for file in files {
            writeln!(out, "#: {}", file.display()).ok();
        }
        if !text.arguments.is_empty() {
            out.push_str("#, rust-format\n");
        }
        if let Some(context) = &text.context {
            writeln!(out, "msgctxt {}", quoted(context)).ok();
        }
        writeln!(out, "msgid {}", quoted(&text.text)).ok();
        match &text.plural {
            Some(plural) => {
                writeln!(out, "msgid_plural {}\nmsgstr[0] \"\"\nmsgstr[1] \"\"", quoted(plural)).ok();
            }
            None => out.push_str("msgstr \"\"\n"),
        }
    }
    out
}

#[test]
fn the_catalog_lists_all_texts() {
    let expected = catalog(&texts());
    let path = root().join(CATALOG);
    if std::env::var_os("OOMSCOPE_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, &expected).expect("the catalog can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "{CATALOG} is not what the sources say: write it with OOMSCOPE_WRITE_GOLDEN=1"
    );
}

#[test]
fn placeholders_are_those_that_are_filled_in() {
    let faults: Vec<String> = texts()
        .iter()
        .filter_map(|(text, file)| Some(format!("{}: {}", file.display(), fault(text)?)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_reads_as_a_text_is_marked() {
    let mut unmarked = BTreeSet::new();
    for (file, tokens) in sources() {
        let mut found = Vec::new();
        unmarked_in(tokens, &mut found);
        unmarked.extend(found.into_iter().map(|text| (file.clone(), text)));
    }
    for (file, texts) in NO_TEXTS {
        for text in texts {
            let is_there = unmarked.remove(&(PathBuf::from(file), (*text).to_owned()));
            assert!(is_there, "{text:?} is no text of {file} any more: leave it out of the list");
        }
    }
    let lines: Vec<String> =
        unmarked.iter().map(|(file, text)| format!("{}: {text:?}", file.display())).collect();
    assert!(lines.is_empty(), "texts of the window without `tr!` or `marked!`:\n{}", lines.join("\n"));
}

#[test]
fn a_text_has_one_plural() {
    let mut known: BTreeMap<(Option<String>, String), Option<String>> = BTreeMap::new();
    for (text, file) in texts() {
        let plural = known.entry((text.context, text.text.clone())).or_insert_with(|| text.plural.clone());
        assert_eq!(*plural, text.plural, "{:?} has another plural in {}", text.text, file.display());
    }
}

#[test]
fn texts_are_found_with_their_parts() {
    let source = "
        fn f() { a(tr!(\"verb\" => \"Open\")); b!(tr!(\"{} row of {all}\" | \"{} rows of {all}\" % rows.len(), rows.len(), all = 3)); }
        const A: &str = marked!(\"All\"); fn g() { tr!(name); tr!(\"{} a\", tr!(\"b\")) }";
    let mut found = Vec::new();
    texts_in(source.parse().expect("it is Rust"), &mut found);
    let texts: Vec<&str> = found.iter().map(|text| text.text.as_str()).collect();
    assert_eq!(texts, ["Open", "{} row of {all}", "All", "{} a", "b"]);
    assert_eq!(found[0].context.as_deref(), Some("verb"));
    assert_eq!(found[1].plural.as_deref(), Some("{} rows of {all}"));
    assert_eq!(found[1].arguments, [None, Some("all".to_owned())]);
    let is_fine: Vec<bool> = found.iter().map(|text| fault(text).is_none()).collect();
    assert_eq!(is_fine, [true; 5]);
    let of = |text: &str, arguments: &[Option<&str>]| {
        let arguments = arguments.iter().map(|name| name.map(str::to_owned)).collect();
        fault(&Message { text: text.to_owned(), arguments, ..Message::default() })
    };
    assert_eq!(of("{} and {name}", &[None, Some("name")]), None);
    assert!(of("{} and {name}", &[None]).is_some());
    assert!(of("{}", &[None, None]).is_some());
    assert!(of("{a:.1}", &[Some("a")]).is_some());
    assert!(of("{", &[]).is_some());
}
