"""Beam search written by hand on a BART decoder, legacy-style cache reordered every step."""
import torch
from transformers import BartConfig, BartForConditionalGeneration
from transformers.modeling_outputs import BaseModelOutput


class BeamSearcher:
    def __init__(self, model, num_beams=5, max_len=40, length_penalty=1.0):
        self.model, self.nb, self.max_len, self.lp = model, num_beams, max_len, length_penalty

    @torch.no_grad()
    def __call__(self, src, src_mask):
        B, dev, nb = src.size(0), src.device, self.nb
        enc = self.model.get_encoder()(input_ids=src, attention_mask=src_mask).last_hidden_state
        enc = enc.repeat_interleave(nb, dim=0)
        mask = src_mask.repeat_interleave(nb, dim=0)
        seqs = torch.full((B * nb, 1), 2, dtype=torch.long, device=dev)
        scores = torch.full((B, nb), -1e9, device=dev)
        scores[:, 0] = 0
        cache = None
        base = torch.arange(B, device=dev)[:, None] * nb
        for step in range(self.max_len):
            out = self.model(encoder_outputs=BaseModelOutput(last_hidden_state=enc), attention_mask=mask,
                             decoder_input_ids=seqs[:, -1:], past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            logp = torch.log_softmax(out.logits[:, -1].float(), dim=-1)
            V = logp.size(-1)
            total = scores.view(-1, 1) + logp
            total = total.view(B, nb * V)
            scores, flat = total.topk(nb, dim=1)
            beam = torch.div(flat, V, rounding_mode="floor")
            tok = flat % V
            idx = (base + beam).view(-1)
            seqs = torch.cat([seqs.index_select(0, idx), tok.view(-1, 1)], dim=1)
            cache.reorder_cache(idx)
        final = scores / (seqs.size(1) ** self.lp)
        return seqs.view(B, nb, -1), final


if __name__ == "__main__":
    cfg = BartConfig(vocab_size=50265, d_model=1024, encoder_layers=12, decoder_layers=12)
    model = BartForConditionalGeneration(cfg).cuda().half().eval()
    search = BeamSearcher(model, num_beams=5)
    for n, (b, s) in enumerate([(16, 512), (10, 400)]):
        src = torch.randint(4, 50000, (b, s), device="cuda")
        hyp, sc = search(src, torch.ones_like(src))
        print("batch", n, tuple(hyp.shape), sc.shape)
    print("peak", torch.cuda.max_memory_reserved() / 2**20)
