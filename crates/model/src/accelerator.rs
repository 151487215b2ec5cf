//! The kind of accelerator that a recording is from.

use super::settings::Setting;
use super::{FrameId, FrameTable, StringTable};
use memchr::memmem;

/// The kind of accelerator, as the recording shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Accelerator {
    /// NVIDIA GPUs; also what is assumed where nothing says otherwise.
    #[default]
    Cuda,
    /// AMD GPUs, which PyTorch calls `cuda`, too.
    Rocm,
    /// Intel GPUs.
    Xpu,
    /// Ascend NPUs, by the package `torch_npu`.
    Npu,
}

/// The settings that only recordings of one kind have: `torch_npu` names the variable after its devices.
const SETTINGS: [(&str, Accelerator); 3] = [
    ("PYTORCH_NPU_ALLOC_CONF", Accelerator::Npu),
    ("PYTORCH_XPU_ALLOC_CONF", Accelerator::Xpu),
    ("PYTORCH_HIP_ALLOC_CONF", Accelerator::Rocm),
];

/// What files and functions of PyTorch's own frames are called where they serve one kind only.
const FRAMES: [(&str, Accelerator); 7] = [
    ("c10_npu::", Accelerator::Npu),
    ("/torch_npu/", Accelerator::Npu),
    ("c10::xpu::", Accelerator::Xpu),
    ("/torch/xpu/", Accelerator::Xpu),
    ("c10::hip::", Accelerator::Rocm),
    ("/ATen/hip/", Accelerator::Rocm),
    ("libtorch_hip.so", Accelerator::Rocm),
];

impl Accelerator {
    /// The kind that settings show, else frames.
    pub(super) fn of(settings: &[Setting], frames: &FrameTable, strings: &StringTable) -> Self {
        let named = |&&(name, _): &&(&str, Self)| settings.iter().any(|setting| setting.name == name);
        if let Some(&(_, kind)) = SETTINGS.iter().find(named) {
            return kind;
        }
        let texts = (0..frames.len() as u32).map(|id| frames.get(FrameId(id))).flat_map(|f| [f.file, f.name]);
        let mut is_read = vec![false; strings.len()];
        let mut unread = texts.filter(|text| !std::mem::replace(&mut is_read[text.index()], true));
        unread.find_map(|text| of_frame(strings.whole_bytes(text))).unwrap_or_default()
    }
}

fn of_frame(text: &[u8]) -> Option<Accelerator> {
    let is_in = |part: &str| memmem::find(text, part.as_bytes()).is_some();
    FRAMES.iter().find(|&&(part, _)| is_in(part)).map(|&(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_pytorch_itself_tell_kinds_apart() {
        let kinds = [
            ("c10_npu::NPUCachingAllocator::malloc(unsigned long)", Some(Accelerator::Npu)),
            ("/site-packages/torch_npu/npu/amp.py", Some(Accelerator::Npu)),
            ("c10::xpu::XPUCachingAllocator::malloc", Some(Accelerator::Xpu)),
            ("c10::hip::HIPCachingAllocator::Native::malloc", Some(Accelerator::Rocm)),
            ("/pytorch/aten/src/ATen/hip/EmptyTensor.cpp", Some(Accelerator::Rocm)),
            ("c10::cuda::CUDACachingAllocator::malloc", None),
            ("/home/me/my_torch_npu_port.py", None),
            ("", None),
        ];
        for (text, kind) in kinds {
            assert_eq!(of_frame(text.as_bytes()), kind, "{text}");
        }
    }
}
