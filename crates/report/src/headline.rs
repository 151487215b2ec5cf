//! A device's recording in a few lines, for headers, status lines and captions.

use super::non_default_settings;
use super::trust::trust_lines;
use oomscope_model::{Moment, Recording, Snapshot, Timeline};
use oomscope_units as units;

/// The outcome of the recording in a sentence: the OOM, or the peak. It uses the model's figures alone, so it needs
/// no diagnosis.
pub fn headline(timeline: &Timeline, is_damaged: bool) -> String {
    if timeline.trust.in_use.is_unknown() {
        return "Cannot tell: the figures of the recording are not known".to_owned();
    }
    let Some(oom) = timeline.ooms.last() else { return without_oom(timeline, is_damaged) };
    let at = Moment::after(oom.event);
    let (active, requested) = (timeline.active_at(at), units::bytes(oom.requested));
    let active_text = active.written(units::bytes);
    let mut text = format!("Out of memory: {requested} requested with {active_text} active");
    let reserved = timeline.reserved_at(at).known();
    if let Some(cached) = reserved.map(|reserved| reserved - active.recorded).filter(|&cached| 0 < cached) {
        text = format!("{text}, {} reserved but not in use", units::bytes(cached));
    }
    if let Some(free) = oom.device_free {
        text = format!("{text}, {} free on the device", units::bytes(free));
    }
    text
}

fn without_oom(timeline: &Timeline, is_damaged: bool) -> String {
    let (moment, bytes) = timeline.peak_active();
    let bytes = bytes.written(units::bytes);
    if timeline.events.is_empty() {
        return format!("{bytes} active when the snapshot was taken");
    }
    let none =
        if is_damaged { "No out-of-memory event in what could be read" } else { "No out-of-memory event" };
    match moment.event() {
        Some(event) => format!("{none}. Peak of {bytes} after event {}", units::count(event.0)),
        None => format!("{none}. Peak of {bytes} before the first event"),
    }
}

/// A moment and its totals: `after event 2,528 of 2,529 events · 32.0 ms · allocated 1.80 GiB · …`.
pub fn moment_text(timeline: &Timeline, moment: Moment) -> String {
    let events = units::counted(timeline.events.len(), "event");
    let mut parts = vec![match moment.event() {
        None if timeline.events.is_empty() => "no events".to_owned(),
        None => format!("before event 0 of {events}"),
        Some(event) => format!("after event {} of {events}", units::count(event.0)),
    }];
    let time = moment.event().and_then(|event| timeline.events.time_us(event)).zip(timeline.times.first_us());
    parts.extend(time.map(|(time, first)| units::duration_us(time.saturating_sub(first))));
    parts.push(format!("allocated {}", timeline.allocated_at(moment).written(units::bytes)));
    parts.push(format!("active {}", timeline.active_at(moment).written(units::bytes)));
    parts.push(format!("reserved {}", timeline.reserved_at(moment).written(units::bytes)));
    parts.join(" · ")
}

/// The time of a moment, without its totals: `after event 2,300 · 12.0 ms · 2026-01-31 14:05:06.000007
/// UTC`. The clock is that of the machine that recorded.
pub fn when_text(timeline: &Timeline, moment: Moment) -> String {
    let Some(event) = moment.event() else { return "before the first event".to_owned() };
    let mut parts = vec![format!("after event {}", units::count(event.0))];
    if let Some(time) = timeline.events.time_us(event) {
        let first = timeline.times.first_us();
        parts.extend(first.map(|first| units::duration_us(time.saturating_sub(first))));
        parts.push(units::date_time_us(time));
    }
    parts.join(" · ")
}

/// A moment as a heading: `At the peak, after event 2,300`.
pub fn moment_name(timeline: &Timeline, moment: Moment) -> String {
    if timeline.events.is_empty() {
        return "When the snapshot was taken".to_owned();
    }
    let Some(event) = moment.event() else { return "Before the first event".to_owned() };
    let number = units::count(event.0);
    if timeline.ooms.iter().any(|oom| oom.event == event) {
        format!("Out of memory, at event {number}")
    } else if timeline.active.peak().0 == moment {
        format!("At the peak, after event {number}")
    } else {
        format!("After event {number}")
    }
}

/// Lines below the headline for readers who have nothing but the picture: totals, the moment that is shown,
/// the allocator's settings, and what is missing.
pub fn caption_lines(recording: &Recording, moment: Moment) -> Vec<String> {
    let snapshot = recording.snapshot();
    let mut lines = vec![units::capitalised(&figures(recording))];
    if !recording.events.is_empty() {
        lines.push(units::capitalised(&moment_text(recording, moment)));
    }
    lines.push(settings(snapshot));
    lines.extend(trust_lines(snapshot, [recording]));
    lines
}

fn figures(timeline: &Timeline) -> String {
    let device = timeline.device.to_string();
    let reserved = timeline.peak_reserved().1.written(units::bytes);
    if timeline.events.is_empty() {
        let reserved = timeline.reserved_at(Moment::START).written(units::bytes);
        return format!("{device} · {reserved} reserved · no events were recorded");
    }
    let events = units::counted(timeline.events.len(), "event");
    let active = timeline.peak_active().1.written(units::bytes);
    let mut text = format!("{device} · {events} · peak active {active} · peak reserved {reserved}");
    if let Some(before) = timeline.active_at(Moment::START).known() {
        text = format!("{text} · active before recording {}", units::bytes(before));
    }
    text
}

fn settings(snapshot: &Snapshot) -> String {
    let changed = non_default_settings(snapshot);
    match (snapshot.settings.is_empty(), changed.is_empty()) {
        (true, _) => "Allocator settings not recorded".to_owned(),
        (_, true) => "Default allocator settings".to_owned(),
        _ => format!("Allocator settings: {}", changed.join(" · ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::{alone, first};
    use oomscope_model::{
        Anchor, Damage, DeviceId, EventTable, SegmentTable, Setting, SettingValue, TimelineInput,
    };

    fn empty() -> Timeline {
        Timeline::build(TimelineInput {
            device: DeviceId(3),
            events: EventTable::default(),
            segments: SegmentTable::default(),
            anchor: Anchor::EndState,
        })
    }

    #[test]
    fn a_snapshot_without_events_says_so() {
        let lines = caption_lines(&alone(empty()), Moment::START);
        assert_eq!(
            lines,
            [
                "Device 3 · 0 B reserved · no events were recorded",
                "Allocator settings not recorded",
                "No allocations were recorded: only the end is known, not the peaks and failed requests before it",
            ]
        );
        assert_eq!(
            moment_text(&empty(), Moment::START),
            "no events · allocated 0 B · active 0 B · reserved 0 B"
        );
    }

    #[test]
    fn settings_and_damage_are_told() {
        let setting =
            |value| Setting { name: "expandable_segments".to_owned(), value: SettingValue::Bool(value) };
        let lines = |snapshot: Snapshot| {
            caption_lines(&first(Snapshot { timelines: vec![empty().into()], ..snapshot }), Moment::START)
        };
        let changed = Snapshot { settings: vec![setting(true)], ..Snapshot::default() };
        assert!(lines(changed).contains(&"Allocator settings: expandable_segments=True".to_owned()));
        let damage = Some(Damage { offset: 1234, reason: "cut".to_owned() });
        let damaged = Snapshot { settings: vec![setting(false)], damage, ..Snapshot::default() };
        let lines = lines(damaged);
        assert!(lines.contains(&"Default allocator settings".to_owned()));
        assert!(lines.contains(
            &"The file is damaged at byte 1,234; only what is whole before it is shown".to_owned()
        ));
    }
}
