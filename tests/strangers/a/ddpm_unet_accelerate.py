import torch
import torch.nn.functional as F
from accelerate import Accelerator
from dataclasses import dataclass
from diffusers import DDPMScheduler, UNet2DModel
from diffusers.optimization import get_cosine_schedule_with_warmup
from diffusers.training_utils import EMAModel


@dataclass
class TrainingConfig:
    image_size = 64
    train_batch_size = 64
    num_steps = 4
    gradient_accumulation_steps = 1
    learning_rate = 1e-4
    lr_warmup_steps = 2
    mixed_precision = "fp16"


config = TrainingConfig()
model = UNet2DModel(
    sample_size=config.image_size, in_channels=3, out_channels=3, layers_per_block=2,
    block_out_channels=(128, 128, 256, 256, 512),
    down_block_types=("DownBlock2D", "DownBlock2D", "DownBlock2D", "AttnDownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "AttnUpBlock2D", "UpBlock2D", "UpBlock2D", "UpBlock2D"),
)
noise_scheduler = DDPMScheduler(num_train_timesteps=1000)
optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate)
lr_scheduler = get_cosine_schedule_with_warmup(optimizer, config.lr_warmup_steps, config.num_steps)
images = torch.rand(config.train_batch_size * config.num_steps, 3, config.image_size, config.image_size)
train_dataloader = torch.utils.data.DataLoader(images, batch_size=config.train_batch_size, shuffle=True)


def train_loop(config, model, noise_scheduler, optimizer, train_dataloader, lr_scheduler):
    accelerator = Accelerator(mixed_precision=config.mixed_precision,
                              gradient_accumulation_steps=config.gradient_accumulation_steps)
    ema = EMAModel(model.parameters(), decay=0.9999, use_ema_warmup=True)
    model, optimizer, train_dataloader, lr_scheduler = accelerator.prepare(model, optimizer, train_dataloader, lr_scheduler)
    ema.to(accelerator.device)
    for step, clean_images in enumerate(train_dataloader):
        noise = torch.randn(clean_images.shape, device=clean_images.device)
        bs = clean_images.shape[0]
        timesteps = torch.randint(0, noise_scheduler.config.num_train_timesteps, (bs,), device=clean_images.device,
                                  dtype=torch.int64)
        noisy_images = noise_scheduler.add_noise(clean_images, noise, timesteps)
        with accelerator.accumulate(model):
            noise_pred = model(noisy_images, timesteps, return_dict=False)[0]
            loss = F.mse_loss(noise_pred, noise)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            lr_scheduler.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            ema.step(model.parameters())
        print({"loss": loss.detach().item(), "lr": lr_scheduler.get_last_lr()[0], "step": step})


train_loop(config, model, noise_scheduler, optimizer, train_dataloader, lr_scheduler)
print("peak", torch.cuda.max_memory_reserved() / 2**30, "GiB")
