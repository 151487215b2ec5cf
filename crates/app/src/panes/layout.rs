//! The places of the panes: arranged for the room there is, and as the user wants them after a change.

use super::arrangement::{Tray, arranged, is_tray_beside, is_tray_closed};
use super::dividers;
use super::opening::{Opening, view};
use super::show::{MIN_PANE_PX, Show};
use super::{Home, OpenDevice, PANES, Room, definition, more};
use crate::device::{PaneId, Wish};
use eframe::egui::{Ui, Vec2};
use egui_tiles::{Tile, TileId, Tree};

/// Room of the first start, in points: panes are arranged anew as soon as it is known.
const FIRST_ROOM_PX: Vec2 = Vec2::new(1440.0, 780.0);

/// The arrangement of the panes; all files share it.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Layout {
    tree: Tree<PaneId>,
    /// Whether the user has moved or resized a pane.
    is_custom: bool,
    /// The room that the panes were arranged for, in points.
    #[serde(skip)]
    room_px: Vec2,
    /// What the size of the tray depends on.
    #[serde(skip)]
    tray: Tray,
    /// The view of the tray that a file was opened with: until another one is chosen, the timeline has the room.
    #[serde(skip)]
    opened_with: Option<PaneId>,
}

impl Default for Layout {
    fn default() -> Self {
        let tray = Tray::default();
        let tree = arranged(FIRST_ROOM_PX, tray);
        Self { tree, is_custom: false, room_px: FIRST_ROOM_PX, tray, opened_with: None }
    }
}

impl Layout {
    /// This arrangement, or the default one if another version with other panes has stored it.
    pub(crate) fn or_default(self) -> Self {
        let mut panes: Vec<PaneId> = self.panes().map(|(_, pane)| pane).collect();
        panes.sort_unstable();
        let mut known: Vec<PaneId> = PANES.iter().map(|definition| definition.pane).collect();
        known.sort_unstable();
        if panes == known { self } else { Self::default() }
    }

    fn panes(&self) -> impl Iterator<Item = (TileId, PaneId)> + '_ {
        self.tree.tiles.iter().filter_map(|(id, tile)| match tile {
            Tile::Pane(pane) => Some((*id, *pane)),
            Tile::Container(_) => None,
        })
    }

    /// Draw the panes of a device.
    pub(crate) fn ui(&mut self, ui: &mut Ui, device: &mut OpenDevice) {
        debug_assert!(
            PANES.iter().all(|known| super::by_name(known.name) == Some(known.pane)),
            "a name is used twice"
        );
        self.fit(ui.available_size());
        self.hide(device.derived.figures.has_history);
        if let Some(pane) = device.wanted_pane.take() {
            self.show(pane);
            self.enlarge(self.tray.is_large || (self.is_tray_closed() && is_in_tray(pane)));
        }
        if device.seen != device.at.selection() {
            // It was selected outside of the panes.
            device.seen = device.at.selection();
            if device.at.selection().has_details() {
                self.show(PaneId::Details);
            }
        }
        self.open(device);
        self.fit_tray(device);
        let opened_at = device.opened_at;
        let has_history = device.derived.figures.has_history;
        let (mut ctx, states) = device.split();
        let tray_size = (!self.is_custom && !is_tray_beside(self.room_px)).then_some(self.tray.is_large);
        let mut show = Show {
            ctx: &mut ctx,
            states,
            opened_at,
            is_custom: self.is_custom,
            selected_in: None,
            wanted: None,
            more: more(has_history).collect(),
            tray_size,
            is_resized: false,
            is_tray_closed: self.is_tray_closed(),
        };
        self.tree.ui(&mut show, ui);
        let (selected_in, is_resized, wanted) = (show.selected_in, show.is_resized, show.wanted);
        self.is_custom = show.is_custom | dividers::ui(ui, &mut self.tree, MIN_PANE_PX);
        device.seen = device.at.selection();
        if let Some(pane) = wanted {
            device.wanted_pane = Some(pane);
            ui.request_repaint();
        }
        if let Some(pane) = selected_in {
            self.show_details_beside(pane);
        }
        if std::mem::take(&mut device.states.timeline.has_new_range) {
            // The tray keeps its size, so that the ends of the range stay under the pointer.
            self.show(PaneId::Range);
            ui.request_repaint();
        }
        if let Some(wish) = device.wish.take() {
            let pane = match wish {
                Wish::Show(pane) => pane,
                Wish::ShowChange => {
                    device.states.stacks.controls.show_change();
                    PaneId::Stacks
                }
            };
            self.show(pane);
            // Who follows a link wants to see what it leads to.
            self.enlarge(self.tray.is_large || is_in_tray(pane));
            ui.request_repaint();
        }
        if is_resized {
            self.enlarge(!self.tray.is_large);
        }
    }

    /// Bring the panes to the front that a file opens with: first the fixes, and the view for its verdict as soon as that is
    /// known, unless the user has chosen another meanwhile.
    fn open(&mut self, device: &mut OpenDevice) {
        if device.opening == Opening::New {
            // A link may lead to a selection.
            if !device.at.selection().has_details() {
                self.show(PaneId::Fixes);
            }
            device.opening = Opening::Waits(self.in_front());
        }
        let (Opening::Waits(in_front), Some(verdict)) = (&device.opening, device.derived.verdict()) else {
            return;
        };
        if self.in_front() == *in_front {
            let view = view(verdict.id, device.derived.figures.has_history);
            self.show(view);
            self.opened_with = Some(view);
            // The user may have put both into one place.
            in_front.iter().filter(|pane| **pane == PaneId::Fixes).for_each(|pane| self.show(*pane));
        }
        device.opening = Opening::Done;
    }

    /// True if only the tabs of the tray have room.
    fn is_tray_closed(&self) -> bool {
        !self.is_custom && !self.tray.is_large && is_tray_closed(self.room_px)
    }

    /// Give the tray more room, or less.
    fn enlarge(&mut self, is_large: bool) {
        self.resize_tray(Tray { is_large, ..self.tray });
    }

    fn resize_tray(&mut self, tray: Tray) {
        if self.tray != tray {
            self.tray = tray;
            self.arrange(self.room_px);
        }
    }

    /// Give the tray the height that the view in front needs.
    fn fit_tray(&mut self, device: &mut OpenDevice) {
        let in_front =
            self.in_front().into_iter().find_map(|pane| Some((pane, definition(pane)?.home.room()?)));
        if let Some((pane, room)) = in_front.filter(|(_, room)| *room != Room::Same) {
            self.opened_with = self.opened_with.filter(|opened| *opened == pane);
            let room = if self.opened_with.is_some() { Room::Picture } else { room };
            let content_px = device.states.of(pane).height_px();
            self.resize_tray(Tray { room, content_px, ..self.tray });
        }
    }

    /// Arrange the panes for the room there is, unless the user has moved them. The same panes stay in front.
    fn fit(&mut self, room_px: Vec2) {
        if self.room_px != room_px {
            self.arrange(room_px);
        }
    }

    fn arrange(&mut self, room_px: Vec2) {
        if self.is_custom {
            return;
        }
        let in_front = self.in_front();
        (self.tree, self.room_px) = (arranged(room_px, self.tray), room_px);
        for pane in in_front {
            self.show(pane);
        }
    }

    fn in_front(&self) -> Vec<PaneId> {
        let active = self.tree.active_tiles();
        let panes = self.panes().filter(|(id, _)| active.contains(id));
        let mut panes: Vec<PaneId> = panes.map(|(_, pane)| pane).collect();
        panes.sort_unstable();
        panes
    }

    fn show(&mut self, wanted: PaneId) {
        if let Some(id) = self.tile(wanted) {
            self.tree.set_visible(id, true);
        }
        self.tree.make_active(|_, tile| matches!(tile, Tile::Pane(pane) if *pane == wanted));
    }

    /// Hide what *More* leads to unless it is in front. A recording without a history has the room for what it does have.
    fn hide(&mut self, has_history: bool) {
        let all: Vec<(TileId, PaneId)> = self.panes().collect();
        let in_front = self.tree.active_tiles();
        for (id, pane) in all {
            let Some(known) = definition(pane) else { continue };
            let is_tab = !matches!(known.home, Home::More(_)) || in_front.contains(&id);
            self.tree.set_visible(id, is_tab && (has_history || !known.needs_history));
        }
    }

    fn tile(&self, wanted: PaneId) -> Option<TileId> {
        self.panes().find(|&(_, pane)| pane == wanted).map(|(id, _)| id)
    }

    /// Bring the details of what was selected in a pane to the front, unless they would hide that pane.
    fn show_details_beside(&mut self, pane: PaneId) {
        let home = |wanted| self.tile(wanted).and_then(|id| self.tree.tiles.parent_of(id));
        if home(pane) != home(PaneId::Details) {
            self.show(PaneId::Details);
        }
    }
}

fn is_in_tray(pane: PaneId) -> bool {
    definition(pane).is_some_and(|definition| definition.home.room().is_some())
}
