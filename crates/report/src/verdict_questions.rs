//! `explain --verdict`: the questions that were asked for a verdict.

use super::trust::trust_lines;
use oomscope_diagnosis::Diagnosis;
use oomscope_model::Recording;
use oomscope_units as units;
use std::io::{self, Write};

/// Write the questions with the figures that each answer rests on, then the verdict.
///
/// # Errors
/// When writing fails.
pub fn verdict_questions_text(
    out: &mut dyn Write,
    recording: &Recording,
    diagnosis: &Diagnosis,
) -> io::Result<()> {
    for line in trust_lines(recording.snapshot(), [recording]) {
        writeln!(out, "{line}")?;
    }
    for (question, number) in diagnosis.asked.iter().zip(1..) {
        let answer = if question.is_yes { "yes" } else { "no" };
        writeln!(out, "{number:>2}. {}", question.asks)?;
        writeln!(out, "    {answer}: {}", units::printable(question.figures.text()))?;
    }
    match diagnosis.verdict() {
        Some(verdict) => writeln!(out, "{}: {}", verdict.id.name(), units::printable(verdict.title.text())),
        None => Ok(()),
    }
}
