"""Products of matrices: the workspaces of cuBLAS and cuBLASLt, and copies of what cuBLAS cannot read."""

from __future__ import annotations

import os
import re
from typing import Any

import torch

from ..kernels import Call, Kernels, bytes_of, is_dense, is_set, rule

KIB = 1 << 10
MIB = 1 << 20

BLAS = "aten/src/ATen/native/cuda/Blas.cpp, aten/src/ATen/cuda/CublasHandlePool.cpp; recorded with torch 2.15, 2.9, 2.4"
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def workspace_bytes(kernels: Kernels) -> int:
    """How much torch gives cuBLAS."""
    found = re.findall(r":([0-9]+):([0-9]+)", os.environ.get("CUBLAS_WORKSPACE_CONFIG", ""))
    if found:
        return sum(int(size) * int(count) for size, count in found) * KIB
    major, minor = kernels.gpu.capability
    # Blackwell as Hopper since some version after 2.9.
    is_large = (major, minor) == (9, 0) or (kernels.version >= (2, 15) and 9 <= major)
    return 32 * MIB if is_large else 4096 * KIB * 2 + 16 * KIB * 8


def lt_workspace_bytes() -> int:
    """How much torch gives cuBLASLt."""
    given = os.environ.get("CUBLASLT_WORKSPACE_SIZE", "")
    return (int(given) if given.isdigit() else 1024) * KIB


def is_kept(kernels: Kernels) -> bool:
    """Whether workspaces stay for the process; since 2.15 each call has its own, unless a switch is on."""
    return kernels.version < (2, 15) or is_set("TORCH_CUBLAS_WORKSPACE_CACHE")


def blas(call: Call) -> None:
    """A call of cuBLAS."""
    nbytes = workspace_bytes(call.kernels)
    if is_kept(call.kernels):
        call.kernels.keep(call.device, "cublas", nbytes)
    else:
        call.pass_by(nbytes)


def blas_lt(call: Call) -> None:
    """A call of cuBLASLt."""
    nbytes = lt_workspace_bytes()
    kernels = call.kernels
    if not is_kept(kernels):
        call.pass_by(nbytes)
    elif kernels.version < (2, 7):
        # The workspace of cuBLAS comes with the handle, which is asked for later.
        taken = call.take(nbytes)
        blas(call)
        call.give(taken)
    elif is_set("TORCH_CUBLASLT_UNIFIED_WORKSPACE"):
        blas(call)
    else:
        if kernels.version < (2, 15):
            blas(call)
        kernels.keep(call.device, "cublaslt", nbytes)


def is_readable(matrix: Any) -> bool:
    """Whether cuBLAS can read a matrix where it is."""
    rows, columns = matrix.stride()
    height, width = matrix.size()
    return bool(
        (rows == 1 and max(1, height) <= columns)
        or (columns == 1 and max(1, width) <= rows)
        or is_dense(matrix)
    )


def is_batch_readable(batch: Any, fast: int, lead: int, least: int, other: int) -> bool:
    """The same for matrices of a batch, of which the first index counts."""
    stride = batch.stride()
    if stride[fast] == 1 and max(1, least) <= stride[lead]:
        return True
    if stride[lead] == 1 and max(1, other) <= stride[fast]:
        return True
    return bool(batch.is_contiguous() and stride[1] and stride[2])


def product(call: Call, result: Any, first: Any, second: Any, is_lt: bool) -> None:
    """A product into a result that has its memory; the copies live until it is done."""
    if result.numel() == 0 or first.numel() == 0:
        return
    # In a column-major world, a row-major result is that of the second by the first. A result that cuBLAS cannot write is copied, too.
    is_turned = result.is_contiguous()
    order = (second, first) if is_turned else (first, second)
    copies = [] if is_readable(result) else [call.take(bytes_of(result))]
    copies += [call.take(bytes_of(one)) for one in order if _is_copied(one, is_turned)]
    if result.dtype in FLOATS or result.is_complex():
        blas_lt(call) if is_lt else blas(call)
    call.give(*reversed(copies))


def _is_copied(matrix: Any, is_turned: bool) -> bool:
    """cuBLAS conjugates only what it also transposes."""
    return not is_readable(matrix) or bool(matrix.is_conj() and matrix.is_contiguous() == is_turned)


@rule("mm", source=BLAS, case="mm")
def _mm(call: Call) -> None:
    call.born()
    product(call, call.results, call.args[0], call.args[1], False)


@rule("addmm", "_addmm_activation", source=BLAS, case="linear")
def _addmm(call: Call) -> None:
    call.born()
    bias, first, second = call.args[:3]
    product(call, call.results, first, second, _takes_lt(call, bias, second))


@rule("addmm_", source=BLAS, case="addmm_")
def _addmm_in_place(call: Call) -> None:
    product(call, call.args[0], call.args[1], call.args[2], False)


def _takes_lt(call: Call, bias: Any, second: Any) -> bool:
    """Whether cuBLASLt adds a bias to each row as it writes it."""
    is_new = call.kernels.version >= (2, 10)
    is_row = bias.dim() == 1 or (is_new and bias.dim() == 2 and bias.size(0) == 1 and 1 < bias.size(1))
    # What is added is copied before, and may be multiplied by any number.
    is_whole = is_new and call.results.element_size() == 2 and bias.size() == call.results.size()
    return bool(
        os.environ.get("DISABLE_ADDMM_CUDA_LT") != "1"
        and (is_whole or (is_row and call.kwargs.get("beta", 1) == 1))
        and bias.size(-1) == second.size(1)
        and bias.is_contiguous()
        and call.results.is_contiguous()
        and call.results.dtype in FLOATS
        and 1 < second.size(0)
        and 1 < second.size(1)
    )


@rule("bmm", "baddbmm", source=BLAS, case="bmm")
def _bmm(call: Call) -> None:
    call.born()
    _batch(call, call.results, *call.args[-2:])


@rule("baddbmm_", source=BLAS, case="baddbmm_")
def _baddbmm_in_place(call: Call) -> None:
    _batch(call, *call.args[:3])


def _batch(call: Call, result: Any, first: Any, second: Any) -> None:
    if result.numel() == 0 or first.numel() == 0:
        return
    sizes, strides = result.size(), result.stride()
    is_turned = False
    copies = []
    if strides[1] == 1 and (sizes[2] == 1 or max(1, sizes[1]) <= strides[2]):
        pass
    elif strides[2] == 1 and (sizes[1] == 1 or max(1, sizes[2]) <= strides[1]):
        is_turned = True
    else:
        copies.append(call.take(bytes_of(result)))
    fast, lead = (2, 1) if is_turned else (1, 2)
    rows, columns = sizes[fast], sizes[lead]
    one, other = (second, first) if is_turned else (first, second)
    inner = one.size(lead)
    for batch, least, most in ((one, rows, inner), (other, inner, columns)):
        if not is_batch_readable(batch, fast, lead, least, most):
            copies.append(call.take(bytes_of(batch)))
    blas(call)
    call.give(*reversed(copies))


@rule("addmv", "addmv_", "mv", source=BLAS, case="mv")
def _addmv(call: Call) -> None:
    """A matrix whose rows and columns do not lie side by side is copied."""
    call.born()
    matrix, vector = call.args[-2:]
    if matrix.numel():
        copies = [] if vector.stride(0) else [call.take(bytes_of(vector))]
        copies += [] if is_readable(matrix) else [call.take(bytes_of(matrix))]
        blas(call)
        call.give(*reversed(copies))


@rule("dot", "vdot", source=BLAS, case="dot")
def _dot(call: Call) -> None:
    call.born()
    if all(one.numel() for one in call.args[:2]):
        blas(call)


@rule("addbmm", "addbmm_", source=BLAS, case="addbmm")
def _addbmm(call: Call) -> None:
    call.born()
    for _ in range(call.args[1].size(0)):
        blas(call)


@rule(
    "conv_tbc",
    source="conv_tbc, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4",
    case="conv_tbc",
)
def _conv_tbc(call: Call) -> None:
    """A product for each place of the kernel."""
    call.born()
    for _ in range(call.args[1].size(0)):
        blas(call)


@rule("_int_mm", source=BLAS, case="int_mm")
def _int_mm(call: Call) -> None:
    """Whole numbers are multiplied without a workspace; old handles come with one."""
    call.born()
    if call.kernels.version < (2, 7):
        blas(call)


@rule("_scaled_mm", source=BLAS, case="unmeasured: the stand-in has no kernel for it")
def _scaled(call: Call) -> None:
    call.born()
    blas_lt(call)
