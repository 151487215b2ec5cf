//! Facts as text, put together once and then only shown.

use crate::analysis::{SiteFrame, capacity, is_internal, site_frame, site_label, stack_lines};
use crate::model::{
    AllocId, Allocation, Anchor, EventIx, Moment, OomEvent, PoolKey, Snapshot, StackId, Timeline,
};
use crate::report::non_default_settings;
use crate::units;

/// What a device's timeline always says.
pub(super) struct Figures {
    /// The active peak.
    pub(super) peak: (Moment, i64),
    /// The reserved peak, in bytes.
    pub(super) reserved_peak: i64,
    /// Bytes that were active before the first event, where that is known.
    pub(super) baseline: Option<i64>,
    /// The most that could be reserved, as an OOM showed.
    pub(super) capacity: Option<i64>,
    /// Settings that differ from the default.
    pub(super) settings: Vec<String>,
    /// What happened, in a sentence.
    pub(super) verdict: String,
    /// Time of the first event that has one.
    first_time_us: Option<i64>,
}

impl Figures {
    pub(super) fn new(snapshot: &Snapshot, timeline: &Timeline) -> Self {
        Self {
            peak: timeline.active.peak(),
            reserved_peak: timeline.reserved.peak().1,
            baseline: (timeline.anchor == Anchor::EndState).then(|| timeline.active.at(Moment::START)),
            capacity: capacity(timeline),
            settings: non_default_settings(snapshot),
            verdict: verdict(timeline, snapshot.damage.is_some()),
            first_time_us: timeline.events.time_range_us().map(|(first, _)| first),
        }
    }

    /// Time since the first event.
    pub(super) fn time_of(&self, timeline: &Timeline, event: EventIx) -> Option<i64> {
        timeline.events.time_us(event).zip(self.first_time_us).map(|(time, first)| time.saturating_sub(first))
    }

    /// `event 1,234, 3.412 s`.
    fn event_text(&self, timeline: &Timeline, event: EventIx) -> String {
        let time = self.time_of(timeline, event).map(|us| format!(", {}", units::duration_us(us)));
        format!("event {}{}", units::count(event.0), time.unwrap_or_default())
    }

    /// How long an allocation lives.
    pub(super) fn lifetime(&self, timeline: &Timeline, allocation: &Allocation) -> String {
        let Some(end) = allocation.end else { return "until the end of the recording".to_owned() };
        let Some((start, end)) = allocation.alloc_event().zip(end.event()) else {
            return "from before the recording".to_owned();
        };
        let events = i64::from(end.0) - i64::from(start.0);
        let time = self.time_of(timeline, end).zip(self.time_of(timeline, start));
        let events = format!("{} {}", units::count(events), if events == 1 { "event" } else { "events" });
        match time {
            Some((end, start)) => format!("{}, {events}", units::duration_us(end.saturating_sub(start))),
            None => events,
        }
    }
}

/// What happened, from the model's figures alone.
fn verdict(timeline: &Timeline, is_damaged: bool) -> String {
    let Some(oom) = timeline.ooms.last() else {
        let (moment, bytes) = timeline.active.peak();
        let bytes = units::bytes(bytes);
        if timeline.events.is_empty() {
            return format!("{bytes} active when the snapshot was taken");
        }
        let none = if is_damaged {
            "No out-of-memory event in what could be read"
        } else {
            "No out-of-memory event"
        };
        return match moment.event() {
            Some(event) => format!("{none}. Peak of {bytes} after event {}", units::count(event.0)),
            None => format!("{none}. Peak of {bytes} before the first event"),
        };
    };
    let at = Moment::after(oom.event);
    let (active, reserved) = (timeline.active.at(at), timeline.reserved.at(at));
    let mut text = format!(
        "Out of memory: {} requested with {} active",
        units::bytes(oom.requested),
        units::bytes(active)
    );
    if active < reserved {
        text = format!("{text}, {} reserved but not in use", units::bytes(reserved.saturating_sub(active)));
    }
    if let Some(free) = oom.device_free {
        text = format!("{text}, {} free on the device", units::bytes(free));
    }
    text
}

/// One allocation as text.
pub(super) struct AllocationFacts {
    /// The allocation.
    pub(super) id: AllocId,
    /// Where it was made.
    pub(super) site: String,
    /// `2.63 GiB`.
    pub(super) size: String,
    /// Names and values.
    pub(super) rows: Vec<(&'static str, String)>,
    /// The stack, innermost first.
    pub(super) frames: Vec<FrameText>,
    /// Everything, for the clipboard.
    pub(super) copy: String,
}

/// A request that failed, as text.
pub(super) struct OomFacts {
    /// Its event.
    pub(super) event: EventIx,
    /// `1004 MiB`.
    pub(super) size: String,
    /// Where it was made.
    pub(super) site: String,
    /// The stack, innermost first.
    pub(super) frames: Vec<FrameText>,
}

impl OomFacts {
    pub(super) fn new(snapshot: &Snapshot, timeline: &Timeline, oom: &OomEvent) -> Self {
        let stack = timeline.events.stack(oom.event);
        Self {
            event: oom.event,
            size: units::bytes(oom.requested),
            site: site_label(snapshot, stack),
            frames: frames(snapshot, stack),
        }
    }
}

fn frames(snapshot: &Snapshot, stack: StackId) -> Vec<FrameText> {
    let text = |&id| {
        let frame = site_frame(snapshot, id);
        FrameText { is_internal: is_internal(&frame), frame }
    };
    snapshot.stacks.frames(stack).iter().map(text).collect()
}

/// One frame as text.
pub(super) struct FrameText {
    pub(super) frame: SiteFrame,
    /// Whether it belongs to torch or the interpreter.
    pub(super) is_internal: bool,
}

impl AllocationFacts {
    pub(super) fn new(snapshot: &Snapshot, timeline: &Timeline, figures: &Figures, id: AllocId) -> Self {
        let allocation = timeline.lifetimes.get(id, &timeline.events);
        let rows = rows(timeline, figures, &allocation);
        let mut lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        lines.extend(stack_lines(snapshot, allocation.stack).iter().map(|line| format!("  {line}")));
        Self {
            id,
            site: site_label(snapshot, allocation.stack),
            size: units::bytes(allocation.size),
            rows,
            frames: frames(snapshot, allocation.stack),
            copy: lines.join("\n"),
        }
    }
}

fn rows(timeline: &Timeline, figures: &Figures, allocation: &Allocation) -> Vec<(&'static str, String)> {
    let at = |moment: Option<Moment>| {
        moment.and_then(Moment::event).map(|event| figures.event_text(timeline, event))
    };
    let unknown = || "not recorded".to_owned();
    vec![
        ("Address", units::address(allocation.addr)),
        ("Size", units::bytes_exact(allocation.size)),
        ("Stream", allocation.stream.map_or_else(unknown, |stream| stream.to_string())),
        ("Pool", allocation.pool.map_or_else(unknown, pool)),
        ("Allocated", at(Some(allocation.start)).unwrap_or_else(|| "before the recording".to_owned())),
        (
            "Freed",
            at(allocation.requested.or(allocation.end)).unwrap_or_else(|| "not in the recording".to_owned()),
        ),
        ("Free completed", at(allocation.end).unwrap_or_else(|| "not in the recording".to_owned())),
        ("Lifetime", figures.lifetime(timeline, allocation)),
    ]
}

fn pool(PoolKey(a, b): PoolKey) -> String {
    if PoolKey(a, b).is_private() { format!("private {a}.{b}") } else { "default".to_owned() }
}
