//! The tensors that the program named, and the blocks that they lie in.

use crate::held_by::HeldBy;
use oomscope_model::{AllocId, Census, CensusIx, NamedTensor, Recording, TensorHolder, TensorRole};

/// By so much the clock of events may differ from that of the recorder: torch converts ticks of the processor.
const CLOCKS_US: i64 = 1000;

/// The tensors in a block, when the program named them: at the end of the recording; those with a role first.
///
/// A block is what was allocated last at its address, so that a name is never that of memory that lay there before. Tensors that
/// are larger than their block contradict it, and are left out; so are those of a block that another thread allocated since they were
/// looked at.
pub fn named_tensors(recording: &Recording, id: AllocId) -> &[NamedTensor] {
    if recording.lifetimes.end(id).is_some() {
        return &[];
    }
    let census = &recording.snapshot().census;
    let here = census.at(recording.device, recording.addr(id));
    if here.is_empty()
        || allocated_us(recording, id)
            .zip(census.began_us())
            .is_some_and(|(at, began)| began.saturating_add(CLOCKS_US) < at)
    {
        return &[];
    }
    let fits = here.iter().all(|tensor| tensor.bytes <= recording.size(id));
    if fits { here } else { &[] }
}

/// When a block was allocated, where events say so.
fn allocated_us(recording: &Recording, id: AllocId) -> Option<i64> {
    recording.events.time_us(recording.lifetimes.start(id).event()?)
}

/// The name of a tensor, as `exp_avg of blocks.0.weight`; `None` where the program has none for it.
pub fn tensor_name(census: &Census, tensor: &NamedTensor) -> Option<String> {
    let text = |at: Option<CensusIx>| at.map(|at| census.text(at));
    match (tensor.role?, text(tensor.key), text(tensor.name)) {
        (TensorRole::OptimizerState, Some(key), Some(name)) => Some(format!("{key} of {name}")),
        (TensorRole::OptimizerState, key, name) => key.or(name).map(str::to_owned),
        (TensorRole::Gradient, _, Some(name)) => Some(format!("{name}.grad")),
        (TensorRole::Gradient, _, None) => Some("a gradient".to_owned()),
        (TensorRole::Saved, ..) => None,
        (_, _, name) => name.map(str::to_owned),
    }
}

/// The name of a tensor, what it is, and its type and shape:
/// `exp_avg of blocks.0.weight, optimizer state of AdamW, float32 [768, 256]`. Not yet fit to be shown: names are a program's.
pub fn tensor_text(census: &Census, tensor: &NamedTensor) -> String {
    let role = tensor.role.map(|role| {
        if role == TensorRole::Saved {
            let of = tensor.key.map_or_else(String::new, |at| format!(" of {}", census.text(at)));
            return format!("saved for the backward{of}");
        }
        let role = role.key().replace('_', " ");
        let owner = tensor.owner.map(|at| format!(" of {}", census.text(census.owner(at).class)));
        format!("{role}{}", owner.unwrap_or_default())
    });
    let kind = format!("{} {:?}", census.text(tensor.dtype), census.dimensions(tensor.shape));
    let shard = tensor.whole.map(|whole| format!("a shard of {:?}", census.dimensions(whole)));
    let graph = tensor.grad_fn.map(|at| format!("made by {}", census.text(at)));
    let holder =
        census.holder_of(tensor).map(|at| format!("held by {}", holder_text(census, census.holder(at))));
    let parts = [tensor_name(census, tensor), role, Some(kind), shard, graph, holder];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Who holds a tensor: `losses in validate (train.py:36)`.
pub fn holder_text(census: &Census, holder: &TensorHolder) -> String {
    HeldBy::of(census, holder).to_string()
}

/// The dimensions of a tensor, as `768x256`.
pub fn shape_text(census: &Census, tensor: &NamedTensor) -> String {
    let dimensions: Vec<String> = census.dimensions(tensor.shape).iter().map(i64::to_string).collect();
    dimensions.join("x")
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_model::{
        Action, Anchor, Bytes, CensusOwner, DeviceId, Event, EventTable, SegmentTable, Snapshot, Timeline,
        TimelineInput,
    };
    use std::sync::Arc;

    fn tensor(addr: u64, bytes: i64, role: Option<TensorRole>) -> NamedTensor {
        NamedTensor {
            role,
            name: Some(CensusIx(1)),
            owner: role.map(|_| CensusIx(0)),
            key: (role == Some(TensorRole::OptimizerState)).then_some(CensusIx(2)),
            ..NamedTensor::new(DeviceId(0), addr, Bytes(bytes))
        }
    }

    fn recording(tensors: Vec<NamedTensor>) -> Recording {
        let mut events = EventTable::default();
        for event in [
            Event::new(Action::Alloc, 512, 100),
            Event::new(Action::FreeRequested, 512, 100),
            Event::new(Action::FreeCompleted, 512, 100),
            Event::new(Action::Alloc, 512, 64),
            Event::new(Action::Alloc, 1024, 64),
            Event { time_us: Some(1016), ..Event::new(Action::Alloc, 4096, 64) },
        ] {
            events.push(&Event { time_us: event.time_us.or(Some(14)), ..event });
        }
        let (segments, anchor) = (SegmentTable::default(), Anchor::TraceOnly);
        let timeline = Timeline::build(TimelineInput { device: DeviceId(0), events, segments, anchor });
        let owners = vec![CensusOwner {
            is_optimizer: true,
            class: CensusIx(3),
            number: 0,
            holder: None,
            is_trained: None,
        }];
        let texts = ["float32", "a.weight", "exp_avg", "AdamW"].map(str::to_owned).to_vec();
        let census = Census::new(tensors, texts, vec![vec![4, 4]], owners, Vec::new()).begun_at(Some(15));
        let snapshot = Snapshot { census, timelines: vec![Arc::new(timeline)], ..Snapshot::default() };
        Recording::all(&Arc::new(snapshot)).next().expect("a device")
    }

    #[test]
    fn a_name_is_that_of_what_lies_there_last_and_of_nothing_smaller() {
        let state = Some(TensorRole::OptimizerState);
        let recording = recording(vec![
            tensor(1024, 100, state),
            tensor(512, 64, state),
            tensor(2048, 1, state),
            tensor(4096, 64, state),
        ]);
        let found: Vec<usize> = recording.ids().map(|id| named_tensors(&recording, id).len()).collect();
        assert_eq!(
            found,
            [0, 1, 0, 0],
            "of the second allocation at 512, and not of a block that is too small, or came later"
        );
        let census = &recording.snapshot().census;
        assert_eq!(
            tensor_text(census, &named_tensors(&recording, AllocId(1))[0]),
            "exp_avg of a.weight, optimizer state of AdamW, float32 [4, 4]"
        );
    }

    #[test]
    fn names_say_what_a_tensor_is() {
        let recording = recording(vec![tensor(512, 64, None)]);
        let census = &recording.snapshot().census;
        let name = |role| tensor_name(census, &tensor(512, 64, role));
        assert_eq!(name(Some(TensorRole::Gradient)).as_deref(), Some("a.weight.grad"));
        assert_eq!(name(Some(TensorRole::Buffer)).as_deref(), Some("a.weight"));
        assert_eq!(name(None), None);
        assert_eq!(tensor_text(census, &tensor(512, 64, None)), "float32 [4, 4]");
    }
}
