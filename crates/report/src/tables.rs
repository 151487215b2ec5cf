//! Events and allocations as CSV, for spreadsheets.

use super::csv_text::{io_error, optional, pool, spreadsheet_safe};
use foldhash::HashMap;
use oomscope_analysis::{LifeSpan, site_label};
use oomscope_model::{AllocId, EventIx, Moment, Recording, Snapshot, StackId};
use oomscope_units as units;
use std::io::{self, Write};

/// Write some events of a timeline with a header line. Sizes are in bytes, times in microseconds since 1970. Unknown
/// values are empty.
///
/// # Errors
/// When writing fails.
pub fn events_csv(
    out: &mut dyn Write,
    recording: &Recording,
    rows: impl IntoIterator<Item = EventIx>,
) -> io::Result<()> {
    let snapshot = recording.snapshot();
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["event", "time_us", "action", "addr", "size", "stream", "pool", "site"])
        .map_err(io_error)?;
    let mut sites = Sites::new(snapshot);
    for ix in rows {
        let event = recording.events.get(ix);
        csv.write_record([
            ix.0.to_string(),
            optional(event.time_us),
            spreadsheet_safe(&units::printable(&snapshot.actions.name(event.action, &snapshot.strings)))
                .into_owned(),
            event.addr.map_or_else(String::new, units::address),
            event.size.0.to_string(),
            optional(event.stream),
            pool(event.pool),
            sites.text(event.stack),
        ])
        .map_err(io_error)?;
    }
    csv.flush()
}

/// Write some allocations of a timeline with a header line; ages are those at a moment.
///
/// Sizes are in bytes, durations in microseconds. Unknown values are empty: among them the age and lifetime of
/// allocations from before the recording, and the lifetime of those that outlive it.
///
/// # Errors
/// When writing fails.
pub fn allocations_csv(
    out: &mut dyn Write,
    recording: &Recording,
    at: Moment,
    rows: impl IntoIterator<Item = AllocId>,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "addr",
        "size",
        "stream",
        "pool",
        "alloc_event",
        "free_requested_event",
        "free_completed_event",
        "age_us",
        "lifetime_us",
        "site",
    ])
    .map_err(io_error)?;
    let mut sites = Sites::new(recording.snapshot());
    for id in rows {
        let allocation = recording.allocation(id);
        let event = |moment: Option<Moment>| optional(moment.and_then(Moment::event).map(|ix| ix.0.into()));
        let closed =
            |span: Option<LifeSpan>| optional(span.filter(|span| !span.is_open).and_then(|span| span.us));
        csv.write_record([
            units::address(allocation.addr),
            allocation.size.0.to_string(),
            optional(allocation.stream),
            pool(allocation.pool),
            event(Some(allocation.start)),
            event(allocation.requested),
            event(allocation.end),
            closed(LifeSpan::age(recording, id, at)),
            closed(Some(LifeSpan::of(recording, id))),
            sites.text(allocation.stack),
        ])
        .map_err(io_error)?;
    }
    csv.flush()
}

/// Texts of sites. Each is put together once.
struct Sites<'a> {
    snapshot: &'a Snapshot,
    known: HashMap<StackId, String>,
}

impl<'a> Sites<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        Self { snapshot, known: HashMap::default() }
    }

    fn text(&mut self, stack: StackId) -> String {
        if stack == StackId::EMPTY {
            return String::new();
        }
        let text = || spreadsheet_safe(&site_label(self.snapshot, stack)).into_owned();
        self.known.entry(stack).or_insert_with(text).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::first;
    use oomscope_fixtures::tables::{TestEvent, snapshot};
    use oomscope_model::{Action, PoolKey};

    fn fixture() -> Snapshot {
        let event = |action, addr, time_us| TestEvent {
            action,
            addr,
            size: 512,
            stream: Some(7),
            pool: Some(PoolKey(0, 3)),
            time_us,
            stack: StackId(2),
        };
        snapshot(&[
            event(Action::Alloc, 0x1000, Some(100)),
            TestEvent { stack: StackId::EMPTY, stream: None, pool: None, ..event(Action::Oom, 9, None) },
            event(Action::FreeRequested, 0x1000, Some(130)),
            event(Action::FreeCompleted, 0x1000, Some(150)),
            event(Action::Alloc, 0x1000, Some(170)),
        ])
    }

    fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("memory takes everything");
        String::from_utf8(out).expect("CSV is text")
    }

    #[test]
    fn events_read_to_the_byte() {
        let snapshot = fixture();
        let rows = [EventIx(0), EventIx(1)];
        assert_eq!(
            text(|out| events_csv(out, &first(snapshot), rows)),
            "event,time_us,action,addr,size,stream,pool,site\n\
             0,100,alloc,0x1000,512,7,0.3,b.py:2 alloc_big\n\
             1,,oom,0x9,512,,,\n"
        );
    }

    #[test]
    fn allocations_have_ages_and_what_is_open_has_no_lifetime() {
        let snapshot = fixture();
        let rows = [AllocId(1), AllocId(0)];
        let csv = text(|out| allocations_csv(out, &first(snapshot), Moment(5), rows));
        let lines: Vec<&str> = csv.lines().skip(1).collect();
        assert!(lines[0].starts_with("0x1000,512,7,0.3,4,,,0,,b.py:2"), "{csv}");
        assert!(lines[1].starts_with("0x1000,512,7,0.3,0,2,3,70,50,b.py:2"), "{csv}");
    }
}
