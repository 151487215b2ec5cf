//! Workflow commands of GitHub Actions: an error for each limit that is exceeded, at the line of code where one is known.
//!
//! <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands> has the format; how its values are escaped is
//! from actions/toolkit (`packages/core/src/command.ts`).

use super::{GateLine, GateReport, SourceLine};
use oomscope_units as units;
use std::fmt::Write as _;
use std::path::Path;

/// The outcome of all checks as workflow commands. `workspace` is the folder of the repository: names of its files are stated from
/// there, as GitHub wants them.
pub fn gate_github(report: &GateReport, workspace: Option<&Path>) -> String {
    let mut out = String::new();
    for line in &report.lines {
        if line.holds {
            _ = writeln!(out, "ok: {}: {}", units::printable(&line.place()), units::printable(&line.text));
        } else {
            _ = writeln!(out, "{}", error(line, workspace));
        }
    }
    for failure in &report.failures {
        let text = format!("{}\n{}", failure.message, failure.hint);
        _ = writeln!(out, "::error title={}::{}", property("Not checked"), message(&text));
    }
    out
}

fn error(line: &GateLine, workspace: Option<&Path>) -> String {
    let place = line.source.as_ref().map_or_else(String::new, |source| position(source, workspace));
    let text = message(&format!("{}: {}", line.place(), line.text));
    format!("::error {place}title={}::{text}", property(title(line.check)))
}

fn title(check: &str) -> &'static str {
    match check {
        "no-oom" => "A request for memory failed",
        "baseline" => "Memory grew",
        _ => "Memory limit exceeded",
    }
}

fn position(source: &SourceLine, workspace: Option<&Path>) -> String {
    let file = Path::new(&source.file);
    let file = workspace.and_then(|folder| file.strip_prefix(folder).ok()).unwrap_or(file);
    format!("file={},line={},", property(&units::printable(&file.to_string_lossy())), source.line)
}

/// A text after `::`.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value before it.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::samples::report;
    use super::*;

    #[test]
    fn each_excess_is_one_command_at_its_line() {
        let text = gate_github(&report(), Some(Path::new("/work/repo")));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].starts_with("ok: a,b:100%"), "{text}");
        assert_eq!(
            lines[1],
            "::error file=train.py,line=7,title=Memory grew::a,b:100%25%0A<c>&\"d\".pickle, device 0: train.py:7 step 3.00 GiB is 1.00 \
             GiB above the baseline's 2.00 GiB"
        );
        assert_eq!(lines[2], "::error title=Not checked::cannot open 'none.pickle'%0Acheck the path");
        assert!(gate_github(&report(), None).contains("file=/work/repo/train.py,line=7"));
    }
}
