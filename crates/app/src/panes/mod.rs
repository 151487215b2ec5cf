//! The panes of an open file, and their arrangement.
//!
//! A pane is a folder or a file with a `ui` function, and one entry in [`PANES`]. Users drag panes where
//! they want them; the arrangement is kept.

mod arrangement;
mod dividers;
mod layout;
mod open_device;
mod opening;
mod pane;
mod show;

pub(crate) use layout::Layout;
pub(crate) use open_device::{OpenDevice, PaneStates};
pub(crate) use pane::Pane;

use crate::device::PaneCtx;
use crate::{
    compare, details, holes, legend, notes, range, remedies, report_view, segment_map, segment_timeline,
    stacks, tables, timeline, what_if,
};
use eframe::egui::Ui;
use report_view::target::Elsewhere;

/// The place of a pane until the user drags it elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    /// The largest part, always in sight.
    Center,
    /// Below or beside the center, as one of several tabs.
    Tray,
    /// The top of the right side, always in sight.
    RightTop,
    /// The right side below that, as one of several tabs.
    Right,
}

/// Everything that is particular to one pane.
struct Definition {
    pane: Pane,
    name: &'static str,
    home: Home,
    /// Whether the pane is about what happened over time: without that, it is left out.
    needs_history: bool,
    ui: fn(&mut Ui, &mut PaneCtx<'_>, &mut PaneStates),
}

/// Every pane, in the order of tabs.
const PANES: &[Definition] = &[
    Definition {
        pane: Pane::Timeline,
        name: "Timeline",
        home: Home::Center,
        needs_history: true,
        ui: |ui, ctx, states| timeline::panel::ui(ui, ctx, &mut states.timeline),
    },
    Definition {
        pane: Pane::Legend,
        name: "At the cursor",
        home: Home::RightTop,
        needs_history: false,
        ui: |ui, ctx, states| legend::panel::ui(ui, ctx, &mut states.legend),
    },
    Definition {
        pane: Pane::Report,
        name: "Report",
        home: Home::Right,
        needs_history: false,
        ui: |ui, ctx, states| states.wanted = report_view::panel::ui(ui, ctx).map(pane_of).or(states.wanted),
    },
    Definition {
        pane: Pane::Details,
        name: "Details",
        home: Home::Right,
        needs_history: false,
        ui: |ui, ctx, states| details::panel::ui(ui, ctx, &mut states.details),
    },
    Definition {
        pane: Pane::Segments,
        name: "Segment map",
        home: Home::Tray,
        needs_history: false,
        ui: |ui, ctx, states| segment_map::panel::ui(ui, ctx, &mut states.segments),
    },
    Definition {
        pane: Pane::SegmentTimeline,
        name: "Segment timeline",
        home: Home::Tray,
        needs_history: true,
        ui: |ui, ctx, states| segment_timeline::panel::ui(ui, ctx, &mut states.segment_timeline),
    },
    Definition {
        pane: Pane::Stacks,
        name: "Stacks",
        home: Home::Tray,
        needs_history: false,
        ui: |ui, ctx, states| stacks::panel::ui(ui, ctx, &mut states.stacks),
    },
    Definition {
        pane: Pane::Holes,
        name: "Holes",
        home: Home::Tray,
        needs_history: true,
        ui: |ui, ctx, states| holes::panel::ui(ui, ctx, &mut states.holes),
    },
    Definition {
        pane: Pane::Allocations,
        name: "Allocations",
        home: Home::Tray,
        needs_history: false,
        ui: |ui, ctx, states| tables::allocations::ui(ui, ctx, &mut states.allocations),
    },
    Definition {
        pane: Pane::Events,
        name: "Events",
        home: Home::Tray,
        needs_history: true,
        ui: |ui, ctx, states| tables::events::ui(ui, ctx, &mut states.events),
    },
    Definition {
        pane: Pane::Iterations,
        name: "Iterations",
        home: Home::Tray,
        needs_history: true,
        ui: |ui, ctx, states| tables::iterations::ui(ui, ctx, &mut states.iterations),
    },
    Definition {
        pane: Pane::Modules,
        name: "Modules",
        home: Home::Tray,
        needs_history: false,
        ui: |ui, ctx, states| tables::modules::ui(ui, ctx, &mut states.modules),
    },
    Definition {
        pane: Pane::WhatIf,
        name: "What if",
        home: Home::Tray,
        needs_history: true,
        ui: |ui, ctx, states| what_if::panel::ui(ui, ctx, &mut states.what_if),
    },
    Definition {
        pane: Pane::Remedies,
        name: "Fixes",
        home: Home::Tray,
        needs_history: false,
        ui: |ui, ctx, states| remedies::panel::ui(ui, ctx, &mut states.remedies),
    },
    Definition {
        pane: Pane::Compare,
        name: "Compare",
        home: Home::Tray,
        needs_history: false,
        ui: |ui, ctx, states| compare::panel::ui(ui, ctx, &mut states.compare),
    },
    Definition {
        pane: Pane::Notes,
        name: "Notes",
        home: Home::Tray,
        needs_history: false,
        ui: |ui, ctx, states| notes::panel::ui(ui, ctx, &mut states.notes),
    },
    Definition {
        pane: Pane::Range,
        name: "Range",
        home: Home::Tray,
        needs_history: true,
        ui: |ui, ctx, states| {
            if range::panel::ui(ui, ctx, &mut states.range) {
                states.stacks.controls.mode = stacks::controls::Mode::Change;
                states.wanted = Some(Pane::Stacks);
            }
        },
    },
];

fn pane_of(wanted: Elsewhere) -> Pane {
    match wanted {
        Elsewhere::WhatIf => Pane::WhatIf,
        Elsewhere::Remedies => Pane::Remedies,
    }
}

fn definition(pane: Pane) -> Option<&'static Definition> {
    let found = PANES.iter().find(|definition| definition.pane == pane);
    debug_assert!(found.is_some(), "{pane:?} is not among the panes");
    found
}

/// Keys of the first panes of the tray, in their order.
pub(crate) const TRAY_KEYS: &str = "1234567890";

fn in_tray() -> impl Iterator<Item = Pane> {
    PANES.iter().filter(|definition| definition.home == Home::Tray).map(|definition| definition.pane)
}

/// A pane of the tray, by its place there.
pub(crate) fn of_tray(place: usize) -> Option<Pane> {
    in_tray().nth(place)
}

/// The key that brings a pane of the tray to the front.
pub(crate) fn key_of(pane: Pane) -> Option<char> {
    in_tray().zip(TRAY_KEYS.chars()).find(|&(known, _)| known == pane).map(|(_, key)| key)
}

/// Every pane with its name.
pub(crate) fn all() -> impl Iterator<Item = (Pane, &'static str)> {
    PANES.iter().map(|definition| (definition.pane, definition.name))
}

/// The pane with a name.
pub(crate) fn by_name(name: &str) -> Option<Pane> {
    PANES.iter().find(|definition| definition.name == name).map(|definition| definition.pane)
}
