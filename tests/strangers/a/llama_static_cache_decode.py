import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.cache_utils import StaticCache

MAX_LEN, BATCH, PROMPT = 1024, 16, 700
dev = "cuda"
cfg = LlamaConfig(vocab_size=64000, hidden_size=2048, intermediate_size=5504, num_hidden_layers=22,
                  num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=MAX_LEN)
with torch.device(dev):
    model = LlamaForCausalLM(cfg).to(torch.float16).eval()
torch.cuda.empty_cache()
print("weights MiB", torch.cuda.memory_allocated() >> 20)

cache = StaticCache(config=cfg, max_cache_len=MAX_LEN)
tokens = torch.zeros(BATCH, MAX_LEN, dtype=torch.long, device=dev)
tokens[:, :PROMPT] = torch.randint(0, cfg.vocab_size, (BATCH, PROMPT), device=dev)

with torch.inference_mode():
    # prefill
    pos = torch.arange(PROMPT, device=dev)
    out = model(tokens[:, :PROMPT], past_key_values=cache, position_ids=pos[None], use_cache=True, logits_to_keep=1)
    nxt = out.logits[:, -1].argmax(-1)
    tokens[:, PROMPT] = nxt
    # decode
    for i in range(PROMPT, PROMPT + 48):
        p = torch.tensor([[i]], device=dev)
        out = model(nxt[:, None], past_key_values=cache, position_ids=p, use_cache=True)
        nxt = out.logits[:, -1].argmax(-1)
        tokens[:, i + 1] = nxt
print(tokens.shape, "peak reserved MiB", torch.cuda.max_memory_reserved() >> 20)
