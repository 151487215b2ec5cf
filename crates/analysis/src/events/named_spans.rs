//! Spans of time that the program or a profiler named.

use foldhash::HashMap;
use oomscope_model::{DeviceId, Snapshot, StrId};

/// A named span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NamedSpan {
    pub(crate) name: StrId,
    /// Start and end, in microseconds since the first recorded time of the timeline.
    pub(crate) time_us: [i64; 2],
    /// True if its start was recorded, and true if its end was. A missing one is that of the recording.
    pub(crate) has_ends: [bool; 2],
}

impl NamedSpan {
    /// True if both ends were recorded.
    pub(crate) fn is_whole(&self) -> bool {
        self.has_ends == [true; 2]
    }
}

/// The annotations of a device, or of all, as spans. An end belongs to the latest open start of its name.
/// `first_us` is the first recorded time of the timeline, and `span_us` its length.
pub(crate) fn named_spans(
    snapshot: &Snapshot,
    device: Option<DeviceId>,
    span_us: i64,
    first_us: i64,
) -> Vec<NamedSpan> {
    let mut open: HashMap<StrId, Vec<i64>> = HashMap::default();
    let mut order: Vec<StrId> = Vec::new();
    let mut spans = Vec::new();
    let span = |name, start, end, has_ends| NamedSpan { name, time_us: [start, end], has_ends };
    for annotation in &snapshot.annotations {
        let Some(time_us) = annotation.time_us.map(|time| time.saturating_sub(first_us)) else { continue };
        if device.is_some_and(|device| annotation.device.is_some_and(|other| other != device)) {
            continue;
        }
        let starts = open.entry(annotation.name).or_insert_with(|| {
            order.push(annotation.name);
            Vec::new()
        });
        if annotation.is_start {
            starts.push(time_us);
        } else {
            let start = starts.pop();
            let has_ends = [start.is_some(), true];
            spans.push(span(annotation.name, start.unwrap_or(0).min(time_us), time_us, has_ends));
        }
    }
    // In the order of the file, since a hash map's changes from run to run.
    for name in order {
        let starts = open.remove(&name).unwrap_or_default();
        spans.extend(starts.into_iter().map(|start| span(name, start, span_us.max(start), [true, false])));
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_model::Annotation;

    #[test]
    fn starts_and_ends_are_matched_by_name_and_device() {
        let mut snapshot = Snapshot::default();
        let (a, _) = snapshot.strings.intern(b"a");
        let (b, _) = snapshot.strings.intern(b"b");
        let at = |is_start, name, time, device: Option<i64>| Annotation {
            is_start,
            name,
            device: device.map(DeviceId),
            time_us: Some(time),
        };
        snapshot.annotations = vec![
            at(true, a, 1010, None),
            at(true, b, 1020, Some(0)),
            at(true, b, 1025, Some(1)),
            at(true, a, 1030, Some(0)),
            at(false, a, 1040, Some(0)),
            at(false, b, 1045, Some(0)),
            at(false, b, 1050, Some(0)),
        ];
        let found: Vec<_> = named_spans(&snapshot, Some(DeviceId(0)), 100, 1000)
            .iter()
            .map(|span| (span.name, span.time_us, span.is_whole()))
            .collect();
        let expected = [(a, [30, 40], true), (b, [20, 45], true), (b, [0, 50], false), (a, [10, 100], false)];
        assert_eq!(found, expected);
    }
}
