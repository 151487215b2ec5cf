//! The site of a stack, its name in one line: the first frame of the user's own code.

use super::language::{is_cell, is_python};
use super::native_frame::{NativeRank, is_in_library, native_rank, short_name};
use super::site_frame::{SiteFrame, site_frame};
use oomscope_model::{Snapshot, StackId};
use oomscope_units as units;

/// The text for the absence of a stack.
pub const NO_STACK: &str = "no stack recorded";

/// A frame in one line: `train.py:55 attention`. Of compiled code, only the function, since its addresses
/// mean nothing to a reader.
pub fn frame_line(frame: &SiteFrame) -> String {
    if is_in_library(frame) && !frame.name.is_empty() {
        return short_name(&frame.name).to_owned();
    }
    match (frame.file.as_str(), frame.line) {
        ("", _) => frame.name.clone(),
        (file, 0) => format!("{} {}", units::basename(file), frame.name),
        (file, line) => format!("{}:{line} {}", units::basename(file), frame.name),
    }
}

/// The owner of a frame's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The user.
    User,
    /// An installed Python package other than torch.
    Package,
    /// Torch, the interpreter and its library, compiled code, or oomscope's recorder.
    Runtime,
}

/// Parts of the paths of torch's own Python code and of the code that it generates.
const TORCH: [&str; 6] =
    ["/torch/", "/torchgen/", "/functorch/", "\\torch\\", "torchinductor_", "fx_generated_"];

fn is_torch_python(frame: &SiteFrame) -> bool {
    is_python(&frame.file) && TORCH.iter().any(|part| frame.file.contains(part))
}

/// Whether Python code was written by the program, `python -c` or a library, or is frozen, so that no line of a file shows it.
fn is_made(file: &str) -> bool {
    file.starts_with('<') && !is_cell(file)
}

/// Whether a file is of oomscope's own recorder, which runs programs and hands them their batches, wherever it is installed.
pub(crate) fn is_recorder(file: &str) -> bool {
    let mut parts = file.rsplit(['/', '\\']);
    parts.next().is_some_and(|base| base.starts_with('_')) && parts.next() == Some("oomscope")
}

/// The owner of a frame's code, as far as the user says it or its path shows it.
pub fn owner(frame: &SiteFrame) -> Owner {
    const PACKAGES: [&str; 2] = ["site-packages", "dist-packages"];
    let file = frame.file.as_str();
    let has = |part: &str| file.contains(part);
    // Torch lies among the packages, and packages lie below the interpreter: the inner one decides.
    let is_runtime = !is_python(file) || is_made(file) || is_recorder(file);
    if frame.is_own && !is_runtime {
        return Owner::User;
    }
    if is_runtime || TORCH.iter().any(|part| has(part)) {
        Owner::Runtime
    } else if PACKAGES.iter().any(|part| has(part)) {
        Owner::Package
    } else if has("/lib/python3") {
        Owner::Runtime
    } else {
        Owner::User
    }
}

/// True if a frame belongs to torch, another package, the interpreter or a C++ library rather than
/// to the user.
pub fn is_internal(frame: &SiteFrame) -> bool {
    owner(frame) != Owner::User
}

/// The rank of a frame as the name of its stack; lower is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SiteRank {
    /// The user's own code.
    User,
    /// Code of a package other than torch.
    Package,
    /// Python code of torch.
    Torch,
    /// Compiled code.
    Native(NativeRank),
}

/// The rank of a frame.
pub(crate) fn site_rank(frame: &SiteFrame) -> SiteRank {
    match owner(frame) {
        Owner::User => SiteRank::User,
        Owner::Package => SiteRank::Package,
        Owner::Runtime if is_torch_python(frame) => SiteRank::Torch,
        Owner::Runtime if is_in_library(frame) => SiteRank::Native(native_rank(&frame.name)),
        Owner::Runtime => SiteRank::Native(NativeRank::Named),
    }
}

/// The index of the frame that names a stack: the innermost of those with the best rank. `None` without
/// frames.
pub(crate) fn best_place(ranks: impl Iterator<Item = SiteRank>) -> Option<usize> {
    let mut best: Option<(SiteRank, usize)> = None;
    for (at, rank) in ranks.enumerate() {
        if rank == SiteRank::User {
            return Some(at);
        }
        if best.is_none_or(|(known, _)| rank < known) {
            best = Some((rank, at));
        }
    }
    best.map(|(_, at)| at)
}

/// The index of the frame that names a stack, innermost first. `None` without frames.
pub fn site_place(frames: &[SiteFrame]) -> Option<usize> {
    best_place(frames.iter().map(site_rank))
}

/// The site of a stack in one line: its first frame of the user's own code, else of a package, else of torch,
/// else the compiled function with the best rank.
pub fn site_label(snapshot: &Snapshot, stack: StackId) -> String {
    let frames = snapshot.stacks.frames(stack);
    // Frames are read up to the first of the user's own.
    let place = best_place(frames.iter().map(|&id| site_rank(&site_frame(snapshot, id))));
    place.map_or_else(|| NO_STACK.to_owned(), |at| frame_line(&site_frame(snapshot, frames[at])))
}

/// The whole stack, a line for each frame, innermost first.
pub fn stack_lines(snapshot: &Snapshot, stack: StackId) -> impl ExactSizeIterator<Item = String> {
    let line = |&id| {
        let frame = site_frame(snapshot, id);
        match (frame.file.as_str(), frame.line) {
            ("", _) => frame.name,
            (file, line) => format!("{file}:{line} {}", frame.name),
        }
    };
    snapshot.stacks.frames(stack).iter().map(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(file: &str) -> SiteFrame {
        SiteFrame { file: file.to_owned(), line: 7, name: "f".to_owned(), is_own: false }
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
        for generated in ["/tmp/torchinductor_me/ab/cab.py", "fx_generated__s6oic.py", "<eval_with_key>.7"] {
            assert_eq!(owner(&frame(generated)), Owner::Runtime, "{generated}");
        }
    }

    #[test]
    fn what_the_user_calls_their_own_is_theirs_wherever_it_is_installed() {
        let said = |file: &str| owner(&SiteFrame { is_own: true, ..frame(file) });
        assert_eq!(said("/env/lib/python3.11/site-packages/mine/model.py"), Owner::User);
        assert_eq!(said("/opt/torch/nn/modules/linear.py"), Owner::User);
        for file in ["/opt/mine/kernels.cpp", "<frozen mine>", "/env/site-packages/oomscope/_run.py"] {
            assert_eq!(said(file), Owner::Runtime, "{file}");
        }
    }

    #[test]
    fn the_recorder_is_nobodys_own_code() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/oomscope");
        let files: Vec<_> =
            folder.read_dir().expect("the package").map(|entry| entry.expect("a file").path()).collect();
        let files: Vec<_> = files.iter().filter(|path| path.extension().is_some_and(|e| e == "py")).collect();
        assert!(files.iter().any(|path| path.ends_with("_run.py")));
        for name in files.iter().filter_map(|path| path.file_name()?.to_str()) {
            for folder in ["/me/oomscope/python/oomscope/", "/env/site-packages/oomscope/", "C:\\oomscope\\"]
            {
                assert_eq!(owner(&frame(&format!("{folder}{name}"))), Owner::Runtime, "{name}");
            }
        }
        for own in ["/me/oomscope/train.py", "/me/oomscope/src/_run.py", "_run.py", "oomscope.py"] {
            assert_eq!(owner(&frame(own)), Owner::User, "{own}");
        }
    }

    #[test]
    fn a_frame_reads_as_basename_line_and_function() {
        assert_eq!(frame_line(&frame("/home/me/train.py")), "train.py:7 f");
        assert_eq!(frame_line(&SiteFrame { line: 0, ..frame("step.cu") }), "step.cu f");
        assert_eq!(frame_line(&frame("libtorch_cpu.so")), "f");
    }

    #[test]
    fn a_stack_is_named_by_the_code_that_is_nearest_to_the_user() {
        let named = |file: &str, name: &str| SiteFrame { name: name.to_owned(), ..frame(file) };
        let unwind = named("libtorch_cpu.so", "torch::unwind::unwind()");
        let operator = named("libtorch_cpu.so", "at::_ops::mm::call(at::Tensor const&)");
        let node = named("libtorch_cpu.so", "torch::autograd::generated::MmBackward0::apply(int)");
        let torch = frame("/env/site-packages/torch/optim/adam.py");
        let package = frame("/env/site-packages/transformers/trainer.py");
        let own = frame("/home/me/train.py");
        let all = [unwind, operator, node, torch, package, own];
        for end in 1..=all.len() {
            assert_eq!(best_place(all[..end].iter().map(site_rank)), Some(end - 1));
        }
        // Of equals, the innermost.
        assert_eq!(best_place([&all[5], &all[5]].into_iter().map(site_rank)), Some(0));
        assert_eq!(best_place(std::iter::empty()), None);
    }
}
