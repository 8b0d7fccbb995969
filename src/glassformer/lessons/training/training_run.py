"""A real training from its own log: loss, gradient norm, learning rate and throughput of a translator."""

from __future__ import annotations

from typing import Any

from glassformer.config.recipe import RunConfig
from glassformer.lessons.desk import Desk
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.training.training_run_picture import draw
from glassformer.training.schedule import learning_rate

FINE = 10  # steps between two points of the schedule
MOST = 60  # points of a curve
FIELDS = ("loss", "gradient_norm", "learning_rate", "tokens_per_second")


def run(desk: Desk) -> Data:
    """The lines of log.jsonl as they were written while the model was trained; nothing is measured anew."""
    found = desk.run("ko-en")
    log = found.log.read()
    lines = thinned([line for line in log if line.get("kind") == "train"])
    checked = thinned([line for line in log if line.get("kind") == "evaluation"])
    train = found.config.train
    return {
        "steps": [line["step"] for line in lines],
        **{name: [line[name] for line in lines] for name in FIELDS},
        "schedule": _schedule(found.config),
        "validation": {"steps": [line["step"] for line in checked], "loss": [line["loss"] for line in checked]},
        "first": {name: lines[0][name] for name in FIELDS},
        "last": {name: lines[-1][name] for name in (*FIELDS, "step", "tokens", "elapsed", "skipped")},
        "best": min((line["loss"] for line in checked), default=None),
        "peak": train.peak,
        "warmup": train.warmup,
        "batch_tokens": train.batch_tokens,
        "clip": train.clip,
        "every": train.log_every,
        "vocabulary": found.config.model.output_vocab_size,
    }


def _schedule(config: RunConfig) -> dict[str, list[float]]:
    """The rate of every step, as the loop asks for it: log lines alone would hide a short warm-up."""
    steps = sorted({*range(1, config.train.steps + 1, FINE), config.train.warmup, config.train.steps})
    rates = [learning_rate(step, config.train, config.model.d_model) for step in steps if step > 0]
    return {"steps": [step for step in steps if step > 0], "rate": rates}


def thinned(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Evenly fewer, the last one always among them."""
    stride = -(-len(lines) // MOST) or 1
    return lines[::-1][::stride][::-1]


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    models=("ko-en",),
    equation=r"\theta \leftarrow \theta - \eta_t\,\mathrm{AdamW}\!\left(g_t\cdot\min(1,\,c/\lVert g_t\rVert)\right)",
    formula="θ ← θ − η_t · AdamW(g_t · min(1, c/‖g_t‖))",
    paper="§5",
    sources=("training/loop.py", "training/step.py", "training/schedule.py", "recipes/ko-en.toml"),
    picture="training_simulation",
)
