//! The widget that has the keyboard: a ring around it, in sight, and the arrow keys kept from moving it.
//!
//! One ring serves all widgets, those of libraries too, so that none can be forgotten.

use crate::{menus, theme};
use eframe::egui::{self, Event, EventFilter, Id, Order, Rect, Stroke, StrokeKind, WidgetRect, accesskit};

/// Width of the ring, in points, and its distance from the widget.
const RING_PX: f32 = 2.0;
const GAP_PX: f32 = 1.0;

/// Largest hidden part of a widget, in points, that rounding explains.
const TOLERANCE_PX: f32 = 1.5;

/// Scroll a widget that has got the keyboard into sight. Called before a frame is drawn.
pub(super) fn reveal(ctx: &egui::Context) {
    let known = Id::unique("the widget that had the keyboard");
    let focused = ctx.memory(|memory| memory.focused());
    if ctx.data(|data| data.get_temp::<Option<Id>>(known)).flatten() == focused {
        return;
    }
    ctx.data_mut(|data| data.insert_temp(known, focused));
    let Some(widget) = focused.and_then(|id| drawn(ctx, id)) else { return };
    if is_hidden(&widget) {
        let request = accesskit::ActionRequest {
            action: accesskit::Action::ScrollIntoView,
            target_tree: accesskit::TreeId::ROOT,
            target_node: widget.id.accesskit_id(),
            data: None,
        };
        ctx.input_mut(|input| input.events.push(Event::AccessKitActionRequest(request)));
    }
}

/// Let a widget that has the keyboard have Left and Right for itself.
pub(super) fn take_arrows(ctx: &egui::Context, id: Id) {
    ctx.data_mut(|data| data.insert_temp(arrows_taken(), id));
}

/// True if the widget that has the keyboard uses Left and Right itself.
pub(super) fn has_arrows(ctx: &egui::Context) -> bool {
    let taken: Option<Id> = ctx.data(|data| data.get_temp(arrows_taken()));
    taken.is_some() && ctx.memory(|memory| memory.focused()) == taken
}

fn arrows_taken() -> Id {
    Id::unique("the widget that is moved with arrows")
}

/// Where a widget was drawn last. A response would take the focus away from what was clicked beside it.
fn drawn(ctx: &egui::Context, id: Id) -> Option<WidgetRect> {
    ctx.viewport(|viewport| {
        let [this, last] = [&viewport.this_pass, &viewport.prev_pass].map(|pass| pass.widgets.get(id));
        this.or(last).copied()
    })
}

/// True if a part of the widget lies outside of the area that scrolls it.
fn is_hidden(widget: &WidgetRect) -> bool {
    let hidden = widget.rect.size() - widget.interact_rect.size();
    TOLERANCE_PX < hidden.x || TOLERANCE_PX < hidden.y
}

/// Show where the keyboard is, which a menu that was closed gives back. Called when everything else is drawn.
pub(super) fn ui(ui: &egui::Ui) {
    let ctx = ui.ctx();
    let focused = ctx.memory(|memory| memory.focused());
    let widget = focused.and_then(|id| drawn(ctx, id));
    menus::end_frame(ctx, focused, widget.is_some_and(|widget| widget.layer_id.order == Order::Foreground));
    let Some(widget) = widget else { return };
    if !ctx.text_edit_focused() {
        keep_arrows(ctx, &widget);
    }
    let rect = widget.interact_rect;
    if rect.is_positive() {
        let place = rect.expand(RING_PX + GAP_PX).intersect(ctx.content_rect());
        let stroke = Stroke::new(RING_PX, theme::color(theme::palette(ui).accent));
        let painter = ctx.layer_painter(widget.layer_id).with_clip_rect(Rect::EVERYTHING);
        painter.rect_stroke(place, 4.0, stroke, StrokeKind::Inside);
    }
}

/// In the window's own layer, arrows step through events and rows: only Tab moves the focus there. In menus, and from
/// the button of one that is open, arrows go from entry to entry.
fn keep_arrows(ctx: &egui::Context, widget: &WidgetRect) {
    if widget.layer_id.order == Order::Background {
        let is_kept = !menus::is_open(ctx);
        let arrows =
            EventFilter { horizontal_arrows: is_kept, vertical_arrows: is_kept, ..Default::default() };
        ctx.memory_mut(|memory| memory.set_focus_lock_filter(widget.id, arrows));
    }
}
