"""The files of a recording: `BASE.pickle.gz` and `BASE.truth.json`; of a variant, `BASE@REMEDY.truth.json` alone."""

import gzip
import json
import pathlib
import shutil

FROM_JOB = ("base", "remedy", "options", "history", "addresses")


def beside(out, ending):
    """The file beside another, with an ending added."""
    return pathlib.Path(f"{out}{ending}")


def is_there(out, job):
    """Whether a job was done, with the same options."""
    truth = beside(out, ".truth.json")
    if not truth.exists():
        return False
    kept = json.loads(truth.read_text())
    return all(kept[key] == job[key] for key in FROM_JOB)


def compressed(pickle):
    """Compress a pickle, and remove it."""
    with open(pickle, "rb") as source, gzip.open(f"{pickle}.gz", "wb", 6) as target:
        shutil.copyfileobj(source, target)
    pickle.unlink()
    return beside(pickle, ".gz").stat().st_size


def finish(job, out, status):
    """Put a job's files in their places; return a line that says how it went."""
    pickle, facts = beside(out, ".pickle"), beside(out, ".pickle.facts")
    log = beside(out, ".pickle.log")
    if status or not facts.exists():
        facts.unlink(missing_ok=True)
        pickle.unlink(missing_ok=True)
        lines = log.read_text().strip().splitlines() if log.exists() else []
        return f"{job['name']} FAILED ({status}): {lines[-1] if lines else ''}"
    log.unlink()
    truth = {key: job[key] for key in FROM_JOB} | json.loads(facts.read_text())
    facts.unlink()
    size = compressed(pickle) if job["records"] else 0
    beside(out, ".truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    peak = truth["peak"]["allocated"] / 2**20
    return f"{job['name']}: peak {peak:.0f} MiB" + (f", {size / 2**10:.0f} KiB" if size else "")
