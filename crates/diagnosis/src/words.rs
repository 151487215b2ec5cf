//! What the things of an accelerator are called.

use oomscope_model::Accelerator;

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
        let [api, module, monitor, malloc, collectives, kernels] = match accelerator {
            Accelerator::Cuda => {
                ["CUDA", "torch.cuda", "nvidia-smi", "cudaMalloc", "NCCL", "cuDNN and cuBLAS"]
            }
            Accelerator::Rocm => {
                ["HIP", "torch.cuda", "rocm-smi --showpids", "hipMalloc", "RCCL", "MIOpen and hipBLAS"]
            }
            Accelerator::Xpu => [
                "XPU",
                "torch.xpu",
                "xpu-smi ps",
                "sycl::aligned_alloc_device",
                "oneCCL",
                "oneDNN and oneMKL",
            ],
            Accelerator::Npu => ["NPU", "torch.npu", "npu-smi info", "aclrtMallocAlign32", "HCCL", "CANN"],
        };
        Self { api, module, monitor, malloc, collectives, kernels }
    }

    /// Code for CUDA, with these devices' module.
    pub(super) fn code(self, code: &str) -> String {
        code.replace("torch.cuda", self.module)
    }
}
