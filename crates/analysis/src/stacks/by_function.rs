//! What is the same for all lines of a function is found once, not for each frame.

use foldhash::HashMap;
use oomscope_model::{Frame, FrameId, Snapshot, StrId};
use rayon::prelude::*;

/// A value for each frame of a file, by [`FrameId`], that follows from its file and its function alone. Names may have kilobytes,
/// and thousands of frames may share them.
pub fn by_function<T: Copy + Send + Sync>(
    snapshot: &Snapshot,
    of: impl Fn(Frame) -> T + Send + Sync,
) -> Vec<T> {
    let mut places: HashMap<(StrId, StrId), u32> = HashMap::default();
    let mut functions: Vec<Frame> = Vec::new();
    let frames = (0..snapshot.frames.len() as u32).map(|id| snapshot.frames.get(FrameId(id)));
    let of_frame: Vec<u32> = frames
        .map(|frame| {
            *places.entry((frame.file, frame.name)).or_insert_with(|| {
                functions.push(frame);
                functions.len() as u32 - 1
            })
        })
        .collect();
    let found: Vec<T> = functions.into_par_iter().map(of).collect();
    of_frame.into_iter().map(|at| found[at as usize]).collect()
}
