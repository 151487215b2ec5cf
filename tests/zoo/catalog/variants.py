"""The remedies that apply to a base, each as the options that it changes.

Written from what the program is, before any prediction was looked at.
"""

# Tried together, where both apply.
PAIRS = [
    ("checkpoint-all", "bf16-autocast"),
    ("half-batch", "checkpoint-all"),
    ("sdpa", "half-batch"),
    ("sgd", "half-batch"),
    ("sgd-momentum", "checkpoint-all"),
    ("zero-grad-none", "sgd"),
]
OTHER_OPTIMIZERS = {
    "adamw": ["sgd", "sgd-momentum", "adamw-fused", "adamw-foreach-false"],
    "adamw-fused": ["sgd", "sgd-momentum"],
    "adamw-foreach-false": ["sgd", "sgd-momentum", "adamw-fused"],
    "adafactor": ["sgd"],
    "rmsprop": ["sgd"],
    "sgd-momentum": ["sgd"],
    "sgd": [],
}


def batches(base):
    """A half, a quarter and an eighth of the batch, with as many more of them for a step."""
    for name, share in (("half-batch", 2), ("quarter-batch", 4), ("eighth-batch", 8)):
        if base.options["batch"] % share == 0:
            yield name, in_parts(base, share)


def in_parts(base, count):
    """The batch of training in so many parts, with as many more of them for a step."""
    batch, parts = base.options["batch"], base.options.get("accumulate", 1)
    kept = base.options.get("evaluation_batch", batch)
    return {"batch": -(-batch // count), "accumulate": parts * count, "evaluation_batch": kept}


def of_both(base):
    """What changes a model whether it is trained or not."""
    options = base.options
    if "precision" in base.switches and not (options.get("bf16") or options.get("autocast")):
        yield "bf16-model", {"bf16": True}
    if options.get("attention") == "written":
        yield "sdpa", {"attention": "sdpa"}


def of_forward(base):
    """What changes how a model is run that is not trained: fewer samples at a time."""
    for name, share in (("half-batch", 2), ("quarter-batch", 4), ("eighth-batch", 8)):
        if base.options["batch"] % share == 0:
            yield name, {"batch": base.options["batch"] // share}


def of_training(base):
    """What changes how a model is trained."""
    options = base.options
    if "batch" in base.switches:
        yield from batches(base)
    if "checkpoint" in base.switches and options.get("checkpoint", "none") == "none":
        yield "checkpoint-all", {"checkpoint": "all"}
        yield "checkpoint-half", {"checkpoint": "half"}
    # Where no stacks are recorded, it is not offered; a graph that an evaluation keeps is another remedy's.
    if base.history != "bare" and options.get("evaluate") != "graph":
        yield "save-on-cpu", {"save_on_cpu": True}
    if "precision" in base.switches and not (options.get("bf16") or options.get("autocast")):
        yield "bf16-autocast", {"autocast": True}
    optimizer = options.get("optimizer", "adamw")
    for name in OTHER_OPTIMIZERS[optimizer]:
        yield name, {"optimizer": name}
    # Trainers of transformers make their optimizers themselves.
    if optimizer != "sgd" and not base.program.startswith("hf_trainer"):
        yield "offload-state", {"optimizer": f"{optimizer} on the host"}
    if options.get("zero", "after") in ("fill", "before_backward"):
        yield "zero-grad-none", {"zero": "after"}
    if options.get("evaluate") == "graph":
        yield "eval-no-grad", {"evaluate": "no_grad"}
    if "chunk" in base.switches:
        yield "chunk-loss", {"chunk_loss": True}


def variants_of(base):
    """The options that each remedy changes, by its id; ids of two remedies are joined by `+`."""
    found = dict(of_both(base))
    found.update(of_training(base) if "train" in base.switches else of_forward(base))
    found = {remedy: changes for remedy, changes in found.items() if remedy not in base.neutral}
    for one, other in PAIRS:
        if one in found and other in found:
            found[f"{one}+{other}"] = {**found[one], **found[other]}
    return found
