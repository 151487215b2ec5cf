//! Help pages read well in a terminal of 80 columns. The short ones have a line for each option, and an option that several
//! commands have takes a value of the same name in all of them.

use crate::support::{oomscope, stdout};
use std::collections::{BTreeMap, BTreeSet};

/// Columns of a usual terminal.
const COLUMNS: usize = 80;

/// Columns that leave room for the longest list of possible values.
const WIDE: usize = 240;

/// A shorter line of prose is the last one of its paragraph, unless the text has a line break of its own.
const MIN_PROSE: usize = 40;

/// Characters of the description of an option in the short help.
const MAX_SHORT: usize = 90;

/// Commands whose `--help` Python answers.
const OF_PYTHON: [&str; 3] = ["run", "estimate", "doctor"];

/// What example lines begin with.
const EXAMPLES: [&str; 6] = ["oomscope ", "# ", "ssh ", "source ", "torchrun ", "{"];

/// Standard output in a terminal of some columns.
fn in_columns(args: &[&str], columns: usize) -> String {
    let output = oomscope().args(args).env("COLUMNS", columns.to_string()).output();
    let output = output.expect("the program starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is text")
}

/// The lines of the list of commands, which the program's own page begins with.
fn command_lines(page: &str) -> impl Iterator<Item = &str> {
    page.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty())
}

/// The commands that the program's own page lists.
fn commands() -> Vec<String> {
    let page = stdout(["--help"]);
    let names = command_lines(&page)
        .filter(|line| indent(line) == 2)
        .filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The long pages of the program and of all its commands, with their names.
fn pages() -> Vec<(String, String)> {
    let page = |name: String| {
        let is_of_python = OF_PYTHON.contains(&name.as_str());
        let args = if is_of_python { ["help", &name] } else { [name.as_str(), "--help"] };
        let text = in_columns(&args, COLUMNS);
        (name, text)
    };
    let own = ("oomscope".to_owned(), in_columns(&["--help"], COLUMNS));
    std::iter::once(own).chain(commands().into_iter().map(page)).collect()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_example(line: &str) -> bool {
    line.starts_with("  ") && EXAMPLES.iter().any(|start| line.trim_start().starts_with(start))
}

/// Whether an option, an entry of a list, or what clap says of values in brackets begins with this line.
fn is_item(line: &str) -> bool {
    ["-", "[default: ", "[possible values: "].iter().any(|start| line.trim_start().starts_with(start))
}

/// An option with the name of its value, empty if it takes none, from a line that begins with it.
fn option(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace().skip_while(|word| !word.starts_with("--"));
    let name = words.next().filter(|_| is_item(line) && indent(line) <= 6)?;
    Some((name, words.next().filter(|word| word.starts_with('<')).unwrap_or_default()))
}

/// The description of an option in the short help, without its default and its possible values.
fn description(line: &str) -> &str {
    let (_, text) = line.trim_start().split_once("  ").unwrap_or_default();
    text.split(" [").next().unwrap_or_default().trim()
}

#[test]
fn every_command_has_a_page() {
    let commands = commands();
    for name in ["stats", "report", "fixes", "completions", "run"] {
        assert!(commands.iter().any(|command| command == name), "{commands:?}");
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, page) in pages() {
        let wide: Vec<&str> = page.lines().filter(|line| COLUMNS < line.chars().count()).collect();
        assert!(wide.is_empty(), "{name}: {wide:#?}");
    }
}

#[test]
fn no_sentence_is_broken_by_hand() {
    for (name, page) in pages() {
        let listed: BTreeSet<&str> = command_lines(&page).collect();
        let lines: Vec<&str> = page.lines().map(str::trim_end).collect();
        let continues = |line: &str, next: &str| {
            !next.is_empty() && indent(next) == indent(line) && !is_item(next) && !is_example(next)
        };
        let broken = lines.windows(2).filter(|pair| {
            let is_prose = !pair[0].is_empty() && !is_example(pair[0]) && !listed.contains(pair[0]);
            is_prose && pair[0].chars().count() < MIN_PROSE && continues(pair[0], pair[1])
        });
        let broken: Vec<&[&str]> = broken.collect();
        assert!(broken.is_empty(), "{name}: {broken:#?}");
    }
}

#[test]
fn every_command_is_listed_on_one_line() {
    let page = in_columns(&["--help"], COLUMNS);
    let wrapped: Vec<&str> = command_lines(&page).filter(|line| indent(line) != 2).collect();
    assert!(wrapped.is_empty(), "{wrapped:#?}");
}

#[test]
fn the_short_help_has_a_line_for_each_option() {
    let own: &[&str] = &["-h"];
    let commands = commands();
    let of_commands = commands.iter().filter(|name| !OF_PYTHON.contains(&name.as_str()));
    let all: Vec<Vec<&str>> =
        of_commands.map(|name| vec![name.as_str(), "-h"]).chain([own.to_vec()]).collect();
    for args in all {
        let page = in_columns(&args, WIDE);
        let options = page.lines().skip_while(|line| *line != "Options:").skip(1);
        let options: Vec<&str> = options.take_while(|line| !line.is_empty()).collect();
        assert!(!options.is_empty(), "{args:?}: {page}");
        for line in options {
            assert!(option(line).is_some(), "{args:?}: {line}");
            let described = description(line);
            let length = described.chars().count();
            assert!((1..=MAX_SHORT).contains(&length), "{args:?}: {length} characters in {described:?}");
        }
    }
}

#[test]
fn an_option_takes_the_same_value_everywhere() {
    let mut values: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for (command, page) in pages() {
        for (name, value) in page.lines().filter_map(option).filter(|(_, value)| !value.is_empty()) {
            let of_name = values.entry(name.to_owned()).or_default();
            of_name.entry(value.to_owned()).or_default().push(command.clone());
        }
    }
    assert!(values.contains_key("--format") && values.contains_key("--output"));
    let different: Vec<_> = values.iter().filter(|(_, of_name)| of_name.len() != 1).collect();
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn no_example_is_wrapped() {
    for (name, page) in pages() {
        let lines: Vec<&str> = page.lines().collect();
        let wrapped = lines.windows(2).filter(|pair| {
            is_example(pair[0])
                && !pair[1].is_empty()
                && !is_example(pair[1])
                && indent(pair[1]) == indent(pair[0])
        });
        let wrapped: Vec<&[&str]> = wrapped.collect();
        assert!(wrapped.is_empty(), "{name}: {wrapped:#?}");
    }
}

#[test]
fn comments_of_examples_are_aligned() {
    for (name, page) in pages() {
        let examples =
            page.lines().filter(|line| line.starts_with("  oomscope ") || line.starts_with("  torchrun "));
        let comments: BTreeSet<usize> = examples.filter_map(|line| line.find(" # ")).collect();
        assert!(comments.len() <= 1, "{name}: comments begin at columns {comments:?}");
    }
}
