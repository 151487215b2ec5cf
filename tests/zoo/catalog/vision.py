"""Image classifiers of timm and torchvision."""

from catalog.base import Base


def timm(name, program="plain", batch=32, tag="", **options):
    """A classifier of timm."""
    extra = {k: options.pop(k) for k in ("history", "addresses") if k in options}
    options = {"architecture": f"timm:{name}", "batch": batch, **options}
    return Base(f"timm:{name}", program, options, tag, **extra)


def bases():
    """Every base of these libraries."""
    return [
        timm("resnet50", batch=64, optimizer="sgd-momentum"),
        timm("vit_base_patch16_224", batch=64),
        timm("swin_tiny_patch4_window7_224", "functions", attention="written", evaluate="no_grad"),
        timm("convnext_tiny"),
        timm("mixer_b16_224", "functions", evaluate="graph"),
    ]
