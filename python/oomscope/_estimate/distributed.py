"""A job of many ranks, of which this process is one: what the others would send comes at once, and is nothing."""

from __future__ import annotations

import os
from typing import Any

import torch

from .patches import Patches

# Ranks that share a machine.
MAX_LOCAL = 8


def pretend_ranks(patches: Patches, count: int, rank: int) -> None:
    """Has `torch.distributed` find a job of some ranks, as torchrun would have started it; each finds its device as the only one."""
    local = min(count, MAX_LOCAL)
    os.environ.update(
        RANK=str(rank),
        LOCAL_RANK="0",
        WORLD_SIZE=str(count),
        LOCAL_WORLD_SIZE=str(local),
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT="29500",
        TORCHELASTIC_RUN_ID="estimate",
    )
    dist = torch.distributed
    from torch.testing._internal.distributed.fake_pg import FakeStore

    c10d = dist.distributed_c10d
    init, new_group = dist.init_process_group, dist.new_group

    def init_process_group(*_: Any, **__: Any) -> None:
        init("fake", store=FakeStore(), rank=rank, world_size=count)

    def new_group_of_fakes(ranks: Any = None, *_: Any, **options: Any) -> Any:
        kept = {
            name: options[name] for name in ("use_local_synchronization", "group_desc") if name in options
        }
        return new_group(ranks, backend="fake", **kept)

    for owner in (dist, c10d):
        patches.put(owner, "init_process_group", init_process_group)
        patches.put(owner, "new_group", new_group_of_fakes)
        patches.put_if_there(owner, "is_nccl_available", lambda: True)
        patches.put_if_there(owner, "get_backend", lambda *_, **__: "nccl")
        patches.put_if_there(owner, "barrier", lambda *_, **__: None)
        patches.put_if_there(owner, "monitored_barrier", lambda *_, **__: None)
        for name, exchange in EXCHANGES.items():
            patches.put_if_there(owner, name, exchange)
        # All ranks have the same model: it would be asked of the others.
        patches.put_if_there(owner, "_verify_params_across_processes", lambda *_, **__: None)
    _pretend_buckets(patches)


def _all_gather_object(object_list: list[Any], obj: Any, *_: Any, **__: Any) -> None:
    """All ranks have the same object."""
    object_list[:] = [obj] * len(object_list)


def _gather_object(obj: Any, object_gather_list: Any = None, *_: Any, **__: Any) -> None:
    if object_gather_list:
        object_gather_list[:] = [obj] * len(object_gather_list)


def _broadcast_object_list(object_list: list[Any], src: Any = None, *_: Any, **__: Any) -> None:
    _require_own(src)


def _scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: Any = None,
    src: Any = None,
    group: Any = None,
    *_: Any,
    **__: Any,
) -> None:
    if not scatter_object_input_list:
        _require_own(src)
    scatter_object_output_list[0] = scatter_object_input_list[torch.distributed.get_rank(group)]


def _recv_object_list(object_list: list[Any], src: Any = None, *_: Any, **__: Any) -> None:
    _require_own(-1 if src is None else src)


def _require_own(src: Any) -> None:
    """What another rank has is not known."""
    if (src or 0) != torch.distributed.get_rank():
        raise NotImplementedError(
            f"objects of rank {src or 0} are not known to rank {torch.distributed.get_rank()}: estimate with --rank {src or 0}"
        )


# Objects that ranks send each other.
EXCHANGES = {
    "all_gather_object": _all_gather_object,
    "gather_object": _gather_object,
    "broadcast_object_list": _broadcast_object_list,
    "scatter_object_list": _scatter_object_list,
    "send_object_list": lambda *_, **__: None,
    "recv_object_list": _recv_object_list,
}


def _pretend_buckets(patches: Patches) -> None:
    """Has DistributedDataParallel take each bucket of gradients as the others' sum: it is reduced in place."""
    kind = torch.nn.parallel.DistributedDataParallel
    make, register = kind.__init__, kind.register_comm_hook

    def init(model: Any, *args: Any, **kwargs: Any) -> None:
        make(model, *args, **kwargs)
        register(model, None, _reduced)

    patches.put(kind, "__init__", init)
    # One of the program's would send something else; what it makes on the way is not counted.
    patches.put(kind, "register_comm_hook", lambda *_, **__: None)


def _reduced(state: Any, bucket: Any) -> Any:
    del state
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


_reduced.__annotations__ = {
    "bucket": torch.distributed.GradBucket,
    "return": torch.futures.Future[torch.Tensor],
}
