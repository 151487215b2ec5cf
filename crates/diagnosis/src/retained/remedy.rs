//! What retained memory is and how to let it go, in words, by its kind.

use super::Retained;
use super::graphs::GraphKind;
use super::kind::Kind;
use crate::figure;
use crate::finding::Finding;
use crate::sentence::say;

/// Explain what it is, and advise.
pub(super) fn explain_kind(finding: &mut Finding, retained: &Retained) {
    match retained.kind {
        Kind::Models => models(finding),
        Kind::ModelsInGraphs => models_in_graphs(finding),
        Kind::Optimizers => optimizers(finding),
        Kind::Weights => weights(finding),
        Kind::Inputs => inputs(finding),
        Kind::InputsAhead => inputs_ahead(finding),
        Kind::KvCaches => caches(finding),
        Kind::Hooks => hooks(finding),
        Kind::Results => results(finding, retained),
        Kind::Computed => computed(finding),
        Kind::Graph(kind) => graph(finding, retained, kind),
    }
}

fn models(finding: &mut Finding) {
    finding.explain("Most of it is parameters and optimizer state, made again and again: models or optimizers of earlier folds, restarts, rounds or checkpoints are still referenced, as by a list of results, a scheduler or a closure.");
    finding.advise_remedy(
        "detach",
        "Let the old ones go before the next are made, and keep what is needed of them on the CPU:",
        "best = {k: v.cpu() for k, v in model.state_dict().items()}\ndel model, optimizer, scheduler",
    );
}

fn models_in_graphs(finding: &mut Finding) {
    finding.explain("Most of it is models, made again and again, and activations of theirs stay with them: graphs hold both. A graph stays while a tensor of it is kept, as a loss in a list, and after backward(create_graph=True), which ties parameters, their gradients and the graph into a cycle.");
    finding.advise_remedy(
        "detach",
        "Compute gradients of gradients without .grad, or break the cycle when the result is there, and keep results without a graph:",
        "grads = torch.autograd.grad(loss, list(model.parameters()), create_graph=True)\n# or, after backward(create_graph=True): model.zero_grad(set_to_none=True)\nresults.append(value.item())",
    );
    finding.advise("Let go of each model when its result is there: del model.");
}

fn optimizers(finding: &mut Finding) {
    finding.explain("Most of it is the state of optimizers that were made again and again: the earlier ones are still referenced, as by their schedulers, a list of stages or a closure.");
    finding.advise_remedy(
        "detach",
        "Keep one optimizer and change its settings, or let go of the old one, with its scheduler, before the next is made:",
        "for group in optimizer.param_groups:\n    group[\"lr\"] = lr   # instead of a new optimizer\n# or: del optimizer, scheduler",
    );
}

fn weights(finding: &mut Finding) {
    finding.explain("Most of it has the sizes of the model's parameters, so it is copies of the weights: a state_dict() or the weights of each step or checkpoint, kept on the device in a list or a dict.");
    finding.advise_remedy(
        "detach",
        "Keep copies on the CPU or on disk, and only those that are still needed:",
        "history.append({k: v.cpu() for k, v in model.state_dict().items()})",
    );
}

fn inputs(finding: &mut Finding) {
    finding.explain("Most of it is inputs: batches that stay after their use, or are loaded faster than they are used, in a list, a queue, a buffer or an attribute.");
    finding.advise_remedy(
        "detach",
        "Keep batches on the CPU, move each to the device when it is used, and keep no reference to it:",
        "for x, y in loader:\n    x, y = x.to(device), y.to(device)",
    );
    finding.advise_code(
        "Limit what is kept or loaded ahead:",
        "buffer = collections.deque(maxlen=1000)\nbatches = queue.Queue(maxsize=2)",
    );
}

fn inputs_ahead(finding: &mut Finding) {
    finding.explain("Most of it is inputs that wait: batches are put on the device ahead of their use, faster than the program uses them, by a thread, a queue or a loader without a limit.");
    finding.advise_code("Limit how many batches are loaded ahead:", "batches = queue.Queue(maxsize=2)");
    finding.advise_code(
        "Or load ahead in (pinned) CPU memory, and let the code that uses a batch copy it to the device:",
        "x, y = (t.to(device, non_blocking=True) for t in batches.get())",
    );
}

fn caches(finding: &mut Finding) {
    finding.explain("Most of it is caches of keys and values of generations that are over: something still holds them, as a session, a list of outputs with past_key_values, or an attribute.");
    finding.advise_remedy(
        "detach",
        "Let each cache go with its request, and keep only the tokens; where it is needed again, keep a limited number of caches or move them to the CPU:",
        "del outputs, past_key_values",
    );
}

fn hooks(finding: &mut Finding) {
    finding.explain("A hook on a module made it, and what a hook stores stays until the program removes it.");
    finding.advise_remedy(
        "detach",
        "Clear what the hook stores after each use, store it on the CPU without a graph, and remove the hook when it has done its work:",
        "features[name] = output.detach().cpu()   # replace instead of append\nhandle.remove()",
    );
}

fn results(finding: &mut Finding, retained: &Retained) {
    let from = if retained.lines == 0 {
        "As far as sizes tell, it is"
    } else {
        "It is few of the blocks that were made meanwhile, so no graph keeps it. It is"
    };
    finding.explain(say!("{} results that stay: in a list, a dict, a cache or a metric, as an attribute, in a closure, or in what a hook stores.", from));
    finding.advise_remedy(
        "detach",
        "Keep results on the CPU, without a graph; of a view, keep a copy, since it holds all of its storage:",
        "results.append(out.detach().cpu())",
    );
    finding.advise("Clear what hooks and caches store when it is not needed any more, and keep only the last few results.");
}

fn computed(finding: &mut Finding) {
    finding.explain("No model made it: it was computed beside the calls, as losses, metrics and statistics of gradients are, and something still refers to it: a list, a dict, or a sum of tensors, as with total += metric(output).");
    finding.advise_remedy(
        "detach",
        "Keep numbers and copies without a graph, on the CPU:",
        "total += metric(output).item()\nresults.append(value.detach().cpu())",
    );
}

fn graph(finding: &mut Finding, retained: &Retained, kind: GraphKind) {
    let of = match retained.sizes {
        0 => say!("from {}", figure::counted(retained.stacks.len(), "operation")),
        sizes => say!("of {}", figure::counted(sizes, "size")),
    };
    finding.explain(say!(
        "It is much of what these forward passes made ({}): only the autograd graph keeps so much together.",
        of
    ));
    match kind {
        GraphKind::Untrained => without_backward(finding, retained),
        GraphKind::Outliving => outlives_backward(finding),
        GraphKind::Beside => beside_backward(finding),
    }
}

fn without_backward(finding: &mut Finding, retained: &Retained) {
    finding.explain("No backward pass frees these graphs: some tensor that belongs to each (a loss, an output or a state with grad_fn) outlives its call, as with losses.append(loss), total += loss or a hidden state that is carried on, and keeps all of it.");
    if retained.may_be_one_step() {
        finding.explain("No backward pass came after they were made. If all these calls belong to one training step, nothing leaks, and the step is too large.");
        finding.advise_code(
            "If these calls evaluate, run them without a graph. If they belong to one training step, run the backward pass after each of them: gradients add up, and only one graph is alive:",
            "with torch.no_grad():            # evaluation\n(loss / len(parts)).backward()   # training, after each call",
        );
    } else {
        finding.advise_remedy(
            "eval-no-grad",
            "Evaluate without a graph:",
            "with torch.no_grad():   # or torch.inference_mode()",
        );
    }
    finding.advise_code(
        "Keep numbers of what is over, not tensors with a graph:",
        "total += loss.item()\noutputs.append(output.detach().cpu())",
    );
}

fn outlives_backward(finding: &mut Finding) {
    finding.explain("Each iteration ran its backward pass, and its graph is still there: a tensor that is carried from one iteration to the next (a hidden state, a memory, a running value) ties the graphs together, and retain_graph=True keeps backward() from freeing them.");
    finding.advise_remedy(
        "detach",
        "Cut the graph where one iteration hands its state to the next, and do not retain it:",
        "state = state.detach()   # of a tuple: tuple(s.detach() for s in state)\nloss.backward()          # without retain_graph=True",
    );
}

fn beside_backward(finding: &mut Finding) {
    finding.explain("The backward passes of these iterations used other calls: outputs that are in no loss, or not in this one, keep their graphs, as log-probabilities, values or losses in a list do.");
    finding.advise_remedy(
        "detach",
        "Detach what is kept, make what needs no gradients without a graph, and clear lists after each step:",
        "log.append(output.detach())\nwith torch.no_grad():",
    );
}
