//! Facts as text, put together once and then only shown.

use crate::analysis::{SiteFrame, capacity, is_internal, site_frame, site_label};
use crate::model::{
    Allocation, Anchor, EventIx, FrameId, Moment, OomEvent, Snapshot, StackId, StrId, Timeline,
};
use crate::report::{headline, non_default_settings};
use crate::units;

/// What a device's timeline always says.
pub(in crate::app) struct Figures {
    /// The active peak.
    pub(in crate::app) peak: (Moment, i64),
    /// The reserved peak.
    pub(in crate::app) reserved_peak: (Moment, i64),
    /// Bytes that were active before the first event, where that is known.
    pub(in crate::app) baseline: Option<i64>,
    /// The most that could be reserved, as an OOM showed.
    pub(in crate::app) capacity: Option<i64>,
    /// Settings that differ from the default.
    pub(in crate::app) settings: Vec<String>,
    /// What happened, in a sentence.
    pub(in crate::app) verdict: String,
    /// Time of the first event that has one.
    first_time_us: Option<i64>,
}

impl Figures {
    pub(in crate::app) fn new(snapshot: &Snapshot, timeline: &Timeline) -> Self {
        Self {
            peak: timeline.active.peak(),
            reserved_peak: timeline.reserved.peak(),
            baseline: (timeline.anchor == Anchor::EndState).then(|| timeline.active.at(Moment::START)),
            capacity: capacity(timeline),
            settings: non_default_settings(snapshot),
            verdict: headline(timeline, snapshot.damage.is_some()),
            first_time_us: timeline.events.time_range_us().map(|(first, _)| first),
        }
    }

    /// Time since the first event.
    pub(in crate::app) fn time_of(&self, timeline: &Timeline, event: EventIx) -> Option<i64> {
        timeline.events.time_us(event).zip(self.first_time_us).map(|(time, first)| time.saturating_sub(first))
    }

    /// `event 1,234, 3.412 s`.
    pub(in crate::app) fn event_text(&self, timeline: &Timeline, event: EventIx) -> String {
        let time = self.time_of(timeline, event).map(|us| format!(", {}", units::duration_us(us)));
        format!("event {}{}", units::count(event.0), time.unwrap_or_default())
    }

    /// How long an allocation lives.
    pub(in crate::app) fn lifetime(&self, timeline: &Timeline, allocation: &Allocation) -> String {
        let Some(end) = allocation.end else { return "until the end of the recording".to_owned() };
        let Some((start, end)) = allocation.alloc_event().zip(end.event()) else {
            return "from before the recording".to_owned();
        };
        let events = i64::from(end.0) - i64::from(start.0);
        let time = self.time_of(timeline, end).zip(self.time_of(timeline, start));
        let events = units::counted(events.max(0) as usize, "event");
        match time {
            Some((end, start)) => format!("{}, {events}", units::duration_us(end.saturating_sub(start))),
            None => events,
        }
    }
}

/// A request that failed, as text.
pub(in crate::app) struct OomFacts {
    /// Its event.
    pub(in crate::app) event: EventIx,
    /// `1004 MiB`.
    pub(in crate::app) size: String,
    /// Where it was made.
    pub(in crate::app) site: String,
    /// The stack, innermost first.
    pub(in crate::app) frames: Vec<FrameText>,
}

impl OomFacts {
    pub(in crate::app) fn new(snapshot: &Snapshot, timeline: &Timeline, oom: &OomEvent) -> Self {
        let stack = timeline.events.stack(oom.event);
        Self {
            event: oom.event,
            size: units::bytes(oom.requested),
            site: site_label(snapshot, stack),
            frames: frames(snapshot, stack),
        }
    }
}

/// The frames of a stack.
pub(in crate::app) fn frames(snapshot: &Snapshot, stack: StackId) -> Vec<FrameText> {
    let text = |&id| {
        let frame = site_frame(snapshot, id);
        FrameText { is_internal: is_internal(&frame), frame, fx: fx_lines(snapshot, id) }
    };
    snapshot.stacks.frames(stack).iter().map(text).collect()
}

/// What `torch.compile` recorded about generated code: the node, and the model's own lines.
fn fx_lines(snapshot: &Snapshot, id: FrameId) -> Vec<String> {
    let Some(fx) = snapshot.frames.fx(snapshot.frames.get(id)) else { return Vec::new() };
    let text = |id: StrId| units::printable_lines(&snapshot.strings.get(id));
    let node: Vec<String> = [fx.op, fx.name, fx.target].into_iter().flatten().map(text).collect();
    let node = (!node.is_empty()).then(|| format!("FX {}", node.join(" ")));
    let trace = fx.trace.map(text).unwrap_or_default();
    node.into_iter().chain(trace.lines().map(str::to_owned).filter(|line| !line.trim().is_empty())).collect()
}

/// One frame as text.
pub(in crate::app) struct FrameText {
    pub(in crate::app) frame: SiteFrame,
    /// Whether it belongs to torch or the interpreter.
    pub(in crate::app) is_internal: bool,
    /// What `torch.compile` says about it.
    pub(in crate::app) fx: Vec<String>,
}
