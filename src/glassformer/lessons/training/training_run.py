"""A real training, from its log: loss, gradient norm, learning rate and throughput of a translator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.config.recipe import RunConfig
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.show.drawing import lines, logarithmic
from glassformer.show.theme import Theme
from glassformer.training.schedule import learning_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FINE = 10  # steps between two points of the schedule
MOST = 60  # points of a curve
FIELDS = ("loss", "gradient_norm", "learning_rate", "tokens_per_second")


def run(setup: LessonSetup) -> Data:
    """The lines of log.jsonl as written during training; nothing is measured again."""
    found = setup.run("ko-en")
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
    """The rate of every step: log lines alone would hide a short warm-up."""
    steps = sorted({*range(1, config.train.steps + 1, FINE), config.train.warmup, config.train.steps})
    rates = [learning_rate(step, config.train, config.model.d_model) for step in steps if step > 0]
    return {"steps": [step for step in steps if step > 0], "rate": rates}


def thinned(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Evenly spaced lines, always with the last."""
    stride = -(-len(lines) // MOST) or 1
    return lines[::-1][::stride][::-1]


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Loss and gradient norm above, learning rate and throughput below."""
    figure = theme.figure(10, 6.4)
    (loss, norm), (rate, speed) = figure.subplots(2, 2, sharex=True)
    _loss(loss, data, theme, words)
    for axes, name in ((norm, "gradient_norm"), (rate, "learning_rate"), (speed, "tokens_per_second")):
        lines(axes, theme, data["steps"], {words(name): data[name]})
        axes.get_legend().remove()
        axes.set_title(words(name))
        axes.set_ylim(0, 1.08 * max(value for value in data[name] if value is not None))
    rate.plot(data["schedule"]["steps"], data["schedule"]["rate"], color=theme.muted, linewidth=4, alpha=0.45, zorder=1)
    for axes in (rate, speed):
        axes.set_xlabel(words("step"))
        axes.set_xlim(0, 1.03 * data["steps"][-1])
    return figure


def _loss(axes: Axes, data: Data, theme: Theme, words: PictureWords) -> None:
    """Both losses over all steps at which either was logged."""
    checked = dict(zip(data["validation"]["steps"], data["validation"]["loss"], strict=True))
    trained = dict(zip(data["steps"], data["loss"], strict=True))
    lines(axes, theme, list(trained), {words("training"): list(trained.values())})
    axes.plot(
        list(checked),
        list(checked.values()),
        color=theme.vermilion,
        marker="s",
        markersize=6,
        linestyle="",
        label=words("validation"),
    )
    axes.legend()
    logarithmic(axes)
    low, high = axes.get_ylim()
    axes.set_ylim(low / 1.5, high * 1.5)
    axes.set_title(words("loss"))


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    runs=("ko-en",),
    equation=r"\theta \leftarrow \theta - \eta_t\,\mathrm{AdamW}\!\left(g_t\cdot\min(1,\,c/\lVert g_t\rVert)\right)",
    formula="θ ← θ − η_t · AdamW(g_t · min(1, c/‖g_t‖))",
    paper="§5",
    sources=("training/loop.py", "training/step.py", "training/schedule.py", "recipes/ko-en.toml"),
    picture="training_simulation",
)
