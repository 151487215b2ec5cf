"""Operators one after the other, for `test_estimate_kernels.py`: `kernels.py real|estimate OUT`.

Prints nothing; writes, for each case, what was asked of the allocator: sizes rounded as it rounds them, and the peak.
"""

import json
import sys

import torch
import torch.nn.functional as F
from torch import nn

MARK = 3_000_000_000
ROUND = 512

VERSION = tuple(map(int, torch.__version__.split(".")[:2]))


def tensor(*sizes, dtype=torch.float32, grad=True):
    return torch.empty(*sizes, dtype=dtype, device="cuda", requires_grad=grad)


def places(*sizes, most=10):
    return torch.randint(0, most, sizes, device="cuda")


def mask(*sizes):
    return torch.zeros(*sizes, dtype=torch.bool, device="cuda")


def last(image):
    return image.contiguous(memory_format=torch.channels_last)


def back(result):
    result.backward(torch.empty_like(result))


def encode(dtype, tensor, **more):
    layer = module(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, **more), dtype)
    layer.eval().requires_grad_(False)(tensor)


def module(made, dtype):
    return made.to("cuda", dtype)


def attend(
    dtype, heads=4, keys=4, queries=128, width=64, mask=None, dropout=0.0, causal=False, is_turned=False
):
    def make(count):
        if is_turned:
            return tensor(2, queries, count, width, dtype=dtype).transpose(1, 2)
        return tensor(2, count, queries, width, dtype=dtype)

    query, key, value = make(heads), make(keys), make(keys)
    more = {} if heads == keys else {"enable_gqa": True}
    back(F.scaled_dot_product_attention(query, key, value, mask, dropout, causal, **more))


def train(optimizer, **more):
    model = nn.Sequential(nn.Linear(512, 1000), nn.GELU(), nn.LayerNorm(1000), nn.Linear(1000, 10)).to("cuda")
    steps = optimizer(model.parameters(), lr=0.01, **more)
    for _ in range(2):
        model(tensor(16, 512, grad=False)).sum().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        steps.step()
        steps.zero_grad()


def residual():
    stream = tensor(64, 100)
    for _ in range(3):
        stream = stream + torch.tanh(stream)
    back(stream)


# What takes nothing beside results.
GROUPS = {
    "activations": [
        lambda t: F.hardswish(t(512, 100)),
        lambda t: F.hardsigmoid(t(512, 100)),
        lambda t: F.leaky_relu(t(512, 100)),
        lambda t: F.elu(t(512, 100)),
        lambda t: F.mish(t(512, 100)),
        lambda t: F.softplus(t(512, 100)),
        lambda t: F.rrelu(t(512, 100), training=True),
        lambda t: F.prelu(t(512, 100), t(100)),
        lambda t: F.glu(t(512, 100)),
        lambda t: torch.logit(t(512, 100), 1e-6),
        lambda t: F.rms_norm(t(512, 1000), (1000,), t(1000)),
        lambda t: F.instance_norm(t(16, 64, 14, 14), weight=t(64), bias=t(64)),
        lambda t: F.batch_norm(t(16, 64, 14, 14), t(64, grad=False), t(64, grad=False), t(64), t(64), False),
    ],
    "images": [
        lambda t: F.max_pool2d(t(4, 8, 21, 21), 3, 2, 1),
        lambda t: F.max_pool3d(t(2, 4, 10, 10, 10), 2),
        lambda t: F.avg_pool2d(t(4, 8, 20, 20), 2),
        lambda t: F.avg_pool3d(t(2, 4, 10, 10, 10), 2),
        lambda t: F.adaptive_avg_pool2d(t(4, 8, 20, 20), 7),
        lambda t: F.adaptive_max_pool2d(t(4, 8, 20, 20), 7),
        lambda t: F.interpolate(t(4, 8, 20, 20), scale_factor=2),
        lambda t: F.interpolate(t(4, 8, 20, 20), scale_factor=2, mode="bicubic"),
        lambda t: F.interpolate(t(2, 4, 10, 10, 10), scale_factor=2, mode="trilinear"),
        lambda t: F.pixel_shuffle(t(4, 16, 20, 20), 2),
        lambda t: F.pad(t(4, 8, 20, 20), (1, 1, 2, 2)),
        lambda t: F.pad(t(4, 8, 20, 20), (1, 1, 2, 2), mode="replicate"),
        lambda t: F.grid_sample(t(4, 8, 20, 20), t(4, 10, 10, 2), align_corners=False),
    ],
    "shapes": [
        lambda t: t(100, 64).masked_fill(mask(100, 64), 0.0),
        lambda t: t(100, 64).flip(0, 1),
        lambda t: t(64, 1000).cummax(1)[0],
        lambda t: t(64, 1000).kthvalue(5, 1)[0],
        lambda t: t(64, 1000).nan_to_num(),
        lambda t: t(512, 100).as_strided((100, 50), (100, 2)),
        lambda t: t(64, 100).repeat_interleave(3, 0),
        lambda t: torch.take_along_dim(t(64, 100), places(64, 10), 1),
        lambda t: t(100, 64).index_copy(0, places(50), t(50, 64)),
        lambda t: t(100, 64).index_add(0, places(50), t(50, 64)),
        lambda t: t(100, 64).index_fill(0, places(50), 1.0),
        lambda t: t(100, 64).tril(),
        lambda t: torch.diag_embed(t(10, 100)),
    ],
    "products": [
        lambda t: torch.einsum("bqhd,bkhd->bhqk", t(2, 16, 4, 8), t(2, 20, 4, 8)),
        lambda t: torch.einsum("...ij,jk->...ik", t(2, 3, 16, 8), t(8, 24)),
        lambda t: torch.tensordot(t(4, 16, 8), t(8, 16, 12), dims=([1, 2], [1, 0])),
        lambda t: torch.linalg.multi_dot([t(16, 8), t(8, 24), t(24, 12)]),
        lambda t: torch.func.vmap(F.linear)(t(4, 16, 8), t(4, 12, 8)),
        lambda t: t(4, 1, 16, 8) @ t(5, 8, 12),
    ],
    "losses": [
        lambda t: F.nll_loss(t(4, 10, 20, 20), places(4, 20, 20)),
        lambda t: F.kl_div(t(512, 100), t(512, 100, grad=False), reduction="batchmean"),
        lambda t: F.triplet_margin_loss(t(512, 100), t(512, 100), t(512, 100)),
        lambda t: F.cosine_embedding_loss(t(512, 100), t(512, 100), t(512, grad=False)),
        lambda t: F.smooth_l1_loss(t(512, 1000), t(512, 1000, grad=False)),
        lambda t: F.l1_loss(t(512, 1000), t(512, 1000, grad=False)),
    ],
}


def cases():
    half = torch.bfloat16
    for name, dtype in (("f32", torch.float32), ("bf16", half)):
        made = {
            "mm": lambda t: back(t(64, 32) @ t(32, 16)),
            "mm-column": lambda t: back(t(64, 32) @ t(32, 1)),
            "linear": lambda t: back(F.linear(t(8, 128, 64), t(32, 64), t(32))),
            "linear-rows": lambda t: back(F.linear(t(1024, 1024), t(2048, 1024), t(2048))),
            "linear-turned": lambda t: back(F.linear(t(8, 4, 64).transpose(0, 1), t(32, 64), t(32))),
            "addmm": lambda t: back(torch.addmm(t(8, 32), t(8, 16), t(16, 32))),
            "addmm-column": lambda t: back(torch.addmm(t(8, 1), t(8, 16), t(16, 32))),
            "bmm": lambda t: back(torch.bmm(t(3, 16, 8), t(3, 24, 8).mT)),
            "baddbmm": lambda t: back(torch.baddbmm(t(3, 16, 24), t(3, 16, 8), t(3, 8, 24))),
            "addmm_": lambda t: t(8, 32, grad=False).addmm_(t(8, 16, grad=False), t(16, 32, grad=False)),
            "addmm_-odd": lambda t: t(8, 64, grad=False)[:, ::2].addmm_(
                t(8, 16, grad=False), t(16, 32, grad=False)
            ),
            "addmm-scaled": lambda t: back(torch.addmm(t(8, 32), t(8, 16), t(16, 32), beta=0.5)),
            "baddbmm_": lambda t: t(3, 16, 24, grad=False).baddbmm_(
                t(3, 16, 8, grad=False), t(3, 8, 24, grad=False)
            ),
            "addbmm": lambda t: back(torch.addbmm(t(16, 24), t(3, 16, 8), t(3, 8, 24))),
            "mv": lambda t: back(torch.mv(t(16, 8), t(8))),
            "mv-odd": lambda t: torch.mv(t(16, 32, grad=False)[:, ::2], t(32, grad=False)[::2]),
            "dot": lambda t: back(torch.dot(t(1000), t(1000))),
            "bilinear": lambda t: back(F.bilinear(t(16, 20), t(16, 30), t(4, 20, 30), t(4))),
            "conv_tbc": lambda t: back(torch.conv_tbc(t(50, 4, 8), t(3, 8, 16), t(16))),
            "sum": lambda t: t(8192, 1024, grad=False).sum(0),
            "sum-all": lambda t: t(1 << 20, grad=False).sum(),
            "mean": lambda t: back(t(512, 3000).mean()),
            "norm": lambda t: torch.linalg.vector_norm(t(1 << 20, grad=False)),
            "amax": lambda t: t(100_000, 8, grad=False).amax(0),
            "argmax": lambda t: t(64, 100_000, grad=False).argmax(1),
            "aminmax": lambda t: torch.aminmax(t(100_000, 8, grad=False)),
            "any": lambda t: t(4, 100_000, grad=False).any(),
            "any-row": lambda t: (t(4, 100_000, grad=False) > 0).any(1),
            "count_nonzero": lambda t: torch.count_nonzero(t(512, 1000, grad=False)),
            "max": lambda t: back(t(512, 1000).max()),
            "max-row": lambda t: back(t(4, 100_000).max(1)[0]),
            "maximum": lambda t: back(torch.maximum(t(512, 1000), t(512, 1000))),
            "prod": lambda t: t(512, 1000, grad=False).prod(),
            "var": lambda t: back(t(512, 1000).var()),
            "renorm": lambda t: torch.renorm(t(100, 200, grad=False), 1, 1, 1.0),
            "logsumexp": lambda t: back(torch.logsumexp(t(512, 1000), 1)),
            "cumsum": lambda t: back(t(50_000).cumsum(0)),
            "cumsum-turned": lambda t: t(1000, 64, grad=False).t().cumsum(1),
            "cumsum-odd": lambda t: t(100_000, grad=False)[::2].cumsum(0),
            "trace": lambda t: back(torch.trace(t(100, 100))),
            "var_mean": lambda t: torch.var_mean(t(8192, 64, grad=False), 0),
            "softmax": lambda t: back(F.softmax(t(512, 1000), -1)),
            "log_softmax": lambda t: back(F.log_softmax(t(512, 1000), -1)),
            "cross_entropy": lambda t: F.cross_entropy(t(512, 1000), places(512)).backward(),
            "cross_entropy-smooth": lambda t: F.cross_entropy(
                t(512, 100), places(512), label_smoothing=0.1
            ).backward(),
            "mse": lambda t: F.mse_loss(t(512, 1000), t(512, 1000, grad=False)).backward(),
            "bce": lambda t: back(F.binary_cross_entropy(t(512, 1000), t(512, 1000, grad=False))),
            "bce-logits": lambda t: back(
                F.binary_cross_entropy_with_logits(t(512, 1000), t(512, 1000, grad=False))
            ),
            "bce-logits-weights": lambda t: back(
                F.binary_cross_entropy_with_logits(
                    t(512, 1000),
                    t(512, 1000, grad=False),
                    weight=t(1000, grad=False),
                    pos_weight=t(1000, grad=False),
                )
            ),
            "soft_margin": lambda t: back(F.soft_margin_loss(t(512, 100), t(512, 100, grad=False))),
            "multi_margin": lambda t: back(F.multi_margin_loss(t(640, 100), places(640))),
            "huber": lambda t: F.huber_loss(t(512, 1000), t(512, 1000, grad=False)).backward(),
            "layer_norm": lambda t: back(F.layer_norm(t(512, 1000), (1000,), t(1000), t(1000))),
            "group_norm": lambda t: back(F.group_norm(t(16, 64, 14, 14), 4, t(64), t(64))),
            "group_norm-rows": lambda t: back(F.group_norm(t(160, 64), 4, t(64), t(64))),
            "layer_norm-turned": lambda t: back(
                F.layer_norm(t(8, 1000, 64).transpose(1, 2), (1000,), t(1000), t(1000))
            ),
            "weight_norm": lambda t: back(torch._weight_norm(t(100, 200), t(100, 1), 0)),
            "batch_norm-last": lambda t: back(
                F.batch_norm(last(t(16, 64, 14, 14)), None, None, t(64), t(64), True)
            ),
            "batch_norm-rows": lambda t: back(F.batch_norm(t(1000, 64), None, None, t(64), t(64), True)),
            "batch_norm": lambda t: back(F.batch_norm(t(16, 64, 14, 14), None, None, t(64), t(64), True)),
            "dropout": lambda t: back(F.dropout(t(512, 1000), 0.1)),
            "gelu": lambda t: back(F.gelu(t(512, 1000))),
            "silu": lambda t: back(F.silu(t(512, 1000))),
            "logsigmoid": lambda t: back(F.logsigmoid(t(512, 1000))),
            "embedding-few": lambda t: back(F.embedding(places(64), t(100, 16))),
            "embedding-kinds": lambda t: back(F.embedding(places(4, 1024), t(2, 64))),
            "embedding-expanded": lambda t: F.embedding(places(64), t(100, 16)).sum().backward(),
            "embedding-freq": lambda t: back(
                F.embedding(places(400, 10), t(1000, 64), scale_grad_by_freq=True)
            ),
            "embedding-norm": lambda t: back(F.embedding(places(400, 10), t(1000, 64), max_norm=1.0)),
            "embedding_bag": lambda t: back(F.embedding_bag(places(400, 10), t(1000, 64), mode="sum")),
            "embedding": lambda t: back(F.embedding(places(4, 1024), t(50_000, 64))),
            "index": lambda t: back(t(1000, 64)[places(500)]),
            "index-two": lambda t: back(t(1000, 64)[places(5000), places(5000)]),
            "index-column": lambda t: back(t(1000, 64)[:, places(5000)]),
            "index_put": lambda t: back(
                torch.index_put(t(100, 64), (places(5000),), t(5000, 64), accumulate=True)
            ),
            "get-mask": lambda t: back(t(100, 64)[mask(100)]),
            "set-mask": lambda t: t(512, 1000, grad=False).__setitem__(mask(512, 1000), 0.0),
            "masked_select": lambda t: back(t(100, 64).masked_select(mask(100, 1))),
            "masked_scatter": lambda t: back(t(100, 64).masked_scatter(mask(100, 64), t(6400))),
            "take": lambda t: back(t(64, 100).take(places(50))),
            "unfold-dim": lambda t: back(t(64, 1000).unfold(1, 10, 5)),
            "gather": lambda t: back(t(1000, 64).gather(1, places(1000, 20))),
            "scatter": lambda t: back(t(100, 64).scatter(0, places(50, 64), t(50, 64))),
            "scatter_add": lambda t: back(torch.scatter_add(t(100, 64), 0, places(100, 64), t(100, 64))),
            "scatter_reduce": lambda t: back(t(100, 64).scatter_reduce(0, places(50, 64), t(50, 64), "mean")),
            "scatter_reduce-amax": lambda t: back(
                t(100, 64).scatter_reduce(0, places(50, 64), t(50, 64), "amax")
            ),
            "index_reduce": lambda t: back(t(100, 64).index_reduce(0, places(50), t(50, 64), "mean")),
            "topk": lambda t: back(t(64, 1000).topk(5)[0]),
            "topk-long": lambda t: back(t(4, 50_000).topk(50)[0]),
            "sort": lambda t: back(t(512, 1000).sort()[0]),
            "sort-long": lambda t: back(t(4, 50_000).sort()[0]),
            "sort-whole": lambda t: back(t(50_000).sort()[0]),
            "median": lambda t: t(64, 1000, grad=False).median(),
            "median-few": lambda t: t(64, grad=False).median(),
            "nanmedian": lambda t: t(64, 1000, grad=False).nanmedian(),
            "mode": lambda t: t(1000, 64, grad=False).mode(0),
            "multinomial": lambda t: torch.multinomial(t(16, 1000, grad=False), 50, replacement=True),
            "searchsorted": lambda t: torch.searchsorted(
                t(500, 64, grad=False).t(), t(100, 64, grad=False).t()
            ),
            "cdist": lambda t: back(torch.cdist(t(100, 64), t(50, 64))),
            "roll": lambda t: back(t(4, 100, 64).roll((1, 2), (1, 2))),
            "normal": lambda t: torch.normal(t(512, 100, grad=False), 1.0),
            "bernoulli": lambda t: torch.bernoulli(t(512, 100, grad=False)),
            "gamma": lambda t: back(torch._standard_gamma(t(512, 100))),
            "pow-scalar": lambda t: back(2.0 ** t(100, 64)),
            "cat": lambda t: back(torch.cat([t(100, 64), t(50, 64)])),
            "where": lambda t: back(torch.where(places(100, 64) > 3, t(100, 64), t(100, 64))),
            "conv": lambda t: back(F.conv2d(t(4, 8, 20, 20), t(16, 8, 3, 3), t(16))),
            "conv-one": lambda t: back(F.conv2d(t(4, 8, 20, 20), t(16, 8, 1, 1), t(16))),
            "conv-depthwise": lambda t: back(F.conv2d(t(4, 8, 20, 20), t(8, 1, 3, 3), t(8), groups=8)),
            "conv-transposed": lambda t: back(F.conv_transpose2d(t(4, 8, 20, 20), t(8, 16, 3, 3), t(16), 2)),
            "unfold": lambda t: back(F.unfold(t(4, 8, 20, 20), 3)),
            "fold": lambda t: back(F.fold(t(4, 72, 324), (20, 20), 3)),
            "fold-apart": lambda t: back(F.fold(t(4, 32, 100), (20, 20), 2, stride=2)),
            "max_pool2d-turned": lambda t: back(F.max_pool2d(t(4, 8, 20, 20).transpose(2, 3), 2)),
            "adaptive_avg_pool2d-turned": lambda t: back(
                F.adaptive_avg_pool2d(t(4, 8, 20, 20).transpose(2, 3), 7)
            ),
            "pad-reflect-last": lambda t: back(F.pad(last(t(4, 8, 20, 20)), (1, 1, 2, 2), mode="reflect")),
            "affine_grid": lambda t: back(F.affine_grid(t(4, 2, 3), (4, 8, 20, 20), align_corners=False)),
            "interpolate": lambda t: back(F.interpolate(t(4, 8, 20, 20), scale_factor=2, mode="bilinear")),
            "one_hot": lambda t: F.one_hot(places(1000), 10),
            "encoder-fast": lambda t, dtype=dtype: encode(dtype, t(2, 16, 64, grad=False)),
            "encoder-fast-first": lambda t, dtype=dtype: encode(
                dtype, t(2, 16, 64, grad=False), norm_first=True, activation="gelu"
            ),
            "lstm-bare": lambda t, dtype=dtype: back(
                module(nn.LSTM(32, 64, bias=False), dtype)(t(7, 5, 32))[0]
            ),
            "lstm-both": lambda t, dtype=dtype: back(
                module(nn.LSTM(32, 64, 2, bidirectional=True), dtype)(t(7, 5, 32))[0]
            ),
            "clip": lambda t: [
                torch._foreach_norm([t(size, grad=False) for size in SIZES], order) for order in NORMS
            ],
            **{group: lambda t, each=each: [back(one(t)) for one in each] for group, each in GROUPS.items()},
        }
        if VERSION >= (2, 10):
            made["mse-mixed"] = lambda t: back(F.mse_loss(t(512, 1000), tensor(512, 1000, grad=False)))
        if VERSION >= (2, 6):
            # Device memory reads as zeros, which older versions do not take for probabilities.
            made["multinomial-few"] = lambda t: torch.multinomial(t(16, 1000, grad=False), 50)
            made["multinomial-one"] = lambda t: torch.multinomial(t(1000, grad=False), 1)
        for case, run in made.items():
            yield (
                f"{case}-{name}",
                lambda run=run, dtype=dtype: run(lambda *s, **k: tensor(*s, dtype=dtype, **k)),
            )
        for case, more in {
            "attention": {},
            "attention-causal": {"causal": True, "is_turned": True},
            "attention-dropout": {"dropout": 0.1},
            "attention-72": {"width": 72},
            "attention-256": {"width": 256},
            "attention-odd": {"width": 100, "queries": 77},
            "attention-math": {"width": 6},
            "attention-groups": {"keys": 2},
        }.items():
            if "keys" in more and VERSION < (2, 5):
                continue
            yield f"{case}-{name}", lambda more=more, dtype=dtype: attend(dtype, **more)
        masks = {"attention-mask": 128, "attention-mask-odd": 77}
        for case, count in masks.items():
            yield (
                f"{case}-{name}",
                lambda dtype=dtype, count=count: attend(
                    dtype, queries=count, mask=torch.ones(count, count, dtype=torch.bool, device="cuda")
                ),
            )
    yield from once()
    yield "residual", residual
    for name in ("AdamW", "SGD", "RMSprop", "Adagrad"):
        yield name, lambda name=name: train(getattr(torch.optim, name))
    yield "AdamW-fused", lambda: train(torch.optim.AdamW, fused=True)
    yield "AdamW-loop", lambda: train(torch.optim.AdamW, foreach=False)
    yield "AdamW-capturable", lambda: train(torch.optim.AdamW, foreach=False, capturable=True, amsgrad=True)
    yield "optimizers", optimizers
    if hasattr(torch.optim, "Muon"):
        yield "Muon", muon
    yield "lstm", lambda: back(nn.LSTM(32, 64, 2).to("cuda")(tensor(7, 5, 32))[0])
    yield "gru", lambda: back(nn.GRU(32, 64).to("cuda")(tensor(7, 5, 32))[0])


def once():
    """What has one type, or lacks narrow ones."""
    wide = torch.complex64
    yield "pdist", lambda: back(F.pdist(tensor(100, 64)))
    yield "cdist-few", lambda: back(torch.cdist(tensor(20, 64), tensor(10, 64)))
    yield "ctc", ctc
    yield "cumsum-mask", lambda: mask(4, 1000).cumsum(1)
    yield "cumsum-int", lambda: places(100_000).cumsum(0)
    yield "unique", lambda: torch.unique(places(5000))
    yield "unique-all", lambda: torch.unique(places(5000), return_inverse=True, return_counts=True)
    yield "unique-consecutive", lambda: torch.unique_consecutive(places(5000), return_inverse=True)
    yield "nonzero", lambda: mask(100, 64).nonzero()
    yield "randperm", lambda: torch.randperm(50_000, device="cuda")
    yield "randperm-few", lambda: torch.randperm(500, device="cuda", dtype=torch.int32)
    yield (
        "repeat_interleave",
        lambda: tensor(64, 100).repeat_interleave(torch.full((64,), 3, device="cuda"), 0, output_size=192),
    )
    yield (
        "bincount",
        lambda: torch.bincount(places(5000), weights=tensor(5000, dtype=torch.int32, grad=False)),
    )
    yield "histc", lambda: torch.histc(tensor(5000, grad=False), 50)
    yield "isin", lambda: torch.isin(places(1000), places(3))
    yield (
        "segment_reduce",
        lambda: back(
            torch.segment_reduce(
                tensor(100, 64), "sum", lengths=torch.full((10,), 10, device="cuda"), unsafe=True
            )
        ),
    )
    yield "complex-abs", lambda: tensor(100, 64, dtype=wide).abs()
    yield "complex-angle", lambda: tensor(100, 64, dtype=wide).angle()
    yield "complex-conj", lambda: tensor(64, 32, dtype=wide).conj() @ tensor(32, 16, dtype=wide)
    yield "int_mm", lambda: torch._int_mm(*(torch.zeros(*s, dtype=torch.int8, device="cuda") for s in INTS))
    yield (
        "foreach-addcmul",
        lambda: torch._foreach_addcmul_(
            *([tensor(size, grad=False) for size in SIZES] for _ in range(3)), torch.ones(len(SIZES))
        ),
    )


def ctc():
    """Lengths, and the texts one after the other, on the CPU."""
    logs = F.log_softmax(tensor(50, 4, 20), -1)
    back(F.ctc_loss(logs, torch.ones(40, dtype=torch.int64), torch.full((4,), 50), torch.full((4,), 10)))


def muon():
    model = nn.Linear(64, 100, bias=False).to("cuda")
    steps = torch.optim.Muon(model.parameters(), lr=0.01)
    model(tensor(16, 64, grad=False)).sum().backward()
    steps.step()


def optimizers():
    for name in ("Adamax", "NAdam", "RAdam", "Adadelta", "ASGD", "Adafactor"):
        if hasattr(torch.optim, name):
            train(getattr(torch.optim, name))


# Elements of lists of tensors.
SIZES = (10, 70_000, 200_000)
NORMS = (2, 1, 3, float("inf"))
INTS = ((64, 32), (32, 16))


def rounded(nbytes):
    return (nbytes + ROUND - 1) // ROUND * ROUND


def main():
    world, out = sys.argv[1:]
    engine = None
    if world == "real":
        torch.cuda.init()
        torch.cuda.memory._record_memory_history(context=None, max_entries=10**7)
    else:
        from oomscope._estimate.engine import Engine
        from oomscope._estimate.gpus import find_gpu

        engine = Engine(find_gpu("H100"))
        engine.kernels.is_one_handle = True
        engine.start()
    torch.backends.cudnn.enabled = False
    if hasattr(torch.backends.cuda, "enable_cudnn_sdp"):
        torch.backends.cuda.enable_cudnn_sdp(False)
    names = []
    for number, (name, run) in enumerate(cases()):
        # Where one case ends and the next begins.
        torch.empty(MARK + ROUND * number, dtype=torch.uint8, device="cuda")
        names.append(name)
        run()
    if engine is None:
        trace = torch.cuda.memory._snapshot()["device_traces"][0]
        events = [
            (one["action"] != "alloc", one["addr"], one["size"])
            for one in trace
            if one["action"] in ("alloc", "free_requested")
        ]
    else:
        engine.storages.finish()
        from oomscope._estimate.storages import ALLOC, FREE

        requests = [one for one in engine.storages.requests if one.action in (ALLOC, FREE)]
        events = [(one.action == FREE, one.address, one.nbytes) for one in requests]
    found, current = {}, None
    for is_free, address, nbytes in events:
        if MARK - ROUND < nbytes:
            if not is_free:
                current = found.setdefault(
                    names[(nbytes - MARK + ROUND - 1) // ROUND], {"sizes": [], "peak": 0}
                )
                live, now = {}, 0
        elif is_free:
            now -= live.pop(address, 0)
        else:
            live[address] = rounded(nbytes)
            now += live[address]
            current["sizes"].append(live[address])
            current["peak"] = max(current["peak"], now)
    with open(out, "w") as file:
        json.dump(found, file)


main()
