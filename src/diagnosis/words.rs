//! What the things of an accelerator are called.

use crate::model::Accelerator;

/// Names of programs, modules and libraries that advice refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Words {
    /// In `CUDA graph`.
    pub(super) api: &'static str,
    /// PyTorch's module for these devices.
    pub(super) module: &'static str,
    /// The program that shows who uses a device.
    pub(super) monitor: &'static str,
    /// The function that asks the driver for memory.
    pub(super) malloc: &'static str,
    /// The library of collectives.
    pub(super) collectives: &'static str,
    /// Libraries whose workspaces PyTorch does not count.
    pub(super) kernels: &'static str,
}

impl Words {
    pub(super) fn of(accelerator: Accelerator) -> Self {
        match accelerator {
            Accelerator::Cuda => Self {
                api: "CUDA",
                module: "torch.cuda",
                monitor: "nvidia-smi",
                malloc: "cudaMalloc",
                collectives: "NCCL",
                kernels: "cuDNN and cuBLAS",
            },
            Accelerator::Rocm => Self {
                api: "HIP",
                module: "torch.cuda",
                monitor: "rocm-smi --showpids",
                malloc: "hipMalloc",
                collectives: "RCCL",
                kernels: "MIOpen and hipBLAS",
            },
            Accelerator::Xpu => Self {
                api: "XPU",
                module: "torch.xpu",
                monitor: "xpu-smi ps",
                malloc: "sycl::aligned_alloc_device",
                collectives: "oneCCL",
                kernels: "oneDNN and oneMKL",
            },
            Accelerator::Npu => Self {
                api: "NPU",
                module: "torch.npu",
                monitor: "npu-smi info",
                malloc: "aclrtMallocAlign32",
                collectives: "HCCL",
                kernels: "CANN",
            },
        }
    }

    /// Code for CUDA, with these devices' module.
    pub(super) fn code(self, code: &str) -> String {
        code.replace("torch.cuda", self.module)
    }
}
