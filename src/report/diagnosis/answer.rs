//! A verdict in two phrases: the line of code that it is about, and the first thing to change.

use super::quoted::RemedyText;
use super::words::short_place;
use crate::diagnosis::{Finding, Role, Severity, Site};
use crate::units;

/// The line and the change, for places where a whole finding has no room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The line with its bytes: `index.py:60 add: keeps 1.44 GiB unused`.
    pub culprit: Option<String>,
    /// The index of that line among the finding's sites.
    pub site: Option<usize>,
    /// The first advice, in short: its code if that is one line, else how its words begin.
    pub fix: Option<String>,
    /// The whole of that advice.
    pub advice: Option<String>,
    /// Its code.
    pub code: Option<String>,
}

/// Whether advice says something besides simulated remedies: code of its own, or anything where nothing was simulated.
pub fn is_new_advice(code: Option<&str>, remedies: &[RemedyText]) -> bool {
    let is_known = |code: &str| remedies.iter().any(|remedy| remedy.code.contains(code));
    remedies.is_empty() || code.is_some_and(|code| !is_known(code))
}

/// What a verdict about a failure comes down to; `None` where nothing is wrong.
pub fn answer(verdict: &Finding) -> Option<Answer> {
    if verdict.severity == Severity::Info {
        return None;
    }
    let sites = &verdict.evidence.sites;
    // Where a request fails is mostly chance; what holds the memory is not.
    let holds = |site: &Site| site.role != Role::Requested;
    let site = sites.iter().position(holds).or(if sites.is_empty() { None } else { Some(0) });
    let culprit = site.and_then(|index| sites.get(index)).map(culprit);
    let first = verdict.advice.first();
    let fix = first.map(|advice| match advice.code.as_deref().and_then(only_line) {
        Some(code) => code.to_owned(),
        None => first_clause(advice.text.text()).to_owned(),
    });
    let advice = first.map(|advice| match &advice.code {
        Some(code) => format!("{}\n{code}", advice.text.text()),
        None => advice.text.text().to_owned(),
    });
    let code = first.and_then(|advice| advice.code.clone());
    Some(Answer { culprit, site, fix, advice, code })
}

fn culprit(site: &Site) -> String {
    let (place, bytes) = (short_place(site), units::bytes(site.bytes));
    match site.role {
        Role::Live => format!("{place}: {bytes}"),
        Role::Retained => format!("{place}: {bytes} kept"),
        Role::KeepsFree => format!("{place}: keeps {bytes} unused"),
        role => format!("{place}: {bytes} {}", role.text(site.count)),
    }
}

/// The only line of code besides comments.
fn only_line(code: &str) -> Option<&str> {
    let mut lines = code.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.next().filter(|_| lines.next().is_none())
}

fn first_clause(text: &str) -> &str {
    let ends = [". ", ": ", "; "].into_iter().filter_map(|end| text.find(end));
    text[..ends.min().unwrap_or(text.len())].trim_end_matches(['.', ':'])
}

#[cfg(test)]
mod tests {
    use super::{first_clause, only_line};

    #[test]
    fn advice_is_cut_to_one_line() {
        assert_eq!(only_line("# first\n\n  del cache\n"), Some("del cache"));
        assert_eq!(only_line("del cache\nmore"), None);
        assert_eq!(only_line("# only words"), None);
        assert_eq!(first_clause("Use less: it is there. Or more."), "Use less");
        assert_eq!(first_clause("Use less:"), "Use less");
    }
}
