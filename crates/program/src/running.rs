//! The functions that are running, followed from one allocation's stack to the next.
//!
//! A stack names lines, not calls. That a function is called again from the line that called it before shows where it
//! goes back to the line with which it began or, if it allocates on one line only, to the stack with which it began.

use super::frames::CallFrames;
use oomscope_model::{FrameId, StackId};

/// A function that is running.
#[derive(Debug)]
pub struct Running<T> {
    /// Its line.
    pub line: FrameId,
    /// The line with which it began.
    first_line: FrameId,
    /// The stack with which it began.
    first_stack: StackId,
    /// Whether another stack came since it was last there.
    is_away: bool,
    /// What is known about it.
    pub about: T,
}

/// The running functions, outermost first.
#[derive(Debug)]
pub struct CallStack<T>(Vec<Running<T>>);

/// No function runs.
impl<T> Default for CallStack<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> CallStack<T> {
    /// The functions, outermost first.
    pub fn running(&self) -> &[Running<T>] {
        &self.0
    }

    /// The functions, outermost first.
    pub fn running_mut(&mut self) -> &mut [Running<T>] {
        &mut self.0
    }

    /// How many of the running functions go on with a stack, given its path from the outermost frame. At most one of them went on
    /// to another line.
    pub fn going_on(&mut self, frames: &CallFrames, stack: StackId, path: &[FrameId]) -> usize {
        let mut kept = 0;
        for (running, &line) in self.0.iter_mut().zip(path) {
            if frames.get(running.line).function != frames.get(line).function {
                break;
            }
            if running.line != line {
                if running.first_line == line {
                    return kept;
                }
                running.line = line;
                kept += 1;
                break;
            }
            kept += 1;
        }
        let begins_again = |running: &Running<T>| running.is_away && running.first_stack == stack;
        self.0[..kept].iter().rposition(begins_again).unwrap_or(kept)
    }

    /// End the innermost function, if more than some number are running.
    pub fn end_beyond(&mut self, count: usize) -> Option<Running<T>> {
        if count < self.0.len() { self.0.pop() } else { None }
    }

    /// Begin a function with a stack.
    pub fn begin(&mut self, line: FrameId, stack: StackId, about: T) {
        self.0.push(Running { line, first_line: line, first_stack: stack, is_away: false, about });
    }

    /// Note the stack at which all running functions are now.
    pub fn note(&mut self, stack: StackId) {
        for running in &mut self.0 {
            running.is_away = running.first_stack != stack;
        }
    }
}
