//! The arrangement of the panes that fits the room there is, until the user makes another.

use super::show::{GAP_PX, TAB_BAR_PX};
use super::{Home, PANES, Room};
use crate::device::PaneId;
use crate::{theme, timeline};
use eframe::egui::{Id, Vec2};
use egui_tiles::{Linear, LinearDir, Tabs, TileId, Tiles, Tree};

/// Width, in points, from which the tray stands beside the timeline: both are wide enough for text then, and the
/// timeline is as high as the window.
const MIN_BESIDE_PX: f32 = 2000.0;

/// Share of the width that the tray gets beside the timeline.
const BESIDE_SHARE: f32 = 0.47;

/// Share of the height that the tray gets below the timeline, and its limits in points: a few rows of segments at
/// least, and more than half is left to the timeline.
const TRAY_SHARE: f32 = 0.275;
const TRAY_PX: [f32; 2] = [150.0, 420.0];

/// Share of the height that a table gets below the timeline.
const TABLE_SHARE: f32 = 0.5;

/// Height of the tray below which only its tabs stay, in points: the tools of a view, and a few rows.
const MIN_TRAY_PX: f32 = 100.0;

/// Share of the height that the tray gets below the timeline when the user wants to see more of it.
const LARGE_TRAY_SHARE: f32 = 0.6;

/// The same where only its tabs have room else: less than this shows the tools of a view, and nothing of it.
const ONLY_TRAY_SHARE: f32 = 0.8;

/// Share of the width that the right side gets, and its limits in points: room for the names and values of details,
/// and lines that are not too long to read.
const RIGHT_SHARE: f32 = 0.25;
const RIGHT_PX: [f32; 2] = [260.0, 520.0];

/// Largest share of the width that the right side gets.
const MAX_RIGHT_SHARE: f32 = 0.45;

/// Height of the values at the cursor in points, and the largest share of the height that they get.
const LEGEND_PX: f32 = 244.0;
const MAX_LEGEND_SHARE: f32 = 0.42;

/// What the tray shows, as far as its size depends on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tray {
    /// Whether the user wants to see more of it.
    pub(super) is_large: bool,
    /// The height that the view in front needs.
    pub(super) room: Room,
    /// The height of that view's content in points, where it is known to be little.
    pub(super) content_px: Option<f32>,
}

impl Default for Tray {
    fn default() -> Self {
        Self { is_large: false, room: Room::Picture, content_px: None }
    }
}

/// True if the tray stands beside the timeline in room of some size in points.
pub(super) fn is_tray_beside(room: Vec2) -> bool {
    MIN_BESIDE_PX <= room.x
}

/// Height of the tray below the timeline in room of some height, in points.
fn tray_px(room_px: f32, tray: Tray) -> f32 {
    let timeline_px = timeline::panel::WHOLE_PX + 2.0 * f32::from(theme::PANE_MARGIN_PX);
    let left_px = room_px - timeline_px - GAP_PX;
    let most_px = if left_px < MIN_TRAY_PX { TAB_BAR_PX } else { left_px };
    let wanted_px = match tray.room {
        Room::Table => {
            let content_px = tray.content_px.map_or(f32::INFINITY, |px| px + TAB_BAR_PX);
            (room_px * TABLE_SHARE).min(content_px).max(TRAY_PX[0])
        }
        Room::Picture | Room::Same => (room_px * TRAY_SHARE).clamp(TRAY_PX[0], TRAY_PX[1]),
    };
    wanted_px.min(most_px)
}

/// True if nothing but the tabs of the tray has room below the timeline.
pub(super) fn is_tray_closed(room: Vec2) -> bool {
    !is_tray_beside(room) && tray_px(room.y, Tray::default()) <= TAB_BAR_PX
}

/// All panes at their homes, in room of some size in points.
pub(super) fn arranged(room: Vec2, tray: Tray) -> Tree<PaneId> {
    let mut tiles = Tiles::default();
    let mut insert = |is_home: fn(Home) -> bool| -> TileId {
        let panes = PANES.iter().filter(|definition| is_home(definition.home));
        let panes = panes.map(|definition| tiles.insert_pane(definition.pane)).collect();
        tiles.insert_container(Tabs::new(panes))
    };
    let (center, below) = (insert(|home| home == Home::Center), insert(|home| home.room().is_some()));
    let (right_top, right) = (insert(|home| home == Home::RightTop), insert(|home| home == Home::Right));
    let right_px = (room.x * RIGHT_SHARE).clamp(RIGHT_PX[0], RIGHT_PX[1]).min(room.x * MAX_RIGHT_SHARE);
    let (dir, tray_share) = if is_tray_beside(room) {
        (LinearDir::Horizontal, BESIDE_SHARE)
    } else if tray.is_large {
        (LinearDir::Vertical, if is_tray_closed(room) { ONLY_TRAY_SHARE } else { LARGE_TRAY_SHARE })
    } else {
        (LinearDir::Vertical, tray_px(room.y, tray) / room.y.max(1.0))
    };
    let left = split(&mut tiles, dir, [center, below], 1.0 - tray_share);
    let legend_share = (LEGEND_PX / room.y.max(1.0)).min(MAX_LEGEND_SHARE);
    let right = split(&mut tiles, LinearDir::Vertical, [right_top, right], legend_share);
    let root = split(&mut tiles, LinearDir::Horizontal, [left, right], 1.0 - right_px / room.x.max(1.0));
    Tree::new(Id::unique("panes"), root, tiles)
}

/// Two parts, of which the first gets a share of the room.
fn split(tiles: &mut Tiles<PaneId>, dir: LinearDir, parts: [TileId; 2], share: f32) -> TileId {
    tiles.insert_container(Linear::new_binary(dir, parts, share.clamp(0.1, 0.9)))
}
