"""Models of transformers."""

from catalog.base import Base

CAUSAL = frozenset({"train", "checkpoint", "half", "precision", "chunk"})
OTHERS = CAUSAL - {"chunk"}


def hf(name, program="plain", batch=8, tag="", switches=CAUSAL, **options):
    """A model of transformers."""
    extra = {k: options.pop(k) for k in ("history", "addresses") if k in options}
    neutral = frozenset() if "chunk" in switches else frozenset({"chunk-loss"})
    options = {"architecture": f"hf:{name}", "batch": batch, **options}
    return Base(f"hf:{name}", program, options, tag, switches, neutral, **extra)


def bases():
    """Every base of this library."""
    return [
        hf("gpt2", attention="written"),
        hf("llama", attention="sdpa"),
        hf(
            "bert", "functions", switches=OTHERS, attention="sdpa", zero="before_backward", evaluate="no_grad"
        ),
        hf("t5", switches=OTHERS, attention="written", optimizer="adafactor"),
    ]
