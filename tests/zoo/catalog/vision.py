"""Image classifiers and the like, of timm and torchvision."""

from catalog.base import TRAINS, base

INFERENCE = frozenset({"precision"})
NO_BLOCKS = TRAINS - {"checkpoint"}
# Swin reads masks that were computed before and other families write attention out unless they are asked to try:
# `attention` is named wherever a family has the switch.
WRITTEN, SDPA = {"attention": "written"}, {"attention": "sdpa"}
EVALUATED, KEPT = {"evaluate": "no_grad"}, {"evaluate": "graph"}


def timm(name, program="plain", tag="", batch=32, **options):
    """A classifier of timm."""
    return base(f"timm:{name}", program, batch, tag, **options)


def vision(name, program="plain", tag="", batch=32, **options):
    """A model of torchvision."""
    return base(f"torchvision:{name}", program, batch, tag, **options)


def convolutions():
    """Convnets of timm."""
    yield timm("resnet50", batch=64, optimizer="sgd-momentum")
    yield timm("resnet50", "lightning_module", autocast=True, optimizer="sgd-momentum", evaluate="no_grad")
    yield timm("resnext50_32x4d", "trainer_class", zero="fill", clip=1.0)
    yield timm("wide_resnet50_2", "accelerate_loop", batch=48, history="alloc")
    yield timm("seresnet50", "functions", zero="before_backward", **EVALUATED)
    yield timm("res2net50_26w_4s", "plain", addresses="mixed")
    yield timm("convnext_tiny")
    yield timm("convnext_tiny", "trainer_class", "late", accumulate=2, late=1)
    yield timm("convnextv2_tiny", "functions", optimizer="adamw-fused", zero="before_forward")
    yield timm("efficientnet_b0", "trainer_class", batch=64, optimizer="rmsprop", **EVALUATED)
    yield timm("tf_efficientnetv2_s", "functions", batch=24, autocast=True)
    yield timm("mobilenetv3_large_100", "accelerate_loop", batch=128)
    yield timm("mobileone_s1", "plain", batch=64, optimizer="sgd-momentum", zero="fill")
    yield timm("mnasnet_100", "plain", batch=96, history="bare")
    yield timm("regnety_032", "functions", batch=48, addresses="up", **KEPT)
    yield timm("nfnet_l0", "plain", optimizer="sgd-momentum", autocast=True)
    yield timm("repvgg_a2", "lightning_module", batch=64)
    yield timm("inception_next_tiny", "trainer_class", clip=5.0)
    # Its layers append to the list that they are given, so that a part of them cannot be computed twice.
    yield timm("densenet121", "plain", batch=24, switches=NO_BLOCKS)
    yield timm("convmixer_768_32", "functions", batch=16, optimizer="adamw-foreach-false")
    yield timm("poolformer_s12", "accelerate_loop", clip=1.0)
    yield timm("focalnet_tiny_srf", "plain")
    yield timm("ghostnet_100", "inference", batch=128, switches=INFERENCE)


def transformers():
    """Vision transformers and hybrids of timm."""
    yield timm("vit_base_patch16_224", batch=64, **SDPA)
    yield timm("vit_base_patch16_224", "lightning_module", accumulate=2, **WRITTEN)
    yield timm("vit_base_patch16_224", "inference", batch=256, switches=INFERENCE, **SDPA)
    yield timm("deit_small_patch16_224", "trainer_class", batch=96, history="cpp", **WRITTEN)
    yield timm("deit_small_patch16_224", "functions", "bf16", batch=64, bf16=True, **SDPA)
    yield timm("swin_tiny_patch4_window7_224", "functions", **WRITTEN, **EVALUATED)
    yield timm("swin_tiny_patch4_window7_224", "plain", autocast=True, **SDPA)
    yield timm("beit_base_patch16_224", "plain", batch=48, optimizer="adamw-fused", **WRITTEN)
    yield timm("eva02_small_patch14_224", "accelerate_loop", **SDPA)
    yield timm("cait_s24_224", "plain", batch=24, history="alloc")
    yield timm("xcit_small_12_p16_224", "trainer_class", zero="fill")
    yield timm("mixer_b16_224", "functions", **KEPT)
    yield timm("gmlp_s16_224", "plain", batch=48)
    yield timm("resmlp_12_224", "trainer_class", batch=64, accumulate=2)
    yield timm("maxvit_tiny_tf_224", "plain", batch=24, **WRITTEN)
    yield timm("coatnet_0_224", "functions", optimizer="adamw-fused", zero="before_backward", **SDPA)
    yield timm("caformer_s18", "plain", **WRITTEN)
    yield timm("pvt_v2_b1", "lightning_module", clip=1.0, **SDPA)
    yield timm("edgenext_small", "functions", batch=64)
    yield timm("levit_256", "plain", batch=128)
    yield timm("twins_svt_small", "trainer_class", optimizer="adafactor", **WRITTEN)
    yield timm("hiera_tiny_224", "plain", batch=48, **SDPA)
    yield timm("tiny_vit_11m_224", "accelerate_loop", autocast=True, **SDPA)
    yield timm("fastvit_t8", "trainer_class", **EVALUATED)
    yield timm("mobilevit_s", "plain", batch=64, **SDPA)


def of_torchvision():
    """Models of torchvision."""
    yield vision(
        "resnet34", "functions", batch=128, optimizer="sgd-momentum", zero="before_backward", **EVALUATED
    )
    yield vision("resnet101", "plain", batch=48, autocast=True, optimizer="sgd-momentum")
    yield vision("wide_resnet50_2", "trainer_class", optimizer="adamw-foreach-false")
    yield vision("resnext50_32x4d", "inference", batch=256, switches=INFERENCE)
    yield vision("vgg16_bn", "functions", batch=48, switches=NO_BLOCKS, optimizer="sgd-momentum")
    yield vision("densenet121", "trainer_class", batch=24, switches=NO_BLOCKS)
    yield vision("mobilenet_v3_large", "plain", batch=128, optimizer="rmsprop")
    yield vision("efficientnet_v2_s", "accelerate_loop", batch=24)
    yield vision("shufflenet_v2_x1_0", "trainer_class", batch=128, zero="fill", optimizer="sgd-momentum")
    yield vision("googlenet", "plain", batch=64)
    yield vision("vit_b_16", "lightning_module", batch=48)
    yield vision("vit_b_16", "functions", accumulate=2, zero="before_backward")
    yield vision("swin_v2_t", "plain", addresses="up")
    yield vision("fcn_resnet50", "plain", batch=8, neutral=("chunk-loss",), optimizer="sgd-momentum")
    yield vision("deeplabv3_resnet50", "functions", batch=8, neutral=("chunk-loss",), autocast=True, **KEPT)
    yield vision("r3d_18", "trainer_class", batch=8)
    yield vision("mc3_18", "plain", batch=12, optimizer="sgd")


def bases():
    """Every base of these libraries."""
    return [*convolutions(), *transformers(), *of_torchvision()]
