"""Which models of transformers the zoo has, and where their repeated blocks lie."""

import dataclasses

DECODER = {"hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 6, "num_attention_heads": 16}
ENCODER = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 6, "num_attention_heads": 12}
GROUPED = {**DECODER, "num_key_value_heads": 4, "vocab_size": 32000}
SEQ2SEQ = {
    "d_model": 768,
    "encoder_layers": 3,
    "decoder_layers": 3,
    "pad_token_id": 0,
    "decoder_start_token_id": 2,
}
BOTH = "model.encoder.layers.* model.decoder.layers.*"


@dataclasses.dataclass(frozen=True)
class Known:
    """A model: its classes, the values of its configuration, the paths of its blocks, its kind of batches."""

    model: str
    config: str
    values: dict
    blocks: str
    kind: str = "tokens"
    # Where the model has no choice.
    attention: str = ""
    # Whether the switch covers other modules than the blocks, which are wrapped instead.
    wraps: bool = False


MODELS = {
    "gpt2": Known("GPT2LMHeadModel", "GPT2Config", {"n_layer": 6}, "transformer.h.*"),
    "llama": Known("LlamaForCausalLM", "LlamaConfig", GROUPED, "model.layers.*"),
    "mistral": Known("MistralForCausalLM", "MistralConfig", GROUPED, "model.layers.*"),
    "qwen2": Known("Qwen2ForCausalLM", "Qwen2Config", {**GROUPED, "vocab_size": 151936}, "model.layers.*"),
    "qwen3": Known("Qwen3ForCausalLM", "Qwen3Config", {**GROUPED, "head_dim": 128}, "model.layers.*"),
    "gemma": Known("GemmaForCausalLM", "GemmaConfig", {**GROUPED, "vocab_size": 64000}, "model.layers.*"),
    "gemma2": Known("Gemma2ForCausalLM", "Gemma2Config", {**GROUPED, "head_dim": 64}, "model.layers.*", attention="written"),
    "phi": Known("PhiForCausalLM", "PhiConfig", {**DECODER, "num_hidden_layers": 8}, "model.layers.*"),
    "olmo2": Known("Olmo2ForCausalLM", "Olmo2Config", {**GROUPED, "num_hidden_layers": 10}, "model.layers.*"),
    "granite": Known("GraniteForCausalLM", "GraniteConfig", GROUPED, "model.layers.*"),
    "opt": Known(
        "OPTForCausalLM", "OPTConfig",
        {"hidden_size": 1024, "ffn_dim": 4096, "num_hidden_layers": 8, "word_embed_proj_dim": 1024, "num_attention_heads": 16},
        "model.decoder.layers.*",
    ),
    "bloom": Known(
        "BloomForCausalLM", "BloomConfig", {"hidden_size": 1024, "n_layer": 6, "n_head": 16, "vocab_size": 65024},
        "transformer.h.*", attention="written",
    ),
    "gpt_neox": Known("GPTNeoXForCausalLM", "GPTNeoXConfig", {**DECODER, "vocab_size": 50432}, "gpt_neox.layers.*"),
    "gptj": Known(
        "GPTJForCausalLM", "GPTJConfig", {"n_embd": 1024, "n_layer": 5, "n_head": 8}, "transformer.h.*", attention="written"
    ),
    "mixtral": Known(
        "MixtralForCausalLM", "MixtralConfig", {**GROUPED, "num_local_experts": 4, "num_hidden_layers": 3}, "model.layers.*"
    ),
    "bert": Known("BertForMaskedLM", "BertConfig", ENCODER, "bert.encoder.layer.*"),
    "roberta": Known("RobertaForMaskedLM", "RobertaConfig", ENCODER, "roberta.encoder.layer.*"),
    "distilbert": Known("DistilBertForMaskedLM", "DistilBertConfig", {}, "distilbert.transformer.layer.*"),
    "electra": Known("ElectraForMaskedLM", "ElectraConfig", {**ENCODER, "embedding_size": 768}, "electra.encoder.layer.*"),
    "deberta": Known("DebertaV2ForMaskedLM", "DebertaV2Config", {**ENCODER, "vocab_size": 32000}, "deberta.encoder.layer.*", attention="written"),
    "modernbert": Known(
        "ModernBertForMaskedLM", "ModernBertConfig", {"num_hidden_layers": 8, "pad_token_id": 0}, "model.layers.*"
    ),
    "t5": Known(
        "T5ForConditionalGeneration", "T5Config", {"num_layers": 4, "decoder_start_token_id": 0},
        "encoder.block.* decoder.block.*",
    ),
    "bart": Known("BartForConditionalGeneration", "BartConfig", SEQ2SEQ, BOTH),
    "marian": Known("MarianMTModel", "MarianConfig", SEQ2SEQ, BOTH),
    "pegasus": Known("PegasusForConditionalGeneration", "PegasusConfig", SEQ2SEQ, BOTH),
    "whisper": Known(
        "WhisperForConditionalGeneration", "WhisperConfig",
        {"d_model": 512, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 8, "decoder_attention_heads": 8},
        BOTH, "sound",
    ),
    "wav2vec2": Known(
        "Wav2Vec2ForCTC", "Wav2Vec2Config", {**ENCODER, "layerdrop": 0.0, "apply_spec_augment": False},
        "wav2vec2.encoder.layers.*", "wave", wraps=True,
    ),
    "vit": Known("ViTForImageClassification", "ViTConfig", {**ENCODER, "num_labels": 100}, "vit.layers.*", "images"),
    "dinov2": Known(
        "Dinov2ForImageClassification", "Dinov2Config", {"num_hidden_layers": 8, "num_labels": 100},
        "dinov2.encoder.layer.*", "images",
    ),
    "swinv2": Known(
        "Swinv2ForImageClassification", "Swinv2Config", {"num_labels": 100, "image_size": 256, "window_size": 8},
        "swinv2.encoder.layers.*.blocks.*", "images", "written", True,
    ),
    "segformer": Known(
        "SegformerForSemanticSegmentation", "SegformerConfig", {"num_labels": 19},
        "segformer.stages.*.blocks.*", "masks", "written",
    ),
    "clip": Known(
        "CLIPModel", "CLIPConfig", {}, "text_model.encoder.layers.* vision_model.encoder.layers.*", "pairs"
    ),
}  # fmt: skip
