"""Image classifiers of timm."""

import timm
import timm.layers
import torch
import torch.nn.functional as F

from tasks.making import Task, modules_at

# Where the blocks lie that `set_grad_checkpointing` covers, by the beginning of the name.
BLOCKS = {
    "resnet": "layer*",
    "resnext": "layer*",
    "wide_resnet": "layer*",
    "seresnet": "layer*",
    "convnext": "stages.*.blocks.*",
    "swin": "layers.*.blocks.*",
    "efficientnet": "blocks.*.*",
    "tf_efficientnet": "blocks.*.*",
    "mobilenet": "blocks.*.*",
    "mnasnet": "blocks.*.*",
    "regnet": "regnet",
    "maxvit": "stages.*.blocks.*",
    "coatnet": "stages.*.blocks.*",
    "poolformer": "stages.*.blocks.*",
    "caformer": "stages.*.blocks.*",
    "pvt": "stages.*.blocks.*",
    "edgenext": "stages.*.blocks.*",
    "nfnet": "stages.*.*",
    "dm_nfnet": "stages.*.*",
    "levit": "stages.*.blocks.*",
    "twins": "blocks.*.*",
    "focalnet": "layers.*.blocks.*",
    "hiera": "blocks.*",
    "repvgg": "stages.*.*",
    "tiny_vit": "stages.*.blocks.*",
    "fastvit": "stages.*.blocks.*",
    "davit": "stages.*.blocks.*",
    "inception_next": "stages.*.blocks.*",
    "res2net": "layer*",
    "mobilevit": "stages.*.*",
    "mobileone": "stages.*.*",
    "efficientformerv2": "stages.*.blocks.*",
    "vgg": "",
    "densenet": "features.denseblock*",
}
# The switch of these covers whole stages, or stages and blocks at once: their blocks are wrapped instead.
BY_STAGES = ("repvgg", "mobileone", "mobilevit_", "caformer", "poolformer", "nfnet", "dm_nfnet", "levit", "tiny_vit", "davit",
             "twins", "cait", "xcit")  # fmt: skip
# Models that write attention out and have no switch for it.
WRITTEN = ("levit", "xcit", "edgenext", "cait")


def blocks_of(name, model):
    """The repeated blocks of a model."""
    paths = [path for start, path in BLOCKS.items() if name.startswith(start)]
    path = paths[-1] if paths else "blocks.*"
    if path == "layer*":
        return [block for i in range(1, 5) for block in getattr(model, f"layer{i}")]
    if path == "regnet":
        return [block for i in range(1, 5) for block in getattr(model, f"s{i}").children()]
    if path.endswith("denseblock*"):
        return [layer for i in range(1, 5) for layer in getattr(model.features, f"denseblock{i}").children()]
    return modules_at(model, path) if path else []


def attention_of(name, model):
    """How a model computes attention: "written", "fused", or nothing where it has none."""
    if name.startswith(WRITTEN):
        return "written"
    switches = [module.fused_attn for module in model.modules() if hasattr(module, "fused_attn")]
    if not switches:
        return ""
    return "fused" if all(switches) else "written"


def timm_task(name, options):
    """A classifier of a thousand classes, with random images."""
    if options.attention:
        # Some families fuse only where they are asked to try it.
        timm.layers.set_fused_attn(options.attention == "sdpa", experimental=options.attention == "sdpa")
    size = options.size.get("image", 224)
    model = timm.create_model(name, **options.size.get("model", {}))

    def batch(samples):
        return torch.rand(samples, 3, size, size), torch.randint(0, 1000, (samples,))

    def loss(model, tensors):
        images, labels = tensors
        return F.cross_entropy(model(images), labels)

    switch = None if name.startswith(BY_STAGES) else model.set_grad_checkpointing
    return Task(model, batch, loss, blocks_of(name, model), attention_of(name, model), switch)
