//! The panes of an open file, and their arrangement.
//!
//! A pane is a folder or a file whose state is a [`Pane`], and one row of the table below. Users drag panes where
//! they want them; the arrangement is kept.

mod arrangement;
mod dividers;
mod layout;
mod open_device;
mod opening;
mod show;

pub(crate) use layout::Layout;
pub(crate) use open_device::OpenDevice;

use crate::device::{Pane, PaneId};
use crate::texts::marked;
use crate::{
    compare, details, fixes, holes, legend, memory_summary, notes, range, report_view, segment_map,
    segment_timeline, stacks, tables, timeline,
};

/// The place of a pane until the user drags it elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    /// The largest part, always in sight.
    Center,
    /// Below or beside the center, as one of several tabs: in the tray.
    Tray(Room),
    /// The same, but its tab is there only while it is in front: the button *More* leads to it.
    More(Room),
    /// The top of the right side, always in sight.
    RightTop,
    /// The right side below that, as one of several tabs.
    Right,
}

/// The height that a view of the tray needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    /// That of a picture below the timeline.
    Picture,
    /// Half of the window, or as much as its rows need.
    Table,
    /// What the view before it had, as it belongs to what is done in the timeline.
    Same,
}

impl Home {
    /// The height that it needs, if it is in the tray.
    fn room(self) -> Option<Room> {
        match self {
            Self::Tray(room) | Self::More(room) => Some(room),
            Self::Center | Self::RightTop | Self::Right => None,
        }
    }
}

/// What is particular to one pane besides its state.
struct Definition {
    pane: PaneId,
    name: &'static str,
    /// The name of the command that shows it.
    command: &'static str,
    home: Home,
    /// Whether the pane is about what happened over time: without that, it is left out.
    needs_history: bool,
}

/// Makes the table of panes, and what has a place for each of them.
macro_rules! panes {
    ($($id:ident $field:ident: $state:ty, $name:expr, $command:expr, $home:expr, needs_history: $needs_history:literal;)*) => {
        /// Every pane, in the order of tabs.
        const PANES: &[Definition] = &[$(Definition {
            pane: PaneId::$id,
            name: $name,
            command: $command,
            home: $home,
            needs_history: $needs_history,
        }),*];

        /// The state of every pane.
        #[derive(Default)]
        pub(crate) struct PaneStates {
            $(pub(crate) $field: $state,)*
        }

        impl PaneStates {
            /// The state of a pane.
            fn of(&mut self, pane: PaneId) -> &mut dyn Pane {
                match pane {
                    $(PaneId::$id => &mut self.$field,)*
                }
            }

            /// Take over everything that does not depend on the contents of the file from the states for another version
            /// of it.
            fn keep(&mut self, old: &Self) {
                $(self.$field.keep(&old.$field);)*
            }
        }
    };
}

// Name in the code, state, name for people, command, home. What leads from the tray's tabs to *More* is in the order of keys.
panes! {
    Timeline timeline: timeline::state::State, marked!("Timeline"), marked!("Show timeline"), Home::Center, needs_history: true;
    Legend legend: legend::state::State, marked!("At the cursor"), marked!("Show at the cursor"), Home::RightTop, needs_history: false;
    Fixes fixes: fixes::panel::State, marked!("Fixes"), marked!("Show fixes"), Home::Right, needs_history: false;
    Report report: report_view::panel::State, marked!("Report"), marked!("Show report"), Home::Right, needs_history: false;
    Details details: details::state::State, marked!("Details"), marked!("Show details"), Home::Right, needs_history: false;
    Segments segments: segment_map::state::State, marked!("Map"), marked!("Show map"), Home::Tray(Room::Picture), needs_history: false;
    Stacks stacks: stacks::panel::State, marked!("Stacks"), marked!("Show stacks"), Home::Tray(Room::Picture), needs_history: false;
    Iterations iterations: tables::iterations::State, marked!("Iterations"), marked!("Show iterations"), Home::Tray(Room::Table), needs_history: true;
    Allocations allocations: tables::allocations::State, marked!("Allocations"), marked!("Show allocations"), Home::Tray(Room::Table), needs_history: false;
    Compare compare: compare::panel::State, marked!("Compare"), marked!("Show compare"), Home::Tray(Room::Table), needs_history: false;
    SegmentTimeline segment_timeline: segment_timeline::state::State, marked!("Segment timeline"), marked!("Show segment timeline"), Home::More(Room::Picture), needs_history: true;
    Events events: tables::events::State, marked!("Events"), marked!("Show events"), Home::More(Room::Table), needs_history: true;
    Holes holes: holes::panel::State, marked!("Holes"), marked!("Show holes"), Home::More(Room::Picture), needs_history: true;
    Modules modules: tables::modules::State, marked!("Modules"), marked!("Show modules"), Home::More(Room::Table), needs_history: false;
    Notes notes: notes::state::State, marked!("Notes"), marked!("Show notes"), Home::More(Room::Picture), needs_history: false;
    Range range: range::panel::State, marked!("Range"), marked!("Show range"), Home::More(Room::Same), needs_history: true;
    MemorySummary memory_summary: memory_summary::State, marked!("Memory summary"), marked!("Show memory summary"), Home::More(Room::Table), needs_history: true;
}

fn definition(pane: PaneId) -> Option<&'static Definition> {
    let found = PANES.iter().find(|definition| definition.pane == pane);
    debug_assert!(found.is_some(), "{pane:?} is not among the panes");
    found
}

/// Keys of the first panes of the tray, in their order.
pub(crate) const TRAY_KEYS: &str = "1234567890";

fn in_tray() -> impl Iterator<Item = PaneId> {
    PANES.iter().filter(|definition| definition.home.room().is_some()).map(|definition| definition.pane)
}

/// A pane of the tray, by its place there.
pub(crate) fn of_tray(place: usize) -> Option<PaneId> {
    in_tray().nth(place)
}

/// The key that brings a pane of the tray to the front.
pub(crate) fn key_of(pane: PaneId) -> Option<char> {
    in_tray().zip(TRAY_KEYS.chars()).find(|&(known, _)| known == pane).map(|(_, key)| key)
}

/// The panes that *More* leads to, with their names; only those that need no history where there is none.
fn more(has_history: bool) -> impl Iterator<Item = (PaneId, &'static str)> {
    let is_more = |known: &&Definition| matches!(known.home, Home::More(_));
    let more = PANES.iter().filter(is_more).filter(move |known| has_history || !known.needs_history);
    more.map(|known| (known.pane, known.name))
}

/// Every pane with the name of the command that shows it.
pub(crate) fn commands() -> impl Iterator<Item = (PaneId, &'static str)> {
    PANES.iter().map(|definition| (definition.pane, definition.command))
}

/// The pane with a name.
pub(crate) fn by_name(name: &str) -> Option<PaneId> {
    PANES.iter().find(|definition| definition.name == name).map(|definition| definition.pane)
}
