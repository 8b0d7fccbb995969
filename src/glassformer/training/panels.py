"""The panels of a run's pictures: losses, rate, gradients, speed, quality, status, samples, attention.

The folder of a run holds them as PNGs, the report as SVGs in the theme of the textbook: one drawing, two looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

from glassformer.config.recipe import RunConfig
from glassformer.files import read_json
from glassformer.runs import Run
from glassformer.show.drawing import hover
from glassformer.show.theme import FILE_THEME, Theme
from glassformer.tasks.samples import KeptAttention, kept_attention, last_samples
from glassformer.tasks.task import TaskClass
from glassformer.training.schedule import learning_rate
from glassformer.training.status import LogSummary, status_rows
from glassformer.words import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Records = Sequence[Mapping[str, Any]]
MOST_POINTS = 60  # of a curve; each is marked
FINE = 400  # points of the schedule after its warm-up
WIDE = 10.0  # from this ratio of largest to smallest loss on, a logarithmic axis shows more
WIDTH = 62  # characters of a line of samples
STATUS_WIDTH = 34  # characters of a value in the status
MACHINE = ("device", "cores", "threads", "ranks", "torch", "python")
LEFT_OUT = ("updated", "checkpoints")  # of the status: a time and a path say nothing about the run


def tooltip(artist: Any, text: str, theme: Theme) -> None:
    """The text that an artist shows under the pointer on a page; ignored in a picture file."""
    if theme is not FILE_THEME:
        hover(artist, text)


@dataclass(frozen=True)
class PanelWords:
    """The words of a picture in its language: "loss", "step" …"""

    lang: str
    task: TaskClass

    def __call__(self, key: str, **values: object) -> str:
        return say(f"watch.picture.{key}", self.lang, **values)

    @property
    def speed(self) -> str:
        return say("watch.picture.speed", self.lang, units=say(f"units.many.{self.task.unit}", self.lang))

    @property
    def loss(self) -> str:
        return say(f"units.loss.{self.task.unit}", self.lang)

    def metric(self, name: str) -> str:
        return say(f"metrics.{name}", self.lang)


@dataclass(frozen=True)
class RunHistory:
    """What is known about a run: its log, and the other files of its folder."""

    records: Records
    config: RunConfig | None = None
    status: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, object] = field(default_factory=dict)
    samples: tuple[int, Sequence[Mapping[str, str]]] = (0, ())
    looked: KeptAttention | None = None

    @classmethod
    def of(cls, run: Run, lang: str, records: Records | None = None) -> RunHistory:
        log = run.log.read() if records is None else records
        step, samples = last_samples(run)
        path = run.folder / "environment.json"
        known = read_json(path) if path.is_file() else {}
        status = status_rows(run, LogSummary(log), lang=lang)
        unsaid = {say(f"watch.status.{key}", lang) for key in LEFT_OUT}
        return cls(
            records=log,
            config=run.config,
            status={label: value for label, value in status.items() if label not in unsaid},
            machine={key: known[key] for key in MACHINE if key in known},
            samples=(step, samples),
            looked=kept_attention(run, step),
        )

    @property
    def last(self) -> int:
        return max((record["step"] for record in self.records), default=1)


DrawPanel = Callable[["Axes", RunHistory, PanelWords, Theme], None]


# --- curves ---


def draw_loss(axes: Axes, story: RunHistory, words: PanelWords, theme: Theme) -> None:
    """Both losses, every validation marked, the best one starred; logarithmic where the loss falls far."""
    training, validation = (curve(story.records, kind, "loss") for kind in ("train", "evaluation"))
    _line(axes, theme, 0, words("training"), training)
    _line(axes, theme, 1, words("validation"), validation)
    if validation[0]:
        value, step = min(zip(validation[1], validation[0], strict=True))
        label = f"{words('best')}: {value:.3f}"
        (best,) = axes.plot(
            [step], [value], color=theme.series[1], linestyle="", marker="*", markersize=13, label=label
        )
        tooltip(best, label, theme)
    every = [*training[1], *validation[1]]
    if every and min(every) > 0 and max(every) > WIDE * min(every):
        powers(axes)
    axes.legend(loc="upper right")
    _finish(axes, story.last, words, words("loss"))
    axes.set_ylabel(fill(words.loss, 30))


def draw_rate(axes: Axes, story: RunHistory, words: PanelWords, theme: Theme) -> None:
    """The schedule itself, step by step, and the rates in the log on top of it."""
    logged, last = curve(story.records, "train", "learning_rate"), story.last
    if story.config is not None:
        steps, rates = schedule(story.config)
        axes.plot(steps, rates, color=theme.muted, linewidth=1.4, label=words("schedule"))
        last = max(last, story.config.train.steps)
    some = thinned(*logged)
    axes.plot(*some, color=theme.series[2], linestyle="", marker="o", markersize=3.5, label=words("used"))
    for step, rate in zip(*some, strict=True):
        (point,) = axes.plot([step], [rate], color=theme.series[2], marker="o", markersize=3.5)
        tooltip(point, f"{step:,}: {rate:.3g}", theme)
    _finish(axes, last, words, words("learning_rate"))
    axes.set_ylim(0, 1.25 * axes.get_ylim()[1])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.legend(loc="upper right")


def schedule(config: RunConfig) -> tuple[list[int], list[float]]:
    """Every step of the warm-up, so that a short one is visible, then evenly to the last."""
    train, d_model = config.train, config.model.d_model
    stride = max(1, train.steps // FINE)
    steps = sorted({*range(1, min(train.warmup, train.steps) + 1), *range(1, train.steps + 1, stride), train.steps})
    return steps, [learning_rate(step, train, d_model) for step in steps]


def draw_norm(axes: Axes, story: RunHistory, words: PanelWords, theme: Theme) -> None:
    points = curve(story.records, "train", "gradient_norm")
    _line(axes, theme, 3, words("gradient_norm"), points)
    if points[1] and min(points[1]) > 0 and max(points[1]) > WIDE * min(points[1]):
        powers(axes)
    else:
        axes.set_ylim(bottom=0)
    _finish(axes, story.last, words, words("gradient_norm"))


def draw_speed(axes: Axes, story: RunHistory, words: PanelWords, theme: Theme) -> None:
    _line(axes, theme, 4, words.speed, curve(story.records, "train", "tokens_per_second"))
    _finish(axes, story.last, words, words.speed)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")


def draw_quality(axes: Axes, story: RunHistory, words: PanelWords, theme: Theme) -> None:
    """The metrics that a task shows; shares become percentages, from 0 to 100."""
    for number, (name, scale) in enumerate(words.task.shown.items()):
        steps, values = curve(story.records, "evaluation", name)
        points = steps, [100 * value for value in values] if scale == "share" else values
        _line(axes, theme, number, words.metric(name), points)
    if words.task.shown:
        axes.legend(loc="lower right")
    _finish(axes, story.last, words, words("quality"))
    if "free" not in words.task.shown.values():
        axes.set_ylim(-3, 103)
        axes.set_yticks(range(0, 101, 20))


# --- texts and maps ---


def draw_status(axes: Axes, story: RunHistory, words: PanelWords, theme: Theme) -> None:
    """The status of the run, and the device it runs on."""
    values = [*story.status.items(), *((words(f"machine.{key}"), str(value)) for key, value in story.machine.items())]
    lines: list[tuple[str, str]] = []
    for label, value in values:  # a long value continues on the next line: a number is never cut
        first, *rest = wrap(value, STATUS_WIDTH) or [""]
        lines += [(label, first), *(("", more) for more in rest)]
    for number, (label, line) in enumerate(lines):
        height = 1 - (number + 0.5) / max(len(lines), 12)
        axes.text(0.0, height, label, color=theme.muted, fontsize=8, va="center", transform=axes.transAxes)
        axes.text(0.46, height, line, color=theme.ink, fontsize=8, va="center", transform=axes.transAxes)
    axes.set_title(words("status"))
    axes.set_axis_off()


def draw_samples(axes: Axes, story: RunHistory, words: PanelWords, theme: Theme) -> None:
    """The last samples, as many as there is room for."""
    step, samples = story.samples
    most = 4
    for number, sample in enumerate(samples[:most]):
        for place, (name, text) in enumerate(sample.items()):
            height = 1 - (number + 0.14 + 0.27 * place) / most
            label = say(f"watch.sample.{name}", words.lang)
            axes.text(0.0, height, label, color=theme.muted, fontsize=8, va="top", transform=axes.transAxes)
            said = axes.text(0.12, height, cut(text, WIDTH), color=theme.ink, fontsize=8, va="top", parse_math=False)
            said.set_transform(axes.transAxes)
    axes.set_title(words("samples", step=f"{step:,}") if samples else words("no_samples"))
    axes.set_axis_off()


def draw_attention(axes: Axes, story: RunHistory, words: PanelWords, theme: Theme) -> None:
    """The attention of the first sample: a map with its scale, or a note that there is none."""
    looked = story.looked
    if looked is None:
        axes.set_title(words("no_attention"))
        axes.set_axis_off()
        return
    attention_map(axes, looked, theme)
    axes.set_title(words(looked.kind))


def attention_map(axes: Axes, looked: KeptAttention, theme: Theme) -> None:
    """The darker a cell, the more its row attends to its column; the bar gives the scale."""
    from matplotlib.colors import LinearSegmentedColormap

    most = max(max(row) for row in looked.weights)
    shades = LinearSegmentedColormap.from_list("heat", [theme.paper, theme.heat])
    image = axes.imshow(looked.weights, cmap=shades, vmin=0, vmax=most, aspect="auto", interpolation="nearest")
    axes.set_xticks(range(len(looked.columns)), [token_label(token) for token in looked.columns], fontsize=8)
    axes.set_yticks(range(len(looked.rows)), [token_label(token) for token in looked.rows], fontsize=8)
    if max(map(len, looked.columns), default=0) > 2:
        axes.tick_params(axis="x", rotation=90)
    axes.grid(visible=False)
    bar = axes.figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03)
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)


def token_label(token: str) -> str:
    """A token as a label: `$` would begin a formula, and the mark of a word's beginning means nothing to a reader."""
    return token.replace("▁", "").replace("$", "\\$")


def cut(text: str, most: int) -> str:
    one = " ".join(text.split())
    return one if len(one) <= most else f"{one[: most - 1]}…"


# --- what panels are made of ---


def curve(records: Records, kind: str, name: str) -> tuple[list[int], list[float]]:
    """Steps and values of one number; values that were not finite are null in the log and left out here."""
    points = [(record["step"], record[name]) for record in records if record.get("kind") == kind and name in record]
    points = [(step, value) for step, value in points if isinstance(value, int | float)]
    return [step for step, _ in points], [value for _, value in points]


def thinned(steps: Sequence[int], values: Sequence[float]) -> tuple[list[int], list[float]]:
    """At most MOST_POINTS points, evenly spread, including the last."""
    every = -(-len(steps) // MOST_POINTS) or 1
    kept = sorted({*range(0, len(steps), every), *([len(steps) - 1] if steps else [])})
    return [steps[i] for i in kept], [values[i] for i in kept]


PATTERNS = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)))
MARKERS = "os^Dvp"


def _line(axes: Axes, theme: Theme, number: int, label: str, points: tuple[Sequence[int], Sequence[float]]) -> None:
    """A whole curve; only as many points are marked as can be told apart."""
    pattern: Any = PATTERNS[number]
    axes.plot(*points, color=theme.series[number], linestyle=pattern, linewidth=1.5, label=label)
    for step, value in zip(*thinned(*points), strict=True):
        (point,) = axes.plot([step], [value], color=theme.series[number], marker=MARKERS[number], markersize=3.5)
        tooltip(point, f"{label} · {step:,}: {value:.4g}", theme)


def powers(axes: Axes) -> None:
    """A logarithmic axis with plain numbers, at 1, 2 and 5 of each power where it spans few."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0,) if high > 1e3 * low else (1.0, 2.0, 5.0), numticks=12))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def _finish(axes: Axes, last: int, words: PanelWords, title: str) -> None:
    """Title, and the same axis of steps, for every panel."""
    from matplotlib.ticker import MaxNLocator

    axes.set_title(title)
    axes.set_xlabel(words("step"))
    axes.set_xlim(0, 1.02 * last)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.xaxis.set_major_formatter("{x:,.0f}")
