//! The panes of an open file: which there are, and how they are arranged.
//!
//! A pane is one file with a `ui` function and one line in [`PANES`]. Users drag panes where they
//! want them; the arrangement is kept.

use crate::app::device::DeviceState;
use crate::app::{
    curves_panel, details, report_view, segment_map, segment_timeline, stacks, tables, theme, timeline,
    what_if,
};
use eframe::egui::{self, Id, Ui, WidgetText};
use egui_tiles::{
    Behavior, Linear, LinearDir, SimplificationOptions, Tabs, Tile, TileId, Tiles, Tree, UiResponse,
};

/// A kind of pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(super) enum Pane {
    /// Memory over time.
    Timeline,
    /// The selection, or what is at the cursor.
    Details,
    /// Addresses at the cursor.
    Segments,
    /// Addresses over time.
    SegmentTimeline,
    /// Where memory was allocated.
    Stacks,
    /// Total lines.
    Curves,
    /// Allocations as a table.
    Allocations,
    /// All events.
    Events,
    /// What happened and why.
    Report,
    /// Other allocator settings.
    WhatIf,
}

/// Where a pane is at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    Center,
    Tray,
    Right,
}

/// One pane.
struct Definition {
    pane: Pane,
    name: &'static str,
    home: Home,
    ui: fn(&mut Ui, &mut DeviceState),
}

/// Every pane, in the order in which they are offered.
const PANES: &[Definition] = &[
    Definition { pane: Pane::Timeline, name: "Timeline", home: Home::Center, ui: timeline::panel::ui },
    Definition { pane: Pane::Details, name: "Details", home: Home::Right, ui: details::panel::ui },
    Definition { pane: Pane::Segments, name: "Segments", home: Home::Tray, ui: segment_map::panel::ui },
    Definition {
        pane: Pane::SegmentTimeline,
        name: "Segment timeline",
        home: Home::Tray,
        ui: segment_timeline::panel::ui,
    },
    Definition { pane: Pane::Stacks, name: "Stacks", home: Home::Tray, ui: stacks::panel::ui },
    Definition { pane: Pane::Curves, name: "Curves", home: Home::Tray, ui: curves_panel::ui },
    Definition {
        pane: Pane::Allocations,
        name: "Allocations",
        home: Home::Tray,
        ui: tables::allocations::ui,
    },
    Definition { pane: Pane::Events, name: "Events", home: Home::Tray, ui: tables::events::ui },
    Definition { pane: Pane::Report, name: "Report", home: Home::Tray, ui: report_view::panel::ui },
    Definition { pane: Pane::WhatIf, name: "What if", home: Home::Tray, ui: what_if::panel::ui },
];

/// Shares of the window that the tray and the right side get.
const TRAY_SHARE: f32 = 0.36;
const RIGHT_SHARE: f32 = 0.25;

/// The arrangement of the panes; all files share it.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Layout {
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
    /// This arrangement, or the first one if it is of a version with other panes.
    pub(super) fn or_default(self) -> Self {
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

    /// The panes of a device.
    pub(super) fn ui(&mut self, ui: &mut Ui, device: &mut DeviceState) {
        if let Some(pane) = device.wanted_pane.take() {
            self.tree.make_active(|_, tile| matches!(tile, Tile::Pane(found) if *found == pane));
        }
        self.tree.ui(&mut Show { device }, ui);
    }
}

/// Draws panes for the tree.
struct Show<'a> {
    device: &'a mut DeviceState,
}

fn definition(pane: Pane) -> Option<&'static Definition> {
    PANES.iter().find(|definition| definition.pane == pane)
}

/// The pane with a name.
pub(super) fn by_name(name: &str) -> Option<Pane> {
    PANES.iter().find(|definition| definition.name == name).map(|definition| definition.pane)
}

impl Behavior<Pane> for Show<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile_id: TileId, pane: &mut Pane) -> UiResponse {
        if let Some(definition) = definition(*pane) {
            theme::pane_frame(ui).show(ui, |ui| {
                ui.set_min_size(ui.available_size());
                (definition.ui)(ui, self.device);
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

    fn is_tab_bar_visible(&self, _tile_id: TileId, tabs: &Tabs) -> bool {
        1 < tabs.children.len()
    }

    fn tab_bar_height(&self, _style: &egui::Style) -> f32 {
        28.0
    }

    fn gap_width(&self, _style: &egui::Style) -> f32 {
        1.0
    }

    fn min_size(&self) -> f32 {
        80.0
    }

    fn tab_bar_color(&self, visuals: &egui::Visuals) -> egui::Color32 {
        visuals.panel_fill
    }
}
