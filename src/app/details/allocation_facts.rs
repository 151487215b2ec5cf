//! One allocation as text, put together once when it is selected.

use super::facts::{FrameText, frames};
use crate::analysis::{Attribution, Basis, Lanes, RangeName, RuleId, site_label, stack_lines};
use crate::app::device::figures::Figures;
use crate::model::allocator_sizes::block_size;
use crate::model::{AllocId, Allocation, Event, Moment, PoolKey, ReservedRange, Snapshot, StrId, Timeline};
use crate::{report, units};

/// One allocation as text.
pub(in crate::app) struct AllocationFacts {
    /// The allocation.
    pub(in crate::app) id: AllocId,
    /// Where it was made.
    pub(in crate::app) site: String,
    /// `2.63 GiB`.
    pub(in crate::app) size: String,
    /// Names and values.
    pub(in crate::app) rows: Vec<(&'static str, String)>,
    /// The stack, innermost first.
    pub(in crate::app) frames: Vec<FrameText>,
    /// For memory of the backward pass, the stack of the forward code.
    pub(in crate::app) forward: Vec<FrameText>,
    /// Whether it was freed in the recording.
    pub(in crate::app) has_end: bool,
    /// Everything, for the clipboard.
    pub(in crate::app) copy: String,
}

impl AllocationFacts {
    pub(in crate::app) fn new(
        snapshot: &Snapshot,
        timeline: &Timeline,
        figures: &Figures,
        lanes: &Lanes,
        attribution: Option<&Attribution>,
        id: AllocId,
    ) -> Self {
        let allocation = timeline.lifetimes.get(id, &timeline.events);
        let event = allocation.alloc_event().map(|ix| timeline.events.get(ix));
        let mut rows = rows(timeline, figures, &allocation);
        rows.extend(
            attribution.into_iter().flat_map(|found| purpose(snapshot, timeline, found, &allocation)),
        );
        rows.extend(world(timeline, &allocation));
        rows.extend(event.iter().flat_map(|event| recorded(snapshot, event)));
        rows.extend(annotations(snapshot, lanes, allocation.start).map(|names| ("Annotations", names)));
        let mut lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        lines.extend(stack_lines(snapshot, allocation.stack).map(|line| format!("  {line}")));
        Self {
            id,
            site: site_label(snapshot, allocation.stack),
            size: units::bytes(allocation.size),
            rows,
            frames: frames(snapshot, allocation.stack),
            forward: event.map_or_else(Vec::new, |event| frames(snapshot, event.forward_stack)),
            has_end: allocation.end.is_some() || allocation.requested.is_some(),
            copy: lines.join("\n"),
        }
    }
}

fn rows(timeline: &Timeline, figures: &Figures, allocation: &Allocation) -> Vec<(&'static str, String)> {
    let at = |moment: Option<Moment>| {
        moment.and_then(Moment::event).map(|event| figures.event_text(timeline, event))
    };
    let unknown = || "not recorded".to_owned();
    let never = || "not in the recording".to_owned();
    let segment = segment(timeline, allocation);
    let pool = allocation.pool.or(segment.and_then(|segment| segment.pool));
    vec![
        ("Address", units::address(allocation.addr)),
        ("Requested", units::bytes_exact(allocation.size)),
        ("Block", block(timeline, allocation)),
        (
            "Segment",
            segment.map_or_else(|| "not recorded".to_owned(), |segment| segment_text(segment, allocation)),
        ),
        ("Stream", allocation.stream.map_or_else(unknown, |stream| stream.to_string())),
        ("Pool", pool.map_or_else(unknown, pool_text)),
        ("Allocated", at(Some(allocation.start)).unwrap_or_else(|| "before the recording".to_owned())),
        ("Freed", at(allocation.requested.or(allocation.end)).unwrap_or_else(never)),
        ("Free completed", at(allocation.end).unwrap_or_else(never)),
        ("Lifetime", figures.lifetime(timeline, allocation)),
    ]
}

/// The block that the allocator made for the request. Only the final state has its size; events do
/// not.
fn block(timeline: &Timeline, allocation: &Allocation) -> String {
    let mut blocks = timeline.segments.blocks.iter().filter(|block| block.addr == allocation.addr);
    if allocation.end.is_none()
        && let Some(block) = blocks.find(|block| block.is_active())
    {
        let waste = block.size.saturating_sub(allocation.size);
        return format!("{}, of which {} rounding", units::bytes_exact(block.size), units::bytes(waste));
    }
    format!("at least {}", units::bytes_exact(block_size(allocation.size)))
}

/// The reserved memory that the allocation lies in.
fn segment<'a>(timeline: &'a Timeline, allocation: &Allocation) -> Option<&'a ReservedRange> {
    let mut ranges = timeline.ranges.live_at(allocation.start);
    ranges.find(|range| {
        let offset = allocation.addr.checked_sub(range.addr);
        offset.is_some_and(|offset| offset < range.size.max(0).unsigned_abs())
    })
}

fn segment_text(segment: &ReservedRange, allocation: &Allocation) -> String {
    let offset = (allocation.addr - segment.addr) as i64;
    let kind = if segment.is_expandable { "mapped pages of an expandable segment" } else { "segment" };
    format!(
        "{} {kind} of {}, offset {}",
        units::address(segment.addr),
        units::bytes(segment.size),
        units::bytes(offset)
    )
}

fn pool_text(PoolKey(a, b): PoolKey) -> String {
    if PoolKey(a, b).is_private() { format!("private {a}.{b}") } else { "default".to_owned() }
}

/// How full the memory was once it was allocated.
fn world(timeline: &Timeline, allocation: &Allocation) -> [(&'static str, String); 1] {
    let at = allocation.start;
    let text = format!(
        "{} active, {} reserved",
        units::bytes(timeline.active.at(at)),
        units::bytes(timeline.reserved.at(at))
    );
    [("Memory then", text)]
}

/// What it is for and why that is so, and when in the program it was made.
fn purpose(
    snapshot: &Snapshot,
    timeline: &Timeline,
    found: &Attribution,
    allocation: &Allocation,
) -> Vec<(&'static str, String)> {
    let verdict = found.categories.verdict(allocation.id);
    let basis = verdict.basis();
    let mark = if basis == Basis::Inferred { "≈ " } else { "" };
    let because = found.categories.because(timeline, allocation.id);
    let mut rows = vec![
        ("Category", format!("{mark}{}: {}", verdict.category.label(), verdict.rule.rule().says)),
        ("Known by", format!("{} · rule {}", basis.explains(), verdict.rule.rule().id)),
    ];
    if verdict.rule != RuleId::Nothing {
        rows.push(("Because", report::because_text(snapshot, timeline, allocation, because)));
    }
    let position = found.phases.position_at(allocation.start);
    if let (Some(_), Some(basis)) = (allocation.alloc_event(), position.basis) {
        let number = position.iteration.map(|number| format!(" of iteration {}", units::count(number)));
        let basis = basis.text().map(|text| format!(", {text}"));
        let phase = position.phase.key();
        rows.push(("Phase", format!("{phase}{}{}", number.unwrap_or_default(), basis.unwrap_or_default())));
    }
    rows
}

/// What the program, the compiler and torch attached to the event.
fn recorded(snapshot: &Snapshot, event: &Event) -> Vec<(&'static str, String)> {
    let text = |id: StrId| units::printable(&snapshot.strings.get(id));
    let fields = [
        ("Recorded category", event.category),
        ("User metadata", event.user_metadata),
        ("Internal metadata", event.internal_metadata),
        ("Compile context", event.compile_context),
    ];
    // "N/A" is what torch writes where nothing is being compiled.
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
