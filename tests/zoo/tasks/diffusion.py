"""Models of diffusers, trained to predict noise or to restore an image."""

import diffusers
import torch
import torch.nn.functional as F
from diffusers.models.attention_processor import Attention, AttnProcessor

from tasks.making import Task, modules_at

UNET = {"sample_size": 64, "in_channels": 4, "out_channels": 4, "block_out_channels": (128, 256, 512, 512)}
TEXT = {**UNET, "block_out_channels": (320, 640, 1280), "cross_attention_dim": 768, "attention_head_dim": 8,
        "down_block_types": ("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
        "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D")}  # fmt: skip
VAE = {"block_out_channels": (64, 128, 256, 256), "layers_per_block": 2,
       "down_block_types": ("DownEncoderBlock2D",) * 4, "up_block_types": ("UpDecoderBlock2D",) * 4}  # fmt: skip
DIT = {"num_attention_heads": 12, "attention_head_dim": 64, "num_layers": 8, "sample_size": 32}
PIXART = {"num_attention_heads": 16, "attention_head_dim": 72, "num_layers": 5, "caption_channels": 1024,
          "cross_attention_dim": 1152, "sample_size": 64}  # fmt: skip
SD3 = {"sample_size": 64, "num_layers": 5, "num_attention_heads": 12, "attention_head_dim": 64, "in_channels": 4,
       "out_channels": 4, "joint_attention_dim": 1024, "caption_projection_dim": 768, "pooled_projection_dim": 768}  # fmt: skip
# What the switch covers: units of convolutions, and blocks of the transformers between them.
OF_UNET = "down_blocks.*.resnets.* mid_block.resnets.* up_blocks.*.resnets.*"
OF_TEXT = " ".join(
    [
        OF_UNET,
        *(
            f"{part}.attentions.*.transformer_blocks.*"
            for part in ("down_blocks.*", "mid_block", "up_blocks.*")
        ),
    ]
)
OF_VAE = "encoder.down_blocks.* encoder.mid_block decoder.mid_block decoder.up_blocks.*"


def to_noise(n, size, channels=4):
    """Noisy latents and their steps."""
    return torch.rand(n, channels, size, size), torch.randint(0, 1000, (n,)).float()


def unet(model, noisy, times):
    """The loss of an unconditional model."""
    return F.mse_loss(model(noisy, times).sample, noisy)


def unet_of_text(model, noisy, times, text):
    """The loss of a model that is told what to draw."""
    return F.mse_loss(model(noisy, times, encoder_hidden_states=text).sample, noisy)


def dit(model, noisy, times, classes):
    """The loss of a transformer that is told a class."""
    out = model(noisy, timestep=times, class_labels=classes).sample
    return F.mse_loss(out[:, :4], noisy)


def pixart(model, noisy, times, text):
    """The loss of a transformer that is told what to draw."""
    added = {"resolution": None, "aspect_ratio": None}
    out = model(noisy, encoder_hidden_states=text, timestep=times, added_cond_kwargs=added).sample
    return F.mse_loss(out.chunk(2, 1)[0], noisy)


def sd3(model, noisy, times, text, pooled):
    """The loss of a transformer of two streams."""
    out = model(noisy, encoder_hidden_states=text, pooled_projections=pooled, timestep=times).sample
    return F.mse_loss(out, noisy)


def vae(model, images):
    """The loss of an autoencoder."""
    posterior = model.encode(images).latent_dist
    restored = model.decode(posterior.sample()).sample
    return F.l1_loss(restored, images) + 1e-6 * posterior.kl().mean()


# name: class, configuration, paths of blocks, loss, batch
MODELS = {
    "unet": ("UNet2DModel", UNET, OF_UNET, unet, lambda n: to_noise(n, 64)),
    "unet_text": (
        "UNet2DConditionModel", TEXT, OF_TEXT, unet_of_text, lambda n: (*to_noise(n, 64), torch.rand(n, 77, 768)),
    ),
    "dit": (
        "DiTTransformer2DModel", DIT, "transformer_blocks.*", dit,
        lambda n: (*to_noise(n, 32), torch.randint(0, 1000, (n,))),
    ),
    "pixart": (
        "PixArtTransformer2DModel", PIXART, "transformer_blocks.*", pixart,
        lambda n: (*to_noise(n, 64), torch.rand(n, 120, 1024)),
    ),
    "sd3": (
        "SD3Transformer2DModel", SD3, "transformer_blocks.*", sd3,
        lambda n: (*to_noise(n, 64), torch.rand(n, 154, 1024), torch.rand(n, 768)),
    ),
    "vae": ("AutoencoderKL", VAE, OF_VAE, vae, lambda n: (torch.rand(n, 3, 256, 256),)),
}  # fmt: skip


def diffusers_task(name, options):
    """A model of diffusers with random weights."""
    model_class, config, paths, loss, batch = MODELS[name]
    model = getattr(diffusers, model_class)(**config)
    if options.attention == "written":
        for module in model.modules():
            if isinstance(module, Attention):
                module.set_processor(AttnProcessor())
    attention = "written" if options.attention == "written" else "fused"
    blocks = [block for path in paths.split() for block in modules_at(model, path)]
    return Task(
        model, batch, lambda model, tensors: loss(model, *tensors), blocks, attention,
        model.enable_gradient_checkpointing,
    )  # fmt: skip
