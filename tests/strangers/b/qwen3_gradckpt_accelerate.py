"""Continued pretraining of a small Qwen3 with gradient checkpointing (HF) through accelerate."""
import argparse
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, Qwen3Config, default_data_collator, get_scheduler


def build_model():
    cfg = Qwen3Config(vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=20,
                      num_attention_heads=16, num_key_value_heads=8, head_dim=128, max_position_embeddings=4096,
                      tie_word_embeddings=True)
    with torch.device("cuda"):
        return AutoModelForCausalLM.from_config(cfg, attn_implementation="sdpa")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seq_len", type=int, default=2048)
    parser.add_argument("--per_device_train_batch_size", type=int, default=4)
    parser.add_argument("--gradient_accumulation_steps", type=int, default=2)
    parser.add_argument("--max_train_steps", type=int, default=3)
    parser.add_argument("--learning_rate", type=float, default=1e-4)
    args = parser.parse_args()

    accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=args.gradient_accumulation_steps)
    model = build_model()
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.config.use_cache = False

    def sample(_):
        ids = torch.randint(0, 151000, (args.seq_len,))
        return {"input_ids": ids, "labels": ids.clone()}

    n = args.max_train_steps * args.gradient_accumulation_steps * args.per_device_train_batch_size
    dl = DataLoader([sample(i) for i in range(n)], collate_fn=default_data_collator,
                    batch_size=args.per_device_train_batch_size, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    sched = get_scheduler("cosine", optimizer, num_warmup_steps=1, num_training_steps=100)
    model, optimizer, dl, sched = accelerator.prepare(model, optimizer, dl, sched)
    model.train()
    done = 0
    for batch in dl:
        with accelerator.accumulate(model):
            loss = model(**batch).loss
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                done += 1
            optimizer.step()
            sched.step()
            optimizer.zero_grad()
        accelerator.print(done, loss.detach().item())


if __name__ == "__main__":
    main()
