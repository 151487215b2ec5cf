//! Memory outside of PyTorch's allocator, in words.

use crate::case::Shortage;
use crate::cause::{Outside, OutsideBasis};
use crate::figure;
use crate::finding::Finding;
use crate::sentence::say;
use crate::words::Words;

/// Describe how it is known, and who may hold it.
pub(super) fn describe(finding: &mut Finding, words: Words, shortage: &Shortage, outside: Outside) {
    let bytes = figure::bytes(outside.bytes);
    let available = shortage.available_bytes().map(|bytes| say!("{}", figure::bytes(bytes)));
    match outside.basis {
        OutsideBasis::Told => finding.because(say!("Of the device's memory, as it was given or recorded, PyTorch could have {}; {} are neither in its pool nor free.", available, bytes)),
        OutsideBasis::Earlier(at) => {
            finding.evidence.bytes("taken_bytes", "taken by something else since", outside.bytes);
            let event = at.event().map_or("Before the first event".into(), |event| say!("After {}", figure::event(event)));
            finding.evidence.events.extend(at.event());
            finding.because(say!("{} PyTorch had, or could have had, {} more than the {} at this moment. Something else on the device has taken them since.", event, bytes, available));
        }
    }
    finding.advise_code("See who else uses the device while the job runs: other processes, a notebook that was left open, the display, or several ranks on one GPU.", words.monitor);
    finding.advise(say!("In the process itself, {} communicators, {} workspaces, {} graphs, other libraries (CuPy, RAPIDS, TensorRT, JAX) and a context on a device that is not meant (set_device before anything else) take memory that PyTorch does not count.", words.collectives, words.kernels, words.api));
    finding.weighs(outside.bytes);
    finding.confirm(say!(
        "Compare {}.mem_get_info() at the start of the program with the size of the device.",
        words.module
    ));
    finding.limit("A snapshot does not name what is outside of PyTorch's allocator.");
}
