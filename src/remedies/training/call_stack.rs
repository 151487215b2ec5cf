//! The functions that are running, followed from one allocation's stack to the next.
//!
//! A stack names lines, not calls. That a function is called again from the line that called it before shows where it
//! goes back to the line with which it began or, if it allocates on one line only, to the stack with which it began.

use super::frames::CallFrames;
use crate::model::{FrameId, StackId};

/// A function that is running.
#[derive(Debug)]
pub(super) struct Running<T> {
    /// Its line.
    pub(super) line: FrameId,
    /// The line with which it began.
    first_line: FrameId,
    /// The stack with which it began.
    first_stack: StackId,
    /// Whether another stack came since it was last there.
    is_away: bool,
    /// What is known about it.
    pub(super) about: T,
}

/// The running functions, outermost first.
#[derive(Debug)]
pub(super) struct CallStack<T>(Vec<Running<T>>);

/// A function that went on to another line.
pub(super) struct WentOn {
    pub(super) depth: usize,
    pub(super) from: FrameId,
}

impl<T> CallStack<T> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn running(&self) -> &[Running<T>] {
        &self.0
    }

    pub(super) fn running_mut(&mut self) -> &mut [Running<T>] {
        &mut self.0
    }

    /// How many of the running functions go on with a stack, given its path from the outermost frame. At most one of them
    /// went on to another line.
    pub(super) fn going_on(
        &mut self,
        frames: &CallFrames,
        stack: StackId,
        path: &[FrameId],
    ) -> (usize, Option<WentOn>) {
        let mut kept = 0;
        let mut went_on = None;
        for (running, &line) in self.0.iter_mut().zip(path) {
            if frames.get(running.line).function != frames.get(line).function {
                break;
            }
            if running.line != line {
                if running.first_line == line {
                    return (kept, None);
                }
                went_on = Some(WentOn { depth: kept, from: running.line });
                running.line = line;
                kept += 1;
                break;
            }
            kept += 1;
        }
        let begins_again = |running: &Running<T>| running.is_away && running.first_stack == stack;
        match self.0[..kept].iter().rposition(begins_again) {
            Some(again) => (again, None),
            None => (kept, went_on),
        }
    }

    /// End the innermost function, if more than some number are running.
    pub(super) fn end_beyond(&mut self, count: usize) -> Option<Running<T>> {
        if count < self.0.len() { self.0.pop() } else { None }
    }

    /// Begin a function with a stack.
    pub(super) fn begin(&mut self, line: FrameId, stack: StackId, about: T) {
        self.0.push(Running { line, first_line: line, first_stack: stack, is_away: false, about });
    }

    /// Note the stack at which all running functions are now.
    pub(super) fn note(&mut self, stack: StackId) {
        for running in &mut self.0 {
            running.is_away = running.first_stack != stack;
        }
    }
}
