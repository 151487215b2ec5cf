//! How a stack is named in one line: the first frame of the user's own code.

use crate::model::{Frame, FrameId, Snapshot, StackId};
use crate::units;

/// What stands for the absence of a stack.
pub(super) const NO_STACK: &str = "no stack recorded";

/// A frame as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteFrame {
    /// Full path as recorded.
    pub file: String,
    /// Line from 1; 0 where it is not known.
    pub line: i64,
    /// Function.
    pub name: String,
}

/// The text of a frame, control characters replaced.
pub fn site_frame(snapshot: &Snapshot, id: FrameId) -> SiteFrame {
    let Frame { file, line, name, .. } = snapshot.frames.get(id);
    SiteFrame {
        file: units::printable(&snapshot.strings.get(file)),
        line,
        name: units::printable(&snapshot.strings.get(name)),
    }
}

/// `train.py:55 attention`.
pub fn frame_line(frame: &SiteFrame) -> String {
    match (frame.file.as_str(), frame.line) {
        ("", _) => frame.name.clone(),
        (file, 0) => format!("{} {}", units::basename(file), frame.name),
        (file, line) => format!("{}:{line} {}", units::basename(file), frame.name),
    }
}

/// Whose code a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The user's own.
    User,
    /// An installed Python package other than torch.
    Package,
    /// Torch, the interpreter and its library, or compiled code.
    Runtime,
}

/// Whose code a frame is, as far as its path tells.
pub fn owner(frame: &SiteFrame) -> Owner {
    const TORCH: [&str; 5] = ["/torch/", "/torchgen/", "/functorch/", "\\torch\\", "torchinductor_"];
    const PACKAGES: [&str; 2] = ["site-packages", "dist-packages"];
    let file = frame.file.as_str();
    let extension = std::path::Path::new(file).extension();
    let has = |part: &str| file.contains(part);
    // Cells of a notebook have no extension.
    let is_python = extension.is_some_and(|e| e == "py") || file.starts_with("<ipython-input");
    if !is_python || TORCH.iter().any(|part| has(part)) {
        Owner::Runtime
    } else if PACKAGES.iter().any(|part| has(part)) {
        Owner::Package
    } else if has("/lib/python3") {
        Owner::Runtime
    } else {
        Owner::User
    }
}

/// Whether a frame belongs to torch, another package, the interpreter or a C++ library rather than
/// to the user.
pub fn is_internal(frame: &SiteFrame) -> bool {
    owner(frame) != Owner::User
}

/// One line for a stack: its first frame of the user's own code, else its innermost frame.
pub fn site_label(snapshot: &Snapshot, stack: StackId) -> String {
    let frames: Vec<SiteFrame> =
        snapshot.stacks.frames(stack).iter().map(|&id| site_frame(snapshot, id)).collect();
    let own = frames.iter().find(|frame| !is_internal(frame));
    own.or(frames.first()).map_or_else(|| NO_STACK.to_owned(), frame_line)
}

/// The whole stack, a line per frame, innermost first.
pub fn stack_lines(snapshot: &Snapshot, stack: StackId) -> Vec<String> {
    let line = |&id| {
        let frame = site_frame(snapshot, id);
        match (frame.file.as_str(), frame.line) {
            ("", _) => frame.name,
            (file, line) => format!("{file}:{line} {}", frame.name),
        }
    };
    snapshot.stacks.frames(stack).iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(file: &str) -> SiteFrame {
        SiteFrame { file: file.to_owned(), line: 7, name: "f".to_owned() }
    }

    #[test]
    fn own_code_is_python_outside_of_torch_and_the_standard_library() {
        assert!(!is_internal(&frame("/home/me/train.py")));
        assert!(is_internal(&frame("/env/lib/python3.11/site-packages/torch/nn/modules/linear.py")));
        assert!(is_internal(&frame("/usr/lib/python3.11/runpy.py")));
        assert!(is_internal(&frame("CUDACachingAllocator.cpp")));
        assert!(is_internal(&frame("<frozen runpy>")));
        assert!(!is_internal(&frame("<ipython-input-3-8a1b>")));
        let package = frame("/env/lib/python3.11/site-packages/transformers/cache_utils.py");
        assert_eq!(owner(&package), Owner::Package);
        assert_eq!(owner(&frame("C:\\env\\Lib\\site-packages\\torch\\nn.py")), Owner::Runtime);
        assert_eq!(owner(&frame("/tmp/torchinductor_me/ab/cab.py")), Owner::Runtime);
    }

    #[test]
    fn a_frame_reads_as_basename_line_and_function() {
        assert_eq!(frame_line(&frame("/home/me/train.py")), "train.py:7 f");
        assert_eq!(frame_line(&SiteFrame { line: 0, ..frame("lib.so") }), "lib.so f");
    }
}
