import argparse
import torch
from transformers import LlamaConfig, LlamaForCausalLM, get_scheduler


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--hidden", type=int, default=2048)
    p.add_argument("--layers", type=int, default=16)
    p.add_argument("--seq", type=int, default=2048)
    p.add_argument("--bsz", type=int, default=12)
    p.add_argument("--lr", type=float, default=2e-5)
    p.add_argument("--steps", type=int, default=3)
    return p.parse_args()


def main():
    args = get_args()
    cfg = LlamaConfig(vocab_size=32000, hidden_size=args.hidden, intermediate_size=5632, num_hidden_layers=args.layers,
                      num_attention_heads=32, num_key_value_heads=4, max_position_embeddings=args.seq)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = LlamaForCausalLM(cfg)
    torch.set_default_dtype(torch.float32)
    model.gradient_checkpointing_enable()
    model.config.use_cache = False
    model.train()
    optim = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95), weight_decay=0.1)
    sched = get_scheduler("cosine", optim, num_warmup_steps=1, num_training_steps=args.steps)
    for step in range(args.steps):
        ids = torch.randint(0, cfg.vocab_size, (args.bsz, args.seq), device="cuda")
        labels = ids.clone()
        labels[:, :128] = -100
        loss = model(input_ids=ids, labels=labels).loss
        loss.backward()
        gnorm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        sched.step()
        optim.zero_grad(set_to_none=True)
        print(dict(step=step, loss=loss.item(), gnorm=gnorm.item(), alloc=torch.cuda.memory_allocated() >> 20))
    print("peak reserved MiB:", torch.cuda.max_memory_reserved() >> 20)


if __name__ == "__main__":
    main()
