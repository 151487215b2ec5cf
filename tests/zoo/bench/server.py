"""Runs programs, each in a fork of a process that has imported the libraries already.

Reads jobs as lines of JSON on standard input, writes a line for each: what went wrong, or nothing.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import time
import traceback

LIBRARIES = ["timm", "transformers", "diffusers", "lightning", "accelerate", "torchvision", "einops"]
HIDDEN = os.path.abspath(__file__)
LIMIT_S = 60


def show_libraries_as_installed():
    """Let frames of the libraries name them as those of torch are named."""
    import sitecustomize

    version = "python{}.{}".format(*sys.version_info[:2])
    sitecustomize._RENAMES.insert(
        0, (os.environ["ZOO_LIBS"] + os.sep, f"/opt/env/lib/{version}/site-packages/")
    )


def without_server(neutral_paths):
    """Leave this file out of the stacks: programs are scripts of their own."""

    def shown(snapshot):
        neutral_paths(snapshot)
        owners = [event for trace in snapshot["device_traces"] for event in trace]
        for segment in snapshot["segments"]:
            owners += [segment, *segment["blocks"]]
        for owner in owners:
            frames = owner.get("frames") or []
            if any(frame["filename"] == HIDDEN for frame in frames):
                frames[:] = [frame for frame in frames if frame["filename"] != HIDDEN]
        return snapshot

    return shown


def leave_host_values():
    """Fill no tensor of the host with random numbers: no kernel runs, so values never matter, and they take time."""
    import torch

    def on_device_alone(fill):
        return lambda self, *args, **kwargs: fill(self, *args, **kwargs) if self.is_cuda else self

    def of_host_empty(make):
        def made(*args, **kwargs):
            plain = not kwargs and not torch._C._len_torch_function_stack()
            return torch.empty(*args) if plain else make(*args, **kwargs)

        return made

    for name in ("normal_", "uniform_", "erfinv_"):
        setattr(torch.Tensor, name, on_device_alone(getattr(torch.Tensor, name)))
    # It draws again until every value lies within its bounds.
    torch.nn.init._no_grad_trunc_normal_ = lambda tensor, *args, **kwargs: tensor
    torch.rand, torch.randn = of_host_empty(torch.rand), of_host_empty(torch.randn)


@contextlib.contextmanager
def without_driver():
    """Answer what libraries ask about devices as they are imported: what the driver answers once, it answers for good."""
    import torch

    asked = torch.cuda.is_available, torch.cuda.device_count
    torch.cuda.is_available, torch.cuda.device_count = lambda: True, lambda: 1
    yield
    torch.cuda.is_available, torch.cuda.device_count = asked


def prepare():
    """Import everything that a program may need, without touching the device."""
    show_libraries_as_installed()
    import torch

    torch.ops.load_library(os.environ["ZOO_CUDNN"])
    torch.backends.cuda.enable_cudnn_sdp(False)
    leave_host_values()
    with without_driver():
        for name in LIBRARIES:
            importlib.import_module(name)
    import memprof

    memprof.neutral_paths = without_server(memprof.neutral_paths)
    import tasks

    tasks.preload()
    gc.freeze()


def on_small_device(job):
    """Give a job the device and the settings of the allocator that it asks for, before anything touches a device."""
    import torch

    import bench

    if "device_mb" in job:
        bench.session.count_steps()
        os.environ["STANDIN_DEVICE_MEM_MB"] = str(job["device_mb"])
    if job.get("settings"):
        torch.cuda.memory._set_allocator_settings(job["settings"])


def keep_on_host():
    """Enter for good what a forward would run in: nothing else makes a graph."""
    import torch

    torch.autograd.graph.save_on_cpu(pin_memory=True).__enter__()


def start(job):
    """Set the options of a job and begin its recording; return its code and names."""
    import memprof
    from torch import manual_seed

    import bench

    manual_seed(0)
    bench.options.change(**job["options"])
    on_small_device(job)
    if bench.options.save_on_cpu:
        keep_on_host()
    profile = memprof.MemoryProfile(job["out"], **job["history"]) if job["records"] else None
    bench.session.open(job["out"], profile)
    with open(job["script"]) as file:
        source = file.read()
    shown = "/workspace/train/" + os.path.basename(job["script"])
    main = type(sys)("__main__")
    main.__file__ = shown
    sys.modules["__main__"] = main
    sys.argv = [shown]
    if not bench.options.late:
        bench.begin()
    if job.get("counts"):
        bench.session.count_work()
    return compile(source, shown, "exec"), main.__dict__


def died(job, error):
    """Whether a job ran out of memory on a small device, which is what is asked of it there."""
    import torch

    import bench

    is_out_of_memory = isinstance(error, torch.OutOfMemoryError) and "device_mb" in job
    if is_out_of_memory:
        bench.session.died()
    return is_out_of_memory


def run(job):
    """Run a job to its end, in a process of its own."""
    os.setsid()
    log = os.open(job["out"] + ".log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    status = 0
    try:
        code, names = start(job)
        exec(code, names)  # noqa: S102
    except BaseException as error:  # noqa: BLE001
        traceback.print_exc()
        status = 0 if died(job, error) else 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def wait_for(child):
    """The exit status of a child, which is ended when its time is over."""
    ends = time.monotonic() + LIMIT_S
    done = status = 0
    while not done and time.monotonic() < ends:
        time.sleep(0.02)
        done, status = os.waitpid(child, os.WNOHANG)
    # What it started goes, too.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return status if done else os.waitpid(child, 0)[1]


def main():
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    prepare()
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if not child:
            run(job)
        status = wait_for(child)
        print(json.dumps({"name": job["name"], "status": status}), file=answers, flush=True)


if __name__ == "__main__":
    main()
