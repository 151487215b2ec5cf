//! Whether the program holds what its model returns until the backward is over.

use crate::projection::failure::Failure;
use crate::{Computation, FrameKind, Pass};
use oomscope_analysis::Category;
use oomscope_model::{AllocId, Frame, FrameId, StackId};

/// Whether the function that gets the batch calls the model itself: its variables live on through the backward, those of a
/// function that only returns the loss do not. A block of the model made something, which shows how it is called.
pub(super) fn is_result_held(
    computation: &Computation<'_>,
    failure: &Failure,
    pass: &Pass,
    of_block: AllocId,
) -> bool {
    let run = &computation.run;
    let call = run.recording.stack(of_block);
    let made = run.made_in(&(pass.events.start..failure.event.0));
    let mut inputs = made.filter(|&id| run.category(id) == Category::Input);
    inputs.next().is_some_and(|id| is_called_beside(computation, call, run.recording.stack(id)))
}

/// Whether two stacks part in one function, which calls a module on the way to the first.
fn is_called_beside(computation: &Computation<'_>, call: StackId, other: StackId) -> bool {
    let snapshot = computation.run.recording.snapshot();
    let path = |stack: StackId| -> Vec<FrameId> { computation.frames.path(snapshot, stack).collect() };
    let (call, other) = (path(call), path(other));
    let Some(parts) = call.iter().zip(&other).position(|(a, b)| a != b) else { return false };
    let function = |frame: FrameId| {
        let Frame { file, name, .. } = snapshot.frames.get(frame);
        (file, name)
    };
    let is_one = function(call[parts]) == function(other[parts]);
    let is_module = |frame: &FrameId| computation.frames.get(*frame).kind == FrameKind::Call;
    is_one && call.get(parts + 1).is_some_and(is_module)
}
