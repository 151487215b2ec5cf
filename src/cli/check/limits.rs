//! The limits that a device is held against.

use oomscope_model::{Bytes, Moment, Recording, Timeline, Trust};
use oomscope_report::{SourceLine, start_text};
use oomscope_units as units;

/// A limit: what was recorded beside it, and how far that is known.
pub(super) struct Limit {
    pub(super) outcome: Outcome,
    pub(super) trust: Trust,
}

/// The limits that were given.
pub(super) struct Limits {
    pub(super) max_peak: Option<Bytes>,
    pub(super) max_reserved: Option<Bytes>,
    pub(super) no_oom: bool,
}

impl Limits {
    /// The limits beside the figures of a device.
    pub(super) fn of(&self, recording: &Recording) -> Vec<Limit> {
        let (trust, counted) = (recording.trust, recording.snapshot().counted_peaks(recording.device));
        let peak = Peak::new(
            ["max-peak", "peak"],
            recording.active.peak(),
            counted.requested_bytes,
            trust.peak_in_use,
        );
        let reserved = Peak::new(
            ["max-reserved", "reserved"],
            recording.reserved.peak(),
            counted.reserved_bytes,
            trust.peak_reserved,
        );
        let mut limits = Vec::new();
        limits.extend(self.max_peak.map(|limit| peak.below(limit)));
        limits.extend(self.max_reserved.map(|limit| reserved.below(limit)));
        limits.extend(self.no_oom.then(|| no_oom(recording)));
        for limit in &mut limits {
            if limit.outcome.holds && matches!(limit.trust, Trust::AtLeast(_)) {
                let since = start_text(recording);
                limit.outcome.text = format!("{}; the recording starts{since}", limit.outcome.text);
            }
        }
        limits
    }
}

/// The outcome of one limit.
pub(super) struct Outcome {
    /// The option that asks for it.
    pub(super) check: &'static str,
    /// What is checked, for reports that follow it from run to run.
    pub(super) name: String,
    /// The recorded figure beside the limit, in words.
    pub(super) text: String,
    pub(super) holds: bool,
    /// The recorded bytes; `None` if it is not about bytes.
    pub(super) bytes: Option<Bytes>,
    /// Those that are allowed.
    pub(super) limit_bytes: Option<Bytes>,
    /// The line of code that it is about.
    pub(super) source: Option<SourceLine>,
}

/// The largest total of a device.
struct Peak {
    check: &'static str,
    what: &'static str,
    /// The moment that has it; `None` if PyTorch counted more than any moment has.
    at: Option<Moment>,
    bytes: Bytes,
    trust: Trust,
}

impl Peak {
    /// The largest total of the recording, or that which PyTorch counted: it began before the recording.
    fn new(
        [check, what]: [&'static str; 2],
        (at, bytes): (Moment, Bytes),
        counted: Option<Bytes>,
        trust: Trust,
    ) -> Self {
        match counted.filter(|&counted| bytes <= counted && !trust.is_unknown()) {
            Some(counted) => Self {
                check,
                what,
                at: (counted == bytes).then_some(at),
                bytes: counted,
                trust: Trust::Known,
            },
            None => Self { check, what, at: Some(at), bytes, trust },
        }
    }

    fn below(&self, limit: Bytes) -> Limit {
        let holds = self.bytes <= limit;
        let (what, shown, limit_text) = (self.what, units::bytes(self.bytes), units::bytes(limit));
        let place = match self.at.map(Moment::event) {
            None => "by PyTorch's own counter".to_owned(),
            Some(None) => "before the first event".to_owned(),
            Some(Some(event)) => format!("after event {}", units::count(event.0)),
        };
        let text = if !holds {
            let more = units::bytes(self.bytes - limit);
            format!("{what} {shown} is {more} above {limit_text}, {place}")
        } else if self.at.is_none() {
            format!("{what} {shown} of {limit_text}, {place}")
        } else {
            format!("{what} {shown} of {limit_text}")
        };
        let outcome = Outcome {
            check: self.check,
            name: self.check.to_owned(),
            text,
            holds,
            bytes: Some(self.bytes),
            limit_bytes: Some(limit),
            source: None,
        };
        Limit { outcome, trust: self.trust }
    }
}

fn no_oom(timeline: &Timeline) -> Limit {
    let text = match timeline.ooms.last() {
        None => "no failed request".to_owned(),
        Some(oom) => format!(
            "{} failed, the last at event {} for {}",
            if timeline.ooms.len() == 1 {
                "1 request".to_owned()
            } else {
                format!("{} requests", units::count(timeline.ooms.len() as u64))
            },
            units::count(oom.event.0),
            units::bytes(oom.requested)
        ),
    };
    let holds = timeline.ooms.is_empty();
    Limit {
        outcome: Outcome {
            check: "no-oom",
            name: "no-oom".to_owned(),
            text,
            holds,
            bytes: None,
            limit_bytes: None,
            source: None,
        },
        trust: timeline.trust.failed_requests,
    }
}
