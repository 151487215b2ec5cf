//! What every document says of a file that no device recorded.

use super::needs::{NeedsRecord, needs_sentences};
use oomscope_model::{Estimate, EstimateNote, Snapshot};
use oomscope_units as units;
use serde::Serialize;

/// That the figures of a file are predicted, as JSON has it: null for what a device recorded.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct PredictedRecord {
    /// The same in words.
    text: String,
    program: String,
    steps: Option<i64>,
    /// Why the program would ask for more; null where nothing is known to be missing.
    lower_bound: Option<String>,
    /// What is needed of each device that was asked about.
    needs: Vec<NeedsRecord>,
    /// What was not run as a device would run it; only where the file is described once.
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<Vec<NoteRecord>>,
    /// The files that the program would have written; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_write: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct NoteRecord {
    what: String,
    r#where: String,
    count: i64,
}

impl PredictedRecord {
    /// What the snapshot says of that, for rows and sides; `None` if a device recorded it.
    pub(super) fn of(snapshot: &Snapshot) -> Option<Self> {
        let estimate = snapshot.estimate()?;
        Some(Self {
            text: text(&estimate),
            program: estimate.program.to_owned(),
            steps: estimate.steps,
            lower_bound: estimate.lower_bound.map(str::to_owned),
            needs: NeedsRecord::all(&estimate),
            notes: None,
            would_write: None,
        })
    }

    /// All that the snapshot says of that.
    pub(super) fn in_full(snapshot: &Snapshot) -> Option<Self> {
        let estimate = snapshot.estimate()?;
        let note = |note: &EstimateNote<'_>| NoteRecord {
            what: note.what.to_owned(),
            r#where: note.place.to_owned(),
            count: note.count,
        };
        Some(Self {
            notes: Some(estimate.notes.iter().map(note).collect()),
            would_write: Some(estimate.would_write.iter().map(|&file| file.to_owned()).collect()),
            ..Self::of(snapshot)?
        })
    }

    /// The same in words.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The same with texts that may name users changed.
    pub(super) fn cleaned(self, clean: impl Fn(&str) -> String) -> Self {
        let note = |note: NoteRecord| NoteRecord {
            what: clean(&note.what),
            r#where: clean(&note.r#where),
            count: note.count,
        };
        Self {
            text: clean(&self.text),
            program: clean(&self.program),
            lower_bound: self.lower_bound.map(|why| clean(&why)),
            needs: self.needs.into_iter().map(|needs| needs.cleaned(&clean)).collect(),
            notes: self.notes.map(|notes| notes.into_iter().map(note).collect()),
            would_write: self.would_write.map(|files| files.iter().map(|file| clean(file)).collect()),
            ..self
        }
    }
}

/// A line that says that the figures of a file are predicted; `None` if a device recorded it.
pub fn predicted_line(snapshot: &Snapshot) -> Option<String> {
    Some(text(&snapshot.estimate()?))
}

/// The title of a file, after the word that says that no device recorded it.
pub fn predicted_title(snapshot: &Snapshot, title: &str) -> String {
    if snapshot.is_estimate() { format!("Predicted: {title}") } else { title.to_owned() }
}

fn text(estimate: &Estimate<'_>) -> String {
    let program = match estimate.program {
        "" => "the program".to_owned(),
        program => format!("`{}`", units::printable(program)),
    };
    let steps = estimate.steps.map_or_else(String::new, |steps| match steps {
        1 => " in 1 step".to_owned(),
        steps => format!(" in {} steps", units::count(steps.unsigned_abs())),
    });
    let least = estimate.lower_bound.map(|why| {
        let why = units::printable(why);
        format!("At least: {}.", why.trim_end_matches('.'))
    });
    let what = format!("Predicted without a device: what {program} would ask for{steps}.");
    let sentences = [what, needs_sentences(estimate), least.unwrap_or_default()];
    sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_model::{Setting, SettingValue};

    fn snapshot(entries: Vec<(&str, SettingValue)>) -> Snapshot {
        let setting = |(name, value): (&str, SettingValue)| Setting { name: name.to_owned(), value };
        let table = SettingValue::Table(entries.into_iter().map(setting).collect());
        Snapshot { recorder: vec![setting(("estimate", table))], ..Snapshot::default() }
    }

    fn word(text: &str) -> SettingValue {
        SettingValue::Text(text.to_owned())
    }

    #[test]
    fn a_prediction_says_what_it_is_of() {
        let line = |entries| predicted_line(&snapshot(entries)).expect("it is predicted");
        assert_eq!(
            line(vec![("program", word("train.py")), ("steps", SettingValue::Int(2))]),
            "Predicted without a device: what `train.py` would ask for in 2 steps."
        );
        assert_eq!(
            line(vec![("steps", SettingValue::Int(1)), ("lower_bound", word("it was ended."))]),
            "Predicted without a device: what the program would ask for in 1 step. At least: it was ended."
        );
        let hostile = line(vec![("program", word("a\u{1b}[31m"))]);
        assert!(!hostile.contains('\u{1b}'), "{hostile}");
        assert_eq!(predicted_line(&Snapshot::default()), None);
    }
}
