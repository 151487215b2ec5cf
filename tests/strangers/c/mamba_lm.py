import time
import torch
from transformers import MambaConfig, MambaForCausalLM

torch.manual_seed(5)
SEQ, BSZ = 192, 8

conf = MambaConfig(vocab_size=50280, hidden_size=768, state_size=16, num_hidden_layers=10, use_cache=False,
                   use_mambapy=False)
lm = MambaForCausalLM(conf).cuda()
lm.train()
print('%.1f M params' % (sum(p.numel() for p in lm.parameters()) / 1e6))

decay = [p for n, p in lm.named_parameters() if p.ndim > 1 and 'A_log' not in n]
other = [p for n, p in lm.named_parameters() if not (p.ndim > 1 and 'A_log' not in n)]
optim = torch.optim.AdamW([dict(params=decay, weight_decay=.1), dict(params=other, weight_decay=0.)], lr=6e-4)

tokens = torch.randint(0, 50280, (3 * BSZ, SEQ))
for k, chunk in enumerate(tokens.split(BSZ)):
    tic = time.perf_counter()
    chunk = chunk.cuda()
    with torch.autocast('cuda', torch.bfloat16):
        res = lm(input_ids=chunk, labels=chunk)
    optim.zero_grad()
    res.loss.backward()
    torch.nn.utils.clip_grad_norm_(lm.parameters(), 1.)
    optim.step()
    torch.cuda.synchronize()
    print(f'{k} {time.perf_counter() - tic:.2f}s')
