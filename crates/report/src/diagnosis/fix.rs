//! What to change, with the simulation of this very change, or with none: one value for all formats, the window and pictures.

use super::quoted::{RemedyText, quoted, simulated};
use oomscope_diagnosis::{Advice, Finding, FindingId, Severity};
use oomscope_remedies::Predictions;

/// What to change.
#[derive(Debug, Clone, PartialEq)]
pub struct Fix {
    /// In short: code if that is one line, else how the words begin; the title of a remedy.
    pub short: String,
    /// Whether that is code, not words.
    pub is_code: bool,
    /// All of it in words.
    pub text: String,
    /// What to write.
    pub code: Option<String>,
    /// Whether the verdict advises it; otherwise it is the best remedy that was simulated.
    pub is_advice: bool,
    /// What this change was simulated to give. No other change is named beside it.
    pub simulated: Option<RemedyText>,
}

impl Fix {
    /// In a line, with what it was simulated to give.
    pub fn line(&self) -> String {
        match &self.simulated {
            Some(remedy) => format!("{} · simulated: {}", self.short, remedy.outcome),
            None => self.short.clone(),
        }
    }

    /// The remedies that are quoted besides it.
    pub fn others<'a>(&self, quoted: &'a [RemedyText]) -> Vec<&'a RemedyText> {
        quoted.iter().filter(|remedy| self.simulated.as_ref() != Some(remedy)).collect()
    }
}

/// What to change after a verdict on something that is wrong.
///
/// That is its first advice where this has code, with the simulation of it; otherwise the best remedy that was simulated, which
/// says more than words about what is large. Where the advice is simulated not to be enough, and some change is, that comes first.
/// What makes ranks alike no recording of one of them can simulate.
pub fn fix(verdict: FindingId, advice: Option<&Advice>, predictions: Option<&Predictions>) -> Option<Fix> {
    let best = || predictions.and_then(|all| quoted(all, verdict).into_iter().next());
    match advice {
        Some(advice) if advice.code.is_some() => {
            let fix = of_advice(advice, predictions);
            let falls_short = fix.simulated.as_ref().is_some_and(|remedy| remedy.fits == Some(false));
            let enough = || best().filter(|best| best.fits == Some(true)).map(of_remedy);
            Some(if falls_short { enough().unwrap_or(fix) } else { fix })
        }
        Some(advice) if verdict == FindingId::UnevenRanks => Some(of_advice(advice, None)),
        Some(advice) => Some(best().map_or_else(|| of_advice(advice, None), of_remedy)),
        None => best().map(of_remedy),
    }
}

/// What to change after a verdict; `None` where nothing is wrong. What is simulated is asked for only where it is needed.
pub fn fix_of(verdict: &Finding, predict: impl FnOnce() -> Option<Predictions>) -> Option<Fix> {
    let is_wrong = verdict.severity != Severity::Info;
    is_wrong.then(|| fix(verdict.id, verdict.advice.first(), predict().as_ref())).flatten()
}

fn of_advice(advice: &Advice, predictions: Option<&Predictions>) -> Fix {
    let text = advice.text.text();
    let line = advice.code.as_deref().and_then(only_line);
    let simulated = advice.remedy.zip(predictions).and_then(|(id, all)| simulated(all, id));
    Fix {
        short: line.unwrap_or_else(|| first_clause(text)).to_owned(),
        is_code: line.is_some(),
        text: text.to_owned(),
        code: advice.code.clone(),
        is_advice: true,
        simulated,
    }
}

fn of_remedy(remedy: RemedyText) -> Fix {
    Fix {
        short: remedy.title.clone(),
        is_code: false,
        text: remedy.text.clone(),
        code: Some(remedy.code.clone()).filter(|code| !code.is_empty()),
        is_advice: false,
        simulated: Some(remedy),
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
