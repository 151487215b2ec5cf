//! Pictures and texts for those who do not see them, or have no mouse.

use eframe::egui::{Response, Role, WidgetInfo};

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
