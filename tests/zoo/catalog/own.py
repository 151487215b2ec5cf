"""Programs that are written by hand, each in a hand of its own."""

from catalog.base import TRAINS, base

CHUNK = TRAINS | {"chunk"}
NO_BLOCKS = TRAINS - {"checkpoint"}
WRITTEN, SDPA = {"attention": "written"}, {"attention": "sdpa"}


# Their loss has large logits, but no switch that computes it in parts.
LARGE_LOGITS = {
    "gpt_functional", "gpt_sequential", "post_norm", "torch_encoder", "shared_weights", "lists_of_layers", "moe", "seq2seq",
    "lstm_lm", "gru_cells", "wavenet", "unet_hand",
}  # fmt: skip


def own(program, batch, tag="", neutral=(), **options):
    """A program that is its own architecture."""
    neutral = (*neutral, "chunk-loss") if program in LARGE_LOGITS else neutral
    return base(f"own:{program}", program, batch, tag, neutral=neutral, **options)


def language():
    """Language models, and what else is made of attention."""
    yield own("gpt_residual", 8, switches=CHUNK, **WRITTEN)
    yield own("gpt_residual", 8, "amp", switches=CHUNK, autocast=True, optimizer="adamw-fused", **SDPA)
    yield own("gpt_functional", 16, **WRITTEN)
    yield own("gpt_functional", 16, "fill", zero="fill", optimizer="sgd-momentum", **SDPA)
    yield own("gpt_sequential", 32, **WRITTEN)
    yield own("gpt_sequential", 32, "eval", evaluate="no_grad", optimizer="adamw-fused", **SDPA)
    yield own("vit_lists", 24, **WRITTEN)
    yield own("vit_lists", 24, "fill", zero="fill", addresses="mixed", **SDPA)
    yield own("llama_parallel", 4, switches=CHUNK, **WRITTEN)
    yield own("llama_parallel", 4, "late", switches=CHUNK, late=1, accumulate=2, **SDPA)
    yield own("post_norm", 16, zero="before_backward", **WRITTEN)
    yield own("post_norm", 16, "amp", autocast=True, **SDPA)
    yield own("torch_encoder", 24)
    yield own("torch_encoder", 24, "bare", history="bare", optimizer="sgd")
    yield own("shared_weights", 8, **WRITTEN)
    yield own("shared_weights", 8, "accumulate", accumulate=4, zero="fill", **SDPA)
    yield own("stages", 16, **WRITTEN)
    yield own("stages", 16, "cpp", history="cpp", optimizer="adamw-foreach-false", **SDPA)
    yield own("lists_of_layers", 8, **WRITTEN)
    yield own("lists_of_layers", 8, "alloc", history="alloc", zero="fill", **SDPA)
    yield own("two_encoders", 128, switches=TRAINS - {"batch"}, neutral=("half-batch", "quarter-batch"))
    yield own("moe", 8)
    yield own("moe", 8, "adafactor", optimizer="adafactor", autocast=True)
    yield own("seq2seq", 32, zero="before_backward")


def others():
    """Recurrent cells, graphs, images, sounds, tables."""
    yield own("lstm_lm", 64, switches=NO_BLOCKS)
    yield own("lstm_lm", 64, "gru", switches=NO_BLOCKS, optimizer="sgd-momentum", size={"cell": "GRU"})
    yield own("gru_cells", 64, switches=NO_BLOCKS, neutral=("sdpa",))
    yield own("gnn_messages", 1, switches=TRAINS - {"batch"}, evaluate="graph")
    yield own(
        "gnn_messages", 1, "eval", switches=TRAINS - {"batch"}, evaluate="no_grad", optimizer="adamw-fused"
    )
    yield own("unet_hand", 8, zero="before_backward")
    yield own("unet_hand", 8, "amp", autocast=True, optimizer="adamw-fused")
    yield own("vgg_plain", 512, switches=NO_BLOCKS, zero="before_backward", optimizer="sgd-momentum")
    yield own(
        "vgg_plain", 512, "channels_last", switches=NO_BLOCKS, autocast=True, size={"channels_last": True}
    )
    yield own("resnet_hand", 128, zero="fill")
    yield own("resnet_hand", 128, "late", late=2, optimizer="sgd-momentum")
    yield own("vae_conv", 128, switches=NO_BLOCKS)
    yield own("recsys", 8192, switches=NO_BLOCKS)
    yield own("wavenet", 8)
    yield own("mlp_tabular", 8192, switches=NO_BLOCKS)
    yield own("mixer_hand", 48, evaluate="graph")
    yield own("mixer_hand", 48, "eval", evaluate="no_grad", accumulate=2)


def bases():
    """Every base of this kind."""
    return [*language(), *others()]
