//! From a standpoint to a place that can be written down, and back.

use super::filtering::FilterMode;
use super::history::{NavState, Selection};
use super::standpoint::Standpoint;
use oomscope_draw::{Axis, ColorBy, View};
use oomscope_model::{Moment, Recording, StackId, Timeline};
use oomscope_report::notes::{BlockRef, Found, Place, PlaceMoment, PlaceRange, Resolver, Selected};
use oomscope_units as units;
use tr::tr;

/// The colours of a file that was just opened.
const FIRST_COLORS: ColorBy = ColorBy::Category;

/// The place of a standpoint.
pub(crate) fn place(recording: &Recording, at: &Standpoint) -> Place {
    let is_one_of_several = 1 < recording.snapshot().timelines.len();
    let moment = match at.cursor.event() {
        Some(event) => PlaceMoment::Event(event.0),
        None => PlaceMoment::Start,
    };
    Place {
        device: is_one_of_several.then_some(recording.device.0),
        moment: Some(moment),
        range: range(&at.view, &at.full),
        bytes: (at.view.height_bytes() < at.full.height_bytes())
            .then(|| [at.view.y0, at.view.y1].map(|bytes| bytes.round().max(0.0) as u64)),
        selection: selected(recording, at.selection()),
        filter: Some(at.query.clone()).filter(|query| !query.trim().is_empty()),
        hides_rest: at.filter_mode == FilterMode::Only && !at.query.trim().is_empty(),
        colour: (at.color_by != FIRST_COLORS).then(|| at.color_by.name().to_owned()),
        unknown: Vec::new(),
    }
}

fn range(view: &View, full: &View) -> Option<PlaceRange> {
    let is_all = full.span() <= view.span();
    match view.axis {
        Axis::Event if is_all => None,
        Axis::Time if is_all => Some(PlaceRange::AllTime),
        // The moment `m` takes the positions from `m` to `m + 1`, and the event `e` leads to the moment `e + 1`.
        Axis::Event => {
            let first = view.x0.round().max(0.0) as u32;
            let last = (view.x1.round() as u32).saturating_sub(2).max(first);
            Some(PlaceRange::Events([first, last]))
        }
        Axis::Time => {
            Some(PlaceRange::TimeUs([view.x0, view.x1].map(|time_us| time_us.round().max(0.0) as u64)))
        }
    }
}

fn selected(timeline: &Timeline, selection: Selection) -> Option<Selected> {
    match selection {
        Selection::None => None,
        Selection::Allocation(id) => Some(Selected::Allocation(BlockRef::of(timeline, id))),
        Selection::Stack(stack) => first_with(timeline, stack).map(Selected::StackOf),
        Selection::Segment { addr } => Some(Selected::Segment(addr)),
    }
}

/// The first allocation with a stack.
fn first_with(timeline: &Timeline, stack: StackId) -> Option<BlockRef> {
    timeline.ids().find(|&id| timeline.stack(id) == stack).map(|id| BlockRef::of(timeline, id))
}

/// Go to a place on its device; the user can go back. Whatever the place leaves out becomes as it is when a file is
/// opened, but for the cursor. Returns the names of what the recording does not have.
pub(crate) fn visit(recording: &Recording, at: &mut Standpoint, place: &Place) -> Vec<String> {
    let resolver = Resolver::new(recording);
    let mut missing = Vec::new();
    let moment = place.moment.and_then(|moment| {
        let found = resolver.moment(moment);
        missing.extend(found.is_none().then(|| moment_name(moment)));
        found
    });
    let selection = place.selection.map_or(Selection::None, |selected| {
        let found = resolver.selection(selected);
        missing.extend(found.is_none().then(|| selected_name(selected)));
        found.map_or(Selection::None, selection)
    });
    let color_by = place.colour.as_ref().and_then(|name| {
        let found = ColorBy::ALL.into_iter().find(|by| by.name() == name);
        missing.extend(found.is_none().then(|| tr!("colours by {}", units::printable(name))));
        found
    });
    at.leave();
    at.color_by = color_by.unwrap_or(FIRST_COLORS);
    at.filter_mode = if place.hides_rest { FilterMode::Only } else { FilterMode::Dim };
    at.set_axis(axis(place.range));
    let cursor = moment.unwrap_or(at.cursor);
    let view = view(at.full, place);
    let (range, query) = (at.range(), place.filter.clone().unwrap_or_default());
    // A height that was written down is kept; else it follows what is in view.
    let fits_height = (view.y0, view.y1) == (at.full.y0, at.full.y1);
    at.return_to(Some(NavState { cursor, selection, range, view, fits_height, query, outlined: None }));
    if place.range.is_none() {
        // Brings the cursor into sight where only bytes are given.
        at.move_to(Moment(cursor.0));
    }
    missing
}

/// A message about what a place names and the recording does not have.
pub(crate) fn missing_text(names: &[String]) -> String {
    tr!("This recording does not have {}", names.join(", "))
}

fn moment_name(moment: PlaceMoment) -> String {
    match moment {
        PlaceMoment::Event(event) => tr!("event {}", units::count(event)),
        PlaceMoment::Oom => tr!("an out-of-memory event"),
        PlaceMoment::Start | PlaceMoment::Peak | PlaceMoment::End => moment.to_string(),
    }
}

/// What a selection asks for.
fn selected_name(selected: Selected) -> String {
    match selected {
        Selected::Allocation(BlockRef::Event(event)) | Selected::StackOf(BlockRef::Event(event)) => {
            tr!("an allocation by event {}", units::count(event))
        }
        Selected::Allocation(BlockRef::Address(addr)) | Selected::StackOf(BlockRef::Address(addr)) => {
            tr!("an allocation at {} before its first event", units::address(addr))
        }
        Selected::Segment(addr) => tr!("a segment at {}", units::address(addr)),
    }
}

fn selection(found: Found) -> Selection {
    match found {
        Found::Allocation(id) => Selection::Allocation(id),
        Found::Stack(stack) => Selection::Stack(stack),
        Found::Segment(addr) => Selection::Segment { addr },
    }
}

fn axis(range: Option<PlaceRange>) -> Axis {
    match range {
        Some(PlaceRange::TimeUs(_) | PlaceRange::AllTime) => Axis::Time,
        Some(PlaceRange::Events(_)) | None => Axis::Event,
    }
}

/// The part of everything that a place shows. Without times, a range of time shows everything.
fn view(full: View, place: &Place) -> View {
    let x = match place.range {
        Some(PlaceRange::Events([first, last])) if full.axis == Axis::Event => {
            [f64::from(first), f64::from(last) + 2.0]
        }
        Some(PlaceRange::TimeUs(ends)) if full.axis == Axis::Time => ends.map(|time_us| time_us as f64),
        _ => [full.x0, full.x1],
    };
    let y = place.bytes.map_or([full.y0, full.y1], |ends| ends.map(|bytes| bytes as f64));
    full.of_box(x, y, &full)
}
