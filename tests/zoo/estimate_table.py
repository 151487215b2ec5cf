"""Estimates of the zoo as a table: a row for each architecture."""

HEADER = (
    "| architecture | programs | peak allocated | peak reserved | 4 × parameters |\n"
    "| --- | --- | --- | --- | --- |\n"
)


def table(rows):
    """Markdown; `rows` are (architecture, allocated, reserved, formula) with what is predicted over what is real, less 1."""
    by_architecture = {}
    for architecture, *errors in rows:
        by_architecture.setdefault(architecture, []).append(errors)
    lines = [HEADER]
    for architecture in sorted(by_architecture):
        found = by_architecture[architecture]
        cells = [_share([one[at] for one in found]) for at in range(3)]
        lines.append(f"| {architecture} | {len(found)} | {' | '.join(cells)} |\n")
    return "".join(lines)


def _share(errors):
    """The error that is farthest off; a dash where there is none, as for programs that do not train."""
    known = [error for error in errors if error is not None]
    if not known:
        return "–"
    worst = max(known, key=abs)
    return f"{100 * worst:+.1f} %".replace("+0.0", "0.0").replace("-0.0", "0.0").replace("-", "−")


def formula(truth):
    """Four times the parameters, as `estimate_training_usage` of accelerate has it for Adam, over what is real."""
    if not truth["label_bytes"][0].get("optimizer_state") or not truth.get("parameter_bytes"):
        return None
    return 4 * truth["parameter_bytes"] / truth["peak"]["allocated"] - 1
