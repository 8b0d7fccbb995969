"""Does a job fit? The memory of one device, item by item, and what to change if it is too little."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from glassformer.config.model import ModelConfig
from glassformer.formula import evaluate_formula, in_numbers
from glassformer.ledger.costs import OPTIMIZER_STATES
from glassformer.ledger.job import Job
from glassformer.ledger.work import Work, work

if TYPE_CHECKING:
    from glassformer.ledger.plan import Plan


@dataclass(frozen=True)
class Item:
    """One kind of memory: bytes, and the formula that gives them."""

    name: str
    bytes: int
    formula: str
    numbers: str
    counted: bool = True  # of two items that never exist at once, only the larger is counted

    def to_json(self) -> dict[str, Any]:
        return vars(self)


def memory_per_device(config: ModelConfig, job: Job, done: Work | None = None) -> tuple[Item, ...]:
    """Everything in memory when it is fullest: at the loss, or while a block computes its gradients.

    FSDP spreads weights, gradients and optimiser state over all devices, DDP keeps them whole on each.
    """
    done = done or work(config, job)
    logits, at_work = _sum("logits", done), _sum("block_at_work", done)
    logits, at_work = (logits, _uncounted(at_work)) if logits.bytes >= at_work.bytes else (_uncounted(logits), at_work)
    items = [*_states(job, done), _sum("activations", done), logits, at_work, *_buffers(job, done)]
    return tuple(item for item in items if item.bytes)


def peak(items: Iterable[Item]) -> int:
    return sum(item.bytes for item in items if item.counted)


def _states(job: Job, done: Work) -> list[Item]:
    """Memory that lasts from step to step, and the gradients."""
    values = _values(job, done)
    share = "÷devices" if job.shards > 1 else ""
    weights = [_item("weights", f"parameters×{job.state_width}{share}", values)]
    if job.is_mixed:
        weights = [_item("master_weights", f"parameters×4{share}", values)]
        if job.shards == 1:
            weights = [_item("weights", "parameters×w", values), *weights]
    whole = job.no_sync and job.accumulate > 1 and job.shards > 1
    gradients = "parameters×4" if whole else f"parameters×{job.state_width}{share}"
    state = f"parameters×{OPTIMIZER_STATES[job.optimizer]}×{job.state_width}{share}"
    return [
        *weights,
        _item("gradients", gradients, values),
        _item("optimizer_state", state, values),
        _item("tables", "buffers×4", values),
    ]


def _buffers(job: Job, done: Work) -> list[Item]:
    """FSDP: the weights gathered at once and the gradients of a block being sent. DDP: its buckets, a second copy."""
    if job.devices == 1:
        return []
    values = _values(job, done)
    if job.parallel == "ddp":
        return [_item("communication", f"parameters×{job.state_width}", values)]
    return [_item("communication", "outside×w+2×block×w+block×(w+4)", values)]


def _values(job: Job, done: Work) -> dict[str, int]:
    return {
        "parameters": done.parameters,
        "buffers": done.buffers,
        "block": done.block,
        "outside": done.outside,
        "devices": job.devices,
        "w": job.width,
    }


def _item(name: str, formula: str, values: Mapping[str, int]) -> Item:
    return Item(name, evaluate_formula(formula, values), formula, in_numbers(formula, values))


def _sum(name: str, done: Work) -> Item:
    return Item(name, *done.sums[name])


def _uncounted(item: Item) -> Item:
    return Item(item.name, item.bytes, item.formula, item.numbers, counted=False)


def remedies(plan: Plan) -> tuple[str, ...]:
    """Command-line options that would make it fit; empty if it fits already or nothing helps."""
    if plan.fits:
        return ()
    job = plan.job
    changes = {
        "--parallel fsdp": replace(job, parallel="fsdp"),
        "--checkpointing selective": replace(job, checkpointing="selective"),
        "--checkpointing full": replace(job, checkpointing="full"),
        "--batch 1": replace(job, batch=1),
        "--precision pure": replace(job, precision="pure"),
        "--loss whole": replace(job, loss="whole"),  # for few tokens and a wide matrix, whose slopes chunks keep
    }
    found = [words for words, changed in changes.items() if changed != job and plan.with_job(changed).fits]
    found += [f"--devices {devices}" for devices in _enough(plan)]
    if found:
        return tuple(found)
    together = plan.with_job(replace(job, parallel="fsdp", checkpointing="full", batch=1))
    return tuple(f"--parallel fsdp --checkpointing full --batch 1 --devices {devices}" for devices in _enough(together))


def _enough(plan: Plan) -> list[int]:
    """The smallest number of devices on the curve with which it fits; empty if there is none."""
    more = [each.job.devices for each in plan.curve if each.job.devices >= plan.job.devices and each.fits]
    return more[:1]
