"""A class that trains: batches from a DataLoader, accumulation, clipping, gradients filled with zeros or set to none."""

import tasks
import torch
from bench import autocast, declare, done, make_optimizer, options, precision, step
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, task):
        self.task = task
        self.task.set_checkpoints(options.checkpoint)
        self.model = task.model.cuda().to(precision(options))
        self.optimizer = make_optimizer(self.model.parameters(), options.optimizer)
        data = TensorDataset(*task.batch(options.batch * options.accumulate))
        self.loader = DataLoader(data, batch_size=options.batch, drop_last=True)

    def prepare(self, batch):
        return tuple(
            t.to("cuda").to(precision(options)) if t.is_floating_point() else t.to("cuda") for t in batch
        )

    def compute_loss(self, batch):
        with autocast(options):
            return self.task.loss(self.model, batch)

    def training_step(self, batch):
        loss = self.compute_loss(self.prepare(batch))
        (loss / options.accumulate).backward()
        return loss.detach()

    def update(self):
        if options.clip:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), options.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=options.zero != "fill")

    def evaluate(self):
        self.model.eval()
        total = 0.0
        with torch.set_grad_enabled(options.evaluate == "graph"):
            for _ in range(2):
                batch = self.prepare(self.task.batch(options.evaluation_batch or options.batch))
                loss = self.compute_loss(batch)
                total += loss.item()
        self.model.train()
        return total

    def fit(self):
        self.model.train()
        for epoch in range(options.steps):
            step(epoch)
            losses = [self.training_step(batch) for batch in self.loader]
            self.update()
            if options.evaluate:
                self.evaluate()
            print(epoch, torch.stack(losses).mean().item())


task = tasks.make(options)
trainer = Trainer(task)
trainer.fit()
declare(model=trainer.model, blocks=task.blocks, attention=task.attention)
done()
