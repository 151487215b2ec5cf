//! The rows of the list of events.

use super::cells;
use super::columns::Column;
use super::virtual_list::{CellTone, ListRows, RowLook, TableCell};
use crate::device::figures::Figures;
use crate::device::{PaneCtx, Selection};
use crate::texts::marked;
use oomscope_analysis::{EventMatches, EventSet, StackLabels};
use oomscope_model::{Action, EventIx, Moment, Recording, StackId};
use oomscope_units as units;

const EVENT: usize = 0;
const TIME: usize = 1;
const ACTION: usize = 2;
const ADDRESS: usize = 3;
const SIZE: usize = 4;
const STREAM: usize = 5;
const POOL: usize = 6;
const SITE: usize = 7;

pub(crate) const COLUMNS: [Column; 8] = [
    Column::figure(marked!("Event"), marked!("Number of the event"), 92.0),
    Column::figure(marked!("Time"), marked!("Since the first event"), 96.0),
    Column::text(marked!("Action"), marked!("What happened"), 112.0),
    Column::code(marked!("Address"), marked!("Address of the block or segment"), 124.0),
    Column::figure(marked!("Size"), marked!("Bytes: requested for blocks, whole for segments"), 84.0),
    Column::figure(marked!("Stream"), marked!("Stream of the event"), 60.0),
    Column::text(marked!("Pool"), marked!("Pool of the event"), 84.0),
    Column::text(marked!("Site"), marked!("First frame of your own code"), 220.0),
];

/// The rows of the list.
pub(crate) struct EventRows<'a> {
    recording: &'a Recording,
    figures: &'a Figures,
    cursor: Moment,
    selected: Selected,
    /// The listed events; `None` for all.
    only: Option<&'a EventMatches>,
    /// Events that stand out.
    pub(crate) marked: Option<&'a EventMatches>,
    /// The events of the allocations that the filter lets through.
    pub(crate) of_filter: Option<&'a EventSet>,
    pub(crate) labels: Option<&'a StackLabels>,
}

/// The events that belong to the selection.
#[derive(Clone, Copy)]
enum Selected {
    None,
    Events([Option<EventIx>; 3]),
    Stack(StackId),
    Segment(u64),
}

impl<'a> EventRows<'a> {
    /// All events of a device, or only some.
    pub(crate) fn new(ctx: &PaneCtx<'a>, only: Option<&'a EventMatches>) -> Self {
        let selected = match ctx.at.selection() {
            Selection::None => Selected::None,
            Selection::Stack(stack) => Selected::Stack(stack),
            Selection::Segment { addr } => Selected::Segment(addr),
            Selection::Allocation(id) => {
                let lifetimes = &ctx.recording.lifetimes;
                let moments = [Some(lifetimes.start(id)), lifetimes.requested(id), lifetimes.end(id)];
                Selected::Events(moments.map(|moment| moment.and_then(Moment::event)))
            }
        };
        Self {
            recording: ctx.recording,
            figures: &ctx.derived.figures,
            cursor: ctx.at.cursor,
            selected,
            only,
            marked: None,
            of_filter: None,
            labels: None,
        }
    }

    /// The number of rows.
    pub(crate) fn count(&self) -> usize {
        self.only.map_or(self.recording.events.len(), EventMatches::len)
    }

    /// The event of a row.
    pub(crate) fn event(&self, row: usize) -> Option<EventIx> {
        match self.only {
            Some(only) => only.get(row),
            None => (row < self.recording.events.len()).then_some(EventIx(row as u32)),
        }
    }

    /// The row of an event, or of the next listed event.
    pub(crate) fn row_of(&self, event: EventIx) -> usize {
        let row = self.only.map_or(event.index(), |only| only.count_before(event));
        row.min(self.count().saturating_sub(1))
    }

    /// The row and the event that are `by` rows after the cursor's.
    pub(crate) fn step(&self, cursor: Moment, by: i64) -> Option<(usize, EventIx)> {
        let last = self.count().checked_sub(1)? as i64;
        // Before the first event, and between two rows, the row above counts.
        let at = match (self.only, cursor.event()) {
            (_, None) => -1,
            (None, Some(event)) => i64::from(event.0),
            (Some(only), Some(event)) if only.contains(event) || by < 0 => only.count_before(event) as i64,
            (Some(only), Some(event)) => only.count_before(event) as i64 - 1,
        };
        let row = at.saturating_add(by).clamp(0, last) as usize;
        self.event(row).map(|event| (row, event))
    }

    fn is_selected(&self, event: EventIx) -> bool {
        let events = &self.recording.events;
        match self.selected {
            Selected::None => false,
            Selected::Events(selected) => selected.contains(&Some(event)),
            Selected::Stack(stack) => events.stack(event) == stack,
            Selected::Segment(addr) => {
                let is_segment = matches!(
                    events.action(event),
                    Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap
                );
                is_segment && events.addr(event) == Some(addr)
            }
        }
    }

    /// True if the event is about a block that the filter leaves out.
    fn is_faded(&self, event: EventIx) -> bool {
        let action = self.recording.events.action(event);
        let is_of_block = matches!(action, Action::Alloc | Action::FreeRequested | Action::FreeCompleted);
        is_of_block && self.of_filter.is_some_and(|of_filter| !of_filter.contains(event))
    }

    fn action(&self, event: EventIx) -> TableCell {
        let snapshot = self.recording.snapshot();
        let action = self.recording.events.action(event);
        let text = units::printable(&snapshot.actions.name(action, &snapshot.strings));
        match action {
            Action::Oom => TableCell { text, tone: CellTone::Oom },
            Action::FreeRequested | Action::FreeCompleted => TableCell::muted(text),
            _ => TableCell::plain(text),
        }
    }
}

impl ListRows for EventRows<'_> {
    fn len(&self) -> usize {
        self.count()
    }

    fn cell(&self, row: usize, column: usize) -> TableCell {
        let Some(event) = self.event(row) else { return TableCell::default() };
        let events = &self.recording.events;
        match column {
            EVENT if self.marked.is_some_and(|marked| marked.contains(event)) => {
                TableCell { text: units::count(event.0), tone: CellTone::Accent }
            }
            EVENT => TableCell::muted(units::count(event.0)),
            TIME => match self.figures.time_of(self.recording, event) {
                Some(us) => TableCell::plain(units::time_exact_us(us)),
                None => cells::unknown(),
            },
            ACTION => self.action(event),
            ADDRESS => match events.addr(event) {
                Some(addr) if events.action(event) != Action::Oom => TableCell::plain(units::address(addr)),
                _ => cells::unknown(),
            },
            SIZE => TableCell::plain(units::bytes(events.size(event))),
            STREAM => cells::stream(events.stream(event)),
            POOL => cells::pool(events.pool(event)),
            _ => cells::site(self.labels, self.recording.snapshot(), events.stack(event)),
        }
    }

    fn look(&self, row: usize) -> RowLook {
        let Some(event) = self.event(row) else { return RowLook::default() };
        RowLook {
            is_current: self.cursor.event() == Some(event),
            is_selected: self.is_selected(event),
            is_faded: self.is_faded(event),
        }
    }

    fn hint(&self, row: usize, column: usize) -> Option<String> {
        let event = self.event(row)?;
        let events = &self.recording.events;
        match column {
            TIME => events.time_us(event).map(units::date_time_us),
            SIZE => Some(units::bytes_exact(events.size(event))),
            SITE => cells::stack_hint(self.recording.snapshot(), events.stack(event)),
            _ => None,
        }
    }
}
