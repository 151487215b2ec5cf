//! From rows to a snapshot: gives each device its trace and its segments.

use super::SnapshotError;
use super::builder::Builder;
use super::census::contradicting;
use super::containers::{DictState, ListState, RecordList};
use super::keys::{Key, RecordKind};
use super::originals::originals;
use oomscope_model::{
    Action, Anchor, Assumed, Bytes, Damage, DeviceId, DeviceTrust, EventTable, Segment, SegmentTable,
    Snapshot, Timeline, TimelineInput,
};
use oomscope_pickle::{Decoded, Kind, Value, View};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most keys of a foreign pickle that an error names: they fit in a line.
const MAX_NAMED_KEYS: usize = 12;

/// The most devices that are shown. Hosts have up to 16; files made by hand could hold one per event.
const MAX_DEVICES: usize = 1024;

/// The values of the snapshot's own keys.
#[derive(Debug, Default)]
struct Root {
    segments: Option<RecordList>,
    host_segments: Option<RecordList>,
    /// Traces by device.
    traces: BTreeMap<DeviceId, RecordList>,
    settings: Option<Value>,
    source_code: Option<Value>,
    recorder: Option<Value>,
    shape_data: Option<Value>,
}

impl Root {
    /// Whether the file holds the whole list of a device's segments.
    fn has_all_segments(&self, device: DeviceId) -> bool {
        let list = if device == DeviceId::HOST { &self.host_segments } else { &self.segments };
        list.as_ref().is_some_and(|list| !list.is_interrupted)
    }
}

impl Builder {
    /// Put the snapshot together.
    ///
    /// # Errors
    /// When the pickle holds something else, or was damaged before anything usable.
    pub fn finish(mut self, decoded: Decoded) -> Result<Snapshot, SnapshotError> {
        let damage =
            decoded.damage.map(|error| Damage { offset: error.offset, reason: error.kind.to_string() });
        let root = match (self.root(decoded.root), &damage) {
            (Err(_), Some(damage)) => {
                let Damage { offset, reason } = damage.clone();
                return Err(SnapshotError::NothingUsable { offset, reason });
            }
            (root, _) => root?,
        };
        let settings = root.settings.map(|value| self.settings(value)).unwrap_or_default();
        let census = root.recorder.map(|value| self.census(value)).unwrap_or_default();
        let recorder = root.recorder.map(|value| self.settings(value)).unwrap_or_default();
        let sources = root.source_code.map(|value| self.sources(value)).unwrap_or_default();
        let tensors = root.shape_data.map(|value| self.recorded_tensors(value)).unwrap_or_default();
        if self.loose.dropped != 0 {
            let dropped = self.loose.dropped;
            self.notes
                .skipped("values that mean nothing to oomscope, beyond the first four million", dropped);
        }
        let originals = originals(&mut self.strings, &mut self.frames, &mut self.stacks);
        let originals = originals.map(|(originals, left_out)| {
            self.notes
                .skipped("stacks that have no room for the lines that generated code stands for", left_out);
            originals
        });
        let inputs = self.timeline_inputs(&root, damage.is_some());
        self.notes.skipped(
            "names of tensors that are larger than their blocks",
            inputs.iter().map(|input| contradicting(&census, input.device, &input.segments.blocks)).sum(),
        );
        let (is_damaged, has_left_out) = (damage.is_some(), self.notes.has_lost_memory());
        let mut snapshot = Snapshot {
            unknown_keys: self.notes.unknown_keys(&self.strings),
            issues: self.notes.issues(),
            strings: self.strings,
            frames: self.frames,
            stacks: self.stacks,
            originals,
            actions: self.actions,
            timelines: Vec::new(),
            settings,
            sources,
            recorder,
            census,
            tensors,
            annotations: self.annotations,
            damage,
            pickle_bytes: decoded.read_bytes,
            assumed: Assumed::default(),
        };
        // The decoder's tables are as large as the events: free them before deriving more.
        let tables = (self.dicts, self.lists, self.loose, self.record_lists, self.pools);
        let timeline = |input| {
            let timeline = Timeline::build(input);
            let trust = match (has_left_out, is_damaged) {
                (true, _) => DeviceTrust::LEFT_OUT,
                (false, true) => timeline.trust.of_damaged_file(),
                (false, false) => timeline.trust,
            };
            Arc::new(Timeline { trust, ..timeline })
        };
        let build = || inputs.into_par_iter().map(timeline).collect();
        snapshot.timelines = rayon::join(build, || drop(tables)).0;
        Ok(snapshot)
    }

    fn root(&mut self, value: Option<Value>) -> Result<Root, SnapshotError> {
        let wrong = |found: &str| SnapshotError::WrongRoot { found: found.to_owned() };
        match value.map(Value::view) {
            None => Err(wrong("nothing")),
            Some(View::Ref(Kind::List, list)) => match self.lists.get(list) {
                // torch.cuda.memory_snapshot() returns the segments alone.
                ListState::Fresh => Ok(Root::default()),
                ListState::Records(at) if self.record_lists[at as usize].kind == RecordKind::Segment => {
                    Ok(Root { segments: Some(self.record_lists[at as usize].clone()), ..Root::default() })
                }
                _ => Err(wrong("a list of something else")),
            },
            Some(View::Ref(Kind::Dict, dict)) => match self.dicts.get(dict) {
                DictState::Loose(container) => {
                    let pairs = self.loose.get(container).to_vec();
                    self.root_dict(&pairs)
                }
                DictState::Fresh => Err(SnapshotError::NoSnapshotKeys { keys: Vec::new() }),
                DictState::Frame(_) => Err(wrong("a single stack frame")),
                DictState::Record(kind, _) => Err(wrong(&format!("a single {}", kind.name()))),
            },
            Some(_) => Err(wrong(value.map_or("nothing", Value::type_name))),
        }
    }

    fn root_dict(&mut self, pairs: &[Value]) -> Result<Root, SnapshotError> {
        let mut root = Root::default();
        let mut is_snapshot = false;
        for pair in pairs.chunks_exact(2) {
            let Some(name) = pair[0].handle(Kind::Str) else { continue };
            let key = self.key(name);
            is_snapshot |=
                matches!(key, Some(Key::Segments | Key::DeviceTraces | Key::HostSegments | Key::HostTraces));
            match key {
                Some(Key::Segments) => root.segments = self.record_list(pair[1], RecordKind::Segment),
                Some(Key::HostSegments) => {
                    root.host_segments = self.record_list(pair[1], RecordKind::Segment);
                }
                Some(Key::DeviceTraces) => {
                    let traces = self.traces(pair[1]);
                    root.traces
                        .extend((0..).map(DeviceId).zip(traces).filter(|(_, trace)| !trace.rows.is_empty()));
                }
                Some(Key::HostTraces) => {
                    let merged = self.traces(pair[1]).into_iter().reduce(|mut all, trace| {
                        trace.iter().for_each(|row| all.push(row));
                        all.is_interrupted |= trace.is_interrupted;
                        all
                    });
                    root.traces
                        .extend(merged.filter(|t| !t.rows.is_empty()).map(|trace| (DeviceId::HOST, trace)));
                }
                Some(Key::AllocatorSettings) => root.settings = Some(pair[1]),
                Some(Key::SourceCode) => root.source_code = Some(pair[1]),
                Some(Key::ShapeData) => root.shape_data = Some(pair[1]),
                Some(Key::Oomscope) => root.recorder = Some(pair[1]),
                Some(Key::ExternalAnnotations) => {}
                _ => self.notes.unknown_key("snapshot", Self::str_id(name)),
            }
        }
        if is_snapshot {
            Ok(root)
        } else {
            Err(SnapshotError::NoSnapshotKeys { keys: self.key_names(pairs) })
        }
    }

    fn key_names(&self, pairs: &[Value]) -> Vec<String> {
        let names = pairs.iter().step_by(2).map(|key| match key.handle(Kind::Str) {
            Some(name) => self.strings.name(Self::str_id(name)).chars().take(40).collect(),
            None => key.type_name().to_owned(),
        });
        names.take(MAX_NAMED_KEYS).collect()
    }

    /// A list of records of one kind; anything else counts as an oddity.
    fn record_list(&mut self, value: Value, kind: RecordKind) -> Option<RecordList> {
        let Some(list) = value.handle(Kind::List) else {
            self.notes.lost("values of the snapshot's own keys that are no lists", 1);
            return None;
        };
        match self.lists.get(list) {
            ListState::Records(at) if self.record_lists[at as usize].kind == kind => {
                Some(self.record_lists[at as usize].clone())
            }
            ListState::Fresh => None,
            _ => {
                self.notes.lost("lists of the snapshot that hold something unexpected", 1);
                None
            }
        }
    }

    /// The traces in a list of lists of events, or in a list of events.
    fn traces(&mut self, value: Value) -> Vec<RecordList> {
        let nested = match value.handle(Kind::List).map(|list| self.lists.get(list)) {
            Some(ListState::Loose(container)) => self.loose.get(container).to_vec(),
            _ => vec![value],
        };
        // Traces that share their lists would multiply them: here they are copied. Twice as much as there is is more than
        // any honest file uses.
        let mut ranges_left = 2 * self.record_ranges;
        let mut repeated = 0;
        let trace = |value| {
            let ranges = self.ranges_of(value);
            let is_left = ranges <= ranges_left;
            ranges_left -= if is_left { ranges } else { 0 };
            repeated += u64::from(!is_left);
            let list = if is_left { self.record_list(value, RecordKind::Event) } else { None };
            list.unwrap_or_else(|| RecordList::new(RecordKind::Event))
        };
        let traces = nested.into_iter().map(trace).collect();
        self.notes.lost("traces whose events are those of other traces", repeated);
        traces
    }

    /// Number of ranges of rows that a list of records has.
    fn ranges_of(&self, value: Value) -> usize {
        match value.handle(Kind::List).map(|list| self.lists.get(list)) {
            Some(ListState::Records(at)) => self.record_lists[at as usize].rows.len(),
            _ => 0,
        }
    }

    /// Events and segments by device.
    fn timeline_inputs(&mut self, root: &Root, is_damaged: bool) -> Vec<TimelineInput> {
        let mut segments = BTreeMap::new();
        self.sort_segments(root.segments.as_ref(), None, &mut segments);
        self.sort_segments(root.host_segments.as_ref(), Some(DeviceId::HOST), &mut segments);
        let mut devices: BTreeSet<DeviceId> = segments.keys().copied().collect();
        devices.extend(root.traces.keys());
        self.notes.lost("devices beyond the first 1024", devices.len().saturating_sub(MAX_DEVICES) as u64);
        let is_only_trace = root.traces.len() == 1;
        // Traces that share their events would multiply: a few references in the pickle could make any number of rows.
        // Twice as many events as there are is more than any honest file uses.
        let mut events_left = 2 * self.events.len();
        let mut inputs = Vec::new();
        for device in devices.into_iter().take(MAX_DEVICES) {
            let trace = root.traces.get(&device).filter(|trace| trace.len() <= events_left);
            if trace.is_none() && root.traces.contains_key(&device) {
                self.notes.lost("traces whose events are those of other traces", 1);
            }
            events_left -= trace.map_or(0, RecordList::len);
            let ranges = trace.map(|t| t.rows.as_slice()).unwrap_or_default();
            let has_end = !is_damaged || root.has_all_segments(device);
            let is_cut = trace.is_some_and(|t| t.is_interrupted || !has_end);
            let events = self.events.extract(ranges, is_only_trace);
            let segments = segments.remove(&device);
            // Recordings that were put together by hand may hold the traces of more devices than segments, or traces alone.
            let lacks_segments = segments.is_none() && leaves_memory(&events);
            inputs.push(TimelineInput {
                device,
                events,
                segments: segments.unwrap_or_default(),
                anchor: if is_cut || lacks_segments { Anchor::TraceOnly } else { Anchor::EndState },
            });
        }
        inputs
    }

    /// Give the segments of a list to their devices, or all to one.
    fn sort_segments(
        &mut self,
        list: Option<&RecordList>,
        device: Option<DeviceId>,
        by_device: &mut BTreeMap<DeviceId, SegmentTable>,
    ) {
        // A list that holds the same segments again and again would multiply their blocks; twice is more than any
        // honest file needs.
        let mut blocks_left = 2 * self.segments.blocks.len();
        for row in list.iter().flat_map(|list| list.iter()).take(2 * self.segments.segments.len()) {
            let segment = &self.segments.segments[row as usize];
            let blocks = self.segments.blocks_of(segment);
            if blocks_left < blocks.len() {
                self.notes.lost("segments that are listed again and again", 1);
                continue;
            }
            blocks_left -= blocks.len();
            let device = device.unwrap_or(segment.device);
            let table = by_device.entry(device).or_default();
            table.miscounted += u64::from(self.miscounted.contains(&row));
            let start = table.blocks.len();
            table.blocks.extend_from_slice(blocks);
            table.segments.push(Segment { device, blocks: start..table.blocks.len(), ..segment.clone() });
        }
    }
}

/// Whether the events leave something in use or reserved.
fn leaves_memory(events: &EventTable) -> bool {
    let mut live: BTreeSet<u64> = BTreeSet::new();
    let mut reserved = Bytes::ZERO;
    for ix in events.indices() {
        let addr = events.addr(ix).unwrap_or_default();
        match events.action(ix) {
            Action::Alloc => {
                live.insert(addr);
            }
            Action::FreeRequested | Action::FreeCompleted => {
                live.remove(&addr);
            }
            Action::SegmentAlloc | Action::SegmentMap => reserved += events.size(ix),
            Action::SegmentFree | Action::SegmentUnmap => reserved -= events.size(ix),
            _ => {}
        }
    }
    !live.is_empty() || 0 < reserved
}
