"""Training that marks its steps and phases itself, loads data with workers, and asks for a snapshot with a signal."""

import os
import signal
import sys

import oomscope
import torch
from gpt import GPT, train_step

if __name__ == "__main__":
    recording = oomscope.record(sys.argv[1], on_peak="1MiB", at_end=True, verdict=False)
    model = GPT().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = torch.utils.data.DataLoader(torch.zeros(32, 256, dtype=torch.long), batch_size=8, num_workers=2)
    for tokens in recording.steps(data):
        with recording.phase("forward"):
            model(tokens.cuda())
        train_step(model, optimizer, tokens.cuda())
    os.kill(os.getpid(), signal.SIGUSR2)
    recording.stop()
    assert not torch._C._cuda_isHistoryEnabled()
