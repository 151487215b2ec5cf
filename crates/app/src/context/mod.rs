//! Context menus: what can be done with the thing under the pointer, the same in every pane.

mod about;
mod actions;
mod menu;
mod terms;

pub(crate) use menu::ui;
