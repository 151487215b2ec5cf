"""One base: its pairs, its false and missing remedies, its blocks and categories."""

import json
import re

from scoring.asking import in_order, live, predictions

# Remedies whose figure is a bound by design, or that no base applies for real.
# A remedy that lowers the peak by less than this share does nothing for anybody.
LEAST_SAVING = 0.01
NOT_JUDGED = re.compile(
    r"set:|shard-|offload-state|adamw-8bit|checkpoint-largest|checkpoint-some|save-on-cpu|detach|no-copy"
)


def truth_of(folder, name):
    """What was written beside a recording; nothing where it is missing."""
    path = folder / f"{name}.truth.json"
    return json.loads(path.read_text()) if path.exists() else None


def blocks_said(stated):
    """The number of repeated blocks that a checkpoint would cover, as the title says it."""
    remedy = stated.get("checkpoint-all")
    found = re.search(r"all (\d+)", remedy["title"]) if remedy else None
    return int(found.group(1)) if found else None


def pair(remedy, changed, stated, baseline, without_effect):
    """A prediction beside what was measured."""
    measured = changed["peak"]
    told = stated.get(in_order(remedy))
    result = {"remedy": remedy, "measured": measured, "stated": told is not None}
    if told is None and remedy in without_effect:
        told = {**baseline, "error": None, "basis": "without effect"}
        result["stated"] = True
    if told:
        result["predicted"] = {key: told[f"peak_{key}"] for key in ("requested", "allocated", "reserved")}
        result["error"] = told["peak_allocated"] / measured["allocated"] - 1
        result["stated_error"] = told.get("error")
        result["basis"] = told["basis"]
    return result


def is_missing(pair, before):
    """Whether a remedy that saves something for real is not stated."""
    saves = pair["measured"]["allocated"] < (1 - LEAST_SAVING) * before
    return saves and not pair["stated"] and "+" not in pair["remedy"]


def categories(binary, recording, truth):
    """Bytes live at the end: right, wrong, unknown."""
    label = {int(address, 16): {name} for address, name in truth["labels"][0].items()}
    for address, names in truth["labels_also"][0].items():
        label.setdefault(int(address, 16), set()).update([names] if isinstance(names, str) else names)
    sums = {"right": 0, "wrong": 0, "unknown": 0}
    confused = {}
    for row in live(binary, recording):
        address = row["addr"]
        wanted = label.get(int(address, 16) if isinstance(address, str) else address)
        if wanted is None:
            continue
        said = row["category"]
        how = "right" if said in wanted else "unknown" if said == "unknown" else "wrong"
        sums[how] += row["size"]
        if how != "right":
            key = f"{'|'.join(sorted(wanted))} as {said}"
            confused[key] = confused.get(key, 0) + row["size"]
    return {**sums, "confused": confused}


def may_apply(base, truth):
    """Remedies of which the zoo cannot say whether they apply, besides those that it applies."""
    # Attention that a library writes out could be fused, where somebody rewrites it.
    return base.neutral | ({"sdpa"} if truth.get("attention") == "written" else set())


def blocks(base, truth, stated):
    """The number of repeated blocks, true and found; without stacks nothing could show them."""
    if "train" not in base.switches or base.history == "bare":
        return {"truth": None, "found": None}
    wanted = truth.get("block_count", len(truth.get("blocks") or []))
    return {"truth": wanted, "found": blocks_said(stated)}


def compare(binary, folder, base, remedies, result):
    """Fill in what is compared for one base."""
    truth, recording = truth_of(folder, base.name), folder / f"{base.name}.pickle.gz"
    # An eighth of the batch is tried where more of it is too much; here, it is asked for.
    combined = [remedy for remedy in remedies if "+" in remedy or remedy == "eighth-batch"]
    baseline, stated, without_effect = predictions(binary, recording, combined)
    before = truth["peak"]["allocated"]
    result["baseline"] = baseline["peak_allocated"] / before - 1
    for remedy in remedies:
        changed = truth_of(folder, f"{base.name}@{remedy}")
        if changed:
            result["pairs"].append(pair(remedy, changed, stated, baseline, without_effect))
    singles = {remedy for remedy in stated if "+" not in remedy and not NOT_JUDGED.match(remedy)}
    result["false"] = sorted(singles - set(remedies) - may_apply(base, truth))
    if base.history != "bare":
        result["missing"] = [p["remedy"] for p in result["pairs"] if is_missing(p, before)]
    result["blocks"] = blocks(base, truth, stated)
    if any(truth.get("labels") or []) and not truth.get("labels_weak"):
        result["categories"] = categories(binary, recording, truth)


def judge(binary, folder, base, remedies):
    """Everything that is compared for one base, or why that was not possible."""
    result = {"architecture": base.architecture, "pairs": [], "false": [], "missing": [], "errors": []}
    try:
        compare(binary, folder, base, remedies, result)
    except (RuntimeError, KeyError, OSError) as error:
        result["errors"].append(f"{type(error).__name__}: {error}")
    return result
