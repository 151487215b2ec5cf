"""Pretrained models by their configurations: weights are sizes, which are known without reading a file."""

from __future__ import annotations

import sys
from typing import Any

import torch

from .._after_import import after_import
from .patches import Patches

# What `from_pretrained` takes beside what a configuration takes.
LOADING = frozenset(
    [
        "state_dict",
        "low_cpu_mem_usage",
        "device_map",
        "max_memory",
        "offload_folder",
        "offload_buffers",
        "offload_state_dict",
        "tp_plan",
        "tp_size",
        "use_safetensors",
        "weights_only",
        "variant",
        "ignore_mismatched_sizes",
        "output_loading_info",
        "key_mapping",
        "adapter_kwargs",
        "trust_remote_code",
        "distributed_config",
        "device_mesh",
        "use_kernels",
        "kernel_config",
    ]
)


def read_no_weights(patches: Patches) -> None:
    """Has `from_pretrained` make models from their configurations alone."""
    after_import("transformers.modeling_utils", lambda: _transformers(patches))
    after_import("diffusers.models.modeling_utils", lambda: _diffusers(patches))
    after_import("torchvision.models._api", lambda: _torchvision(patches))
    after_import("timm.models._builder", lambda: _timm(patches))


def _transformers(patches: Patches) -> None:
    base = sys.modules["transformers.modeling_utils"].PreTrainedModel

    def from_pretrained(cls: Any, /, name: Any, *_: Any, config: Any = None, **options: Any) -> Any:
        loading = {key: options.pop(key) for key in list(options) if key in LOADING}
        if options.pop("quantization_config", None) is not None or getattr(
            config, "quantization_config", None
        ):
            raise NotImplementedError(
                "quantized weights need kernels of another package: estimate the model without them"
            )
        dtype = options.pop("dtype", options.pop("torch_dtype", None))
        attention = options.pop("attn_implementation", None)
        if config is None or isinstance(config, str):
            config, options = cls.config_class.from_pretrained(
                config or name, return_unused_kwargs=True, **options
            )
        # Trainers look for a tokenizer where the model came from.
        config.name_or_path = str(name)
        dtype = _dtype(dtype, config)
        more = {} if attention is None else {"attn_implementation": attention}
        kind = {"torch_dtype" if _names_type_as_torch() else "dtype": dtype}
        # Weights are read, so that none is drawn.
        with torch.random.fork_rng(devices=[]):
            model = cls._from_config(config, **kind, **more)
        model.eval()
        place = loading.get("device_map")
        if place is not None:
            model.to(_place(place))
        return (
            (model, {"missing_keys": [], "unexpected_keys": [], "mismatched_keys": [], "error_msgs": []})
            if loading.get("output_loading_info")
            else model
        )

    patches.put(base, "from_pretrained", classmethod(from_pretrained))


def _names_type_as_torch() -> bool:
    """Whether this version asks for `torch_dtype`, as those before 4.56 do."""
    import transformers

    return tuple(int(part) for part in transformers.__version__.split(".")[:2]) < (4, 56)


def _dtype(asked: Any, config: Any) -> Any:
    """The type of the weights: as asked for, else as the configuration says, where this version follows it."""
    if asked is None or asked == "auto":
        import transformers

        follows = asked == "auto" or 5 <= int(transformers.__version__.split(".")[0])
        asked = (getattr(config, "dtype", None) or getattr(config, "torch_dtype", None)) if follows else None
    return getattr(torch, asked) if isinstance(asked, str) else asked or torch.get_default_dtype()


def _place(device_map: Any) -> Any:
    if isinstance(device_map, dict):
        places = list(device_map.values())
        return places[0] if places else "cuda"
    return (
        "cuda"
        if isinstance(device_map, str) and device_map in ("auto", "balanced", "sequential", "balanced_low_0")
        else device_map
    )


def _diffusers(patches: Patches) -> None:
    base = sys.modules["diffusers.models.modeling_utils"].ModelMixin

    def from_pretrained(cls: Any, /, name: Any, *_: Any, **options: Any) -> Any:
        subfolder = options.get("subfolder")
        config = cls.load_config(name, **({"subfolder": subfolder} if subfolder else {}))
        with torch.random.fork_rng(devices=[]):
            model = cls.from_config(config)
        dtype = options.get("torch_dtype")
        if isinstance(dtype, torch.dtype):
            model.to(dtype=dtype)
        model.eval()
        return model

    patches.put(base, "from_pretrained", classmethod(from_pretrained))


class _NoWeights(dict[str, Any]):
    """The weights of a file that is not read, nor fetched."""


def _torchvision(patches: Patches) -> None:
    enum = sys.modules["torchvision.models._api"].WeightsEnum
    patches.put(enum, "get_state_dict", lambda *_, **__: _NoWeights())
    load = torch.nn.Module.load_state_dict

    # Programs name the argument, too.
    def load_state_dict(module: Any, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(state_dict, _NoWeights):
            return torch.nn.modules.module._IncompatibleKeys([], [])
        return load(module, state_dict, *args, **kwargs)

    patches.put(torch.nn.Module, "load_state_dict", load_state_dict)


def _timm(patches: Patches) -> None:
    patches.put_if_there(sys.modules["timm.models._builder"], "load_pretrained", lambda *_, **__: None)
