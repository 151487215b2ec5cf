//! Pictures and texts for those who do not see them, or have no mouse.

use eframe::egui::{Popup, Response, Role, SetOpenCommand, Ui, WidgetInfo};

/// A picture's name, and what it shows at the cursor in words. The words are only made if somebody listens.
pub(super) fn picture(response: &Response, name: &str, words: impl Fn() -> String) {
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::Canvas, true, name);
        info.current_text_value = Some(words());
        info
    });
}

/// A text that can be pressed.
pub(super) fn pressable_text(response: &Response, text: &str) {
    response.widget_info(|| WidgetInfo::labeled(Role::Link, true, text));
}

/// True if Enter or Space pressed a widget, so that no place in it was meant.
pub(super) fn is_pressed_by_key(response: &Response) -> bool {
    response.clicked() && !response.ctx.input(|input| input.pointer.any_click())
}

/// The context menu of a widget that a click does nothing to: Enter opens it, too, below the widget.
pub(super) fn context_menu(response: &Response, contents: impl FnOnce(&mut Ui)) {
    let opened_by_key = Popup::default_response_id(response).with("by key");
    let is_by_key = is_pressed_by_key(response);
    if is_by_key || response.secondary_clicked() {
        response.ctx.data_mut(|data| data.insert_temp(opened_by_key, is_by_key));
    }
    let mut menu = Popup::context_menu(response);
    if is_by_key {
        menu = menu.open_memory(Some(SetOpenCommand::Bool(true)));
    }
    if response.ctx.data(|data| data.get_temp(opened_by_key)) == Some(true) {
        menu = menu.at_position(response.interact_rect.left_bottom());
    }
    menu.show(contents);
}
