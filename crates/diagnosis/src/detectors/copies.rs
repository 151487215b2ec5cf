//! A model that is on the device twice: an average, a reference, a teacher, or weights that were loaded or copied and kept.

use super::place::{model_name, places, sum, variable};
use crate::assessment::Assessment;
use crate::case::Case;
use crate::figure;
use crate::finding::Finding;
use crate::findings::FindingId;
use crate::sentence::{Sentence, name, say};
use oomscope_program::share::WORTH;
use oomscope_program::{CopyKind, ModelCopy};

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    // Copies that each iteration adds are the verdict.
    if assessment.is_leak() {
        return Vec::new();
    }
    let copy = case.workload.copy(case.moment, WORTH);
    copy.map(|copy| described(case, &copy)).into_iter().collect()
}

fn described(case: &Case<'_>, found: &ModelCopy) -> Finding {
    let (copy, made) = (case.among_live(&found.blocks), found.kind);
    let bytes = sum(&copy);
    let held = figure::bytes(bytes).of(case.live_bytes());
    let is_model = matches!(made, CopyKind::ModuleCopied | CopyKind::Built | CopyKind::Named(_));
    let id = if is_model { FindingId::SecondModel } else { FindingId::SameParametersTwice };
    let title = match made {
        CopyKind::Named(_) => {
            say!("A second {} takes {}", name(found.class.clone().unwrap_or_default()), held)
        }
        CopyKind::ModuleCopied | CopyKind::Built => {
            say!("A second model with weights of the same sizes takes {}", held)
        }
        CopyKind::Copied => say!("The same parameters are on the device again: copies take {}", held),
        CopyKind::Loaded | CopyKind::TensorsCopied => {
            say!("The same parameters are on the device twice: the copy takes {}", held)
        }
    };
    let mut finding = Finding::new(id, case.severity_of(bytes), title);
    finding.evidence.part("copy_bytes", "weights of the copy", bytes, case.live_bytes());
    finding.evidence.count("copy_allocations", "blocks of the copy", copy.len());
    places(&mut finding, case, &copy);
    let line = finding.evidence.sites.first().map(|site| say!(" ({})", name(site.label())));
    explain(&mut finding, case, made, line);
    advise(&mut finding, case, made);
    finding.weighs(bytes);
    if matches!(made, CopyKind::Named(_)) {
        finding.limit("The program said which modules it has, and which parameters its optimizers have; whether the values are the same is not in a recording.");
        return finding;
    }
    finding.limit("Found by the sizes of the weights and by how they were made; whether their values are the same is not in a recording.");
    finding
}

fn explain(finding: &mut Finding, case: &Case<'_>, made: CopyKind, line: Option<Sentence>) {
    finding.explain(match made {
        CopyKind::Named(owner) => say!("{} has the class, paths and shapes of a model that is trained, and no optimizer of torch has one of its parameters: an average, a target, a reference or the best model so far.", model_name(&case.recording.snapshot().census, owner)),
        CopyKind::ModuleCopied => say!("copy.deepcopy made it{}: an average, a target, a reference or the best model so far.", line),
        CopyKind::Built => say!("It was built like the first{}, and only one of the two gets gradients: a reference, a target or a teacher.", line),
        CopyKind::Loaded => say!("It was loaded from a file onto the device{}, and the tensors that were loaded are still referenced.", line),
        CopyKind::Copied => say!("copy.deepcopy made it{}: a state dict, perhaps with the optimizer's state, as of the best model so far. deepcopy of tensors on the device takes their memory again; where an older copy is replaced, both are there until the new one is whole.", line),
        CopyKind::TensorsCopied => say!("It was copied tensor by tensor{}: a state dict, the best weights so far, or an average.", line),
    });
}

fn advise(finding: &mut Finding, case: &Case<'_>, made: CopyKind) {
    let census = &case.recording.snapshot().census;
    match made {
        CopyKind::Named(owner) if let Some(variable) = variable(census, owner) => {
            finding.advise_code(
                "Keep it on the CPU, or in half precision if it only computes targets:",
                "copied.cpu()\ncopied.to(torch.bfloat16).requires_grad_(False)".replace("copied", variable),
            );
            finding.advise("Compute what a fixed model says about the data once, before training, and store it; with LoRA, the model without its adapter is the reference.");
        }
        CopyKind::ModuleCopied | CopyKind::Built | CopyKind::Named(_) => {
            finding.advise_code(
                "Keep the second model on the CPU, or in half precision if it only computes targets:",
                "ema = copy.deepcopy(model).cpu()\nreference = reference.to(torch.bfloat16).requires_grad_(False)",
            );
            finding.advise("Compute what a fixed model says about the data once, before training, and store it; with LoRA, the model without its adapter is the reference.");
        }
        CopyKind::Loaded => finding.advise_code(
            "Load to the CPU, and let go of what was loaded:",
            "state = torch.load(path, map_location=\"cpu\")\nmodel.load_state_dict(state)\ndel state",
        ),
        CopyKind::TensorsCopied | CopyKind::Copied => finding.advise_code(
            "Keep copies of weights on the CPU:",
            "best = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}",
        ),
    }
}
