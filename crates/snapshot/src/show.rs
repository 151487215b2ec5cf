//! Showing whoever watches a load what has come.

use super::builder::Builder;
use super::containers::DictState;
use super::keys::RecordKind;
use oomscope_model::{Action, Bytes, EventIx};
use oomscope_pickle::{Kind, Value};

impl Builder {
    /// Show the items that were put into a list of records.
    pub(super) fn show(&self, list: u32, items: &[Value]) {
        let kind = self.record_lists[list as usize].kind;
        let rows = items.iter().filter_map(|item| match self.dicts.get(item.handle(Kind::Dict)?) {
            DictState::Record(of, row) if of == kind => Some(row),
            _ => None,
        });
        self.show_rows(list, rows);
    }

    /// Show the rows that were put into a list of records.
    pub(super) fn show_rows(&self, list: u32, rows: impl Iterator<Item = u32>) {
        let Some(preview) = &self.preview else { return };
        let kind = self.record_lists[list as usize].kind;
        if kind == RecordKind::Event {
            preview.set_events(self.events.len());
        }
        let Some(mut seen) = preview.lock() else { return };
        match kind {
            RecordKind::Event => {
                let Some(outline) = seen.trace(list) else { return };
                rows.for_each(|row| outline.push(self.allocated_change(EventIx(row))));
            }
            RecordKind::Segment => {
                let table = &self.segments;
                for segment in rows.filter_map(|row| table.segments.get(row as usize)) {
                    seen.add_segment(segment.device, segment.size, table.blocks_of(segment));
                }
            }
            _ => {}
        }
    }

    /// Bytes by which an event changes what is allocated.
    fn allocated_change(&self, event: EventIx) -> Bytes {
        match self.events.action(event) {
            Action::Alloc => self.events.size(event),
            Action::FreeRequested => -self.events.size(event),
            _ => Bytes::ZERO,
        }
    }
}
