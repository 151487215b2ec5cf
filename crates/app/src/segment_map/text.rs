//! Texts of the segment map about blocks, holes and segments.

use super::maps::MomentMap;
use crate::device::figures::Figures as DeviceFigures;
use crate::tooltips::lines_ui;
use eframe::egui;
use oomscope_analysis::segment_state::{Basis, Content, Figures, MAX_SLACK_BYTES, Part, SizeClass};
use oomscope_analysis::{SegmentState, TensorLabels, site_label, tensor_and_site};
use oomscope_draw::segment_map::{SegmentMapHit, group_text};
use oomscope_model::{AllocId, Bytes, Recording, StackId};
use oomscope_units as units;
use tr::tr;

/// Blocks that keep a segment and are named: they fit into a line.
const NAMED_BLOCKS: usize = 3;

/// The source of the texts.
#[derive(Clone, Copy)]
pub(super) struct MapTexts<'a> {
    pub(super) recording: &'a Recording,
    pub(super) figures: &'a DeviceFigures,
    pub(super) tensors: Option<&'a TensorLabels>,
}

impl MapTexts<'_> {
    /// `2.03 MiB train.py:55 attention`.
    pub(super) fn block_text(self, part: &Part) -> String {
        format!("{} {}", units::bytes(part.requested), self.site(part.content.allocation()))
    }

    /// The tensor of an allocation, where the program named it, and the line of code that made it.
    pub(super) fn site(self, id: Option<AllocId>) -> String {
        match id {
            Some(id) => tensor_and_site(self.recording, self.tensors, id),
            None => site_label(self.recording.snapshot(), StackId::EMPTY),
        }
    }

    /// Explain the part under the pointer.
    pub(super) fn hover_ui(self, response: &egui::Response, answer: &MomentMap, hit: SegmentMapHit) {
        let state = &answer.state;
        let part = &state.parts[hit.part];
        let mut lines = match part.content {
            Content::Allocated(id) | Content::Awaiting(id) => self.block_lines(state, part, id),
            Content::Hole => self.hole_lines(state, hit),
            Content::Unmapped => vec![
                tr!("{} without memory", units::bytes_exact(part.size)),
                tr!("Addresses of the expandable segment that are not mapped and not reserved"),
            ],
        };
        lines.extend(self.row_lines(answer, hit.row));
        if 0 < hit.others {
            lines.push(tr!(
                "{} more part in this place, thinner than a pixel: zoom in with the wheel"
                    | "{} more parts in this place, thinner than a pixel: zoom in with the wheel"
                        % hit.others,
                units::count(hit.others as u64)
            ));
        }
        response.clone().on_hover_ui_at_pointer(|ui| lines_ui(ui, &lines));
    }

    fn block_lines(self, state: &SegmentState, part: &Part, id: Option<AllocId>) -> Vec<String> {
        let timeline = self.recording.timeline();
        let mut lines = vec![units::bytes_exact(part.requested), self.site(id)];
        match id {
            Some(id) => {
                let allocation = timeline.allocation(id);
                let waits = matches!(part.content, Content::Awaiting(_));
                lines.push(self.figures.lives(timeline, &allocation, waits));
            }
            None => lines.push(tr!("no event explains this block")),
        }
        // Only the final state has the sizes of blocks, so only blocks that are in it have known ones.
        let is_known = state.basis == Basis::EndState
            || id.is_some_and(|id| state.basis == Basis::Events && timeline.lifetimes.end(id).is_none());
        let (size, waste) = (units::bytes(part.size), part.rounding());
        let rounding = units::bytes(waste);
        let rounding = match (waste, is_known) {
            (Bytes::ZERO, true) => tr!("block of {size}", size),
            (_, true) => tr!("block of {size}, {rounding} of it rounding", size, rounding),
            (Bytes::ZERO, false) => tr!("at least a block of {size}", size),
            (_, false) => tr!("at least a block of {size}, {rounding} of it rounding", size, rounding),
        };
        lines.push(format!("{} · {rounding}", units::address(part.addr)));
        lines
    }

    fn hole_lines(self, state: &SegmentState, hit: SegmentMapHit) -> Vec<String> {
        let part = &state.parts[hit.part];
        let [before, after] = state.neighbours(hit.row, hit.part);
        let name = |part: Option<&Part>, edge: &str| match part.map(|part| part.content) {
            Some(Content::Unmapped) => tr!("unmapped addresses"),
            Some(_) => part.map_or_else(String::new, |part| self.block_text(part)),
            None => edge.to_owned(),
        };
        let mut lines = vec![
            tr!("{} free", units::bytes_exact(part.size)),
            tr!("after {}", name(before, &tr!("the start of the segment"))),
            tr!("before {}", name(after, &tr!("the end of the segment"))),
            format!("{} – {}", units::address(part.addr), units::address(part.past_end())),
        ];
        let is_large = state.groups[state.rows[hit.row].group].key.class != Some(SizeClass::Small);
        if state.basis != Basis::EndState && is_large && before.is_some() {
            let slack = units::bytes_short(MAX_SLACK_BYTES);
            lines.push(tr!(
                "Up to {slack} of it may belong to the block before it, which no event tells",
                slack
            ));
        }
        lines
    }

    /// A segment in a few lines, with the blocks that keep it if it is mostly empty.
    pub(super) fn row_lines(self, answer: &MomentMap, row: usize) -> Vec<String> {
        let state = &answer.state;
        let Some(found) = state.rows.get(row) else { return Vec::new() };
        let key = &state.groups[found.group].key;
        if key.is_outside {
            return vec![tr!("{}: no segment is known here", units::address(found.addr))];
        }
        let mut group = group_text(key);
        if let Some(first) = group.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        let (address, size) = (units::address(found.addr), units::bytes(found.figures.reserved_bytes));
        let mut lines = vec![
            if found.is_expandable {
                tr!("Expandable segment {address} of {size}, {group}", address, size, group)
            } else {
                tr!("Segment {address} of {size}, {group}", address, size, group)
            },
            use_text(&found.figures),
        ];
        if let Some(pinned) = answer.pinned.iter().find(|pinned| pinned.row == row) {
            let named = pinned.blocks.iter().take(NAMED_BLOCKS).map(|part| self.block_text(part));
            let rest = pinned.blocks.len().saturating_sub(NAMED_BLOCKS);
            let rest =
                (0 < rest).then(|| tr!("{} more block" | "{} more blocks" % rest, units::count(rest as u64)));
            let all: Vec<String> = named.chain(rest).collect();
            lines.push(tr!("kept by {}", all.join(", ")));
        }
        lines
    }
}

/// The share of a segment that is in use, in words.
pub(crate) fn use_text(figures: &Figures) -> String {
    let share = units::percent(figures.active_rounded_bytes(), figures.reserved_bytes);
    let count = units::count(figures.blocks as u64);
    let in_use = tr!(
        "{share} in use by {count} block" | "{share} in use by {count} blocks" % figures.blocks,
        share,
        count
    );
    match figures.holes {
        0 => in_use,
        holes => {
            let free = units::bytes(figures.hole_bytes);
            let count = units::count(holes as u64);
            let free =
                tr!("{free} free in {count} hole" | "{free} free in {count} holes" % holes, free, count);
            format!("{in_use}, {free}")
        }
    }
}

/// A note on the exactness of the map; `None` if nothing is missing.
pub(crate) fn basis_text(state: &SegmentState) -> Option<String> {
    match state.basis {
        Basis::EndState | Basis::Events => None,
        Basis::TraceOnly => Some(tr!(
            "The end of the recording is missing: segments and blocks that its events neither make nor free \
             are not known and not shown"
        )),
    }
}
