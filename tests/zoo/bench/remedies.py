"""The switches that most programs share, as their authors would set them."""

import functools
import types

import torch
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts


def on_host(parameters, name, rate):
    """An optimizer of copies of the parameters on the host, which get the gradients, and give back what a step makes of them."""
    copies = [p.detach().cpu().pin_memory().requires_grad_() for p in parameters]
    optimizer = make_optimizer(copies, name, rate)
    plain_step = optimizer.step

    def step(self, closure=None):
        loss = closure() if closure else None
        for parameter, copy in zip(parameters, copies, strict=True):
            copy.grad = None if parameter.grad is None else parameter.grad.cpu()
        plain_step()
        with torch.no_grad():
            for parameter, copy in zip(parameters, copies, strict=True):
                parameter.copy_(copy)
        return loss

    def zero_grad(self, set_to_none=True):
        for parameter in parameters:
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.zero_()

    optimizer.step = types.MethodType(step, optimizer)
    optimizer.zero_grad = types.MethodType(zero_grad, optimizer)
    return optimizer


def make_optimizer(parameters, name, rate=1e-4):
    """An optimizer by its name."""
    parameters = list(parameters)
    if name.endswith(" on the host"):
        return on_host(parameters, name.removesuffix(" on the host"), rate)
    if name.startswith("adamw"):
        ways = {"adamw": {}, "adamw-fused": {"fused": True}, "adamw-foreach-false": {"foreach": False}}
        return torch.optim.AdamW(parameters, lr=rate, **ways[name])
    if name == "adafactor":
        return torch.optim.Adafactor(parameters, lr=rate)
    if name == "rmsprop":
        return torch.optim.RMSprop(parameters, lr=rate)
    return torch.optim.SGD(parameters, lr=rate, momentum={"sgd": 0.0, "sgd-momentum": 0.9}[name])


def autocast(options):
    """Autocast to bfloat16, or nothing."""
    return torch.autocast("cuda", torch.bfloat16, enabled=options.autocast)


def precision(options):
    """The type of weights and of inputs that are not integers."""
    return torch.bfloat16 if options.bf16 else torch.float32


def chosen(which, index):
    """Whether the block at an index is checkpointed: of "all", "half" of them, the "first:N", or "none"."""
    if which.startswith("first:"):
        return index < int(which.removeprefix("first:"))
    return which in ("all", "products kept") or (which == "half" and index % 2 == 0)


def checkpointed(blocks, which):
    """Wrap the forward of the chosen blocks."""
    aten = torch.ops.aten
    products = [aten.mm.default, aten.addmm.default, aten.convolution.default]
    keeps = {"context_fn": functools.partial(create_selective_checkpoint_contexts, products)}
    more = keeps if which == "products kept" else {}
    for block in [block for index, block in enumerate(blocks) if chosen(which, index)]:
        block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False, **more)
