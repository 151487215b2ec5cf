//! Menus and the lists of choosers: while one is open, it has the keys, and it gives the keyboard back.
//!
//! The window library moves through the entries and the menus within menus. What it leaves out is added here, for all of them.

use crate::dialog;
use eframe::egui::containers::menu::MenuState;
use eframe::egui::{Context, FocusDirection, Id, Key, LayerId, Modifiers, Order, Popup, Response};

/// A menu that hangs from a button of the top line.
#[derive(Debug, Clone, Copy)]
struct InLine {
    button: Id,
    left_px: f32,
    /// A choice leaves it open.
    stays: bool,
    /// The frame that showed its button last.
    seen: u64,
}

impl InLine {
    fn popup(&self) -> Id {
        self.button.with("popup")
    }
}

/// The keyboard before a menu was opened.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    is_open: bool,
    focused: Option<Id>,
}

/// True while a menu is open. Plain keys are its own.
pub(super) fn is_open(ctx: &Context) -> bool {
    Popup::is_any_open(ctx)
}

/// True while a menu is open, or the offers below a field.
pub(super) fn has_popup(ctx: &Context) -> bool {
    is_open(ctx) || shown(ctx).next().is_some()
}

/// Menus, menus within them, and offers below fields, as the last frame showed them.
fn shown(ctx: &Context) -> impl Iterator<Item = LayerId> {
    let layers = ctx.memory(|memory| memory.areas().visible_layer_ids());
    layers.into_iter().filter(|layer| layer.order == Order::Foreground && layer.id != dialog::id())
}

/// True if a menu within a menu is open.
fn has_sub_menu(ctx: &Context) -> bool {
    shown(ctx).any(|layer| MenuState::from_id(ctx, layer.id, |state| state.open_item.is_some()))
}

/// Count a button's menu among those of the top line, where Left and Right go from one to the next. `stays` if it is still
/// wanted after a choice.
pub(super) fn in_line(button: &Response, stays: bool) {
    let (ctx, seen) = (&button.ctx, button.ctx.cumulative_pass_nr());
    let new = InLine { button: button.id, left_px: button.rect.left(), stays, seen };
    ctx.data_mut(|data| {
        let line: &mut Vec<InLine> = data.get_temp_mut_or_default(line_id());
        line.retain(|menu| menu.button != new.button && seen <= menu.seen + 1);
        let place = line.partition_point(|menu| menu.left_px < new.left_px);
        line.insert(place, new);
    });
}

fn line_id() -> Id {
    Id::unique("the menus of the top line")
}

/// The menus of the top line, and the place of the one that is open.
fn line(ctx: &Context) -> (Vec<InLine>, Option<usize>) {
    let line: Vec<InLine> = ctx.data(|data| data.get_temp(line_id())).unwrap_or_default();
    let open = line.iter().position(|menu| Popup::is_id_open(ctx, menu.popup()));
    (line, open)
}

/// Take the keys that the window library does not know, or means differently. Called before a frame is drawn.
pub(super) fn take_keys(ctx: &Context) {
    // What is typed into a field of a menu is the field's.
    if !is_open(ctx) || ctx.text_edit_focused() {
        return;
    }
    let pressed = |key| ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let go = |direction| ctx.memory_mut(|memory| memory.move_focus(direction));
    if has_sub_menu(ctx) {
        // The library would close all of them at once.
        if pressed(Key::Escape) {
            go(FocusDirection::Left);
        }
    } else if let (line, Some(open)) = line(ctx) {
        let by = isize::from(pressed(Key::ArrowRight)) - isize::from(pressed(Key::ArrowLeft));
        let next = (open as isize + by).rem_euclid(line.len() as isize);
        if let Some(menu) = line.get(next as usize).filter(|_| by != 0) {
            go(FocusDirection::None);
            Popup::open_id(ctx, menu.popup());
            // Down goes on from here into the menu.
            ctx.memory_mut(|memory| memory.request_focus(menu.button));
        }
    } else if pressed(Key::ArrowLeft) {
        // It would leave the menu, which stays open.
        go(FocusDirection::None);
    }
}

/// Close a menu in which a key chose an entry, as a click does, and give the keyboard back to what had it before. Called
/// when everything is drawn, with what has the keyboard now.
pub(super) fn end_frame(ctx: &Context, focused: Option<Id>, is_in_menu: bool) {
    let is_pressed = ctx.input(|input| input.key_pressed(Key::Enter) || input.key_pressed(Key::Space));
    if is_pressed && is_in_menu && !ctx.text_edit_focused() && !has_sub_menu(ctx) {
        let (line, open) = line(ctx);
        if !open.and_then(|open| line.get(open)).is_some_and(|menu| menu.stays) {
            Popup::close_all(ctx);
        }
    }
    let id = Id::unique("the keyboard before the menu");
    let known: Before = ctx.data(|data| data.get_temp(id)).unwrap_or_default();
    let is_open = is_open(ctx);
    let is_by_mouse = ctx.input(|input| input.pointer.any_pressed() || input.pointer.any_released());
    let is_left = known.is_open && !is_open && !is_by_mouse && (focused.is_none() || is_in_menu);
    if let Some(before) = known.focused.filter(|_| is_left) {
        ctx.memory_mut(|memory| memory.request_focus(before));
        ctx.request_repaint();
    }
    let before = if is_open || known.is_open { known.focused } else { focused };
    ctx.data_mut(|data| data.insert_temp(id, Before { is_open, focused: before }));
}
