"""Functions for an epoch of training and for validation, as in PyTorch's examples."""

import tasks
import torch
from bench import autocast, declare, done, make_optimizer, options, precision, step


def to_device(batch):
    return [t.cuda() if t.dtype == torch.long else t.to("cuda", precision(options)) for t in batch]


def train_one_epoch(model, task, optimizer, first):
    model.train()
    for i in range(first, first + 2):
        step(i)
        if options.zero == "before_forward":
            optimizer.zero_grad()
        for micro in range(options.accumulate):
            batch = to_device(task.batch(options.batch))
            with autocast(options):
                loss = task.loss(model, batch)
            if options.zero == "before_backward" and not micro:
                optimizer.zero_grad()
            loss.backward()
        if options.clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip)
        optimizer.step()
        if options.zero in ("after", "fill"):
            optimizer.zero_grad(set_to_none=options.zero == "after")


def validate(model, task):
    model.eval()
    losses = []
    for _ in range(2):
        with autocast(options):
            losses.append(task.loss(model, to_device(task.batch(options.evaluation_batch or options.batch))))
    return torch.stack(losses).mean().item()


def main():
    task = tasks.make(options)
    task.set_checkpoints(options.checkpoint)
    model = task.model.to("cuda", precision(options))
    optimizer = make_optimizer(model.parameters(), options.optimizer)
    for epoch in range(2):
        train_one_epoch(model, task, optimizer, 2 * epoch)
        if options.evaluate == "no_grad":
            with torch.no_grad():
                validate(model, task)
        elif options.evaluate == "graph":
            validate(model, task)
    declare(model=model, blocks=task.blocks, attention=task.attention)
    done()


main()
