//! How panes and their tabs are drawn.

use super::{PaneStates, definition, key_of};
use crate::device::PaneCtx;
use crate::device::PaneId;
use crate::texts;
use crate::theme;
use eframe::egui::{self, Response, Ui, WidgetText};
use egui_tiles::{
    Behavior, Container, EditAction, SimplificationOptions, TabState, Tabs, Tile, TileId, Tiles, UiResponse,
};
use std::time::SystemTime;
use tr::tr;

/// Height of the line of tabs, in points: a button with a little space.
pub(super) const TAB_BAR_PX: f32 = 28.0;

/// Space on each side of a tab's name, in points.
const TAB_PADDING_PX: f32 = 10.0;

/// Width of the lines between panes, in points.
pub(super) const GAP_PX: f32 = 1.0;

/// A pane cannot be dragged smaller than this, in points, so that it can be found again.
pub(super) const MIN_PANE_PX: f32 = 80.0;

/// Draws panes for the tree.
pub(super) struct Show<'a, 'c> {
    pub(super) ctx: &'a mut PaneCtx<'c>,
    pub(super) states: &'a mut PaneStates,
    /// When the device was opened.
    pub(super) opened_at: SystemTime,
    /// Whether the user has moved or resized a pane.
    pub(super) is_custom: bool,
    /// The pane in which the user has just selected something.
    pub(super) selected_in: Option<PaneId>,
    /// The pane that the user has just chosen from *More*.
    pub(super) wanted: Option<PaneId>,
    /// The panes that *More* leads to, with their names.
    pub(super) more: Vec<(PaneId, &'static str)>,
    /// Whether only the tabs of the tray are shown.
    pub(super) is_tray_closed: bool,
    /// Whether the tray is large; `None` where its size cannot be switched.
    pub(super) tray_size: Option<bool>,
    /// Whether the user wants the other size of the tray.
    pub(super) is_resized: bool,
}

impl Show<'_, '_> {
    /// The menu of panes that have no tab of their own.
    fn more_ui(&mut self, ui: &mut Ui) {
        let menu = ui.menu_button(theme::small(tr!("More")), |ui| {
            for &(pane, name) in &self.more {
                let key = key_of(pane).map(String::from).unwrap_or_default();
                if ui.add(egui::Button::new(texts::translated(name)).shortcut_text(key)).clicked() {
                    self.wanted = Some(pane);
                    ui.close();
                }
            }
        });
        menu.response.on_hover_text(tr!("Fixes, settings, events and other views"));
    }
}

impl Behavior<PaneId> for Show<'_, '_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile_id: TileId, pane: &mut PaneId) -> UiResponse {
        let before = self.ctx.at.selection();
        theme::pane_frame(ui).show(ui, |ui| {
            ui.set_min_size(ui.available_size());
            // No file finds its panes scrolled or unfolded as another one left them, or one of yesterday.
            ui.push_id(self.opened_at, |ui| self.states.of(*pane).ui(ui, self.ctx));
        });
        let selection = self.ctx.at.selection();
        // The report shows by itself what it leads to.
        if selection != before && selection.has_details() && *pane != PaneId::Report {
            self.selected_in = Some(*pane);
        }
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &PaneId) -> WidgetText {
        definition(*pane).map(|definition| texts::translated(definition.name)).unwrap_or_default().into()
    }

    fn on_tab_button(&mut self, tiles: &mut Tiles<PaneId>, tile_id: TileId, tab: Response) -> Response {
        let Some(Tile::Pane(pane)) = tiles.get(tile_id) else { return tab };
        let around = tiles.parent_of(tile_id).and_then(|parent| tiles.get(parent));
        let is_active =
            matches!(around, Some(Tile::Container(Container::Tabs(tabs))) if tabs.active == Some(tile_id));
        let name = definition(*pane).map(|definition| texts::translated(definition.name)).unwrap_or_default();
        tab.widget_info(|| egui::WidgetInfo::selected(egui::Role::Tab, true, is_active, &name));
        match key_of(*pane) {
            // Whoever wants to see a view of the tray makes room for it.
            Some(_) if self.is_tray_closed && tab.clicked() => {
                self.is_resized = true;
                tab
            }
            Some(key) => tab.on_hover_text(tr!("Key {key}", key)),
            None => tab,
        }
    }

    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<PaneId>,
        ui: &mut Ui,
        _tile_id: TileId,
        tabs: &Tabs,
        _scroll_offset: &mut f32,
    ) {
        let is_tray = |id: &TileId| matches!(tiles.get(*id), Some(Tile::Pane(PaneId::Segments)));
        if !tabs.children.iter().any(is_tray) {
            return;
        }
        self.more_ui(ui);
        let Some(is_large) = self.tray_size else { return };
        let (name, hint) = if is_large {
            (tr!("Smaller"), tr!("More room for the timeline"))
        } else {
            (tr!("Larger"), tr!("More room for these views"))
        };
        self.is_resized |= ui.button(theme::small(name)).on_hover_text(hint).clicked();
    }

    // The bar behind the tabs: nobody looks there for something to drag, and it would be a stop of the Tab key.
    fn is_tile_draggable(&self, tiles: &Tiles<PaneId>, tile_id: TileId) -> bool {
        matches!(tiles.get(tile_id), Some(Tile::Pane(_)))
    }

    // Those of the library have no names, and need a mouse.
    fn is_container_resizable(&self, _tiles: &Tiles<PaneId>, _tile_id: TileId) -> bool {
        false
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions { all_panes_must_have_tabs: true, ..Default::default() }
    }

    // At its home, a lone pane says by itself what it is. Elsewhere, its tab is the handle to drag it away.
    fn is_tab_bar_visible(&self, _tile_id: TileId, tabs: &Tabs) -> bool {
        self.is_custom || 1 < tabs.children.len()
    }

    fn on_edit(&mut self, edit: EditAction) {
        self.is_custom |= matches!(edit, EditAction::TileResized | EditAction::TileDropped);
    }

    fn tab_bar_height(&self, _style: &egui::Style) -> f32 {
        TAB_BAR_PX
    }

    fn tab_title_spacing(&self, _visuals: &egui::Visuals) -> f32 {
        TAB_PADDING_PX
    }

    fn gap_width(&self, _style: &egui::Style) -> f32 {
        GAP_PX
    }

    fn min_size(&self) -> f32 {
        MIN_PANE_PX
    }

    // Tabs lie on a darker ground, and the one in front is of one piece with its pane.
    fn tab_bar_color(&self, visuals: &egui::Visuals) -> egui::Color32 {
        visuals.extreme_bg_color
    }

    fn tab_bg_color(
        &self,
        visuals: &egui::Visuals,
        _tiles: &Tiles<PaneId>,
        _tile_id: TileId,
        state: &TabState,
    ) -> egui::Color32 {
        if state.active { visuals.panel_fill } else { visuals.faint_bg_color }
    }

    fn tab_outline_stroke(
        &self,
        visuals: &egui::Visuals,
        _tiles: &Tiles<PaneId>,
        _tile_id: TileId,
        _state: &TabState,
    ) -> egui::Stroke {
        visuals.widgets.noninteractive.bg_stroke
    }

    fn tab_text_color(
        &self,
        visuals: &egui::Visuals,
        _tiles: &Tiles<PaneId>,
        _tile_id: TileId,
        state: &TabState,
    ) -> egui::Color32 {
        if state.active { visuals.text_color() } else { visuals.weak_text_color() }
    }
}
