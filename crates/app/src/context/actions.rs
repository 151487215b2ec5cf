//! The actions of context menus as a table: an action is one row of [`ACTIONS`].

use super::about::About;
use crate::command::Command;
use crate::details::stack_view;
use crate::device::{PaneId, Selection};
use crate::panes::OpenDevice;
use crate::pointed::Thing;
use crate::rules::RuleChange;
use crate::texts::marked;
use eframe::egui::Context;
use oomscope_analysis::{Category, stack_lines};
use oomscope_model::Moment;
use oomscope_units as units;
use tr::tr;

/// The part of a menu that an action stands in. Parts are in this order, with lines between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MenuPart {
    /// Choosing and looking closer.
    Go,
    /// Panes that show the thing.
    Show,
    /// The code, and the clipboard.
    Take,
    Copy,
    /// What the memory is for.
    Meaning,
}

/// One entry of a menu.
pub(super) struct Action {
    pub(super) part: MenuPart,
    pub(super) name: &'static str,
    /// What it needs; without that, it is left out.
    pub(super) applies: fn(&About) -> bool,
    pub(super) run: fn(&About, &mut Reach<'_>),
}

/// What an action may change.
pub(super) struct Reach<'a> {
    pub(super) device: &'a mut OpenDevice,
    pub(super) ctx: &'a Context,
    pub(super) commands: &'a mut Vec<Command>,
}

const fn action(
    part: MenuPart,
    name: &'static str,
    applies: fn(&About) -> bool,
    run: fn(&About, &mut Reach<'_>),
) -> Action {
    Action { part, name, applies, run }
}

/// Every action but the filters and categories, which depend on the thing.
pub(super) const ACTIONS: &[Action] = &[
    action(MenuPart::Go, marked!("Select"), is_selectable, |about, reach| {
        reach.device.at.select(about.selection());
    }),
    action(MenuPart::Go, marked!("Zoom in on this frame"), is_frame, zoom_to_frame),
    action(MenuPart::Go, marked!("Zoom to lifetime"), is_allocation, zoom_to_lifetime),
    action(MenuPart::Go, marked!("Zoom to it"), is_range, zoom_to_range),
    action(MenuPart::Go, marked!("Go to this event"), is_event, go_to_event),
    action(MenuPart::Show, marked!("Details"), has_details, |about, reach| {
        show(about, reach, PaneId::Details);
    }),
    action(MenuPart::Show, marked!("Map"), is_memory, |about, reach| show(about, reach, PaneId::Segments)),
    action(MenuPart::Show, marked!("Segment timeline"), is_memory, |about, reach| {
        show(about, reach, PaneId::SegmentTimeline);
    }),
    action(
        MenuPart::Show,
        marked!("Stacks"),
        |about| about.stack.is_some(),
        |about, reach| show(about, reach, PaneId::Stacks),
    ),
    action(MenuPart::Show, marked!("Allocations"), is_in_lists, |about, reach| {
        show(about, reach, PaneId::Allocations);
    }),
    action(MenuPart::Show, marked!("Events"), has_event, show_events),
    action(MenuPart::Take, marked!("Open in editor"), |about| about.line.is_some(), open_in_editor),
    action(
        MenuPart::Copy,
        marked!("Line"),
        |about| about.line.is_some(),
        |about, reach| copy(reach, line(about)),
    ),
    action(
        MenuPart::Copy,
        marked!("Stack"),
        |about| about.stack.is_some(),
        |about, reach| copy(reach, stack(about)),
    ),
    action(
        MenuPart::Copy,
        marked!("Address"),
        |about| address(about).is_some(),
        |about, reach| copy(reach, address(about)),
    ),
    action(
        MenuPart::Copy,
        marked!("Size in bytes"),
        |about| size(about).is_some(),
        |about, reach| copy(reach, size(about)),
    ),
    action(MenuPart::Meaning, marked!("Explain the category"), has_category, explain),
];

fn is_selectable(about: &About) -> bool {
    about.selection() != Selection::None
}

fn is_allocation(about: &About) -> bool {
    about.own_allocation().is_some()
}

fn is_memory(about: &About) -> bool {
    is_allocation(about) || about.segment.is_some()
}

fn has_details(about: &About) -> bool {
    about.selection().has_details()
}

fn has_example(about: &About) -> bool {
    about.allocation.is_some()
}

fn is_in_lists(about: &About) -> bool {
    has_example(about) && !matches!(about.thing, Thing::Meaning { .. })
}

fn has_category(about: &About) -> bool {
    about.category.is_some() && has_example(about)
}

fn has_event(about: &About) -> bool {
    let origin = about.allocation.and_then(|id| about.recording.lifetimes.origin(id).event());
    is_event(about) || (origin.is_some() && is_in_lists(about))
}

fn is_event(about: &About) -> bool {
    matches!(about.thing, Thing::Event { .. })
}

fn is_frame(about: &About) -> bool {
    matches!(about.thing, Thing::Frame { .. })
}

fn is_range(about: &About) -> bool {
    matches!(about.thing, Thing::Range { .. })
}

fn zoom_to_frame(about: &About, reach: &mut Reach<'_>) {
    if let Thing::Frame { path, .. } = &about.thing {
        reach.device.states.stacks.controls.zoom = path.to_vec();
    }
}

fn zoom_to_lifetime(about: &About, reach: &mut Reach<'_>) {
    if let Some(id) = about.own_allocation() {
        select_live(about, reach, Selection::Allocation(id));
        reach.device.at.zoom_to_lifetime(id);
    }
}

fn zoom_to_range(about: &About, reach: &mut Reach<'_>) {
    let Thing::Range { moments, .. } = about.thing else { return };
    let at = &mut reach.device.at;
    let [from, to] = moments
        .map(|moment| at.view.on(about.recording.timeline()).position_from_moment(f64::from(moment.0)));
    at.show(at.view.of_range(from, to, &at.full));
}

fn go_to_event(about: &About, reach: &mut Reach<'_>) {
    if let Thing::Event { event, .. } = about.thing {
        reach.device.at.go_to(Moment::after(event));
    }
}

/// Select an allocation at a moment at which it is live: the cursor's, else its first.
fn select_live(about: &About, reach: &mut Reach<'_>, selection: Selection) {
    let at = &mut reach.device.at;
    let lifetimes = &about.recording.lifetimes;
    let is_live =
        |id| lifetimes.start(id) <= at.cursor && lifetimes.end(id).is_none_or(|end| at.cursor < end);
    match selection {
        Selection::Allocation(id) if !is_live(id) => at.show_at(lifetimes.start(id), selection),
        Selection::None => {}
        _ => at.select(selection),
    }
}

/// Bring a pane forward with the thing selected.
fn show(about: &About, reach: &mut Reach<'_>, pane: PaneId) {
    let example = about.allocation.map_or(Selection::None, Selection::Allocation);
    let selection = match pane {
        PaneId::Allocations => example,
        _ => about.selection(),
    };
    select_live(about, reach, selection);
    // The details come forward with a selection from elsewhere; here another pane is wanted.
    reach.device.seen = reach.device.at.selection();
    reach.device.wanted_pane = Some(pane);
}

/// Show the event itself, or the one that made the allocation.
fn show_events(about: &About, reach: &mut Reach<'_>) {
    let event = match about.thing {
        Thing::Event { event, .. } => Some(event),
        _ => about.allocation.and_then(|id| about.recording.lifetimes.origin(id).event()),
    };
    if let Some(event) = event {
        let example = about.allocation.map_or(Selection::None, Selection::Allocation);
        let selection = if is_event(about) { about.selection() } else { example };
        reach.device.at.show_at(Moment::after(event), selection);
        reach.device.seen = selection;
        reach.device.wanted_pane = Some(PaneId::Events);
    }
}

fn open_in_editor(about: &About, reach: &mut Reach<'_>) {
    if let Some((frame, _)) = &about.line {
        let command = &reach.device.states.details.editor_command;
        reach.device.notice = Some(stack_view::open_in_editor(command, frame));
    }
}

fn copy(reach: &mut Reach<'_>, text: Option<String>) {
    if let Some(text) = text {
        reach.device.notice = Some(tr!("Copied {}", text.lines().next().unwrap_or_default()));
        reach.ctx.copy_text(text);
    }
}

fn line(about: &About) -> Option<String> {
    about.line.as_ref().map(|(frame, _)| format!("{}:{} {}", frame.file, frame.line, frame.name))
}

fn stack(about: &About) -> Option<String> {
    let lines = stack_lines(about.recording.snapshot(), about.stack?);
    Some(lines.collect::<Vec<_>>().join("\n"))
}

fn address(about: &About) -> Option<String> {
    let of_event = || match about.thing {
        Thing::Event { event, .. } => about.recording.events.addr(event),
        _ => None,
    };
    let of_memory = || match about.own_allocation() {
        Some(id) => Some(about.recording.addr(id)),
        None => about.segment.as_ref().map(|segment| segment.addr),
    };
    of_event().or_else(of_memory).map(units::address)
}

fn size(about: &About) -> Option<String> {
    let of_event = || match about.thing {
        Thing::Event { event, .. } => Some(about.recording.events.size(event)),
        _ => None,
    };
    let of_memory = || match about.own_allocation() {
        Some(id) => Some(about.recording.size(id)),
        None => about.segment.as_ref().map(|segment| segment.size),
    };
    of_event().or_else(of_memory).map(|bytes| bytes.0.to_string())
}

/// The details say why an allocation has its category.
fn explain(about: &About, reach: &mut Reach<'_>) {
    if let Some(id) = about.allocation {
        select_live(about, reach, Selection::Allocation(id));
        reach.device.wanted_pane = Some(PaneId::Details);
        if about.own_allocation().is_none() {
            let name = about.category.map_or("", |(category, _)| category.label());
            reach.device.notice =
                Some(tr!("The largest of the {name} here, with the evidence for its category", name));
        }
    }
}

/// The change that gives the thing's line a category, or takes it back; `None` if the thing has no line.
pub(super) fn rule_change(about: &About, category: Option<Category>) -> Option<RuleChange> {
    let (frame, scope) = about.line.clone()?;
    Some(RuleChange { frame, scope, category, stack: about.stack? })
}
