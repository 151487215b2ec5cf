//! The snapshots of a folder, a line each: the peak, and the verdict.

use super::headline::headline;
use super::predicted::predicted_title;
use super::table::{self, Align};
use oomscope_analysis::{Attribution, UserRules};
use oomscope_diagnosis::{DiagnosisRequest, FindingId, Severity, diagnose};
use oomscope_model::{Recording, TrustedBytes};
use oomscope_units as units;
use std::io::{self, Write};

/// Fewest cells for what happened; with less room, the column is left out.
const MIN_VERDICT: usize = 24;

/// What is said of a snapshot in one line: of its device with an OOM, else of the one with most events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlanceText {
    /// The name of the verdict, such as `fragmentation`; empty where nothing failed.
    pub verdict: &'static str,
    /// Its title.
    pub title: String,
    /// How much it matters.
    pub severity: Severity,
    /// The active peak.
    pub peak: TrustedBytes,
}

impl GlanceText {
    /// Of a device, with rules of the user for categories. Takes its time.
    pub fn of(recording: &Recording, rules: &UserRules) -> Self {
        let snapshot = recording.snapshot();
        let attribution = Attribution::of(recording, rules);
        let diagnosis = diagnose(recording, &attribution, DiagnosisRequest::default()).ok();
        let verdict = diagnosis.as_ref().and_then(|diagnosis| diagnosis.verdict());
        let (name, title, severity) = verdict.map_or_else(
            || ("", headline(recording, snapshot.damage.is_some()), Severity::Info),
            |verdict| (verdict_name(verdict.id), verdict.title.to_string(), verdict.severity),
        );
        let peak = recording.peak_active().1;
        Self { verdict: name, title: predicted_title(snapshot, &title), severity, peak }
    }
}

/// A file of a list: its name, and what is said of it or why it cannot be read.
pub type ListedGlance = (String, Result<GlanceText, String>);

/// Write a list of files. What happened is cut where lines would be wider than `width` cells, and left out where little room is left.
///
/// # Errors
/// When writing fails.
pub fn listing_text(out: &mut dyn Write, files: &[ListedGlance], width: usize) -> io::Result<()> {
    let cells = |(name, found): &ListedGlance| match found {
        Ok(glance) => {
            let peak = glance.peak.written(units::bytes);
            vec![units::printable(name), peak, glance.verdict.to_owned(), glance.title.clone()]
        }
        Err(why) => {
            vec![units::printable(name), String::new(), "cannot be read".to_owned(), units::printable(why)]
        }
    };
    let mut rows = vec![["FILE", "PEAK", "VERDICT", "WHAT HAPPENED"].map(str::to_owned).to_vec()];
    rows.extend(files.iter().map(cells));
    let before: usize = (0..3).map(|column| table::width_of(&rows, column) + 2).sum();
    let room = width.saturating_sub(before);
    if room < MIN_VERDICT {
        // The name of the verdict says enough.
        for row in &mut rows {
            row.truncate(3);
        }
        return table::write(out, &[Align::Left, Align::Right, Align::Left], &rows);
    }
    for verdict in rows.iter_mut().filter_map(|row| row.last_mut()) {
        *verdict = table::cut(verdict, room);
    }
    table::write(out, &[Align::Left, Align::Right, Align::Left, Align::Left], &rows)
}

/// The name of a verdict about a failure.
fn verdict_name(id: FindingId) -> &'static str {
    match id {
        FindingId::Nothing => "",
        id => id.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_list_leaves_out_what_happened() {
        let glance = GlanceText {
            verdict: "capacity",
            title: "Out of memory: activations hold 3 GiB".to_owned(),
            severity: Severity::Critical,
            peak: TrustedBytes::new(oomscope_model::Bytes(3 << 30), oomscope_model::Trust::Known),
        };
        let files: [ListedGlance; 2] =
            [("a.pickle".to_owned(), Ok(glance)), ("b.pickle".to_owned(), Err("no file".to_owned()))];
        let written = |width| {
            let mut out = Vec::new();
            listing_text(&mut out, &files, width).expect("memory can be written");
            String::from_utf8(out).expect("text")
        };
        assert_eq!(
            written(50),
            "FILE          PEAK  VERDICT\na.pickle  3.00 GiB  capacity\nb.pickle            cannot be read\n"
        );
        let wide = written(60);
        assert!(wide.contains("capacity        Out of memory: activati…\n"), "{wide}");
        assert!(wide.contains("cannot be read  no file\n"), "{wide}");
    }
}
