"""Asks oomscope about a recording."""

import json
import subprocess

LIMIT_S = 300


def ask(binary, *arguments):
    """The JSON that a command writes."""
    command = [str(binary), *map(str, arguments), "--format", "json"]
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=LIMIT_S)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"exit {done.returncode}")
    return json.loads(done.stdout)


def in_order(ids):
    """The id of remedies that are applied together, whichever comes first."""
    return "+".join(sorted(ids.split("+")))


def predictions(binary, recording, combined):
    """What `remedies` says by itself, and what it says of remedies that are applied together."""
    found = ask(binary, "remedies", recording)
    together = []
    if combined:
        try:
            together = ask(binary, "remedies", recording, "--only", ",".join(combined))["remedies"]
        except RuntimeError:
            pass  # None of them applies.
    stated = {in_order(remedy["id"]): remedy for remedy in [*found["remedies"], *together]}
    return found["baseline"], stated, found.get("without_effect", [])


def live(binary, recording):
    """The allocations that are live at the end."""
    return ask(binary, "live", recording, "--at", "end")
