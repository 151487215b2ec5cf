"""What `oomscope fixes` says of a program that died, as options with which it runs again."""

import hashlib
import re

from catalog import in_parts, variants_of
from scoring.asking import ask

# As many of the fixes that a report shows are applied, and as many of those that are said not to be enough.
MOST = 3
# What a device has of the memory that a program needs: by the name of the program, from the least to the most.
SHARES = (0.5, 0.6, 0.7, 0.8, 0.9)


def device_mb(name, reserved_bytes, context_mb):
    """The memory of a device that is too small for a program, in MiB."""
    share = SHARES[hashlib.sha256(name.encode()).digest()[1] % len(SHARES)]
    return context_mb + int(share * reserved_bytes / 2**20)


def changes_of(fix, base, variants):
    """The options, and the settings of the allocator, that apply a fix; `None` where the program has no switch for it."""
    options, settings = {}, []
    for part in fix["id"].split("+"):
        first = re.search(r"index < (\d+)", fix["code"])
        if part.startswith("set:"):
            settings.append(part.removeprefix("set:").replace("=", ":", 1))
        elif part == "checkpoint-some" and first and "checkpoint-half" in variants:
            options["checkpoint"] = f"first:{first.group(1)}"
        elif part == "micro-batch" and "half-batch" in variants:
            options.update(in_parts(base, fix["price"]["passes"]))
        elif part in variants:
            options.update(variants[part])
        else:
            return None
    return options, ",".join(settings)


def fixes_of(binary, recording, base):
    """What is said of a recording: whether it is projected, and fixes with what is said of them, ready to be applied."""
    said = ask(binary, "fixes", recording)
    variants = variants_of(base)
    by_id = {fix["id"]: fix for fix in said["remedies"]}
    shown = [by_id[name] for name in said["plans"]]
    short = [fix for fix in said["remedies"] if fix["fits"] is False and fix["basis"] == "simulated"]
    # The best of those that are not enough are nearest to it.
    chosen = []
    for group in (shown, short):
        applied = [(fix, changes_of(fix, base, variants)) for fix in group]
        chosen += [(fix, changes) for fix, changes in applied if changes][:MOST]
    return said, chosen
