"""A LightningModule and its Trainer."""

import lightning
import tasks
import torch
from bench import declare, done, make_optimizer, options
from torch.utils.data import DataLoader, TensorDataset


class Module(lightning.LightningModule):
    def __init__(self, task):
        super().__init__()
        self.task = task
        self.network = task.model

    def training_step(self, batch, index):
        loss = self.task.loss(self.network, batch)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        self.log("validation", self.task.loss(self.network, batch))

    def on_train_batch_end(self, outputs, batch, index):
        if options.zero == "after" and (index + 1) % options.accumulate == 0:
            self.zero_grad()

    def configure_optimizers(self):
        return make_optimizer(self.parameters(), options.optimizer)


def loader(task, batch, batches):
    return DataLoader(TensorDataset(*task.batch(batch * batches)), batch_size=batch)


task = tasks.make(options)
task.set_checkpoints(options.checkpoint)
module = Module(task)
precisions = {(False, False): "32-true", (True, False): "bf16-mixed", (False, True): "bf16-true"}
trainer = lightning.Trainer(
    max_epochs=options.steps,
    accelerator="gpu",
    devices=1,
    precision=precisions[options.autocast, options.bf16],
    accumulate_grad_batches=options.accumulate,
    gradient_clip_val=options.clip or None,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    num_sanity_val_steps=0,
    limit_val_batches=2 if options.evaluate else 0,
)
validation = loader(task, options.evaluation_batch or options.batch, 2) if options.evaluate else None
torch.set_float32_matmul_precision("high")
trainer.fit(module, loader(task, options.batch, options.accumulate), validation)
declare(model=module.network, blocks=task.blocks, attention=task.attention)
done()
