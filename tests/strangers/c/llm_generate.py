import time
from typing import List
import torch
from transformers import LlamaConfig, LlamaForCausalLM, DynamicCache


def load_model(device="cuda"):
    config = LlamaConfig(hidden_size=3072, intermediate_size=8192, num_hidden_layers=28, num_attention_heads=24,
                         num_key_value_heads=8, vocab_size=128256, max_position_embeddings=8192, tie_word_embeddings=True)
    torch.set_default_dtype(torch.float16)
    with torch.device(device):
        model = LlamaForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    return model.eval()


def sample_top_p(probs, p):
    probs_sort, probs_idx = torch.sort(probs, dim=-1, descending=True)
    probs_sum = torch.cumsum(probs_sort, dim=-1)
    probs_sort[probs_sum - probs_sort > p] = 0.0
    probs_sort.div_(probs_sort.sum(dim=-1, keepdim=True))
    return torch.gather(probs_idx, -1, torch.zeros(probs.shape[0], 1, dtype=torch.long, device=probs.device))


class Generator:
    def __init__(self, model, pad_id=0):
        self.model, self.pad_id = model, pad_id

    @torch.inference_mode()
    def generate(self, prompt_tokens: List[List[int]], max_gen_len: int, temperature=0.8, top_p=0.95):
        bsz = len(prompt_tokens)
        L = max(map(len, prompt_tokens))
        tokens = torch.full((bsz, L), self.pad_id, dtype=torch.long, device="cuda")
        mask = torch.zeros((bsz, L), dtype=torch.long, device="cuda")
        for k, t in enumerate(prompt_tokens):
            tokens[k, -len(t):] = torch.tensor(t, dtype=torch.long, device="cuda")
            mask[k, -len(t):] = 1
        cache = DynamicCache(config=self.model.config)
        cur, out = tokens, [tokens]
        for _ in range(max_gen_len):
            logits = self.model(input_ids=cur, attention_mask=mask, past_key_values=cache, use_cache=True,
                                logits_to_keep=1).logits
            probs = torch.softmax(logits[:, -1].float() / temperature, dim=-1)
            cur = sample_top_p(probs, top_p)
            out.append(cur)
            mask = torch.cat([mask, mask.new_ones(bsz, 1)], dim=1)
        return torch.cat(out, dim=1)


if __name__ == "__main__":
    gen = Generator(load_model())
    gtor = torch.Generator().manual_seed(0)
    for req in range(2):
        prompts = [torch.randint(1, 128000, (int(n),)).tolist() for n in torch.randint(200, 900, (24,), generator=gtor)]
        t = time.time()
        res = gen.generate(prompts, max_gen_len=32)
        print(req, tuple(res.shape), f"{time.time() - t:.1f}s")
