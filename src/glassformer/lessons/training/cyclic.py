"""Learning rates that go up and down again (Smith 2017), the first rise as warm-up; against cosine and constant.

Claim cyclic-escapes; the rule stands in `verdicts`.
"""

from __future__ import annotations

from typing import Any

from glassformer.lessons.desk import Desk
from glassformer.lessons.lesson import Data, Lesson, Verdict
from glassformer.lessons.short import Experiment
from glassformer.lessons.statistics import below, difference, interval
from glassformer.lessons.training.cyclic_picture import draw
from glassformer.lessons.training.letters import curve, letters
from glassformer.recipe import TrainConfig
from glassformer.train.schedule import learning_rate

SCHEDULES = ("cyclic", "cosine", "constant")
LAYERS, D_MODEL, STEPS, WARMUP = 2, 64, 240, 30
SEEN = 100  # training examples on which the loss is taken at the end
EVERY = 5


def run(desk: Desk) -> Data:
    """Three schedules, the same peak, steps, batches and first numbers; the last cycle ends at its bottom."""
    steps = desk.some(STEPS, 8)
    experiment = letters(
        desk,
        {
            "model.d_model": D_MODEL,
            "model.d_ff": 4 * D_MODEL,
            "model.n_decoder_layers": LAYERS,
            "train.batch_tokens": 512,
            "train.steps": steps,
            "train.warmup": max(1, steps * WARMUP // STEPS),
        },
    )
    train = experiment.material.config.train
    seen = {kind: _look(desk, experiment, kind) for kind in desk.each("schedule", SCHEDULES)}
    shown = [*range(1, STEPS, EVERY), STEPS]
    return {
        "steps": steps,
        "warmup": train.warmup,
        "peak": train.peak,
        "layers": LAYERS,
        "d_model": D_MODEL,
        "seen": SEEN,
        "shown": shown,
        "rates": {kind: _rates(kind, train.peak, shown) for kind in (*SCHEDULES, "triangular2")},
        "schedules": seen,
        "effects": {
            other: {name: difference(_values(seen, "cyclic", name), _values(seen, other, name)) for name in ENDS}
            for other in ("cosine", "constant")
        },
    }


ENDS = ("training", "validation")


def _look(desk: Desk, experiment: Experiment, kind: str) -> dict[str, Any]:
    some = experiment.material.training.select(range(min(SEEN, len(experiment.material.training))))
    outcomes = [experiment.train(seed, {"train.schedule": kind}) for seed in desk.seeds]
    return {
        "training": interval([experiment.validate(one.model, one.config, some)["loss"] for one in outcomes]),
        "validation": interval([one.validation["loss"] for one in outcomes]),
        "curve": curve([one.losses for one in outcomes]),
    }


def _values(seen: dict[str, Any], kind: str, name: str) -> list[float]:
    values: list[float] = seen[kind][name]["values"]
    return values


def _rates(kind: str, peak: float, shown: list[int]) -> list[float]:
    chosen = {"kind": "cyclic", "mode": kind} if kind == "triangular2" else {"kind": kind}
    config = TrainConfig(schedule=chosen, steps=STEPS, warmup=WARMUP, learning_rate=peak)  # type: ignore[arg-type]
    return [learning_rate(step, config, D_MODEL) for step in shown]


def verdicts(data: Data) -> dict[str, Verdict]:
    """What escapes a bad minimum ends lower: judged is the loss on training examples at the end, for it has the minima.

    The same peak, steps and batches for all three. Confirmed if the 95 % interval of cyclic − other lies below 0
    against cosine and against constant (no other threshold), refuted if against neither, else it depends on which it
    is compared with. The loss on validation examples is told beside it and does not judge.
    """
    effects = {other: data["effects"][other]["training"] for other in ("cosine", "constant")}
    lower = [below(effect) for effect in effects.values()]
    measured: dict[str, Any] = {"steps": data["steps"], **effects}
    for kind, seen in data["schedules"].items():
        measured |= {f"{name}_{kind}": seen[name]["mean"] for name in ENDS}
    return {"cyclic-escapes": Verdict("confirmed" if all(lower) else "depends" if any(lower) else "refuted", measured)}


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("cyclic-escapes",),
    equation=r"rate(t)=low+(peak-low)\left(1-\left|\tfrac{t-1}{h}-2c-1\right|\right),\;c=\lfloor\tfrac{t-1}{2h}\rfloor",
    formula="rate(t) = low + (peak − low) · (1 − |(t−1)/h − 2c − 1|),   c = ⌊(t−1) / 2h⌋",
    sources=("train/schedule.py",),
    picture="cyclic_lr_warmup",
)
