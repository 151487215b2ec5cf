"""The scores of all bases as tables of text."""

WITHIN = 0.05
# A program as it is replays exactly, but for what was allocated before a recording that starts late.
EXACT = 0.001


def share(part, whole):
    """A share as a percentage."""
    return f"{100 * part / whole:.0f} %" if whole else "-"


def figures(pairs):
    """A row: pairs, stated, within 5 %, the worst, coverage and median of the stated error."""
    stated = [p for p in pairs if p["stated"]]
    simulated = [p for p in stated if p["basis"] != "bound"]
    close = sum(abs(p["error"]) <= WITHIN for p in simulated)
    worst = max(simulated, key=lambda p: abs(p["error"]), default=None)
    with_error = [p for p in simulated if p["stated_error"] is not None]
    covered = sum(abs(p["error"]) <= p["stated_error"] for p in with_error)
    widths = sorted(p["stated_error"] for p in with_error)
    median = f"{100 * widths[len(widths) // 2]:.0f} %" if widths else "-"
    return [
        str(len(pairs)), share(len(stated), len(pairs)), str(len(stated) - len(simulated)),
        f"{close}/{len(simulated)}", share(close, len(simulated)),
        f"{100 * worst['error']:+.0f} %" if worst else "-", share(covered, len(with_error)), median,
    ]  # fmt: skip


def table(title, rows):
    """Rows with a heading, in columns."""
    heading = [title, "pairs", "stated", "bounds", "within 5 %", "", "worst", "covered", "median width"]
    lines = [heading, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heading))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in lines)


def grouped(pairs, key, title):
    """A table with a row for each value of a key."""
    groups = {}
    for p in pairs:
        groups.setdefault(p[key], []).append(p)
    return table(title, [[str(name), *figures(group)] for name, group in sorted(groups.items())])


def of_base(score):
    """What is wrong with one base, in a line; nothing if all is right."""
    told = list(score["errors"])
    if score["false"]:
        told.append("does not apply: " + ", ".join(score["false"]))
    if score["missing"]:
        told.append("missing: " + ", ".join(score["missing"]))
    blocks = score.get("blocks", {})
    if blocks.get("truth") and blocks["truth"] != blocks["found"]:
        told.append(f"{blocks['found']} blocks, not {blocks['truth']}")
    if abs(score.get("baseline", 0)) > EXACT:
        told.append(f"baseline {100 * score['baseline']:+.1f} %")
    off = [p for p in score["pairs"] if p["stated"] and p["basis"] != "bound" and abs(p["error"]) > WITHIN]
    told += [f"{p['remedy']} {100 * p['error']:+.0f} %" for p in off]
    wrong = score.get("categories")
    if wrong and wrong["right"] < 0.95 * max(1, sum(wrong[k] for k in ("right", "wrong", "unknown"))):
        told.append(
            "categories: " + ", ".join(f"{v >> 20} MiB {k}" for k, v in wrong["confused"].items() if v >> 20)
        )
    return f"{score['name']} (fold {score['fold']}): {'; '.join(told)}" if told else ""


def totals(scores, pairs):
    """Lines with what is counted over all bases."""
    trained = [s["blocks"] for s in scores if s.get("blocks", {}).get("truth")]
    right = sum(blocks["truth"] == blocks["found"] for blocks in trained)
    singles = [p for p in pairs if "+" not in p["remedy"]]
    stated = sum(p["stated"] for p in singles)
    replayed = sum(abs(s.get("baseline", 1)) <= EXACT for s in scores)
    failed = sum(bool(s["errors"]) for s in scores)
    false = sum(len(s["false"]) for s in scores)
    sums = {
        k: sum(s["categories"][k] for s in scores if "categories" in s) for k in ("right", "wrong", "unknown")
    }
    known, all_bytes = sums["right"] + sums["wrong"], sum(sums.values())
    return [
        f"{len(scores)} programs of {len({s['architecture'] for s in scores})} architectures, {len(pairs)} pairs",
        f"as it is: the peak of {replayed} of {len(scores)} within 0.1 %; {failed} could not be scored",
        f"blocks: {right} of {len(trained)} programs right",
        (
            f"remedies: {stated} of {len(singles)} that apply are stated; {false} stated do not apply, "
            f"in {sum(bool(s['false']) for s in scores)} programs"
        ),
        f"categories: precision {share(sums['right'], known)}, coverage {share(sums['right'], all_bytes)}",
    ]


def summary(scores, has_details):
    """The whole text; details say of each program what is wrong."""
    pairs = [{**p, "fold": s["fold"]} for s in scores for p in s["pairs"]]
    for p in pairs:
        p["kind"] = "two together" if "+" in p["remedy"] else p["remedy"]
    lines = [line for line in map(of_base, scores) if line]
    parts = [
        *(["\n".join(lines)] if has_details else []),
        "\n".join(totals(scores, pairs)),
        grouped(pairs, "kind", "remedy"),
        grouped(pairs, "fold", "fold"),
        table("all", [["", *figures(pairs)]]),
    ]
    return "\n\n".join(parts)
