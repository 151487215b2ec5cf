import torch
from diffusers import AutoencoderKL, DDIMScheduler, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel

torch_dtype = torch.float16
device = "cuda"

with torch.device(device):
    unet = UNet2DConditionModel(
        sample_size=64, in_channels=4, out_channels=4, layers_per_block=2, block_out_channels=(320, 640, 1280, 1280),
        down_block_types=("CrossAttnDownBlock2D",) * 3 + ("DownBlock2D",),
        up_block_types=("UpBlock2D",) + ("CrossAttnUpBlock2D",) * 3, cross_attention_dim=768, attention_head_dim=8,
    ).to(torch_dtype).eval()
    vae = AutoencoderKL(
        in_channels=3, out_channels=3, latent_channels=4, block_out_channels=(128, 256, 512, 512), layers_per_block=2,
        down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4,
    ).to(torch_dtype).eval()
    text_encoder = CLIPTextModel(CLIPTextConfig(
        hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12)).to(torch_dtype).eval()
scheduler = DDIMScheduler(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", clip_sample=False,
                          set_alpha_to_one=False, steps_offset=1)


@torch.no_grad()
def sample(n, steps=12, guidance_scale=7.5, eta=0.0):
    cond = text_encoder(torch.randint(0, 49000, (n, 77), device=device))[0]
    uncond = text_encoder(torch.zeros(n, 77, dtype=torch.long, device=device))[0]
    context = torch.cat([uncond, cond])
    latents = torch.randn(n, 4, 64, 64, device=device, dtype=torch_dtype) * scheduler.init_noise_sigma
    scheduler.set_timesteps(steps)
    for t in scheduler.timesteps:
        model_in = scheduler.scale_model_input(torch.cat([latents] * 2), t)
        noise_pred = unet(model_in, t, encoder_hidden_states=context).sample
        noise_uncond, noise_text = noise_pred.chunk(2)
        noise_pred = noise_uncond + guidance_scale * (noise_text - noise_uncond)
        latents = scheduler.step(noise_pred, t, latents, eta=eta).prev_sample
    imgs = []
    for z in latents.split(2):        # decode in pairs
        imgs.append(vae.decode(z / 0.18215).sample)
    images = (torch.cat(imgs) / 2 + 0.5).clamp(0, 1)
    return images.cpu().permute(0, 2, 3, 1).float().numpy()


for n in (8, 4):
    print(sample(n).shape)
