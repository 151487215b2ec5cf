import torch
from diffusers import AutoencoderKL, DDIMScheduler, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModelWithProjection

torch.set_grad_enabled(False)
device, dtype = "cuda", torch.float16

text = CLIPTextModelWithProjection(CLIPTextConfig(hidden_size=1024, intermediate_size=4096, num_hidden_layers=23,
                                                  num_attention_heads=16, projection_dim=1024)).to(device, dtype)
with torch.device(device):
    unet = UNet2DConditionModel(sample_size=96, in_channels=4, out_channels=4, block_out_channels=(320, 640, 1280, 1280),
                                layers_per_block=2, cross_attention_dim=1024, attention_head_dim=(5, 10, 20, 20),
                                use_linear_projection=True).to(dtype)
    vae = AutoencoderKL(in_channels=3, out_channels=3, block_out_channels=(128, 256, 512, 512), layers_per_block=2,
                        latent_channels=4, down_block_types=("DownEncoderBlock2D",) * 4,
                        up_block_types=("UpDecoderBlock2D",) * 4).to(dtype)
scheduler = DDIMScheduler(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", clip_sample=False,
                          set_alpha_to_one=False, prediction_type="v_prediction")


def encode(n):
    cond = text(torch.randint(0, 49000, (n, 77), device=device)).last_hidden_state
    uncond = text(torch.zeros(n, 77, dtype=torch.long, device=device)).last_hidden_state
    return torch.cat([uncond, cond])


def generate(n, height=768, width=768, steps=8, guidance=7.5):
    emb = encode(n)
    scheduler.set_timesteps(steps)
    latents = torch.randn(n, 4, height // 8, width // 8, device=device, dtype=dtype) * scheduler.init_noise_sigma
    for t in scheduler.timesteps:
        inp = scheduler.scale_model_input(torch.cat([latents] * 2), t)
        noise_pred = unet(inp, t, encoder_hidden_states=emb).sample
        u, c = noise_pred.chunk(2)
        latents = scheduler.step(u + guidance * (c - u), t, latents).prev_sample
    img = vae.decode(latents / vae.config.scaling_factor).sample
    return ((img / 2 + 0.5).clamp(0, 1) * 255).round().byte().permute(0, 2, 3, 1).cpu().numpy()


for prompts in (4, 4, 2):
    print(generate(prompts).shape)
