//! Agents that ask what an engineer asks after a crash: the first answer has the fact, and is short.
//!
//! `tests/agents/questions.json` holds questions about the samples, each with the command that a reader of
//! `skills/oomscope/SKILL.md` types first, and a fact that is known from elsewhere than the program.

use crate::support::{oomscope, root};
use serde::Deserialize;
use std::collections::BTreeSet;

/// How many questions there are.
const QUESTIONS: usize = 40;

/// How many of the first answers must have the fact.
const ANSWERED: usize = 38;

/// The most bytes of an answer.
const MOST_BYTES: usize = 4096;

/// A question, and how it is answered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// As an engineer asks it.
    question: String,
    /// The arguments of the program, which is run in the repository.
    command: Vec<String>,
    /// Texts that the answer must have, all of them, where any space is as good as any other.
    fact: Vec<String>,
    /// How the program must end, 0 or 3: a limit is exceeded.
    #[serde(default)]
    exit: i32,
    /// What says that the fact is true.
    known_from: String,
}

/// What the program said to a question.
struct Answer {
    bytes: usize,
    found: bool,
    exit: Option<i32>,
}

fn cases() -> Vec<Case> {
    let path = root().join("tests/agents/questions.json");
    let text = std::fs::read_to_string(path).expect("the questions can be read");
    serde_json::from_str(&text).expect("the questions are JSON")
}

/// Words with one space between them.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn ask(case: &Case) -> Answer {
    let output = oomscope().args(&case.command).current_dir(root()).output().expect("the program starts");
    let text = words(&String::from_utf8_lossy(&output.stdout));
    let found = case.fact.iter().all(|fact| text.contains(&words(fact)));
    Answer { bytes: output.stdout.len(), found, exit: output.status.code() }
}

/// A line for each question.
fn table(asked: &[(Case, Answer)]) -> String {
    let mut lines = vec!["bytes  found  exit  question (command)".to_owned()];
    for (case, answer) in asked {
        let found = if answer.found { "yes" } else { "NO" };
        let exit = answer.exit.map_or_else(|| "-".to_owned(), |code| code.to_string());
        let command = case.command.join(" ");
        lines.push(format!("{:5}  {found:5}  {exit:4}  {} ({command})", answer.bytes, case.question));
    }
    lines.join("\n")
}

#[test]
fn first_answers_have_the_fact_and_are_short() {
    let asked: Vec<(Case, Answer)> = cases()
        .into_iter()
        .map(|case| {
            let answer = ask(&case);
            (case, answer)
        })
        .collect();
    let table = table(&asked);
    assert_eq!(asked.len(), QUESTIONS, "{table}");
    for (case, answer) in &asked {
        let command = case.command.join(" ");
        assert_eq!(answer.exit, Some(case.exit), "{command}\n{table}");
        assert!(answer.bytes <= MOST_BYTES, "{command} answers with {} bytes\n{table}", answer.bytes);
    }
    let answered = asked.iter().filter(|(_, answer)| answer.found).count();
    assert!(ANSWERED <= answered, "{answered} first answers have the fact\n{table}");
}

#[test]
fn questions_differ_and_say_what_their_facts_are_known_from() {
    let cases = cases();
    let questions: BTreeSet<&str> = cases.iter().map(|case| case.question.as_str()).collect();
    assert_eq!(questions.len(), cases.len(), "a question is asked twice");
    for Case { question, command, fact, exit, known_from } in &cases {
        assert!(!fact.is_empty() && fact.iter().all(|text| !text.trim().is_empty()), "{question}");
        assert!(!known_from.is_empty(), "{question}");
        assert!([0, 3].contains(exit), "{question}");
        // An answer that repeats its command has no fact.
        let command = command.join(" ");
        assert!(!fact.iter().all(|text| command.contains(text.as_str())), "{question}");
    }
}
