//! What the list of a folder says of ranks: that one of them is not like the others.

use crate::files::glances::{Look, Scan};
use crate::files::names;
use crate::theme;
use eframe::egui;
use oomscope_diagnosis::ranks::{outlying, ranks_of};
use oomscope_model::Bytes;
use oomscope_snapshot::load::FolderEntry;
use oomscope_units as units;

/// A line about the rank that is farthest from the others, once all are looked at; true if the user wants to see the ranks.
pub(super) fn ui(ui: &mut egui::Ui, rows: &[(FolderEntry, Look)]) -> bool {
    let Some(text) = text(rows) else { return false };
    ui.horizontal_wrapped(|ui| {
        ui.label(theme::strong(text, 13.0));
        ui.link("show the ranks")
            .on_hover_text("All peaks over time, and the lines that make the difference")
            .clicked()
    })
    .inner
}

/// `rank 3 is an outlier: its peak is 2.10 GiB, the median 1.05 GiB`.
fn text(rows: &[(FolderEntry, Look)]) -> Option<String> {
    let files: Vec<String> = rows.iter().map(|(file, _)| names::file_name(&file.path)).collect();
    let ranks: Option<Vec<u32>> = ranks_of(&files).into_iter().collect();
    let peak = |(_, look): &(FolderEntry, Look)| match look {
        Look::Done(Scan::Found(glance)) => glance.peak.at_least(),
        _ => None,
    };
    let peaks: Option<Vec<Bytes>> = rows.iter().map(peak).collect();
    let (ranks, peaks) = (ranks?, peaks?);
    let farthest = outlying(&peaks).into_iter().next()?;
    let mut sorted = peaks.clone();
    sorted.sort_unstable();
    let median = sorted.get((sorted.len() - 1) / 2)?;
    let [peak, median] = [peaks[farthest], *median].map(units::bytes);
    Some(format!("rank {} is an outlier: its peak is {peak}, the median {median}", ranks[farthest]))
}
