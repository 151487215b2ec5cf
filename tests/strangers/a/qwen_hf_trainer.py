import torch
from torch.utils.data import Dataset
from transformers import Qwen2Config, Qwen2ForCausalLM, Trainer, TrainingArguments, TrainerCallback, default_data_collator


class PackedTokens(Dataset):
    def __init__(self, vocab, seq_len, n):
        self.tokens = torch.randint(0, vocab, (n, seq_len))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        return {"input_ids": self.tokens[i], "labels": self.tokens[i], "attention_mask": torch.ones_like(self.tokens[i])}


class MemCallback(TrainerCallback):
    def on_step_end(self, args, state, control, **kw):
        print("step", state.global_step, "reserved", torch.cuda.memory_reserved() >> 20)


config = Qwen2Config(
    vocab_size=151936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14,
    num_key_value_heads=2, max_position_embeddings=2048, tie_word_embeddings=True,
)
model = Qwen2ForCausalLM(config)

args = TrainingArguments(
    output_dir="/tmp/qwen_out",
    per_device_train_batch_size=2,
    gradient_accumulation_steps=2,
    max_steps=3,
    learning_rate=1e-4,
    lr_scheduler_type="cosine",
    warmup_steps=1,
    weight_decay=0.01,
    bf16=True,
    logging_steps=1,
    save_strategy="no",
    report_to=[],
    optim="adamw_torch",
    dataloader_num_workers=0,
    disable_tqdm=True,
)
trainer = Trainer(model=model, args=args, train_dataset=PackedTokens(151936, 1024, 16),
                  data_collator=default_data_collator, callbacks=[MemCallback()])
trainer.train()
print("peak", torch.cuda.max_memory_reserved() >> 20, "MiB")
