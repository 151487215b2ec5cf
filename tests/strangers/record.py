#!/usr/bin/env python3
"""Record programs of others with PyTorch's own allocator, without a GPU.

record.py OUT [NAME ...]     every program that is not recorded in the folder OUT yet, or those named
"""

import argparse
import gzip
import os
import pathlib
import pickle
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RIG = HERE.parents[2] / "shared" / "snapshot_rig"
CACHE = pathlib.Path.home() / ".cache"

# Recorded with the frames of C++, too; the others have Python's alone.
ALL_FRAMES = """imagenet_resnet50 vgg_flat nanogpt_tied cifar_resnet18_own gnn_index_add vit_einops_fp16 transfer_frozen_resnet
convnext_ema_mixup fpn_dense_detector vit_einops hf_gpt2_fp16_scaler clip_frozen_captioner sanity_val_first_regnet
wgan_gp_resnet timm_swin gan_r1""".split()
# Where new memory comes from: from the top of the device, as most real ones have it, but for these.
ADDRESSES = {
    "up": """timm_convnext_ema mobilenetv3_scaler chargpt_untied_fp32 lora_llama_wrapped dcgan bert_embed_corpus
    distill_resnet_teacher wrn_cifar vit_einops llama_ckpt_bf16 xlmr_last_layers sd_sampling_cfg""".split(),
    "mixed": """llama_hf_checkpointing pvt_accelerate unet_carvana own_llama_ckpt_lion deit_eval_bigger_batch clip_two_tower
    latent_diffusion_sampling fpn_dense_detector unet_dice hf_gpt2_fp16_scaler deberta_cls_padded lora_by_hand_mistral
    decode_cat_cache wav2vec_features_kept wgan_gp_resnet""".split(),
}


def environment(name):
    """What a program runs with."""
    standin, libs = CACHE / "snapshot_rig" / "standin", CACHE / "oomscope_zoo_libs"
    addresses = next((kind for kind, names in ADDRESSES.items() if name in names), "down")
    return {
        **os.environ,
        "LD_LIBRARY_PATH": str(standin),
        "STANDIN_LIBS": str(standin),
        "STANDIN_DEVICE_MEM_MB": "81079",
        "STANDIN_CONTEXT_MB": "460",
        "STANDIN_ADDRESSES": addresses,
        "PYTHONPATH": f"{RIG / 'hook'}:{libs}",
        "RIG_PROGRAMS": str(HERE),
        "ZOO_LIBS": str(libs),
        "ZOO_CUDNN": str(libs / "cudnn_stand_in.so"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "HF_HUB_OFFLINE": "1",
        "FRAMES": "all" if name in ALL_FRAMES else "python",
    }


def shown(snapshot):
    """A snapshot without this file in its stacks, and with libraries where they are installed elsewhere."""
    libs = os.environ["ZOO_LIBS"] + "/"
    owners = [event for trace in snapshot["device_traces"] for event in trace]
    for segment in snapshot["segments"]:
        owners += [segment, *segment["blocks"]]
    for owner in owners:
        frames = owner.get("frames") or []
        frames[:] = [frame for frame in frames if frame["filename"] != os.path.abspath(__file__)]
        for frame in frames:
            if frame["filename"].startswith(libs):
                frame["filename"] = "/opt/env/lib/python3.11/site-packages/" + frame["filename"][len(libs) :]
    return snapshot


def run(script, out):
    """Run a program in this process, and write what was recorded."""
    import torch

    torch.ops.load_library(os.environ["ZOO_CUDNN"])
    torch.backends.cuda.enable_cudnn_sdp(False)
    torch.cuda.memory._record_memory_history(max_entries=2_000_000, stacks=os.environ["FRAMES"])
    name = "/workspace/train/" + os.path.basename(script)
    main = type(sys)("__main__")
    main.__file__ = name
    sys.modules["__main__"], sys.argv = main, [script]
    with open(script) as file:
        code = compile(file.read(), name, "exec")
    exec(code, main.__dict__)
    with gzip.open(out, "wb", 3) as file:
        pickle.dump(shown(torch.cuda.memory._snapshot()), file)
    sys.stdout.flush()
    os._exit(0)


def main():
    """Record what is wanted, one after another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    python = CACHE / "snapshot_rig" / "venv" / "bin" / "python"
    for script in sorted(HERE.glob("[abc]/*.py")):
        out = arguments.out / script.parent.name / f"{script.stem}.pickle.gz"
        if arguments.names and script.stem not in arguments.names or not arguments.names and out.exists():
            continue
        out.parent.mkdir(parents=True, exist_ok=True)
        command = ["nice", python, __file__, "--run", script, out]
        status = subprocess.run(command, env=environment(script.stem), cwd="/tmp").returncode
        print(script.stem, "recorded" if status == 0 else f"failed: {status}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(*sys.argv[2:4])
    main()
