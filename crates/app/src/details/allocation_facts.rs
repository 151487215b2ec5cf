//! One allocation as text, put together once when it is selected.

use super::facts::{FrameText, frames};
use crate::device::Derived;
use crate::device::figures::Figures;
use crate::texts::{self, marked};
use oomscope_analysis::printable;
use oomscope_analysis::{
    Attribution, Basis, Lanes, RangeName, RuleId, fitting_tensors, site_label, stack_lines, tensors_text,
};
use oomscope_model::{
    AllocId, Allocation, Bytes, DeviceId, Event, Moment, PoolKey, Recording, ReservedRange, Snapshot, StrId,
    Timeline,
};
use oomscope_report as report;
use oomscope_units as units;
use tr::tr;

/// What blocks are rounded to.
const BLOCK_BYTES: Bytes = Bytes(512);

/// One allocation as text.
pub(crate) struct AllocationFacts {
    /// The line of code that made it.
    pub(crate) site: String,
    /// `2.63 GiB`.
    pub(crate) size: String,
    /// What it is for, as names and values.
    pub(crate) purpose: Vec<(&'static str, String)>,
    /// Its size and its life.
    pub(crate) rows: Vec<(&'static str, String)>,
    /// Where it lies.
    pub(crate) placement: Vec<(&'static str, String)>,
    /// The stack, innermost first.
    pub(crate) frames: Vec<FrameText>,
    /// For memory of the backward pass, the stack of the forward code.
    pub(crate) forward: Vec<FrameText>,
    /// It was freed in the recording.
    pub(crate) has_end: bool,
    /// Everything, for the clipboard.
    pub(crate) copy: String,
}

impl AllocationFacts {
    pub(crate) fn new(recording: &Recording, derived: &Derived, id: AllocId) -> Self {
        let snapshot = recording.snapshot();
        let allocation = recording.allocation(id);
        let event = allocation.alloc_event().map(|ix| recording.events.get(ix));
        let found = derived.attribution();
        let mut purpose = found.map_or_else(Vec::new, |found| purpose(found, &allocation));
        let named = found.and_then(|found| report::named_text(recording, &found.categories, id));
        purpose.extend(named.map(|text| (marked!("Tensor"), text)));
        let mut rows = life(recording, &derived.figures, &allocation);
        rows.extend(found.into_iter().flat_map(|found| evidence(recording, found, &allocation)));
        rows.push((marked!("Memory then"), memory_then(recording, allocation.start)));
        rows.extend(event.iter().flat_map(|event| recorded(snapshot, event)));
        let tensors = tensors_text(&fitting_tensors(snapshot, recording.device, &allocation));
        rows.extend(tensors.map(|text| (marked!("Tensor"), units::printable(&text))));
        let annotations = annotations(snapshot, &derived.lanes, allocation.start);
        rows.extend(annotations.map(|names| (marked!("Annotations"), names)));
        let placement = placement(recording, &derived.figures, &allocation);
        let all = purpose.iter().chain(&rows).chain(&placement);
        let mut lines: Vec<String> =
            all.map(|(name, value)| format!("{}: {value}", texts::translated(name))).collect();
        lines.extend(stack_lines(snapshot, allocation.stack).map(|line| format!("  {line}")));
        Self {
            site: site_label(snapshot, allocation.stack),
            size: units::bytes(allocation.size),
            purpose,
            rows,
            placement,
            frames: frames(snapshot, allocation.stack),
            forward: event.map_or_else(Vec::new, |event| frames(snapshot, event.forward_stack)),
            has_end: allocation.end.is_some() || allocation.requested.is_some(),
            copy: lines.join("\n"),
        }
    }
}

/// The size and the life of an allocation.
fn life(timeline: &Timeline, figures: &Figures, allocation: &Allocation) -> Vec<(&'static str, String)> {
    let at = |moment| event_at(timeline, figures, moment);
    let before = || tr!("before the recording");
    vec![
        (marked!("Requested"), units::bytes_exact(allocation.size)),
        (marked!("Allocated"), at(Some(allocation.start)).unwrap_or_else(before)),
        (marked!("Freed"), at(allocation.requested.or(allocation.end)).unwrap_or_else(never)),
        (marked!("Lifetime"), figures.lifetime(timeline, allocation)),
    ]
}

fn event_at(timeline: &Timeline, figures: &Figures, moment: Option<Moment>) -> Option<String> {
    moment.and_then(Moment::event).map(|event| figures.event_text(timeline, event))
}

fn never() -> String {
    tr!("not in the recording")
}

/// Where an allocation lies.
fn placement(timeline: &Timeline, figures: &Figures, allocation: &Allocation) -> Vec<(&'static str, String)> {
    let unknown = || tr!("not recorded");
    let segment = segment(timeline, allocation);
    let pool = allocation.pool.or(segment.and_then(|segment| segment.pool));
    vec![
        (marked!("Address"), units::address(allocation.addr)),
        (marked!("Block"), block(timeline, allocation)),
        (marked!("Segment"), segment.map_or_else(unknown, |segment| segment_text(segment, allocation))),
        (marked!("Stream"), allocation.stream.map_or_else(unknown, |stream| stream.to_string())),
        (marked!("Pool"), pool.map_or_else(unknown, pool_text)),
        (marked!("Free completed"), event_at(timeline, figures, allocation.end).unwrap_or_else(never)),
    ]
}

/// The block that the allocator made for the request. Its size is in the final state alone, not in events.
fn block(timeline: &Timeline, allocation: &Allocation) -> String {
    let mut blocks = timeline.segments.blocks.iter().filter(|block| block.addr == allocation.addr);
    if allocation.end.is_none()
        && let Some(block) = blocks.find(|block| block.is_active())
    {
        let waste = block.size - allocation.size;
        if timeline.device == DeviceId::HOST && waste == 0 {
            return tr!("{}, rounded up to a power of two", units::bytes_exact(block.size));
        }
        return tr!("{}, of which {} rounding", units::bytes_exact(block.size), units::bytes(waste));
    }
    let least = (allocation.size + (BLOCK_BYTES - Bytes(1))) / BLOCK_BYTES * BLOCK_BYTES;
    tr!("at least {}", units::bytes_exact(least.max(BLOCK_BYTES)))
}

/// The reserved memory that the allocation lies in.
fn segment<'a>(timeline: &'a Timeline, allocation: &Allocation) -> Option<&'a ReservedRange> {
    let mut ranges = timeline.ranges.live_at(allocation.start);
    ranges.find(|range| {
        let offset = allocation.addr.checked_sub(range.addr);
        offset.is_some_and(|offset| offset < range.size.as_u64())
    })
}

fn segment_text(segment: &ReservedRange, allocation: &Allocation) -> String {
    let offset = (allocation.addr - segment.addr) as i64;
    let (address, size) = (units::address(segment.addr), units::bytes(segment.size));
    let offset = units::bytes(offset);
    if segment.is_expandable {
        tr!(
            "{address} mapped pages of an expandable segment of {size}, offset {offset}",
            address,
            size,
            offset
        )
    } else {
        tr!("{address} segment of {size}, offset {offset}", address, size, offset)
    }
}

pub(super) fn pool_text(PoolKey(a, b): PoolKey) -> String {
    if PoolKey(a, b).is_private() { tr!("private {a}.{b}", a, b) } else { tr!("default") }
}

/// The totals at a moment.
fn memory_then(timeline: &Timeline, at: Moment) -> String {
    let [active, reserved] = [timeline.active_at(at), timeline.reserved_at(at)];
    tr!("{} active, {} reserved", active.written(units::bytes), reserved.written(units::bytes))
}

/// The category, and the phase in which the allocation was made.
fn purpose(found: &Attribution, allocation: &Allocation) -> Vec<(&'static str, String)> {
    let verdict = found.categories.verdict(allocation.id);
    let basis = verdict.basis();
    let mark = if basis == Basis::Inferred { "≈ " } else { "" };
    let mut rows = vec![(
        marked!("Category"),
        format!("{mark}{}: {}", verdict.category.label(), verdict.rule.rule().says),
    )];
    let position = found.phases.position_at(allocation.start);
    if let (Some(_), Some(basis)) = (allocation.alloc_event(), position.basis) {
        let phase = position.phase.key();
        let phase = match position.iteration {
            Some(number) => tr!("{phase} of iteration {number}", phase, number = units::count(number)),
            None => phase.to_owned(),
        };
        let basis = basis.text().map(|text| format!(", {text}"));
        rows.push((marked!("Phase"), format!("{phase}{}", basis.unwrap_or_default())));
    }
    rows
}

/// How surely the category is known, and why.
fn evidence(
    recording: &Recording,
    found: &Attribution,
    allocation: &Allocation,
) -> Vec<(&'static str, String)> {
    let verdict = found.categories.verdict(allocation.id);
    let rule = verdict.rule.rule().id;
    let mut rows = vec![(marked!("Known by"), tr!("{} · rule {rule}", verdict.basis().explains(), rule))];
    if verdict.rule != RuleId::Nothing {
        let because = found.categories.because(recording, allocation.id);
        rows.push((marked!("Because"), report::because_text(recording, allocation, because)));
    }
    rows
}

/// Texts that the program, the compiler and torch attached to the event.
fn recorded(snapshot: &Snapshot, event: &Event) -> Vec<(&'static str, String)> {
    let text = |id: StrId| printable(snapshot, id);
    let fields = [
        (marked!("Recorded category"), event.category),
        (marked!("User metadata"), event.user_metadata),
        (marked!("Internal metadata"), event.internal_metadata),
        (marked!("Compile context"), event.compile_context),
    ];
    // Torch writes "N/A" if nothing is being compiled.
    let says_something = |(_, text): &(_, String)| !text.is_empty() && text != "N/A";
    let known = fields.into_iter().filter_map(|(name, id)| Some((name, text(id?))));
    known.filter(says_something).collect()
}

/// The annotations that were open, outermost first.
fn annotations(snapshot: &Snapshot, lanes: &Lanes, at: Moment) -> Option<String> {
    let open = lanes.lanes.iter().filter_map(|lane| {
        let after = lane.partition_point(|range| range.moments[0] <= at);
        lane[..after].last().filter(|range| at < range.moments[1])
    });
    let recorded = open.filter(|range| matches!(range.name, RangeName::Recorded(_)));
    let names: Vec<String> = recorded.map(|range| units::printable(&range.name.text(snapshot))).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
