//! Memory outside of PyTorch's allocator, in words.

use crate::diagnosis::case::Shortage;
use crate::diagnosis::cause::{Outside, OutsideBasis};
use crate::diagnosis::finding::{Finding, Saving};
use crate::units;

/// Describe how it is known, and who may hold it.
pub(super) fn describe(finding: &mut Finding, shortage: &Shortage, outside: Outside) {
    let bytes = units::bytes(outside.bytes);
    let available = shortage.available_bytes().map_or_else(String::new, units::bytes);
    finding.evidence.bytes("outside_bytes", "neither in PyTorch's pool nor free", outside.bytes);
    match outside.basis {
        OutsideBasis::Told => finding.explain(format!(
            "Of the device's memory, as it was given, PyTorch could have {available}; {bytes} are neither in its pool nor free."
        )),
        OutsideBasis::Earlier(at) => {
            let event = at.event().map_or_else(|| "Before the first event".to_owned(), |e| format!("After event {}", units::count(e.0)));
            finding.evidence.events.extend(at.event());
            finding.explain(format!(
                "{event} PyTorch had, or could have had, {bytes} more than the {available} at this moment. Something else on the device has taken them since."
            ));
        }
        OutsideBasis::DeviceSizes(device) => {
            finding.explain(format!(
                "PyTorch could have {available} in all. No common GPU has so little; if it is one with {}, then {bytes} are held by something else.",
                units::bytes(device)
            ));
            finding.limit("The device's memory is not in the recording. A GPU slice (MIG, vGPU) of this size would explain it as well: give --capacity to be sure.");
        }
    }
    finding.advise_code("See who else uses the device while the job runs: other processes, a notebook that was left open, the display, or several ranks on one GPU.", "nvidia-smi");
    finding.advise("In the process itself, NCCL communicators, cuDNN and cuBLAS workspaces, CUDA graphs, other libraries (CuPy, RAPIDS, TensorRT, JAX) and a context on a device that is not meant (set_device before anything else) take memory that PyTorch does not count.");
    finding.saving = Some(Saving {
        bytes: outside.bytes,
        formula: "the device's memory - (reserved + free on the device)".to_owned(),
    });
    finding.confirm = Some(
        "Compare torch.cuda.mem_get_info() at the start of the program with the size of the device."
            .to_owned(),
    );
    finding.limit("A snapshot does not name what is outside of PyTorch's allocator.");
}
