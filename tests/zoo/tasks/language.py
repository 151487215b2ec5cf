"""Models of transformers, by their configurations: few layers, but tensors as large as in earnest."""

import torch
import torch.nn.functional as F
import transformers as tf
from torch.utils.checkpoint import checkpoint

from tasks.making import Task, modules_at

DECODER = dict(hidden_size=1024, intermediate_size=2816, num_hidden_layers=6, num_attention_heads=16)
ENCODER = dict(hidden_size=768, intermediate_size=3072, num_hidden_layers=6, num_attention_heads=12)
GROUPED = dict(DECODER, num_key_value_heads=4)

# name: class of the model, class of the configuration, its values, path of the blocks, kind
MODELS = {
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", dict(n_layer=6), "transformer.h.*", "causal"),
    "llama": ("LlamaForCausalLM", "LlamaConfig", dict(GROUPED, vocab_size=32000), "model.layers.*", "causal"),
    "bert": ("BertForMaskedLM", "BertConfig", ENCODER, "bert.encoder.layer.*", "masked"),
    "t5": ("T5ForConditionalGeneration", "T5Config", dict(num_layers=4), "*.block.*", "seq2seq"),
}


def chunked_loss(model, ids, chunks=8):
    """The loss of next tokens, with the logits of one chunk at a time."""
    hidden = model.base_model(input_ids=ids)[0][:, :-1].flatten(0, 1)
    targets = ids[:, 1:].flatten()

    def part(hidden, targets):
        return F.cross_entropy(model.get_output_embeddings()(hidden).float(), targets, reduction="sum")

    parts = zip(hidden.chunk(chunks), targets.chunk(chunks))
    return sum(checkpoint(part, h, t, use_reentrant=False) for h, t in parts) / targets.numel()


def tokens(vocabulary, length):
    """A maker of batches of tokens."""
    return lambda samples: (torch.randint(0, vocabulary, (samples, length)),)


def transformers_task(name, options):
    """A model of transformers with random weights."""
    model_class, config_class, values, path, kind = MODELS[name]
    values = dict(values, **options.size.get("model", {}))
    config = getattr(tf, config_class)(**values)
    eager = options.attention == "written"
    config._attn_implementation = "eager" if eager else "sdpa"
    if hasattr(config, "use_cache"):
        config.use_cache = False
    model = getattr(tf, model_class)(config)
    length = options.size.get("length", 512)

    def loss(model, tensors):
        ids = tensors[0]
        if options.chunk_loss:
            return chunked_loss(model, ids)
        return model(input_ids=ids, labels=ids).loss

    attention = "written" if eager else "fused"
    blocks = [block for block in modules_at(model, path) if block is not None]

    def switch():
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})

    return Task(model, tokens(config.vocab_size, length), loss, blocks, attention, switch)
