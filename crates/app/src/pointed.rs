//! The thing that a menu is opened for: panes say what is under the pointer, and the page shows the menu.

use crate::accessible;
use crate::device::Selection;
use eframe::egui::{Context, Id, Key, Modifiers, Pos2, Response};
use oomscope_analysis::{FrameKey, SiteFrame};
use oomscope_model::{AllocId, EventIx, Moment, StackId};
use std::sync::Arc;

/// Something that a pane shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Thing {
    Allocation(AllocId),
    /// Everything that was allocated with a stack; its line is the site.
    Stack(StackId),
    /// The segment at an address.
    Segment {
        addr: u64,
    },
    /// An event, and the memory that it is about.
    Event {
        event: EventIx,
        of: Selection,
    },
    /// A line of code in the middle of stacks.
    Line {
        frame: SiteFrame,
        /// A stack that leads through it.
        stack: Option<StackId>,
    },
    /// A frame of the flame graph: the frames above it with itself, and the stack with most below it.
    Frame {
        path: Arc<[FrameKey]>,
        frame: Option<SiteFrame>,
        stack: Option<StackId>,
    },
    /// A meaning of a colour, with the filter that keeps it.
    Meaning {
        label: String,
        query: String,
    },
    /// A named part of the recording.
    Range {
        name: String,
        moments: [Moment; 2],
    },
}

impl Thing {
    /// What is selected.
    pub(crate) fn selected(selection: Selection) -> Option<Self> {
        match selection {
            Selection::None => None,
            Selection::Allocation(id) => Some(Self::Allocation(id)),
            Selection::Stack(stack) => Some(Self::Stack(stack)),
            Selection::Segment { addr } => Some(Self::Segment { addr }),
        }
    }
}

/// A thing, and the place of its menu.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pointed {
    pub(crate) thing: Thing,
    pub(crate) place: Pos2,
    /// The keyboard asked for it.
    pub(crate) by_key: bool,
}

/// A menu that is open.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OpenMenu {
    pub(crate) pointed: Pointed,
    /// An allocation that stands for the thing, where it is none itself.
    pub(crate) example: Option<AllocId>,
    /// The frame of the window in which it was opened, and the last one that showed it.
    pub(crate) since: u64,
    pub(crate) seen: u64,
}

fn slot() -> Id {
    Id::unique("the thing that a menu is wanted for")
}

/// Open the menu of a thing that was clicked with the right button, or has the keyboard when the key of menus is pressed.
pub(crate) fn on(response: &Response, thing: impl FnOnce() -> Option<Thing>) {
    if response.secondary_clicked() {
        wanted(&response.ctx, thing());
    } else if response.has_focus() && is_key_pressed(&response.ctx) {
        offer(&response.ctx, thing(), response.interact_rect.left_bottom(), true);
    }
}

/// The same for something that a click does nothing to: Enter opens its menu, too.
pub(crate) fn on_press(response: &Response, thing: impl FnOnce() -> Option<Thing>) {
    if accessible::is_pressed_by_key(response) {
        offer(&response.ctx, thing(), response.interact_rect.left_bottom(), true);
    } else {
        on(response, thing);
    }
}

/// True once for each press of the key of menus, or of Shift+F10, which keyboards without it have.
pub(crate) fn is_key_pressed(ctx: &Context) -> bool {
    !ctx.text_edit_focused()
        && ctx.input_mut(|input| {
            input.consume_key(Modifiers::SHIFT, Key::F10) || input.consume_key(Modifiers::NONE, Key::Menu)
        })
}

/// Open the menu of a thing at the pointer.
pub(crate) fn wanted(ctx: &Context, thing: Option<Thing>) {
    if let Some(place) = ctx.input(|input| input.pointer.interact_pos()) {
        offer(ctx, thing, place, false);
    }
}

fn offer(ctx: &Context, thing: Option<Thing>, place: Pos2, by_key: bool) {
    if let Some(thing) = thing {
        ctx.data_mut(|data| data.insert_temp(slot(), Pointed { thing, place, by_key }));
    }
}

/// The thing whose menu is to be opened, once.
pub(crate) fn take(ctx: &Context) -> Option<Pointed> {
    ctx.data_mut(|data| {
        let pointed = data.get_temp(slot())?;
        data.remove::<Pointed>(slot());
        Some(pointed)
    })
}
