"""Models of torchvision: classifiers, segmentation and video."""

import torch
import torch.nn.functional as F
from torchvision import models

from tasks.making import Task, modules_at

RESNET = "layer1.* layer2.* layer3.* layer4.*"
# name: the paths of repeated blocks, kind, attention
MODELS = {
    "resnet34": (RESNET, "images", ""),
    "resnet101": (RESNET, "images", ""),
    "wide_resnet50_2": (RESNET, "images", ""),
    "resnext50_32x4d": (RESNET, "images", ""),
    "vgg16_bn": ("", "images", ""),
    "densenet121": (
        "features.denseblock1.* features.denseblock2.* features.denseblock3.* features.denseblock4.*",
        "images",
        "",
    ),
    "mobilenet_v3_large": ("features.*", "images", ""),
    "efficientnet_v2_s": ("features.*.*", "images", ""),
    "shufflenet_v2_x1_0": ("stage2.* stage3.* stage4.*", "images", ""),
    "googlenet": ("*", "images", ""),
    "vit_b_16": ("encoder.layers.*", "images", "fused"),
    "swin_v2_t": ("features.*.*", "images", "written"),
    "fcn_resnet50": ("backbone.layer1.* backbone.layer2.* backbone.layer3.* backbone.layer4.*", "masks", ""),
    "deeplabv3_resnet50": (
        "backbone.layer1.* backbone.layer2.* backbone.layer3.* backbone.layer4.*",
        "masks",
        "",
    ),
    "r3d_18": (RESNET, "video", ""),
    "mc3_18": (RESNET, "video", ""),
}
BLOCKS = {"InvertedResidual", "MBConv", "FusedMBConv", "SwinTransformerBlockV2", "Inception"}


def maker(name):
    """The function that makes a model."""
    for package in (models, models.segmentation, models.video):
        if hasattr(package, name):
            return getattr(package, name)
    raise ValueError(f"torchvision has no {name}")


def blocks_of(model, paths):
    """The repeated blocks at some paths, without stems and whatever else lies there."""
    found = [module for path in paths.split() for module in modules_at(model, path)]
    named = [module for module in found if type(module).__name__ in BLOCKS]
    return named or found


def torchvision_task(name, options):
    """A model of torchvision with random weights."""
    paths, kind, attention = MODELS[name]
    keywords = {"weights_backbone": None} if kind == "masks" else {}
    if name == "googlenet":
        keywords = {"aux_logits": False, "init_weights": False}
    model = maker(name)(weights=None, **keywords)
    size = options.size.get("image", 224)

    def batch(n):
        if kind == "masks":
            return torch.rand(n, 3, size, size), torch.randint(0, 21, (n, size, size))
        if kind == "video":
            return torch.rand(n, 3, 16, 112, 112), torch.randint(0, 400, (n,))
        return torch.rand(n, 3, size, size), torch.randint(0, 1000, (n,))

    def loss(model, tensors):
        images, labels = tensors
        out = model(images)
        return F.cross_entropy(out["out"] if isinstance(out, dict) else out, labels)

    return Task(model, batch, loss, blocks_of(model, paths), attention)
