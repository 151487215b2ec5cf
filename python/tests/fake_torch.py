"""The parts of torch that a recorder uses, without a device: what was asked of them can be read afterwards."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from typing_extensions import Self

Observer = Callable[[int, int, int, int], None]


class FakeRange:
    """torch.profiler.record_function, which writes down what it is told."""

    log: ClassVar[list[str]] = []

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> Self:
        self.log.append(f"+{self.name}")
        return self

    def __exit__(self, *_: object) -> None:
        self.log.append(f"-{self.name}")


class FakeTensor:
    """A tensor of floats with an address."""

    def __init__(
        self, address: int = 512, shape: tuple[int, ...] = (4, 8), requires_grad: bool = False
    ) -> None:
        self.shape, self.requires_grad = shape, requires_grad
        self.is_cuda, self.is_leaf, self.dtype = True, True, "torch.float32"
        self.device = SimpleNamespace(index=0)
        self.grad: FakeTensor | None = None
        self.grad_fn: object | None = None
        self._address = address

    def untyped_storage(self) -> SimpleNamespace:
        return SimpleNamespace(nbytes=lambda: 4 * math.prod(self.shape))

    def data_ptr(self) -> int:
        return self._address

    def element_size(self) -> int:
        return 4

    def storage_offset(self) -> int:
        return 0

    def is_contiguous(self) -> bool:
        return True

    def stride(self) -> tuple[int, ...]:
        return self.shape


class FakeModule:
    """A module, whose attributes are not to be asked for."""

    def __init__(self, children: dict[str, Any] | None = None, **parameters: FakeTensor) -> None:
        self.__dict__.update(_modules=dict(children or {}), _parameters=parameters, _buffers={})

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"{name} was asked for")


class FakeOptimizer:
    """An optimizer of one group."""

    def __init__(self, *parameters: FakeTensor) -> None:
        self.param_groups = [{"params": list(parameters)}]
        self.state: dict[FakeTensor, dict[str, Any]] = {}


class FakeTorch(ModuleType):
    """A torch of one device, which is not in use before `use_device`."""

    def __init__(self) -> None:
        super().__init__("torch")
        self.__version__ = "2.99.0"
        self.history: dict[str, Any] | None = None
        self.history_calls: list[dict[str, Any]] = []
        self.observers: list[Observer] = []
        self.queued: list[Callable[[], None]] = []
        self.is_in_use = False
        self.peak_bytes = 0
        self.metadata = ""
        self.snapshot_error: Exception | None = None
        self.blocks: list[bytes] = []
        self.step_hooks: dict[int, Callable[..., None]] = {}
        self._build()

    def _build(self) -> None:
        memory = SimpleNamespace(
            _record_memory_history=self._record_memory_history,
            _snapshot=self._snapshot,
            _set_memory_metadata=self._set_metadata,
            _get_memory_metadata=lambda: self.metadata,
        )
        cuda = ModuleType("torch.cuda")
        properties = SimpleNamespace(name="Fake", total_memory=2**30)
        cuda.__dict__.update(
            memory=memory,
            _lazy_call=self._lazy_call,
            device_count=lambda: 1,
            current_device=lambda: 0,
            get_device_properties=lambda _: properties,
            memory_reserved=lambda _: 2**20,
            mem_get_info=lambda _: (2**29, 2**30),
            memory_stats=lambda _: {"requested_bytes.all.peak": 2**28, "reserved_bytes.all.peak": 2**29},
            max_memory_allocated=lambda _: self.peak_bytes,
        )
        optimizers = ModuleType("torch.optim.optimizer")
        optimizers.__dict__.update(register_optimizer_step_post_hook=self._register)
        self.__dict__.update(
            cuda=cuda,
            Tensor=FakeTensor,
            nn=SimpleNamespace(Module=FakeModule),
            optim=SimpleNamespace(Optimizer=FakeOptimizer),
            profiler=SimpleNamespace(record_function=FakeRange),
            backends=SimpleNamespace(cuda=SimpleNamespace(is_built=lambda: True)),
            _C=SimpleNamespace(
                _cuda_attach_out_of_memory_observer=self.observers.append,
                _cuda_isHistoryEnabled=lambda: self.history is not None,
                _cuda_record_memory_history=self._switch_history,
            ),
        )
        self.modules = {"torch": self, "torch.cuda": cuda, "torch.optim.optimizer": optimizers}

    def use_device(self) -> None:
        """What the first tensor on the device does."""
        self.is_in_use = True
        queued, self.queued = self.queued, []
        for call in queued:
            call()

    def run_out(self, requested_bytes: int = 2**31) -> None:
        """A request that fails."""
        for observer in self.observers:
            observer(0, requested_bytes, 2**30, 2**20)

    def step(self, optimizer: object) -> None:
        """A step of an optimizer."""
        for hook in list(self.step_hooks.values()):
            hook(optimizer, (), {})

    def _lazy_call(self, call: Callable[[], None]) -> None:
        if self.is_in_use:
            call()
        else:
            self.queued.append(call)

    def _record_memory_history(
        self, enabled: str | None = "all", context: str = "all", stacks: str = "all", max_entries: int = 0
    ) -> None:
        self._C._cuda_record_memory_history(enabled, context, stacks, max_entries)

    def _switch_history(self, enabled: str | None, context: str, stacks: str, max_entries: int) -> None:
        settings = {"context": context, "stacks": stacks, "max_entries": max_entries}
        self.history_calls.append({"enabled": enabled, **settings})
        self.history = settings if enabled else None

    def _snapshot(self) -> dict[str, Any]:
        if self.snapshot_error is not None:
            raise self.snapshot_error
        return {"segments": [], "device_traces": [[]], "blocks": self.blocks}

    def _set_metadata(self, text: str) -> None:
        self.metadata = text

    def _register(self, hook: Callable[..., None]) -> SimpleNamespace:
        key = len(self.step_hooks)
        self.step_hooks[key] = hook
        return SimpleNamespace(remove=lambda: self.step_hooks.pop(key))


def install(torch: FakeTorch) -> None:
    """Lets imports find it."""
    sys.modules.update(torch.modules)
