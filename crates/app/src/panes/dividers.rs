//! The lines between panes: dragged with the mouse, moved with the arrow keys, evened out by a double click.

use super::{Definition, definition};
use crate::device::PaneId;
use crate::focus;
use crate::texts;
use eframe::egui::{self, CursorIcon, Key, Modifiers, Rect, Sense, Stroke, Ui, pos2};
use egui_tiles::{Container, Linear, LinearDir, Tile, TileId, Tiles, Tree};
use tr::tr;

/// Width of the area that takes hold of a line, in points: wider than the line.
const GRIP_PX: f32 = 8.0;

/// Distance that an arrow key moves a line, in points: a line of text.
const STEP_PX: f32 = 20.0;

/// A line between two neighbours.
struct Divider {
    parent: TileId,
    dir: LinearDir,
    neighbours: [TileId; 2],
    /// The area that takes hold of it.
    grip: Rect,
    /// The places of the neighbours along the direction, in points.
    lengths_px: [f32; 2],
}

/// Let the user move the lines; true if one was moved. Panes keep a smallest size.
pub(super) fn ui(ui: &Ui, tree: &mut Tree<PaneId>, min_px: f32) -> bool {
    let mut is_moved = false;
    for divider in dividers(&tree.tiles) {
        let name = first_pane(&tree.tiles, divider.neighbours[0])
            .map(|definition| texts::translated(definition.name));
        let Some(change) = divider.ui(ui, &name.unwrap_or_default()) else { continue };
        let Some(Tile::Container(Container::Linear(linear))) = tree.tiles.get_mut(divider.parent) else {
            continue;
        };
        divider.apply(linear, change, min_px);
        is_moved = true;
    }
    is_moved
}

/// The pane that a part of the window starts with.
fn first_pane(tiles: &Tiles<PaneId>, mut tile: TileId) -> Option<&'static Definition> {
    loop {
        match tiles.get(tile)? {
            Tile::Pane(pane) => return definition(*pane),
            Tile::Container(container) => tile = *container.children().next()?,
        }
    }
}

fn dividers(tiles: &Tiles<PaneId>) -> Vec<Divider> {
    let linears = tiles.iter().filter_map(|(&id, tile)| match tile {
        Tile::Container(Container::Linear(linear)) => Some((id, linear)),
        _ => None,
    });
    let mut all: Vec<Divider> = linears.flat_map(|(id, linear)| of_linear(tiles, id, linear)).collect();
    // Tiles are not in an order of their own.
    all.sort_by_key(|divider| (divider.parent.0, divider.neighbours[0].0));
    all
}

fn of_linear(tiles: &Tiles<PaneId>, parent: TileId, linear: &Linear) -> Vec<Divider> {
    let shown = linear.children.iter().filter_map(|&child| Some((child, tiles.rect(child)?)));
    let shown: Vec<(TileId, Rect)> = shown.collect();
    let pairs = shown.windows(2).map(|pair| Divider::between(parent, linear.dir, [pair[0], pair[1]]));
    pairs.collect()
}

/// The effect of the user's hand.
#[derive(Debug, Clone, Copy)]
enum Change {
    Move { px: f32 },
    Even,
}

impl Divider {
    fn between(parent: TileId, dir: LinearDir, [(first, a), (second, b)]: [(TileId, Rect); 2]) -> Self {
        let (grip, lengths_px) = match dir {
            LinearDir::Horizontal => {
                let x = a.right().midpoint(b.left());
                let grip = Rect::from_x_y_ranges(x - GRIP_PX / 2.0..=x + GRIP_PX / 2.0, a.y_range());
                (grip, [a.width(), b.width()])
            }
            LinearDir::Vertical => {
                let y = a.bottom().midpoint(b.top());
                let grip = Rect::from_x_y_ranges(a.x_range(), y - GRIP_PX / 2.0..=y + GRIP_PX / 2.0);
                (grip, [a.height(), b.height()])
            }
        };
        Self { parent, dir, neighbours: [first, second], grip, lengths_px }
    }

    fn ui(&self, ui: &Ui, first: &str) -> Option<Change> {
        let id = egui::Id::unique(("divider", self.parent, self.neighbours[0]));
        let response = ui.interact(self.grip, id, Sense::click_and_drag());
        let (name, icon, keys) = match self.dir {
            LinearDir::Horizontal => {
                let name = tr!("Line right of {first}", first);
                (name, CursorIcon::ResizeHorizontal, [Key::ArrowLeft, Key::ArrowRight])
            }
            LinearDir::Vertical => {
                (tr!("Line below {first}", first), CursorIcon::ResizeVertical, [Key::ArrowUp, Key::ArrowDown])
            }
        };
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Splitter, true, &name));
        let response = response.on_hover_cursor(icon);
        if response.hovered() || response.dragged() {
            self.line(ui, ui.style().interact(&response).bg_stroke);
        }
        let mut px = 0.0;
        if response.dragged() {
            let moved = response.drag_delta();
            px += if self.dir == LinearDir::Horizontal { moved.x } else { moved.y };
        }
        if response.has_focus() {
            focus::take_arrows(ui, id);
            let [back, on] = keys
                .map(|key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key)) as f32);
            px += (on - back) * STEP_PX;
        }
        match px {
            _ if response.double_clicked() => Some(Change::Even),
            0.0 => None,
            px => Some(Change::Move { px }),
        }
    }

    fn line(&self, ui: &Ui, stroke: Stroke) {
        let center = self.grip.center();
        let ends = match self.dir {
            LinearDir::Horizontal => [pos2(center.x, self.grip.top()), pos2(center.x, self.grip.bottom())],
            LinearDir::Vertical => [pos2(self.grip.left(), center.y), pos2(self.grip.right(), center.y)],
        };
        ui.painter().line_segment(ends, stroke);
    }

    /// Give the shares of both neighbours to them anew.
    fn apply(&self, linear: &mut Linear, change: Change, min_px: f32) {
        let [first, second] = self.neighbours;
        let shares = linear.shares[first] + linear.shares[second];
        let both_px = self.lengths_px[0] + self.lengths_px[1];
        let part = match change {
            Change::Even => 0.5,
            // Where there is no room for two smallest panes, each gets a half.
            Change::Move { .. } if both_px < 2.0 * min_px => 0.5,
            Change::Move { px } => (self.lengths_px[0] + px).clamp(min_px, both_px - min_px) / both_px,
        };
        linear.shares.set_share(first, shares * part);
        linear.shares.set_share(second, shares * (1.0 - part));
    }
}
