"""What to change where a plan does not fit: each change alone, and where none helps, all of them together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glassformer.ledger.plan import Plan


def remedies(plan: Plan) -> tuple[str, ...]:
    """Options of the command line with which it would fit; none where it fits already, or nothing helps."""
    if plan.fits:
        return ()
    job = plan.job
    changes = {
        "--parallel fsdp": replace(job, parallel="fsdp"),
        "--checkpointing selective": replace(job, checkpointing="selective"),
        "--checkpointing full": replace(job, checkpointing="full"),
        "--batch 1": replace(job, batch=1),
        "--precision pure": replace(job, precision="pure"),
    }
    found = [words for words, changed in changes.items() if changed != job and plan.with_job(changed).fits]
    found += [f"--devices {devices}" for devices in _enough(plan)]
    if found:
        return tuple(found)
    together = plan.with_job(replace(job, parallel="fsdp", checkpointing="full", batch=1))
    return tuple(f"--parallel fsdp --checkpointing full --batch 1 --devices {devices}" for devices in _enough(together))


def _enough(plan: Plan) -> list[int]:
    """The least number of devices of the curve with which it fits, if there is one."""
    more = [each.job.devices for each in plan.curve if each.job.devices >= plan.job.devices and each.fits]
    return more[:1]
