//! The lines of code that reserved the rows of segments.

use super::SegmentRows;
use crate::{SiteFrame, frame_line, site_frame, site_place};
use oomscope_model::{Recording, Snapshot, StackId};
use oomscope_units as units;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// For each row, the line of code that reserved its first memory.
#[derive(Debug)]
pub struct RowSites(Vec<Option<Site>>);

/// A line of code in two lengths.
#[derive(Debug, Clone)]
struct Site {
    line: Arc<str>,
    place: Arc<str>,
}

impl RowSites {
    /// Find the lines of all rows.
    pub fn new(recording: &Recording, rows: &SegmentRows) -> Self {
        let mut known: FxHashMap<StackId, Option<Site>> = FxHashMap::default();
        let numbers = 0..rows.rows().len() as u32;
        let site = |number| {
            let first = rows.ranges(number, recording).next()?;
            let stack = recording.events.stack(first.start.event()?);
            known.entry(stack).or_insert_with(|| site(recording.snapshot(), stack)).clone()
        };
        Self(numbers.map(site).collect())
    }

    /// The line of a row with its function, as `train.py:55 forward`; `None` where it was not recorded.
    pub fn line(&self, row: u32) -> Option<&str> {
        self.0.get(row as usize)?.as_ref().map(|site| &*site.line)
    }

    /// The line of a row without its function, as `train.py:55`; `None` where it was not recorded.
    pub fn place(&self, row: u32) -> Option<&str> {
        self.0.get(row as usize)?.as_ref().map(|site| &*site.place)
    }
}

fn site(snapshot: &Snapshot, stack: StackId) -> Option<Site> {
    let frames: Vec<SiteFrame> =
        snapshot.stacks.frames(stack).iter().map(|&id| site_frame(snapshot, id)).collect();
    let frame = frames.get(site_place(&frames)?)?;
    let line = frame_line(frame);
    let place = match frame.line {
        0 => line.clone(),
        number => format!("{}:{number}", units::basename(&frame.file)),
    };
    Some(Site { line: line.into(), place: place.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::alone;
    use oomscope_fixtures::timelines::{self as fixture, Step};

    #[test]
    fn rows_without_a_stack_have_no_line() {
        let recording = alone(fixture::timeline(&[Step::Alloc(0, 1000)]));
        let rows = SegmentRows::build(&recording);
        let sites = RowSites::new(&recording, &rows);
        assert_eq!((sites.line(0), sites.place(0), sites.line(7)), (None, None, None));
    }
}
