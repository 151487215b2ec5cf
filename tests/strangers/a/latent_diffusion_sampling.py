"""Text-to-image style sampling: CFG, DDIM, VAE decode; random text embeddings."""
import torch
from diffusers import AutoencoderKL, DDIMScheduler, UNet2DConditionModel


def load(device, dtype):
    torch.set_default_device(device)
    unet = UNet2DConditionModel(sample_size=64, block_out_channels=(320, 640, 1280, 1280), cross_attention_dim=768,
                                attention_head_dim=8).to(device, dtype)
    vae = AutoencoderKL(block_out_channels=(128, 256, 512, 512), layers_per_block=2, latent_channels=4,
                        down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4,
                        sample_size=512).to(device, dtype)
    torch.set_default_device(None)
    torch.cuda.empty_cache()
    return unet.eval(), vae.eval()


@torch.no_grad()
def sample(unet, vae, scheduler, prompts, steps=6, guidance=7.5, device="cuda", dtype=torch.float16):
    n = len(prompts)
    cond = torch.randn(n, 77, 768, device=device, dtype=dtype)
    uncond = torch.randn(1, 77, 768, device=device, dtype=dtype).repeat(n, 1, 1)
    context = torch.cat([uncond, cond])
    latents = torch.randn(n, 4, 64, 64, device=device, dtype=dtype) * scheduler.init_noise_sigma
    scheduler.set_timesteps(steps)
    for t in scheduler.timesteps:
        inp = torch.cat([latents] * 2)
        inp = scheduler.scale_model_input(inp, t)
        noise = unet(inp, t.to(device), encoder_hidden_states=context).sample
        nu, nc = noise.chunk(2)
        noise = nu + guidance * (nc - nu)
        latents = scheduler.step(noise, t, latents).prev_sample
    images = vae.decode(latents / 0.18215).sample
    images = (images / 2 + 0.5).clamp(0, 1)
    return images.permute(0, 2, 3, 1).float().cpu().numpy()


if __name__ == "__main__":
    unet, vae = load("cuda", torch.float16)
    sched = DDIMScheduler(num_train_timesteps=1000, beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear",
                          clip_sample=False)
    for prompts in (["a photo of a cat"] * 4, ["oil painting of a harbour"] * 4, ["one more"] * 2):
        imgs = sample(unet, vae, sched, prompts)
        print(imgs.shape)
    print("peak reserved MiB", torch.cuda.max_memory_reserved() // 2**20)
