"""A model of 7 billion parameters that trains for two steps: what `oomscope estimate` takes for it stands in docs/performance.md."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

model = LlamaForCausalLM(LlamaConfig()).to(torch.bfloat16).cuda()
model.gradient_checkpointing_enable()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for step in range(3):
    tokens = torch.randint(0, 32000, (4, 2048)).cuda()
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
