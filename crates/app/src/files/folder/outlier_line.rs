//! What the list of a folder says of ranks: that one of them is not like the others.

use crate::files::glances::{Look, Scan};
use crate::files::names;
use crate::theme;
use eframe::egui;
use oomscope_diagnosis::ranks::{middle, outlying, ranks_of};
use oomscope_model::{Bytes, TrustedBytes};
use oomscope_snapshot::load::FolderEntry;
use oomscope_units as units;
use tr::tr;

/// A line about the rank that is farthest from the others, once all are looked at; true if the user wants to see the ranks.
pub(super) fn ui(ui: &mut egui::Ui, rows: &[(FolderEntry, Look)]) -> bool {
    let Some(text) = text(rows) else { return false };
    ui.horizontal_wrapped(|ui| {
        ui.label(theme::strong(text, 13.0));
        ui.link(tr!("show the ranks"))
            .on_hover_text(tr!("All peaks over time, and the lines that make the difference"))
            .clicked()
    })
    .inner
}

/// `rank 3 is an outlier: its peak is 2.10 GiB, the median 1.05 GiB`. Of a file with several devices, a list knows one.
fn text(rows: &[(FolderEntry, Look)]) -> Option<String> {
    let files: Vec<String> = rows.iter().map(|(file, _)| names::file_name(&file.path)).collect();
    let ranks: Option<Vec<u32>> = ranks_of(&files).into_iter().collect();
    let peak = |(_, look): &(FolderEntry, Look)| match look {
        Look::Done(Scan::Found(glance)) if glance.device.is_none() => Some(glance.peak),
        _ => None,
    };
    let peaks: Option<Vec<TrustedBytes>> = rows.iter().map(peak).collect();
    let (ranks, mut peaks) = (ranks?, peaks?);
    let known: Option<Vec<Bytes>> = peaks.iter().map(|peak| peak.at_least()).collect();
    let farthest = outlying(&known?).into_iter().next()?;
    let (rank, peak) = (ranks[farthest], peaks[farthest]);
    peaks.sort_by_key(|peak| peak.recorded);
    let [peak, median] = [peak, *middle(&peaks)?].map(|peak| peak.written(units::bytes));
    Some(tr!("rank {rank} is an outlier: its peak is {peak}, the median {median}", rank, peak, median))
}
