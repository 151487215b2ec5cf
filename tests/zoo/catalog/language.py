"""Models of transformers and diffusers."""

from catalog.base import TRAINS, base

CAUSAL = TRAINS | {"chunk"}
INFERENCE = frozenset({"precision"})
WRITTEN, SDPA = {"attention": "written"}, {"attention": "sdpa"}
# The Trainer makes its optimizers by names that have these not.
TRAINER = ("sgd-momentum", "adamw-foreach-false")


def hf(name, program="plain", batch=8, tag="", switches=CAUSAL, neutral=(), **options):
    """A model of transformers; where its loss is not split, nobody can say whether that would help."""
    neutral = (*neutral, *TRAINER) if program.startswith("hf_trainer") else neutral
    if "chunk" not in switches:
        neutral = (*neutral, "chunk-loss")
    return base(f"hf:{name}", program, batch, tag, switches, neutral, **options)


def other(name, program="plain", batch=8, tag="", **options):
    """A model that does not predict the next token."""
    return hf(name, program, batch, tag, TRAINS, **options)


def runs(name, program="inference", batch=16, tag="", **options):
    """A model that is not trained."""
    return base(f"hf:{name}", program, batch, tag, INFERENCE, **options)


def diffusion(name, program="plain", batch=8, tag="", **options):
    """A model of diffusers."""
    return base(f"diffusers:{name}", program, batch, tag, **options)


def decoders():
    """Models that predict the next token."""
    yield hf("gpt2", **WRITTEN)
    yield hf("gpt2", "hf_trainer", optimizer="adamw-fused", switches=TRAINS, **SDPA)
    yield runs("gpt2", "hf_generate", 16, size={"length": 64, "cache": True}, **SDPA)
    yield hf("llama", **SDPA)
    yield hf(
        "llama",
        "functions",
        4,
        "amp",
        autocast=True,
        optimizer="adamw-fused",
        clip=1.0,
        zero="before_forward",
        **SDPA,
    )
    yield runs("llama", "hf_generate", 8, bf16=True, size={"length": 128, "cache": True}, **SDPA)
    yield hf("mistral", "trainer_class", 4, clip=1.0, **WRITTEN)
    yield hf("qwen2", "accelerate_loop", 4, size={"length": 256}, **SDPA)
    yield hf(
        "qwen2",
        "hf_trainer",
        4,
        "bf16",
        switches=TRAINS,
        autocast=True,
        optimizer="adamw-fused",
        size={"length": 384},
        **SDPA,
    )
    yield hf("qwen3", "lightning_module", 4, **SDPA)
    yield hf("gemma", "plain", 4, optimizer="adafactor", **SDPA)
    yield other("gemma2", "functions", 4, zero="before_backward")
    yield hf("phi", "trainer_class", 4, zero="fill", **WRITTEN)
    yield hf("olmo2", "plain", 4, late=1, **SDPA)
    yield hf("granite", "functions", 4, history="bare", **WRITTEN)
    yield hf("opt", "hf_trainer", 8, switches=TRAINS, optimizer="adamw", evaluate="no_grad", **WRITTEN)
    yield hf("opt", "plain", 8, bf16=True, **SDPA)
    yield other("bloom", "accelerate_loop", 4, size={"length": 256})
    yield hf("gpt_neox", "functions", 4, evaluate="graph", **SDPA)
    yield other("gptj", "plain", 4, optimizer="sgd-momentum")
    yield hf("mixtral", "plain", 4, **SDPA)


def encoders():
    """Models of masked tokens, and those with an encoder and a decoder."""
    yield other("bert", "functions", zero="before_backward", evaluate="no_grad", **SDPA)
    yield other("bert", "hf_trainer", 16, optimizer="adamw", **WRITTEN)
    yield other("roberta", "lightning_module", 16, autocast=True, **SDPA)
    yield other("distilbert", "trainer_class", 16, accumulate=2, evaluate="graph", **WRITTEN)
    yield other("electra", "plain", 16, history="alloc", **SDPA)
    yield other("deberta", "plain", 8)
    yield other("modernbert", "accelerate_loop", 8, **SDPA)
    yield runs("modernbert", "inference", 32, **SDPA)
    yield other("t5", optimizer="adafactor", **WRITTEN)
    yield other("bart", "functions", 8, clip=1.0, **SDPA)
    yield other("marian", "trainer_class", 16, size={"length": 128}, **WRITTEN)
    yield other("pegasus", "plain", 4, optimizer="adafactor", autocast=True, **SDPA)


def of_other_senses():
    """Models of sounds and images."""
    yield other("whisper", "plain", 4, **WRITTEN)
    yield other("whisper", "functions", 8, autocast=True, zero="before_backward", **SDPA)
    yield other("wav2vec2", "trainer_class", 8, **SDPA)
    yield other("vit", "hf_trainer_images", 32, optimizer="adamw", **WRITTEN)
    yield other("dinov2", "plain", 32, optimizer="adamw-fused", **SDPA)
    yield other("swinv2", "functions", 16, size={"image": 256})
    yield other("segformer", "plain", 8)
    yield other("clip", "accelerate_loop", 16, neutral=("half-batch", "quarter-batch"), **SDPA)


def of_diffusers():
    """Models that remove noise, and the autoencoder in front of them."""
    yield diffusion("unet", "accelerate_loop", 8, **SDPA)
    yield diffusion("unet", "plain", 8, **WRITTEN)
    yield diffusion("unet_text", "plain", 4, autocast=True, optimizer="adamw-fused", **SDPA)
    yield diffusion("dit", "functions", 16, zero="before_backward", **SDPA)
    yield diffusion("dit", "lightning_module", 16, clip=1.0, **WRITTEN)
    yield diffusion("pixart", "trainer_class", 4, **SDPA)
    yield diffusion("sd3", "plain", 8, history="alloc", **SDPA)
    yield diffusion("vae", "trainer_class", 4, zero="fill", **SDPA)
    yield diffusion("unet", "inference", 16, switches=INFERENCE, **SDPA)


def bases():
    """Every base of these libraries."""
    return [*decoders(), *encoders(), *of_other_senses(), *of_diffusers()]
