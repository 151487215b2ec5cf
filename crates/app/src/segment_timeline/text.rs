//! Texts of the segment timeline about rows, allocations and gaps.

use super::pictures::KnownRows;
use crate::device::Derived;
use crate::texts;
use crate::theme;
use crate::timeline::hover::reserved_text;
use crate::tooltips::lines_ui;
use eframe::egui;
use oomscope_analysis::{SegmentRow, SegmentRows, Shared, gap_at, tensor_and_site};
use oomscope_draw::{Pixel, SegmentTimelineHit};
use oomscope_model::{AllocId, PoolKey, Recording, Timeline};
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// A row as one line.
pub(crate) fn row_name(row: &SegmentRow, site: Option<&str>) -> String {
    let parts = [
        Some(tr!("Segment {}", units::address(row.addr))),
        Some(units::bytes(row.reserved_bytes)),
        owner(row),
        site.map(|site| tr!("reserved by {site}", site)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The pool and the stream of a row, where they are known.
fn owner(row: &SegmentRow) -> Option<String> {
    let pool = match row.pool {
        Shared::One(pool) if pool.is_private() => Some(tr!("private pool {}.{}", pool.0, pool.1)),
        Shared::One(PoolKey(..)) | Shared::Unknown => None,
        Shared::Several => Some(tr!("several pools")),
    };
    let stream = match row.stream {
        Shared::One(stream) => Some(tr!("stream {stream}", stream)),
        Shared::Several => Some(tr!("several streams")),
        Shared::Unknown => None,
    };
    match (pool, stream) {
        (None, None) => None,
        (pool, stream) => Some([pool, stream].into_iter().flatten().collect::<Vec<_>>().join(", ")),
    }
}

/// Everything about a row.
pub(crate) fn row_ui(ui: &mut egui::Ui, recording: &Recording, known: &KnownRows, number: u32) {
    let KnownRows { rows, sites } = known;
    let Some(row) = rows.rows().get(number as usize) else { return };
    let address = units::address(row.addr);
    let title = if row.is_expandable {
        tr!("Expandable segment at {}", address)
    } else {
        tr!("Segment at {}", address)
    };
    ui.label(theme::strong(title, 13.0));
    let size = i64::try_from(row.size_bytes).unwrap_or(i64::MAX);
    ui.label(tr!("{} of addresses", units::bytes_exact(size)));
    ui.label(tr!("{} reserved at most", units::bytes_exact(row.reserved_bytes)));
    ui.label(tr!("{} active at most", units::bytes_exact(row.active_bytes)));
    if let Some(owner) = owner(row) {
        ui.label(owner);
    }
    if let Some(site) = sites.line(number) {
        ui.label(tr!("first reserved by {site}", site));
    }
    let reserved = rows.ranges(number, recording).count();
    let count = units::count(reserved as u64);
    let reserved = if row.is_expandable {
        tr!("{} mapping" | "{} mappings" % reserved, count)
    } else {
        tr!("{} reservation" | "{} reservations" % reserved, count)
    };
    let counts = format!("{reserved}, {}", texts::allocations(row.allocations));
    ui.label(theme::muted(ui, counts));
    ui.label(theme::muted(ui, tr!("Click to expand the row, or to make it thin again")));
}

/// Explain the place under the pointer.
pub(crate) fn hover_ui(
    response: &egui::Response,
    recording: &Recording,
    derived: &Derived,
    rows: &SegmentRows,
    under: SegmentTimelineHit,
) {
    let lines = match under.pixel {
        Pixel::Block(id) => Some(allocation_text(recording, derived, rows, id, under)),
        Pixel::Empty | Pixel::Share(_) => gap_text(recording, rows, under),
    };
    let Some(lines) = lines else { return };
    response.clone().on_hover_ui_at_pointer(|ui| lines_ui(ui, &lines));
}

/// Size, site, lifetime and place.
fn allocation_text(
    recording: &Recording,
    derived: &Derived,
    rows: &SegmentRows,
    id: AllocId,
    under: SegmentTimelineHit,
) -> Vec<String> {
    let allocation = recording.allocation(id);
    let is_awaiting = under.moment.is_some_and(|moment| allocation.is_awaiting_at(moment));
    let mut lines = vec![
        units::bytes_exact(allocation.size),
        tensor_and_site(recording, derived.tensor_labels().map(Arc::as_ref), id),
        derived.figures.lives(recording, &allocation, is_awaiting),
    ];
    if let Some(row) = rows.rows().get(under.row as usize) {
        let offset = i64::try_from(allocation.addr.saturating_sub(row.addr)).unwrap_or(i64::MAX);
        lines.push(tr!("{} · offset {}", units::address(allocation.addr), units::bytes(offset)));
    }
    lines
}

/// The free memory around the pointer, if it is in a gap of reserved memory.
fn gap_text(timeline: &Timeline, rows: &SegmentRows, under: SegmentTimelineHit) -> Option<Vec<String>> {
    let gap = gap_at(timeline, rows, under.addr, under.moment?)?;
    let bytes = i64::try_from(gap.bytes()).unwrap_or(i64::MAX);
    Some(vec![
        tr!("{} not in use", units::bytes_exact(bytes)),
        tr!("{} to {}, rounding included", units::address(gap.addr), units::address(gap.past_end)),
        reserved_text(timeline, &gap.range),
    ])
}
