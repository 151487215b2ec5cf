"""Distances, and other operators that a device computes with some of its own."""

from __future__ import annotations

from typing import Any

import torch

from ..kernels import Call, bytes_of, rule, written

DISTANCES = "_euclidean_dist, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4"
RANDOM = "normal, bernoulli, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4"
UNARY = "recorded with torch 2.15, 2.9, 2.4"
ROLL = "roll_cuda, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4"


@rule("_cdist_backward", source=DISTANCES, case="cdist")
def _cdist_backward(call: Call) -> None:
    """A gradient of each pair, which are added up."""
    tensor, other = call.args[1], call.args[2]
    call.born()
    call.pass_by(bytes_of(tensor) * other.size(-2))


@rule("_pdist_backward", source=DISTANCES, case="pdist")
def _pdist_backward(call: Call) -> None:
    tensor = call.args[1]
    call.born()
    call.pass_by(bytes_of(tensor) * max(0, tensor.size(0) - 1))


@written("_euclidean_dist", source=DISTANCES, case="cdist")
def _euclidean(tensor: Any, other: Any) -> Any:
    """By products, where there are many."""
    norm = tensor.pow(2).sum(-1, True)
    ones = torch.ones_like(norm, memory_format=torch.contiguous_format)
    other_norm = other.pow(2).sum(-1, True)
    other_ones = torch.ones_like(other_norm, memory_format=torch.contiguous_format)
    turned = tensor.mul(-2)
    first = torch.cat([turned, norm, ones], -1)
    del turned, norm, ones
    second = torch.cat([other, other_ones, other_norm], -1)
    del other_norm, other_ones
    return first.matmul(second.mT).clamp_min_(0).sqrt_()


@written(
    "_trilinear",
    source="_trilinear, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4",
    case="bilinear",
)
def _trilinear(
    first: Any,
    second: Any,
    third: Any,
    expand: Any,
    expand_second: Any,
    expand_third: Any,
    sums: Any,
    unroll: int = 1,
) -> Any:
    """Products slice by slice."""
    tensors = []
    for tensor, dims in ((first, expand), (second, expand_second), (third, expand_third)):
        for dim in sorted(dims):
            tensor = tensor.unsqueeze(dim)
        tensors.append(tensor)
    sizes = torch.broadcast_shapes(*(tensor.size() for tensor in tensors))
    others = [dim for dim in sums if dim != unroll]
    early, late = ([dim for dim in others if (dim in expand_third) is is_early] for is_early in (True, False))
    made = [1 if dim in sums else size for dim, size in enumerate(sizes)]
    result = first.new_zeros(made)
    for at in range(sizes[unroll]):
        one, other, last = (t.narrow(unroll, at if t.size(unroll) != 1 else 0, 1) for t in tensors)
        product = _pair(one, other, early)
        product = _pair(product, last, late)
        (result if unroll in sums else result.narrow(unroll, at, 1)).add_(product)
        del product
    return result.squeeze(tuple(sums))


def _pair(first: Any, second: Any, sums: list[int]) -> Any:
    """A product that is added up over dimensions, which stay."""
    if not sums:
        return first.mul(second)
    names = "abcdefgh"[: first.dim()]
    kept = "".join(name for dim, name in enumerate(names) if dim not in sums)
    result = torch.einsum(f"{names},{names}->{kept}", first, second)
    for dim in sorted(sums):
        result = result.unsqueeze(dim)
    return result


@written("roll", source=ROLL, case="roll")
def _roll(tensor: Any, shifts: Any, dims: Any = ()) -> Any:
    """Dimension by dimension."""
    if len(dims) < 2:
        return NotImplemented
    return torch.roll(torch.roll(tensor, shifts[0], dims[0]), shifts[1:], dims[1:])


@rule("roll", source=ROLL, case="roll")
def _roll_one(call: Call) -> None:
    tensor = call.args[0]
    copy = None if tensor.is_contiguous() else call.take(bytes_of(tensor))
    call.born()
    call.give(copy)


@rule("pow", source="recorded with torch 2.15, 2.9, 2.4", case="pow-scalar")
def _pow(call: Call) -> None:
    """A number to the power of a tensor: the number is copied to the device."""
    call.born()
    base = call.args[0]
    if not isinstance(base, torch.Tensor) and base != 1:
        call.pass_by(8)


@rule("bernoulli", "bernoulli_", source=RANDOM, case="bernoulli")
def _bernoulli(call: Call) -> None:
    """Narrow probabilities are widened."""
    call.born()
    chances = call.args[-1] if isinstance(call.args[-1], torch.Tensor) else None
    if call.func._schema.name == "aten::bernoulli_" and len(call.args) == 1:
        return
    if chances is not None and chances.element_size() == 2:
        call.pass_by(chances.numel() * 4)


@rule("normal", source=RANDOM, case="normal")
def _normal(call: Call) -> None:
    """Around a tensor."""
    mean = call.args[0] if call.args else None
    deviation = call.arg(1, "std")
    if isinstance(deviation, torch.Tensor):
        call.pass_by(deviation.element_size(), 1)
        call.born()
        call.pass_by(deviation.element_size(), 1)
        return
    call.born()
    if isinstance(mean, torch.Tensor):
        call.pass_by(bytes_of(mean))


@rule("abs", source=UNARY, case="complex-abs")
def _abs(call: Call) -> None:
    """Of complex numbers: a complex result comes first."""
    call.born()
    if call.args[0].is_complex():
        call.pass_by(bytes_of(call.args[0]))


@rule("angle", source=UNARY, case="complex-angle")
def _angle(call: Call) -> None:
    wide = call.take(bytes_of(call.args[0])) if call.args[0].is_complex() else None
    call.born()
    call.give(wide)


@rule(
    "segment_reduce",
    "_segment_reduce_backward",
    source="_segment_reduce_lengths_offsets_cuda_kernel, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4",
    case="segment_reduce",
)
def _segment_reduce(call: Call) -> None:
    from .cub import scan_bytes

    call.born()
    lengths = call.kwargs.get("lengths")
    if lengths is None:
        return
    count = lengths.numel()
    zero, ends = call.take(8), call.take((count + 1) * 8)
    call.give(zero)
    call.pass_by(scan_bytes(call.kernels, count + 1, 8))
    call.give(ends)


@written(
    "_weight_norm_interface",
    source="recorded with torch 2.15, 2.9, 2.4",
    case="weight_norm",
)
def _weight_norm(tensor: Any, scale: Any, dim: int = 0) -> Any:
    """The CPU, which is asked for what old versions do not know, lacks narrow types."""
    del dim
    if tensor.element_size() != 2:
        return NotImplemented
    result = torch.empty_like(tensor, memory_format=torch.contiguous_format)
    return result, torch.empty_strided(scale.size(), scale.stride(), dtype=torch.float32, device=scale.device)


@written(
    "_weight_norm_interface_backward",
    source="recorded with torch 2.15, 2.9, 2.4",
    case="weight_norm",
)
def _weight_norm_backward(grad: Any, tensor: Any, scale: Any, norms: Any, dim: int) -> Any:
    del grad, norms, dim
    if tensor.element_size() != 2:
        return NotImplemented
    return torch.empty_like(tensor), torch.empty_like(scale)


@written("_standard_gamma", "_standard_gamma_grad", "binomial", source=RANDOM, case="gamma")
def _drawn(tensor: Any, *_: Any, **__: Any) -> Any:
    """The same of random numbers."""
    return torch.empty_like(tensor) if tensor.element_size() == 2 else NotImplemented
