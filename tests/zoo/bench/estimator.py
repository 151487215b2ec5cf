"""Estimates programs without a device, each in a fork of a process that has imported the libraries already.

Reads jobs as lines of JSON on standard input, writes a line for each: the peak, or why there is none.
"""

import contextlib
import importlib
import json
import os
import shutil
import sys
import tempfile
import time

from bench.server import LIBRARIES, without_driver

LIMIT_S = 300


def run(job, answers):
    """Estimate a program in this process."""
    from oomscope._estimate.gpus import find_gpu
    from oomscope._estimate.run import Asked, Run

    import bench

    bench.options.change(**job["options"])
    bench.session.open(None, None)
    bench.session.begin = lambda: None
    name = os.path.join(tempfile.gettempdir(), f"estimate-{os.getpid()}.log")
    log = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    began_s = time.monotonic()

    class Program:
        name = os.path.basename(job["script"])

        def run(self):
            with open(job["script"]) as file:
                source = file.read()
            main = type(sys)("__main__")
            main.__file__ = job["script"]
            sys.modules["__main__"] = main
            sys.argv = [job["script"]]
            if bench.options.save_on_cpu:
                import torch

                torch.autograd.graph.save_on_cpu(pin_memory=True).__enter__()
            exec(compile(source, job["script"], "exec"), main.__dict__)  # noqa: S102

    def conclude(requests, done):
        if job["keep"]:
            shutil.copy(requests, job["keep"])
        found = {
            "peak": done.engine.storages.peak.get(0, 0),
            "failed": done.lower_bound,
            "seconds": time.monotonic() - began_s,
        }
        print(json.dumps(found), file=answers, flush=True)
        return 0

    estimated = Run(Program(), Asked(find_gpu("H100"), 1 << 30, LIMIT_S), conclude)
    # What is live then is what the truth is about.
    bench.session.done = lambda: estimated.stop(None)
    estimated.run()
    os._exit(0)


def main():
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import torch

    torch.backends.cuda.enable_cudnn_sdp(False)
    with without_driver():
        for name in LIBRARIES:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    importlib.import_module("torch._dynamo")
    import tasks

    tasks.preload()
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if not child:
            run(job, answers)
        _, status = os.waitpid(child, 0)
        if status:
            print(json.dumps({"peak": 0, "failed": f"exit {status}", "seconds": 0}), file=answers, flush=True)


if __name__ == "__main__":
    main()
