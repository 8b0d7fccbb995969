"""The results of a sweep: the metrics of every run at its best step, mean and spread of each variant, the curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from glassformer.files import read_json
from glassformer.runs import Run
from glassformer.show import Column, Table
from glassformer.training.events import COMPLETE
from glassformer.training.sweep import Trial
from glassformer.words import say

ABOUT = ("kind", "step", "best")  # keys of an evaluation that are not metrics
Curve = list[tuple[int, float]]


@dataclass(frozen=True)
class TrialResult:
    """One run: metrics at its best step, and the losses (step, nats per token) of validation and of training."""

    seed: int
    folder: Path
    state: str
    metrics: dict[str, float]
    validation: Curve
    training: Curve

    @property
    def finished(self) -> bool:
        return self.state in COMPLETE

    @classmethod
    def read(cls, trial: Trial) -> TrialResult:
        run = Run.open(trial.folder)
        log = run.log.read()
        evaluations = [record for record in log if record.get("kind") == "evaluation"]
        best_file = run.folder / "best.json"
        best = read_json(best_file).get("step") if best_file.is_file() else None
        chosen = next((record for record in evaluations if record["step"] == best), {})
        metrics = {
            key: float(value) for key, value in chosen.items() if key not in ABOUT and isinstance(value, int | float)
        }
        losses = [record for record in log if record.get("kind") == "train"]
        state = str(run.status.get("state", ""))
        return cls(trial.seed, trial.folder, state, metrics, _curve(evaluations), _curve(losses))


def _curve(records: Sequence[dict[str, Any]]) -> Curve:
    return [(record["step"], record["loss"]) for record in records if isinstance(record.get("loss"), int | float)]


@dataclass(frozen=True)
class VariantResults:
    """A variant with its runs; only those trained to the end count, since a diverged run has no best step."""

    name: str
    settings: dict[str, Any]
    results: list[TrialResult]

    def mean(self, metric: str) -> float | None:
        values = self._values(metric)
        return fmean(values) if values else None

    def spread(self, metric: str) -> float | None:
        """The standard deviation over the seeds, n - 1 in the denominator; one seed has none."""
        values = self._values(metric)
        return stdev(values) if len(values) > 1 else None

    def _values(self, metric: str) -> list[float]:
        return [result.metrics[metric] for result in self.results if result.finished and metric in result.metrics]


@dataclass(frozen=True)
class SweepComparison:
    """The whole sweep. Prints as a table; `to_json()` is the content of sweep.json."""

    recipe: str
    seeds: int
    rows: list[VariantResults]

    @property
    def metrics(self) -> list[str]:
        """The names of all metrics of any run, in the order of the log."""
        return list(dict.fromkeys(name for row in self.rows for one in row.results for name in one.metrics))

    def to_json(self) -> dict[str, Any]:
        return {"recipe": self.recipe, "seeds": self.seeds, "variants": [self._variant(row) for row in self.rows]}

    def _variant(self, row: VariantResults) -> dict[str, Any]:
        return {
            "name": row.name,
            "settings": row.settings,
            "mean": {metric: row.mean(metric) for metric in self.metrics},
            "spread": {metric: row.spread(metric) for metric in self.metrics},
            "runs": [{**vars(result), "folder": str(result.folder)} for result in row.results],
        }

    def shown(self) -> Table:
        """A line for each variant: mean and spread of every metric."""
        title = say("sweep.title", recipe=self.recipe, seeds=self.seeds)
        numbers = (Column(name, "number") for name in (say("sweep.runs"), *self.metrics))
        table = Table(Column(say("sweep.variant"), "name"), *numbers, title=title)
        for row in self.rows:
            cells = [_shown(row.mean(metric), row.spread(metric)) for metric in self.metrics]
            finished = sum(result.finished for result in row.results)
            table.add(row.name, f"{finished}/{self.seeds}", *cells)
        return table

    def __rich__(self) -> Table:
        return self.shown()

    def _repr_html_(self) -> str:
        return self.shown().to_html()


def _shown(mean: float | None, spread: float | None) -> str:
    if mean is None:
        return "–"
    return f"{mean:.4g}" if spread is None else f"{mean:.4g} ± {spread:.2g}"


def compare_trials(recipe: str, trials: Sequence[Trial]) -> SweepComparison:
    """The results so far of all trials that were begun."""
    rows = []
    for variant, group in groupby(trials, key=lambda trial: trial.variant):
        begun = [trial for trial in group if (trial.folder / "config.toml").is_file()]
        rows.append(VariantResults(variant.name, dict(variant.settings), [TrialResult.read(trial) for trial in begun]))
    return SweepComparison(recipe, len({trial.seed for trial in trials}), rows)
