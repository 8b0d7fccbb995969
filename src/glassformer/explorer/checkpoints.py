"""The life of a run: its checkpoints, and the points of its log that the page has not seen yet."""

from __future__ import annotations

from typing import Any

from glassformer.errors import FileError, InputError
from glassformer.explorer.shelf import Offered

MOST = 5_000  # points in one answer
KEPT = ("kind", "step", "loss", "accuracy", "perplexity", "learning_rate", "best", "sample_bleu")


def events(offered: Offered, after: int) -> dict[str, Any]:
    """The log from line `after` on; `next` is what to ask with next time, so that no point is sent twice."""
    if not offered.folder.is_dir():
        raise FileError("explorer_run_gone", model=offered.name)
    run = offered.run
    if run is None:
        raise InputError("explorer_no_run", model=offered.name)
    lines = run.log.read()
    if after > len(lines):  # the run was begun anew, or resumed from an earlier step: all is new
        after = 0
    new = lines[after : after + MOST]
    status = run.status
    return {
        "events": [{key: line[key] for key in KEPT if key in line} for line in new],
        "first": after,
        "next": after + len(new),
        "state": str(status.get("state", "")),
        "checkpoints": [int(path.name[5:]) for path in run.checkpoints],
        "best": run.best_step,
    }
