#!/usr/bin/env python
"""Fine-tune the denoiser of a latent text-to-image model; VAE and text encoder frozen in half precision."""
import copy
import torch
import torch.nn.functional as F
from diffusers import AutoencoderKL, DDPMScheduler, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel

RES, BS, ACCUM, STEPS = 512, 4, 2, 2
weight_dtype = torch.bfloat16


def build():
    vae = AutoencoderKL(in_channels=3, out_channels=3, latent_channels=4, block_out_channels=(128, 256, 512, 512),
                        layers_per_block=2, norm_num_groups=32, sample_size=512,
                        down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4)
    text = CLIPTextModel(CLIPTextConfig(hidden_size=768, intermediate_size=3072, num_hidden_layers=12,
                                        num_attention_heads=12, vocab_size=49408, projection_dim=768))
    unet = UNet2DConditionModel(sample_size=64, in_channels=4, out_channels=4, layers_per_block=2,
                                block_out_channels=(256, 512, 768, 768), cross_attention_dim=768,
                                attention_head_dim=8)
    return vae, text, unet


class ShadowEMA:
    def __init__(self, net, decay=0.9995):
        self.decay = decay
        self.net = copy.deepcopy(net).eval()
        self.net.requires_grad_(False)

    @torch.no_grad()
    def update(self, net):
        for e, p in zip(self.net.parameters(), net.parameters()):
            e.lerp_(p, 1 - self.decay)


def compute_snr(sched, t):
    ac = sched.alphas_cumprod.to(t.device)[t]
    return (ac.sqrt() / (1 - ac).sqrt()) ** 2


def main():
    dev = torch.device("cuda", 0)
    vae, text_encoder, unet = build()
    vae.requires_grad_(False)
    text_encoder.requires_grad_(False)
    vae.to(dev, dtype=weight_dtype)
    text_encoder.to(dev, dtype=weight_dtype)
    unet.to(dev)
    unet.enable_gradient_checkpointing()
    unet.train()
    ema = ShadowEMA(unet)
    sched = DDPMScheduler(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear")
    opt = torch.optim.AdamW(unet.parameters(), lr=1e-5, betas=(0.9, 0.999), weight_decay=1e-2, eps=1e-8)

    for step in range(STEPS):
        train_loss = 0.0
        for micro in range(ACCUM):
            pixels = torch.randn(BS, 3, RES, RES)
            ids = torch.randint(0, 49407, (BS, 77))
            with torch.no_grad():
                latents = vae.encode(pixels.to(dev, dtype=weight_dtype)).latent_dist.sample()
                latents = latents * vae.config.scaling_factor
                ehs = text_encoder(ids.to(dev))[0]
            noise = torch.randn_like(latents)
            noise = noise + 0.1 * torch.randn((latents.shape[0], latents.shape[1], 1, 1), device=dev, dtype=noise.dtype)
            ts = torch.randint(0, 1000, (BS,), device=dev).long()
            noisy = sched.add_noise(latents, noise, ts)
            with torch.autocast("cuda", dtype=weight_dtype):
                pred = unet(noisy, ts, ehs).sample
            w = torch.clamp(compute_snr(sched, ts), max=5.0) / compute_snr(sched, ts)
            loss = F.mse_loss(pred.float(), noise.float(), reduction="none")
            loss = (loss.mean(dim=list(range(1, len(loss.shape)))) * w).mean()
            (loss / ACCUM).backward()
            train_loss += loss.item() / ACCUM
        torch.nn.utils.clip_grad_norm_(unet.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
        ema.update(unet)
        print("step", step, train_loss)


if __name__ == "__main__":
    main()
