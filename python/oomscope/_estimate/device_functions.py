"""What a device computes in another way than torch does for tensors without memory, above autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import autocast_parts, recurrent
from .attention import attention
from .autocast import Autocast

Handler = Callable[..., Any]


class DeviceFunctions:
    """Functions as a device has them; `NotImplemented` for tensors of the CPU."""

    def __init__(
        self, is_cuda: Callable[[Any], bool], autocast: Autocast, capability: tuple[int, int]
    ) -> None:
        self._is_cuda = is_cuda
        self._autocast = autocast
        self._capability = capability

    def table(self) -> dict[Any, Handler]:
        """What stands for which function of torch."""
        tensor = torch.Tensor
        return {
            torch.ctc_loss: self._ctc_loss,
            torch.dropout: self._dropout,
            torch.softmax: self._softmax,
            tensor.softmax: self._softmax,
            torch.log_softmax: self._log_softmax,
            tensor.log_softmax: self._log_softmax,
            torch._C._nn.scaled_dot_product_attention: self._attention,
            torch._C._nn.linear: self._linear,
            torch._C._nn.one_hot: self._one_hot,
            torch._C._nn.cross_entropy_loss: self._in_parts(autocast_parts.cross_entropy),
            torch.square: self._in_parts(autocast_parts.square),
            tensor.square: self._in_parts(autocast_parts.square),
            torch.pairwise_distance: self._in_parts(autocast_parts.pairwise_distance),
            torch.lstm: lambda *args: self._recurrent(recurrent.lstm, *args),
            torch.gru: lambda *args: self._recurrent(recurrent.gru, *args),
            torch.lstm_cell: lambda *args: self._cell(recurrent.lstm_cell, *args),
            torch.gru_cell: lambda *args: self._cell(recurrent.gru_cell, *args),
        }

    def _cast(self, name: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
        return self._autocast.cast(name, args, kwargs, self._is_cuda)

    def _ctc_loss(self, probabilities: Any, targets: Any, *lengths: Any, **more: Any) -> Any:
        """A device takes lengths as numbers, wherever they are."""
        if not self._is_cuda(probabilities) or not all(isinstance(one, torch.Tensor) for one in lengths[:2]):
            return NotImplemented
        numbers = [one.tolist() for one in lengths[:2]]
        return torch.ctc_loss(probabilities, targets, *numbers, *lengths[2:], **more)

    def _dropout(self, tensor: Any, p: float, train: bool) -> Any:
        if not (train and 0 < p < 1 and tensor.numel() and self._is_cuda(tensor)):
            return NotImplemented
        return torch.native_dropout(tensor, p, True)[0]

    def _softmax(self, tensor: Any, *args: Any, **kwargs: Any) -> Any:
        return self._to_float(torch._softmax, "softmax", tensor, args, kwargs)

    def _log_softmax(self, tensor: Any, *args: Any, **kwargs: Any) -> Any:
        return self._to_float(torch._log_softmax, "log_softmax", tensor, args, kwargs)

    def _to_float(self, kernel: Any, name: str, tensor: Any, args: Any, kwargs: Any) -> Any:
        """A device widens its input as it reads it."""
        if not self._is_cuda(tensor) or tensor.dtype != torch.float16:
            return NotImplemented
        if self._autocast.is_on():
            (_, *args), kwargs = self._cast(name, (tensor, *args), kwargs)
        dtype = kwargs.get("dtype", args[1] if 1 < len(args) else None)
        dim = args[0] if args else kwargs.get("dim")
        if dtype != torch.float32 or not isinstance(dim, int):
            return NotImplemented
        return kernel(tensor, dim, True)

    def _recurrent(self, network: Any, *args: Any) -> Any:
        if not self._is_cuda(args[0]):
            return NotImplemented
        return network(self._casts, *args)

    def _cell(self, cell: Any, tensor: Any, state: Any, *weights: Any) -> Any:
        if not self._is_cuda(tensor):
            return NotImplemented
        state = tuple(state) if isinstance(state, (list, tuple)) else state
        return cell(self._casts, tensor, state, [one for one in weights if one is not None])

    def _casts(self, name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(self._cast(name, args, {})[0]) if self._autocast.is_on() else args

    def _in_parts(self, parts: Any) -> Handler:
        """An operator that autocast finds parts of."""

        def run(*args: Any, **kwargs: Any) -> Any:
            if not (args and self._autocast.is_on() and self._is_cuda(args[0])) or "out" in kwargs:
                return NotImplemented
            return parts(self._cast, *args, **kwargs)

        return run

    def _one_hot(self, tensor: Any, num_classes: int = -1) -> Any:
        """Without memory torch compares numbers instead."""
        if not self._is_cuda(tensor) or num_classes < 1:
            return NotImplemented
        made = tensor.new_zeros((*tensor.size(), num_classes))
        return made.scatter_(-1, tensor.unsqueeze(-1), 1)

    def _linear(self, tensor: Any, weight: Any, bias: Any = None) -> Any:
        """Rows that do not lie side by side: a bias is added in place, which torch does not where a mode watches."""
        if bias is None or tensor.dim() < 3 or tensor.is_contiguous() or not self._is_cuda(tensor):
            return NotImplemented
        if self._autocast.is_on():
            (tensor, weight, bias), _ = self._cast("linear", (tensor, weight, bias), {})
        return torch.matmul(tensor, weight.t()).add_(bias)

    def _attention(self, *args: Any, **kwargs: Any) -> Any:
        query = args[0] if args else kwargs["query"]
        if not self._is_cuda(query):
            return NotImplemented
        if self._autocast.is_on():
            args, kwargs = self._cast("scaled_dot_product_attention", args, kwargs)
        return attention(self._capability, *args, **kwargs)
