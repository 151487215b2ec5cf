from dataclasses import dataclass
from typing import Any, Dict, List, Union
import torch
from transformers import (Seq2SeqTrainer, Seq2SeqTrainingArguments, WhisperConfig, WhisperForConditionalGeneration)

whisper_medium_like = dict(d_model=1024, encoder_layers=16, decoder_layers=16, encoder_attention_heads=16,
                           decoder_attention_heads=16, encoder_ffn_dim=4096, decoder_ffn_dim=4096, vocab_size=51865)
model = WhisperForConditionalGeneration(WhisperConfig(**whisper_medium_like))
model.config.use_cache = False
model.model.encoder.requires_grad_(False)   # encoder is good enough, only adapt the decoder


class CommonVoice(torch.utils.data.Dataset):
    def __len__(self): return 40

    def __getitem__(self, i):
        n = 12 + (i * 37) % 90
        return {"input_features": torch.randn(80, 3000), "labels": torch.randint(1, 50000, (n,))}


@dataclass
class DataCollatorSpeechSeq2SeqWithPadding:
    decoder_start_token_id: int

    def __call__(self, features: List[Dict[str, Union[List[int], torch.Tensor]]]) -> Dict[str, torch.Tensor]:
        batch = {"input_features": torch.stack([f["input_features"] for f in features])}
        batch["labels"] = torch.nn.utils.rnn.pad_sequence([f["labels"] for f in features], batch_first=True,
                                                          padding_value=-100)
        return batch


args = Seq2SeqTrainingArguments(output_dir="whisper", per_device_train_batch_size=10,
                                gradient_accumulation_steps=1, learning_rate=1e-5, warmup_steps=2, max_steps=3,
                                fp16=True, save_strategy="no", report_to=[], logging_steps=1,
                                predict_with_generate=False, remove_unused_columns=False)
trainer = Seq2SeqTrainer(args=args, model=model, train_dataset=CommonVoice(),
                         data_collator=DataCollatorSpeechSeq2SeqWithPadding(model.config.decoder_start_token_id))
trainer.train()
