"""Models of transformers, by their configurations: few layers, but tensors as large as in earnest."""

import torch
import torch.nn.functional as F
import transformers
from torch.utils.checkpoint import checkpoint

from tasks.making import Task, modules_at
from tasks.transformers_models import MODELS


def chunked_loss(model, ids, chunks=8):
    """The loss of next tokens, with the logits of one chunk at a time."""
    hidden = model.base_model(input_ids=ids)[0][:, :-1].flatten(0, 1)
    targets = ids[:, 1:].flatten()

    def part(hidden, targets):
        return F.cross_entropy(model.get_output_embeddings()(hidden).float(), targets, reduction="sum")

    parts = zip(hidden.chunk(chunks), targets.chunk(chunks), strict=True)
    return sum(checkpoint(part, h, t, use_reentrant=False) for h, t in parts) / targets.numel()


def tokens(config, length):
    """A maker of batches of tokens."""
    return lambda samples: (torch.randint(3, config.vocab_size, (samples, length)),)


def of_tokens(model, ids):
    """The loss that the model computes of tokens which are their own labels."""
    return model(input_ids=ids, labels=ids).loss


def of_images(model, images, labels):
    """The loss that an image classifier computes."""
    return model(pixel_values=images, labels=labels).loss


def of_sound(model, features, ids):
    """The loss of a model that writes down what it hears."""
    return model(input_features=features, labels=ids).loss


def of_wave(model, wave, ids):
    """The loss of a model that reads the wave itself."""
    return model(input_values=wave, labels=ids).loss


def of_pairs(model, ids, images):
    """The loss of a model of images and their texts."""
    return model(input_ids=ids, pixel_values=images, return_loss=True).loss


def masks(samples, size, config):
    """Images with a class for each pixel of a coarser grid."""
    grid = size // 4
    return torch.rand(samples, 3, size, size), torch.randint(0, config.num_labels, (samples, grid, grid))


def batches(kind, config, options):
    """A maker of batches for a kind of model, and its loss."""
    length, size = options.size.get("length", 512), options.size.get("image", 224)
    if kind == "images":
        return lambda n: (torch.rand(n, 3, size, size), torch.randint(0, config.num_labels, (n,))), of_images
    if kind == "masks":
        return lambda n: masks(n, size, config), of_images
    if kind == "sound":
        ids = torch.randint(3, config.vocab_size, (512, 128))
        return lambda n: (torch.rand(n, config.num_mel_bins, 3000), ids[:n].clone()), of_sound
    if kind == "wave":
        return lambda n: (torch.rand(n, 80000), torch.randint(1, config.vocab_size, (n, 40))), of_wave
    if kind == "pairs":
        vocabulary = config.text_config.vocab_size
        return lambda n: (torch.randint(3, vocabulary, (n, 77)), torch.rand(n, 3, size, size)), of_pairs
    return tokens(config, length), of_tokens


def transformers_task(name, options):
    """A model of transformers with random weights."""
    known = MODELS[name]
    config = getattr(transformers, known.config)(**{**known.values, **options.size.get("model", {})})
    config._attn_implementation = "eager" if "written" in (options.attention, known.attention) else "sdpa"
    for part in config.sub_configs:
        getattr(config, part)._attn_implementation = config._attn_implementation
    if hasattr(config, "use_cache"):
        config.use_cache = options.size.get("cache", False)
    model = getattr(transformers, known.model)(config)
    batch, plain_loss = batches(known.kind, config, options)

    def loss(model, tensors):
        if options.chunk_loss:
            return chunked_loss(model, *tensors)
        return plain_loss(model, *tensors)

    def switch():
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})

    used = model.config._attn_implementation
    attention = known.attention or {"eager": "written", "sdpa": "fused"}[used]
    blocks = [block for path in known.blocks.split() for block in modules_at(model, path)]
    return Task(model, batch, loss, blocks, attention, None if known.wraps else switch)
