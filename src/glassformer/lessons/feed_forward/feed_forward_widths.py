"""Short trainings of a language model of letters: widths and activations of the feed-forward network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glassformer.ledger.parameters import count
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval

STEPS = 160
D_MODEL = 48
TIMES = (1, 2, 4, 8)
RECIPE: dict[str, Any] = {
    "data.source.count": 3000,
    "data.validation": 100,
    "task.context": 48,
    "model.max_len": 48,
    "model.position": "sinusoidal",
    "model.d_model": D_MODEL,
    "model.d_ff": 4 * D_MODEL,
    "model.n_heads": 2,
    "model.n_decoder_layers": 2,
    "train.batch_tokens": 480,
    "train.warmup": 20,
}
VARIANTS: dict[str, dict[str, Any]] = {
    "relu": {},
    "gelu": {"model.activation": "gelu"},
    "swiglu": {"model.feed_forward": "gated", "model.activation": "silu", "model.d_ff": 8 * D_MODEL // 3},
}


def widths(setup: LessonSetup) -> dict[str, Any]:
    """Loss on held-out text: widths at equal parameters, widths at equal d_model, activations at equal parameters."""
    experiment = Experiment("characters", {**RECIPE, "train.steps": setup.some(STEPS)})
    budget = size(experiment, {})
    equal = {times: at_budget(experiment, times, budget) for times in TIMES}
    free = {times: {"model.d_ff": times * D_MODEL} for times in (1, 8)}
    jobs = {
        **{f"equal_{times}": changes for times, changes in equal.items() if times != 4},
        **{f"free_{times}": changes for times, changes in free.items()},
        **VARIANTS,
    }
    losses: dict[str, list[float]] = {name: [] for name in jobs}
    for seed, (name, changes) in setup.each("training", [(seed, job) for seed in setup.seeds for job in jobs.items()]):
        losses[name].append(experiment.train(seed, changes).validation["loss"])
    losses["equal_4"] = losses["free_4"] = losses["relu"]  # the same model: the paper's
    made = {**jobs, "equal_4": {}, "free_4": {}}

    def row(name: str, times: int = 4) -> dict[str, Any]:
        sizes = {"d_model": D_MODEL, "d_ff": 4 * D_MODEL}
        sizes |= {key: made[name][f"model.{key}"] for key in sizes if f"model.{key}" in made[name]}
        return {"times": times, **sizes, "parameters": size(experiment, made[name]), "loss": interval(losses[name])}

    return {
        "budget": budget,
        "steps": STEPS,
        "equal": [row(f"equal_{times}", times) for times in TIMES],
        "free": [row(f"free_{times}", times) for times in (1, 4, 8)],
        "variants": {name: row(name) for name in VARIANTS},
        "gain_equal": difference(losses["equal_1"], losses["equal_4"]),
        "gain_free": difference(losses["free_1"], losses["free_4"]),
        "further_equal": difference(losses["equal_4"], losses["equal_8"]),
    }


def size(experiment: Experiment, changes: Mapping[str, Any]) -> int:
    """The number of parameters, by the ledger."""
    return count("", experiment.config(changes, 0).model).total.parameters


def at_budget(experiment: Experiment, times: int, budget: int) -> dict[str, int]:
    """d_model and d_ff ≈ times × d_model for a budget of parameters: first the best d_model, then the best d_ff."""

    def changes(d_model: int, d_ff: int) -> dict[str, int]:
        return {"model.d_model": d_model, "model.d_ff": d_ff}

    def away(made: dict[str, int]) -> int:
        return abs(size(experiment, made) - budget)

    rough = min((changes(d_model, times * d_model) for d_model in range(24, 97, 2)), key=away)
    d_model, d_ff = rough["model.d_model"], rough["model.d_ff"]
    return min((changes(d_model, d_ff + more) for more in range(-16, 17)), key=away)
