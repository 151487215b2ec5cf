"""What to do about an error that ends an estimate: a row for each kind."""

from __future__ import annotations

import re
from dataclasses import dataclass

EXTENSION = "An extension is compiled for a device here: switch to torch's own operators, as most packages with one can"


@dataclass(frozen=True)
class Row:
    """An advice, and what tells that it is the one: a pattern for the error's type and text, and for the files that it passed."""

    error: str
    files: str
    advice: str


# The first one that matches is given.
ROWS = (
    Row(
        r"ModuleNotFoundError: No module named '(vllm|sglang|tensorrt_llm|lmdeploy)",
        "",
        "Serving engines divide the device's memory by themselves and are not estimated",
    ),
    Row(
        r"^(ImportError|ModuleNotFoundError): .*([Ff]lash[-_ ]?[Aa]tt)",
        "",
        'Estimate with attn_implementation="sdpa": its flash kernels keep the same',
    ),
    Row(r"^(OSError|RuntimeError): .*(CUDA_HOME|\bnvcc\b)", "", EXTENSION),
    Row("", r"cpp_extension\.py", EXTENSION),
    Row(
        r"^(NotImplementedError|RuntimeError): .*([Ss]parse(Meta|CUDA|CPU)|_sparse_|sparse (tensor|gradient))",
        "",
        "Sparse gradients are not estimated: with sparse=False the program takes more",
    ),
    Row(
        r"^(NotImplementedError|RuntimeError): .*(no fake impl|Could not run '\w+::|[Mm]eta (tensors|backend)|"
        r"is not known without memory|data pointer of Tensor|doesn't have storage)",
        "",
        "A compiled operator does not say the sizes of its results: register them with torch.library.register_fake, or switch to torch's "
        "own operators",
    ),
    Row(
        r"^NotImplementedError: quantized weights",
        "",
        "Without quantization the model takes more",
    ),
    Row(
        r"(OfflineMode|LocalEntryNotFound|couldn't connect to|huggingface\.co)",
        "",
        "The script wants to download something here: fetch it once, as a run on a device would, or name a file that is there",
    ),
    Row(
        r"([Pp]ermission denied|[Uu]nable to (\w+ )?create file|^CalledProcessError)",
        "",
        "If that is because nothing is written while a program is estimated: --writable FOLDER lets it write there",
    ),
    Row(
        r"",
        r"[/\\]triton[/\\]",
        "Kernels of Triton are passed over when they are launched; this one is asked for more: switch to torch's own operators",
    ),
)


def advice(error: BaseException) -> str:
    """What to do about an error, as a sentence without its end; empty where nothing is known."""
    text = f"{type(error).__name__}: {error}"
    files = "\n".join(_files(error))
    for row in ROWS:
        if re.search(row.error, text) and (not row.files or re.search(row.files, files)):
            return row.advice
    return ""


def _files(error: BaseException) -> list[str]:
    files = []
    trace = error.__traceback__
    while trace is not None:
        files.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    return files
