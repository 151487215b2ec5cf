#!/usr/bin/env python3
"""Record the zoo: what is missing of it, or what is named.

record.py [NAME ...] [--out DIR] [--fold N] [--again] [--list] [--jobs N]
"""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import threading

HERE = pathlib.Path(__file__).resolve().parent

from catalog import all_bases, variants_of
from folds import fold_of
from keeping import finish, is_there

CACHE = pathlib.Path.home() / ".cache"
# What the driver and its context take of a device.
CONTEXT_MB = 460
RIG = HERE.parents[2] / "shared" / "snapshot_rig"


def jobs_of(base):
    """The base and its variants, as the server takes them."""
    for remedy, changes in {"": {}, **variants_of(base)}.items():
        options = {**base.options, **changes}
        program = str(HERE / "programs" / f"{base.program}.py")
        name = f"{base.name}/{remedy}" if remedy else base.name
        yield {
            "name": name,
            "base": base.name,
            "remedy": remedy,
            "script": program,
            "options": options,
            "history": base.records,
            "records": not remedy,
            "addresses": base.addresses,
        }


def built_stand_in(libs, python):
    """The library with the stand-ins of convolutions; it is built once."""
    library, source = libs / "cudnn_stand_in.so", HERE / "bench" / "cudnn_stand_in.cpp"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        torch = next(python.parents[1].glob("lib/python*/site-packages/torch"))
        include = [f"-I{torch}/include", f"-I{torch}/include/torch/csrc/api/include"]
        link = [f"-L{torch}/lib", "-ltorch", "-ltorch_cpu", "-lc10"]
        command = [
            "g++",
            "-O1",
            "-std=c++20",
            "-fPIC",
            "-shared",
            "-w",
            *include,
            "-o",
            library,
            source,
            *link,
        ]
        subprocess.run(command, check=True)
    return library


def environment(arguments, addresses):
    """What the server runs with."""
    standin, libs = arguments.rig_home / "standin", arguments.libs
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTORCH_", "STANDIN_"))}
    paths = [RIG / "hook", HERE, RIG / "workloads", libs]
    return {
        **kept,
        "LD_LIBRARY_PATH": str(standin),
        "STANDIN_LIBS": str(standin),
        "STANDIN_DEVICE_MEM_MB": "81079",
        "STANDIN_CONTEXT_MB": str(CONTEXT_MB),
        "STANDIN_ADDRESSES": addresses,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "RIG_PROGRAMS": str(HERE),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        # Otherwise an import may ask the driver for devices, and nothing could be forked afterwards.
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "HF_HUB_OFFLINE": "1",
        "TQDM_DISABLE": "1",
        "ZOO_LIBS": str(libs),
        "ZOO_CUDNN": str(built_stand_in(libs, arguments.rig_home / "venv" / "bin" / "python")),
    }


class Server:
    """A process that runs jobs, one after another."""

    def __init__(self, arguments, addresses):
        command = [
            "nice",
            "-n",
            "4",
            arguments.rig_home / "venv" / "bin" / "python",
            HERE / "bench" / "server.py",
        ]
        self.process = subprocess.Popen(
            command, env=environment(arguments, addresses), cwd="/tmp", text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def run(self, job, out):
        """Run a job that writes to a file; return its exit status."""
        print(json.dumps({**job, "out": f"{out}.pickle"}), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())["status"]

    def close(self):
        """Let it end."""
        self.process.stdin.close()
        self.process.wait()


def serve(arguments, addresses, jobs):
    """Run jobs one after another in one server."""
    server = Server(arguments, addresses)
    for job in jobs:
        out = arguments.out / job["name"].replace("/", "@")
        print(finish(job, out, server.run(job, out)), flush=True)
    server.close()


def wanted(arguments):
    """The jobs to run, by the order of addresses."""
    groups = {}
    for name, base in all_bases().items():
        if arguments.fold is not None and fold_of(base.architecture) != arguments.fold:
            continue
        for job in jobs_of(base):
            if arguments.bases and job["remedy"]:
                continue
            named = not arguments.names or {name, job["name"]} & set(arguments.names)
            there = is_there(arguments.out / job["name"].replace("/", "@"), job)
            if named and (arguments.again or not there):
                groups.setdefault(base.addresses, []).append(job)
    # What is needed most comes first: bases, then one remedy at a time.
    return {
        key: sorted(jobs, key=lambda job: (job["remedy"] != "") + job["remedy"].count("+"))
        for key, jobs in groups.items()
    }


def main():
    """Record, or list what there is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=pathlib.Path, default=CACHE / "oomscope_zoo")
    parser.add_argument("--libs", type=pathlib.Path, default=CACHE / "oomscope_zoo_libs")
    parser.add_argument("--rig-home", type=pathlib.Path, default=CACHE / "snapshot_rig")
    parser.add_argument("--fold", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--bases", action="store_true", help="only programs as they are")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        with contextlib.suppress(BrokenPipeError):
            for name, base in all_bases().items():
                print(fold_of(base.architecture), name, *variants_of(base))
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    for addresses, jobs in wanted(arguments).items():
        parts = [jobs[i :: arguments.jobs] for i in range(arguments.jobs)]
        threads = [
            threading.Thread(target=serve, args=(arguments, addresses, part)) for part in parts if part
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main()
