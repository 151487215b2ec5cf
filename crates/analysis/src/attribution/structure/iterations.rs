//! Iterations: where they start, how they are numbered, and how much memory each needs.

use oomscope_model::{Bytes, EventIx, Moment, Timeline};

/// One iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iteration {
    /// Its first event.
    pub start: EventIx,
    /// The first moment after it.
    pub end: Moment,
    /// The first moment in it at which most bytes are active.
    pub peak: Moment,
    /// Active bytes then.
    pub peak_bytes: Bytes,
    /// Active bytes just before its first event.
    pub start_bytes: Bytes,
    /// Active bytes at its end.
    pub end_bytes: Bytes,
}

impl Iteration {
    /// How many bytes more are active at its end than at its start.
    pub fn growth_bytes(&self) -> Bytes {
        self.end_bytes - self.start_bytes
    }
}

/// The iterations of one device, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Iterations {
    /// The iterations that start within the trace.
    pub list: Vec<Iteration>,
    /// The number of the first in the list; `None` where the recording starts too late to know.
    pub first_number: Option<u32>,
    /// The number of the iteration that is under way when the trace starts, where it is known.
    pub(super) number_before: Option<u32>,
    /// How many iterations began on other devices after the last event of this one.
    pub begun_elsewhere: u32,
    /// How many iterations surely ended with a step before the trace.
    pub(super) ended_before: u32,
    /// Of each iteration in the list, how many ended with a step within the trace before it.
    ended: Vec<u32>,
    /// The event from which on a further iteration may have begun that does not show yet.
    pub(super) unsure_from: Option<u32>,
    /// Number of events.
    events: u32,
}

impl Iterations {
    /// The iterations that start at some events; starts after the last event are those of other devices.
    pub(super) fn from_starts(timeline: &Timeline, starts: &[EventIx], first_number: Option<u32>) -> Self {
        let end = timeline.events.len() as u32;
        let here = starts.partition_point(|start| start.0 < end);
        let (starts, elsewhere) = starts.split_at(here);
        let ends = starts.iter().skip(1).map(|start| start.0).chain([end]);
        let list = starts
            .iter()
            .map(|start| start.0)
            .zip(ends)
            .map(|(start, end)| iteration(timeline, start, end))
            .collect();
        Self { list, first_number, begun_elsewhere: elsewhere.len() as u32, events: end, ..Self::default() }
    }

    /// Note which iterations ended with a step. Of several steps before the next begins, one counts.
    pub(super) fn note_steps(&mut self, steps: &[u32]) {
        let (mut after, mut ended) = (0, 0);
        self.ended = self
            .list
            .iter()
            .map(|iteration| {
                let until = steps.partition_point(|&step| step <= iteration.start.0);
                ended += u32::from(after < until);
                after = until;
                ended
            })
            .collect();
    }

    /// How many ended with a step before the first of the list, within the trace.
    pub(super) fn ended_before_first(&self) -> u32 {
        self.ended.first().copied().unwrap_or_default()
    }

    /// How many iterations surely ended before the iteration that a moment belongs to.
    pub(super) fn ended_at(&self, moment: Moment) -> Option<u32> {
        let within = self.ended.get(self.index_at(moment)?).copied().unwrap_or_default();
        // The first step within the trace may be the one that left what shows a step before it.
        Some(within.saturating_add(self.ended_before.saturating_sub(self.ended_before_first())))
    }

    /// The iteration that the event before a moment belongs to, as an index into the list.
    pub fn index_at(&self, moment: Moment) -> Option<usize> {
        let event = moment.event().filter(|event| self.unsure_from.is_none_or(|unsure| event.0 < unsure))?;
        self.list.partition_point(|iteration| iteration.start <= event).checked_sub(1)
    }

    /// Whether the numbers of iterations are known, rather than only their places in the recording.
    pub fn has_numbers(&self) -> bool {
        self.first_number.is_some() || self.number_before.is_some()
    }

    /// The iterations by number, each with its first event and the one after its last, also the one that is under way when
    /// the trace starts if its number is known. Where no number is, they count from 0.
    pub fn ranges(&self) -> Vec<(u32, [u32; 2])> {
        let sure = self.unsure_from.unwrap_or(self.events);
        let before = self.number_before.map(|number| (number, [0, self.first_start().min(sure)]));
        let first = self.first_number.unwrap_or_default();
        let listed = self.list.iter().zip(0u32..).map(|(iteration, at)| {
            (first.saturating_add(at), [iteration.start.0.min(sure), iteration.end.0.min(sure)])
        });
        before.into_iter().chain(listed).filter(|(_, [from, to])| from < to).collect()
    }

    /// The first event of the first iteration that starts within the trace.
    fn first_start(&self) -> u32 {
        self.list.first().map_or(self.events, |iteration| iteration.start.0)
    }

    /// The number of the iteration that a moment belongs to, from 0.
    pub fn number_at(&self, moment: Moment) -> Option<u32> {
        match self.recorded_at(moment) {
            Some(index) => Some(self.first_number?.saturating_add(index)),
            None => self.number_before.filter(|_| moment.0 <= self.first_start()),
        }
    }

    /// How many iterations began within the trace before the iteration that a moment belongs to.
    pub fn recorded_at(&self, moment: Moment) -> Option<u32> {
        let index = self.index_at(moment)? as u32;
        let elsewhere = if self.events <= moment.0 { self.begun_elsewhere } else { 0 };
        Some(index.saturating_add(elsewhere))
    }
}

fn iteration(timeline: &Timeline, start: u32, end: u32) -> Iteration {
    let range = start as usize + 1..end as usize + 1;
    let (peak, peak_bytes) = timeline.active.peak_in(range).unwrap_or((Moment(start), Bytes::ZERO));
    Iteration {
        start: EventIx(start),
        end: Moment(end),
        peak,
        peak_bytes,
        start_bytes: timeline.active.at(Moment(start)),
        end_bytes: timeline.active.at(Moment(end)),
    }
}
