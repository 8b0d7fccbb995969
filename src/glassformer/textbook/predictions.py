"""Beside each recorded training step and run of ours stands its prediction, by the ledger as it is today.

<!-- predictions -->
<!-- end -->

A prediction takes a configuration, a data sheet and the share of the peak that a recorded step reached, never the step
that is predicted: of the others, the one nearest in FLOPs per token.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from statistics import fmean
from typing import Any, NamedTuple

from glassformer.bench.gpt_step import STEPS, decoder
from glassformer.bench.peers import StepSetting
from glassformer.bench.record import BenchResult, recorded_results
from glassformer.bench.training_step import trained_model
from glassformer.config.model import ModelConfig
from glassformer.ledger.devices import MEASURED, Device
from glassformer.ledger.job import Job, full_batch
from glassformer.ledger.memory import memory
from glassformer.ledger.plan import UTILISATION, Plan, plan
from glassformer.ledger.reached import OURS, RecordedStep, reached_share, recorded_steps
from glassformer.ledger.show_plan import duration, gib
from glassformer.loading import open_recipe
from glassformer.show import Column, Table, minus
from glassformer.tasks import kind_of
from glassformer.words import say

WHOLE_RUNS = ("multi30k-time", "shakespeare-char-time", "translation", "tasks")


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """One quantity of one record; `share`: of the peak, where a time is predicted."""

    bench: str
    model: str  # or the recipe
    machine: str  # "": a CPU
    compiled: bool | None = None  # set where both are recorded
    quantity: str  # a key of [predictions] in words/
    predicted: float
    measured: float
    share: float | None = None
    spoke: RecordedStep | None = None  # whose share it is; None: an assumed one

    @property
    def error(self) -> float:
        """Of the prediction, as a share of what was measured."""
        return self.predicted / self.measured - 1


class MeasuredSteps(NamedTuple):
    """A model whose step was recorded, and what was measured: compiled or not, seconds, bytes (None: not counted)."""

    model: str
    config: ModelConfig
    job: Job
    rows: list[tuple[bool, float, int | None]]


def predictions() -> Iterator[Prediction]:
    """Of every recorded step its time and its memory; of every recorded run its time."""
    for bench in _STEPS:
        for record in recorded_results(bench):
            yield from _of_steps(record)
    for bench in WHOLE_RUNS:
        for record in recorded_results(bench):
            yield from _of_runs(record)


# --- steps ---


def _of_steps(record: BenchResult) -> Iterator[Prediction]:
    machine = record.machine["accelerator"]
    for model, config, job, rows in _STEPS[record.name](record.numbers):
        own = next(step for step in steps_on(machine) if (step.bench, step.model) == (record.name, model))
        made = _planned(config, job, own, without=own)
        for compiled, seconds, peak in rows:
            mode = compiled if len(rows) > 1 else None
            said = partial(Prediction, bench=record.name, model=model, machine=machine, compiled=mode)
            yield _timed(made, said, quantity="step", predicted=made.step, measured=seconds)
            if peak is not None:
                taken = replace(made.work.run, dtype="float32", autocast=True, compiled=compiled)
                counted = memory(config, taken).peak
                yield said(quantity="planned_memory", predicted=made.memory_bytes, measured=peak)
                yield said(quantity="counted_memory", predicted=counted, measured=peak)


def _gpt_steps(numbers: dict[str, Any]) -> Iterator[MeasuredSteps]:
    for row in numbers["rows"]:
        step, job = STEPS[row["model"]], Job(batch=row["batch"], length=row["length"])
        measured = [(True, row["seconds"][OURS]["median"], row["peak"].get(OURS))]
        yield MeasuredSteps(row["model"], decoder(step.shape, step.vocab_size), job, measured)


def _training_steps(numbers: dict[str, Any]) -> Iterator[MeasuredSteps]:
    setting = StepSetting(**numbers["setting"])
    job = Job(batch=setting.batch, length=setting.length, dtype=None if numbers["device"] == "cuda" else "float32")
    rows = [(row["compiled"], row["seconds"][OURS]["median"], row["peak"].get(OURS)) for row in numbers["rows"]]
    name = "paper-base" if numbers["device"] == "cuda" else "small-translator"
    yield MeasuredSteps(name, trained_model(setting), job, rows)


_STEPS: dict[str, Callable[[dict[str, Any]], Iterator[MeasuredSteps]]] = {
    "gpt-step": _gpt_steps,
    "training-step": _training_steps,
}


# --- whole runs ---


def _of_runs(record: BenchResult) -> Iterator[Prediction]:
    """The fullest batch in every step, with stand-ins for what only the data know; seconds: the mean of all seeds."""
    machine = record.machine["accelerator"]
    for (recipe, steps), seconds in _seconds(record).items():
        config = open_recipe(recipe)
        config = kind_of(config).task.sketch(config)
        made = _planned(config.model, full_batch(config), next(steps_on(machine)))
        said = partial(Prediction, bench=record.name, model=recipe, machine=machine)
        yield _timed(made, said, quantity="run", predicted=made.step * steps, measured=fmean(seconds))


def _seconds(record: BenchResult) -> dict[tuple[str, int], list[float]]:
    """Recipe and steps → the seconds of each seed; a run that was tested several times counts once."""
    found: dict[tuple[str, int], dict[int, float]] = defaultdict(dict)
    for row in record.numbers["rows"]:
        if row.get("side", OURS) == OURS:
            steps = row.get("steps") or open_recipe(row["recipe"]).train.steps
            found[row["recipe"], steps][row.get("seed", 0)] = row.get("updates") or row["seconds"]
    return {run: list(seeds.values()) for run, seeds in found.items()}


# --- the plan of either ---


def steps_on(machine: str) -> Iterator[RecordedStep]:
    """The recorded steps of an accelerator, or of a CPU ("")."""
    return (step for step in recorded_steps() if step.accelerator == machine)


def _planned(config: ModelConfig, job: Job, like: RecordedStep, without: RecordedStep | None = None) -> Plan:
    """The plan of a job on the machine of a recorded step."""
    device = like.sheet or processor(like)
    draft = plan("", config, tokens=1, device=device, job=job, utilisation=UTILISATION)
    reached = reached_share(device, draft.work.model / draft.work.tokens, without)
    return draft if reached is None else replace(draft, utilisation=reached.share, reached=reached)


def processor(step: RecordedStep) -> Device:
    """The CPU of a step, of which only the rate of products was recorded: nothing else takes time."""
    return Device(
        name=MEASURED,
        peaks={"float32": step.ceiling},
        memory=inf,
        bandwidth=inf,
        link=inf,
        node=1,
        network=inf,
        sheet="",
        accelerator=False,
    )


def _timed(made: Plan, said: Callable[..., Prediction], **given: Any) -> Prediction:
    return said(**given, share=made.utilisation, spoke=made.reached and made.reached.step)


# --- the table ---


def prediction_table(lang: str) -> str:
    """Every prediction beside what was measured, with its error and where its speed comes from."""
    keys = ("record", "model", "what", "predicted", "measured", "error", "speed")
    table = Table(*(Column(say(f"predictions.columns.{key}", lang)) for key in keys))
    for each in predictions():
        write = gib if each.share is None else partial(duration, lang=lang)
        unit = " GiB" if each.share is None else ""
        table.add(
            f"{each.bench}, {each.machine or say('plan.assumes.cpu', lang)}",
            _named(each, lang),
            say(f"predictions.{each.quantity}", lang),
            f"{write(each.predicted)}{unit}",
            f"{write(each.measured)}{unit}",
            minus(f"{100 * each.error:+.1f} %"),
            _speed(each, lang),
        )
    return table.to_markdown() + "\n"


def _named(each: Prediction, lang: str) -> str:
    if each.compiled is None:
        return each.model
    return f"{each.model}, {say('bench.compiled' if each.compiled else 'bench.uncompiled', lang)}"


def _speed(each: Prediction, lang: str) -> str:
    if each.share is None:
        return "–"
    if each.spoke is None:
        return say("predictions.assumed", lang, share=each.share)
    return say("predictions.reached", lang, share=each.share, bench=each.spoke.bench, model=each.spoke.model)
