//! Whether a frame is Python, by the name of its file. Everybody who asks, asks here.

/// Whether a file is Python rather than compiled code.
///
/// Cells of a notebook, generated code and Python's own frozen modules have names in angle brackets; torch puts what it generated
/// behind the name of the file that did. A program without an ending, such as `torchrun`, cannot be told from a library.
pub fn is_python(file: &str) -> bool {
    let base = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let ending = base.rsplit_once('.').map_or("", |(_, ending)| ending);
    base.starts_with('<') || ending == "py" || ending == "pyx" || ending.starts_with("py:")
}

/// Whether a file is a cell of a notebook that has no file of its own.
pub(super) fn is_cell(file: &str) -> bool {
    file.starts_with("<ipython-input")
}

#[cfg(test)]
mod tests {
    use super::is_python;

    #[test]
    fn python_is_told_from_compiled_code() {
        for python in [
            "/home/me/train.py",
            "C:\\home\\train.py",
            "train.py",
            "<frozen runpy>",
            "<ipython-input-3-8a1b>",
            "<eval_with_key>.7",
            "/tmp/ipykernel_7/123.py",
            "/env/torch/_functorch/_aot_autograd/codegen.py:codegen(compiled_function_backward)",
        ] {
            assert!(is_python(python), "{python}");
        }
        for compiled in [
            "",
            "??",
            "/env/torch/lib/libtorch_cpu.so",
            "C:\\env\\torch\\lib\\torch_cpu.dll",
            "/lib/libc.so.6",
            "/opt/env/bin/python3.11",
            "Objects/methodobject.c",
            "thread48.o",
            "clone3.S",
            "CUDACachingAllocator.cpp",
            "/usr/bin/torchrun",
        ] {
            assert!(!is_python(compiled), "{compiled}");
        }
    }
}
