//! The panes of an open file, and their arrangement.
//!
//! A pane is a folder or a file with a `ui` function, and one entry in [`PANES`]. Users drag panes where
//! they want them; the arrangement is kept.

mod open_device;
mod pane;

pub(in crate::app) use open_device::{OpenDevice, PaneStates};
pub(in crate::app) use pane::Pane;

use crate::app::device::PaneCtx;
use crate::app::{
    curves_panel, details, remedies, report_view, segment_map, segment_timeline, stacks, tables, theme,
    timeline, what_if,
};
use eframe::egui::{self, Id, Ui, WidgetText};
use egui_tiles::{
    Behavior, Linear, LinearDir, SimplificationOptions, Tabs, Tile, TileId, Tiles, Tree, UiResponse,
};

/// The place of a pane until the user drags it elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    /// Above the tray.
    Center,
    /// Below the center, as one of several tabs.
    Tray,
    /// The right side, as high as the window.
    Right,
}

/// Everything that is particular to one pane.
struct Definition {
    pane: Pane,
    name: &'static str,
    home: Home,
    ui: fn(&mut Ui, &mut PaneCtx<'_>, &mut PaneStates),
}

/// Every pane, in the order of tabs.
const PANES: &[Definition] = &[
    Definition {
        pane: Pane::Timeline,
        name: "Timeline",
        home: Home::Center,
        ui: |ui, ctx, states| timeline::panel::ui(ui, ctx, &mut states.timeline),
    },
    Definition {
        pane: Pane::Details,
        name: "Details",
        home: Home::Right,
        ui: |ui, ctx, states| details::panel::ui(ui, ctx, &mut states.details),
    },
    Definition {
        pane: Pane::Segments,
        name: "Segments",
        home: Home::Tray,
        ui: |ui, ctx, states| segment_map::panel::ui(ui, ctx, &mut states.segments),
    },
    Definition {
        pane: Pane::SegmentTimeline,
        name: "Segment timeline",
        home: Home::Tray,
        ui: |ui, ctx, states| segment_timeline::panel::ui(ui, ctx, &mut states.segment_timeline),
    },
    Definition {
        pane: Pane::Stacks,
        name: "Stacks",
        home: Home::Tray,
        ui: |ui, ctx, states| stacks::panel::ui(ui, ctx, &mut states.stacks),
    },
    Definition {
        pane: Pane::Curves,
        name: "Curves",
        home: Home::Tray,
        ui: |ui, ctx, _| curves_panel::ui(ui, ctx),
    },
    Definition {
        pane: Pane::Allocations,
        name: "Allocations",
        home: Home::Tray,
        ui: |ui, ctx, states| tables::allocations::ui(ui, ctx, &mut states.allocations),
    },
    Definition {
        pane: Pane::Events,
        name: "Events",
        home: Home::Tray,
        ui: |ui, ctx, states| tables::events::ui(ui, ctx, &mut states.events),
    },
    Definition {
        pane: Pane::Iterations,
        name: "Iterations",
        home: Home::Tray,
        ui: |ui, ctx, states| tables::iterations::ui(ui, ctx, &mut states.iterations),
    },
    Definition {
        pane: Pane::Modules,
        name: "Modules",
        home: Home::Tray,
        ui: |ui, ctx, states| tables::modules::ui(ui, ctx, &mut states.modules),
    },
    Definition {
        pane: Pane::Report,
        name: "Report",
        home: Home::Tray,
        ui: |ui, ctx, states| report_view::panel::ui(ui, ctx, &mut states.report),
    },
    Definition {
        pane: Pane::WhatIf,
        name: "What if",
        home: Home::Tray,
        ui: |ui, ctx, states| what_if::panel::ui(ui, ctx, &mut states.what_if),
    },
    Definition {
        pane: Pane::Remedies,
        name: "Remedies",
        home: Home::Tray,
        ui: |ui, ctx, states| remedies::panel::ui(ui, ctx, &mut states.remedies),
    },
];

/// Share of the height that the tray gets at first: more than half is left to the timeline.
const TRAY_SHARE: f32 = 0.36;

/// Share of the width that the right side gets at first: room for the names and values of details.
const RIGHT_SHARE: f32 = 0.25;

/// Height of the line of tabs, in points: a button with a little space.
const TAB_BAR_PX: f32 = 28.0;

/// Width of the lines between panes, in points.
const GAP_PX: f32 = 1.0;

/// A pane cannot be dragged smaller than this, in points, so that it can be found again.
const MIN_PANE_PX: f32 = 80.0;

/// The arrangement of the panes; all files share it.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(in crate::app) struct Layout {
    tree: Tree<Pane>,
}

impl Default for Layout {
    fn default() -> Self {
        let mut tiles = Tiles::default();
        let mut insert = |home| -> Vec<TileId> {
            let panes = PANES.iter().filter(|definition| definition.home == home);
            panes.map(|definition| tiles.insert_pane(definition.pane)).collect()
        };
        let (center, tray, right) = (insert(Home::Center), insert(Home::Tray), insert(Home::Right));
        let tab = |tiles: &mut Tiles<Pane>, panes| tiles.insert_container(Tabs::new(panes));
        let (center, tray, right) = (tab(&mut tiles, center), tab(&mut tiles, tray), tab(&mut tiles, right));
        let left = Linear::new_binary(LinearDir::Vertical, [center, tray], 1.0 - TRAY_SHARE);
        let left = tiles.insert_container(left);
        let all = Linear::new_binary(LinearDir::Horizontal, [left, right], 1.0 - RIGHT_SHARE);
        let root = tiles.insert_container(all);
        Self { tree: Tree::new(Id::unique("panes"), root, tiles) }
    }
}

impl Layout {
    /// This arrangement, or the default one if another version with other panes has stored it.
    pub(in crate::app) fn or_default(self) -> Self {
        let panes = self.tree.tiles.tiles().filter_map(|tile| match tile {
            Tile::Pane(pane) => Some(*pane),
            Tile::Container(_) => None,
        });
        let mut panes: Vec<Pane> = panes.collect();
        panes.sort_unstable();
        let mut known: Vec<Pane> = PANES.iter().map(|definition| definition.pane).collect();
        known.sort_unstable();
        if panes == known { self } else { Self::default() }
    }

    /// Draw the panes of a device.
    pub(in crate::app) fn ui(&mut self, ui: &mut Ui, device: &mut OpenDevice) {
        debug_assert!(
            PANES.iter().all(|known| by_name(known.name) == Some(known.pane)),
            "a name is used twice"
        );
        if let Some(pane) = device.wanted_pane.take() {
            self.tree.make_active(|_, tile| matches!(tile, Tile::Pane(found) if *found == pane));
        }
        let (mut ctx, states) = device.split();
        self.tree.ui(&mut Show { ctx: &mut ctx, states }, ui);
    }
}

/// Draws panes for the tree.
struct Show<'a, 'c> {
    ctx: &'a mut PaneCtx<'c>,
    states: &'a mut PaneStates,
}

fn definition(pane: Pane) -> Option<&'static Definition> {
    let found = PANES.iter().find(|definition| definition.pane == pane);
    debug_assert!(found.is_some(), "{pane:?} is not among the panes");
    found
}

/// The pane with a name.
pub(in crate::app) fn by_name(name: &str) -> Option<Pane> {
    PANES.iter().find(|definition| definition.name == name).map(|definition| definition.pane)
}

impl Behavior<Pane> for Show<'_, '_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile_id: TileId, pane: &mut Pane) -> UiResponse {
        if let Some(definition) = definition(*pane) {
            theme::pane_frame(ui).show(ui, |ui| {
                ui.set_min_size(ui.available_size());
                (definition.ui)(ui, self.ctx, self.states);
            });
        }
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Pane) -> WidgetText {
        definition(*pane).map_or("", |definition| definition.name).into()
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions { all_panes_must_have_tabs: true, ..Default::default() }
    }

    // A lone pane says by itself what it is.
    fn is_tab_bar_visible(&self, _tile_id: TileId, tabs: &Tabs) -> bool {
        1 < tabs.children.len()
    }

    fn tab_bar_height(&self, _style: &egui::Style) -> f32 {
        TAB_BAR_PX
    }

    fn gap_width(&self, _style: &egui::Style) -> f32 {
        GAP_PX
    }

    fn min_size(&self) -> f32 {
        MIN_PANE_PX
    }

    fn tab_bar_color(&self, visuals: &egui::Visuals) -> egui::Color32 {
        visuals.panel_fill
    }
}
