//! The table of allocations.

use super::rows::{Rows, infos};
use super::table::Table;
use crate::interchange::cell::Cell;
use crate::interchange::column::{Column, Kind, Unit, column, number};
use crate::interchange::selection::Portion;
use oomscope_analysis::{
    Basis, BlockTensors, Categories, LifeSpan, Verdict, holder_text, shape_text, tensor_name,
};
use oomscope_model::{AllocId, Allocation, Moment, Recording, Timeline};
use std::io;

pub(super) static TABLE: Table = Table {
    name: "allocations",
    about: "memory from its alloc event to its completed free, one row each",
    columns: || infos(&COLUMNS),
    count: |selection| {
        selection.portions.iter().map(|portion| portion.recording.lifetimes.len() as u64).sum()
    },
    write,
};

struct ExportedAllocation {
    device: i64,
    allocation: Allocation,
    /// When it was allocated, given back and freed.
    times_us: [Option<i64>; 3],
    lifetime_us: Option<i64>,
    verdict: Verdict,
    iteration: Option<u32>,
    phase: Option<&'static str>,
    tensor: Option<Tensor>,
}

/// What the program said of the first tensor in a block: that with a name, if one has.
struct Tensor {
    name: Option<String>,
    dtype: String,
    shape: String,
    holder: Option<String>,
    basis: Basis,
}

fn text<'r>(tensor: Option<&'r Tensor>, get: impl Fn(&'r Tensor) -> Option<&'r str>) -> Cell<'r> {
    tensor.and_then(get).map_or(Cell::Null, Cell::text)
}

fn tensor(recording: &Recording, categories: &Categories, id: AllocId) -> Option<Tensor> {
    let census = &recording.snapshot().census;
    let BlockTensors { tensors, is_inferred } = BlockTensors::of(recording, categories, id);
    let tensor = tensors.first()?;
    Some(Tensor {
        name: tensor_name(census, tensor),
        dtype: census.text(tensor.dtype).to_owned(),
        shape: shape_text(census, tensor),
        holder: census.holder_of(tensor).map(|at| holder_text(census, census.holder(at))),
        basis: if is_inferred { Basis::Inferred } else { Basis::Declared },
    })
}

static COLUMNS: [Column<ExportedAllocation>; 26] = [
    column("device", Kind::Int, "the device; -1 is pinned host memory", |_, row| Cell::Int(row.device)),
    column("allocation", Kind::Int, "its number on the device, in the order of allocation", |_, row| {
        Cell::Int(row.allocation.id.0.into())
    }),
    column("addr", Kind::Address, "its first byte", |_, row| Cell::Address(row.allocation.addr)),
    number("size_bytes", Unit::Bytes, "as requested, without rounding", |_, row| row.allocation.size.into()),
    column("stream", Kind::Int, "the number or address of the stream", |_, row| {
        Cell::int(row.allocation.stream)
    }),
    column("pool", Kind::Text, "the pool as PyTorch writes it, `(0, 0)` for the default one", |_, row| {
        Cell::pool(row.allocation.pool)
    }),
    number("alloc_event", Unit::Event, "the event that made it; none if it is older", |_, row| {
        event(Some(row.allocation.start))
    }),
    number("free_requested_event", Unit::Event, "the event that gave it back", |_, row| {
        event(row.allocation.requested)
    }),
    number(
        "free_completed_event",
        Unit::Event,
        "the event that ended it; none if it outlives the recording",
        |_, row| event(row.allocation.end),
    ),
    number("alloc_time_us", Unit::TimeUs, "the time of `alloc_event`", |_, row| Cell::int(row.times_us[0])),
    number("free_requested_time_us", Unit::TimeUs, "the time of `free_requested_event`", |_, row| {
        Cell::int(row.times_us[1])
    }),
    number("free_completed_time_us", Unit::TimeUs, "the time of `free_completed_event`", |_, row| {
        Cell::int(row.times_us[2])
    }),
    number("lifetime_us", Unit::Us, "from alloc to completed free; none if one of them was not recorded", {
        |_, row| Cell::int(row.lifetime_us)
    }),
    column(
        "category",
        Kind::Text,
        "its purpose: parameter, gradient, … (docs/attribution.md)",
        |_, row| Cell::text(row.verdict.category.key()),
    ),
    column("basis", Kind::Text, "how surely: declared, seen, followed, inferred or unknown", |_, row| {
        Cell::text(row.verdict.basis().key())
    }),
    column("rule", Kind::Text, "the rule that decided the category", |_, row| {
        Cell::text(row.verdict.rule.rule().id)
    }),
    column("iteration", Kind::Int, "the iteration that allocated it", |_, row| Cell::int(row.iteration)),
    column("phase", Kind::Text, "the phase that allocated it", |_, row| {
        row.phase.map_or(Cell::Null, Cell::text)
    }),
    column("stack", Kind::Int, "the stack in `stacks` and `frames`", |_, row| {
        Cell::stack(row.allocation.stack)
    }),
    column("site", Kind::Text, "the line of your own code in that stack", |all, row| {
        all.site(row.allocation.stack).map_or(Cell::Null, Cell::text)
    }),
    column("is_live_at_end", Kind::Bool, "whether it outlives the recording", |_, row| {
        Cell::Bool(row.allocation.end.is_none())
    }),
    column("tensor", Kind::Text, "the name that the program gave it", |_, row| {
        text(row.tensor.as_ref(), |tensor| tensor.name.as_deref())
    }),
    column("dtype", Kind::Text, "the type of its elements, as the program said", |_, row| {
        text(row.tensor.as_ref(), |tensor| Some(&tensor.dtype))
    }),
    column("shape", Kind::Text, "its dimensions, as `768x256`", |_, row| {
        text(row.tensor.as_ref(), |tensor| Some(&tensor.shape))
    }),
    column("holder", Kind::Text, "the variable that leads to it, with its function and line", |_, row| {
        text(row.tensor.as_ref(), |tensor| tensor.holder.as_deref())
    }),
    column(
        "tensor_basis",
        Kind::Text,
        "declared at the end, or inferred from a later iteration",
        |_, row| text(row.tensor.as_ref(), |tensor| Some(tensor.basis.key())),
    ),
];

/// The event before a moment.
fn event(moment: Option<Moment>) -> Cell<'static> {
    Cell::int(moment.and_then(Moment::event).map(|ix| ix.0))
}

fn write(rows: &mut Rows<'_, '_>) -> io::Result<()> {
    for portion in &rows.selection.portions {
        for id in portion.allocations() {
            rows.push(&COLUMNS, &row(portion, id))?;
        }
    }
    Ok(())
}

fn row(portion: &Portion, id: AllocId) -> ExportedAllocation {
    let (timeline, found) = (portion.recording.timeline(), &portion.attribution);
    let allocation = timeline.allocation(id);
    let Allocation { start, requested, end, .. } = allocation;
    let is_recorded = start != Moment::START;
    let span = LifeSpan::of(timeline, id);
    ExportedAllocation {
        device: timeline.device.0,
        allocation,
        times_us: [Some(start), requested, end].map(|moment| time_us(timeline, moment)),
        lifetime_us: span.us.filter(|_| !span.is_open),
        verdict: found.categories.verdict(id),
        iteration: found.phases.iteration_at(start).filter(|_| is_recorded),
        phase: is_recorded.then(|| found.phases.phase_at(start).key()),
        tensor: tensor(&portion.recording, &found.categories, id),
    }
}

fn time_us(timeline: &Timeline, moment: Option<Moment>) -> Option<i64> {
    timeline.events.time_us(moment?.event()?)
}
