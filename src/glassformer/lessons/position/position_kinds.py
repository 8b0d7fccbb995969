"""Five ways to encode positions, and how each copes with texts longer than any in training.

Claim pe-unseen; the rule is in `verdicts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from glassformer.layers.position import AlibiPositions, RelativePositions, RotaryPositions
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, less
from glassformer.losses import cross_entropy
from glassformer.show.drawing import heat, lines
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


KINDS = ("sinusoidal", "learned", "rotary", "alibi", "relative")
TRAINED = 24  # no training text is longer
LENGTHS = (6, 12, 18, 24, 30, 36, 48, 72, 96, 120)
TARGETS = 6  # the last tokens of a text, which are predicted
TEXTS = 96
STEPS = 300
SHOWN = 12  # positions in the small maps
SMALL = {
    "run.task": {"kind": "language_model", "context": TRAINED, "documents": "stream"},
    "data.source.count": 4000,
    "data.validation": 300,
    "model.max_len": max(LENGTHS),
    "model.d_model": 32,
    "model.d_ff": 128,
    "model.n_decoder_layers": 2,
    "train.batch_tokens": 480,
    "train.warmup": 30,
    "train.learning_rate": 5e-3,
}
NONE = 0.05  # nats: a smaller rise of the loss counts as none


def run(setup: LessonSetup) -> Data:
    """A small language model of letters for each kind and seed, trained on texts of 24 letters, tested on 6 to 120."""
    experiment = Experiment("characters", SMALL)
    tokens = experiment.material.validation.tokens  # type: ignore[union-attr]
    texts = _texts(torch.from_numpy(tokens).long(), setup.some(TEXTS, 4))
    losses: dict[str, dict[int, list[float]]] = {kind: {length: [] for length in LENGTHS} for kind in KINDS}
    does: dict[str, Any] = {}
    for kind, seed in setup.each("trainings", [(kind, seed) for kind in KINDS for seed in setup.seeds]):
        changes = {"model.position": kind, "train.steps": setup.some(STEPS)}
        model = experiment.train(seed, changes, validated=False).model
        does.setdefault(kind, shown(model))
        for length in LENGTHS:
            losses[kind][length].append(loss_at(model, texts, length))
    return {
        "trained": TRAINED,
        "d_model": SMALL["model.d_model"],
        "lengths": list(LENGTHS),
        "targets": TARGETS,
        "texts": len(texts),
        "steps": setup.some(STEPS),
        "kinds": {
            kind: {
                "loss": [interval(found[length]) for length in LENGTHS],
                "more": [difference(found[length], found[TRAINED]) for length in LENGTHS],
                "last": interval(found[LENGTHS[-1]]),
                "known": interval(found[TRAINED]),
                "twice": difference(found[2 * TRAINED], found[TRAINED]),
                "five": difference(found[LENGTHS[-1]], found[TRAINED]),
            }
            for kind, found in losses.items()
        },
        "does": does,
    }


def _texts(tokens: torch.Tensor, count: int) -> torch.Tensor:
    """Pieces of the validation text, one token longer than the longest test."""
    longest = LENGTHS[-1] + 1
    starts = torch.linspace(0, len(tokens) - longest, count).long()
    return torch.stack([tokens[start : start + longest] for start in starts.tolist()])  # n longest


@torch.no_grad()
def loss_at(model: nn.Module, texts: torch.Tensor, length: int) -> float:
    """Nats per token on the last tokens of each text, when the model reads the `length` tokens before the last.

    The targets are the same for every length: only the text before them differs, and so their positions.
    """
    rows = texts[:, -(length + 1) :]  # n length+1
    logits = model(rows[:, :-1])[:, -TARGETS:]  # n targets v
    return float(cross_entropy(logits, rows[:, -TARGETS:]).mean)


@torch.no_grad()
def shown(model: nn.Module) -> dict[str, Any]:
    """Its positions as a small matrix: added to the stream, added to the scores, or rotating queries and keys."""
    stack: Any = model.get_submodule("decoder")
    positions = stack.positions
    match positions:
        case AlibiPositions() | RelativePositions():
            matrix = positions(SHOWN, SHOWN, torch.zeros(1))[0]  # t s, of the first head
            rows = [[x if s <= t else None for s, x in enumerate(row)] for t, row in enumerate(matrix.tolist())]
        case RotaryPositions():
            angles = positions.rotation(torch.arange(SHOWN), torch.float32)
            rows = angles.cos.tolist()  # t d_k/2
        case _:
            rows = positions(torch.zeros(1, SHOWN, stack.d_model))[0, :, :SHOWN].tolist()  # t d_model
    return {"matrix": [[None if x is None else round(x, 3) for x in row] for row in rows]}


def verdicts(data: Data) -> dict[str, Verdict]:
    """It works at a length if the loss on the same tokens is not higher than at the trained length: more context can
    only help a model that can use it.

    "Not higher" means by less than 0.05 nats; the interval is that of (loss at this length − loss at the trained
    length), paired by seed. The sides are the unseen lengths.
    """
    found = data["kinds"]["sinusoidal"]
    unseen = [i for i, length in enumerate(data["lengths"]) if length > data["trained"]]
    measured = {
        "trained": data["trained"],
        "last": data["lengths"][-1],
        "known": found["known"]["mean"],
        "unseen": found["last"]["mean"],
        **{kind: data["kinds"][kind]["five"] for kind in data["kinds"]},
    }
    sides = {str(data["lengths"][i]): less(found["more"][i], NONE) for i in unseen}
    return {"pe-unseen": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Five small maps above, the curves below."""
    figure = theme.figure(10, 7)
    panels = figure.subplot_mosaic([list(data["does"]), ["loss"] * len(data["does"])], height_ratios=(2, 3))
    for kind, found in data["does"].items():
        axes = panels[kind]
        heat(axes, theme, found["matrix"])
        axes.set_title(words(kind))
        axes.set_xlabel(words(f"{kind}_does"), fontsize=8)
        axes.set_xticks([])
        axes.set_yticks([])
    axes = panels["loss"]
    lines(axes, theme, data["lengths"], {words(kind): found["loss"] for kind, found in data["kinds"].items()})
    axes.axvline(data["trained"], color=theme.muted, linewidth=1, linestyle=":")
    axes.annotate(
        words("trained", length=data["trained"]),
        (data["trained"], 1),
        (4, -4),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        va="top",
        fontsize=8,
        color=theme.muted,
    )
    axes.set(title=words("loss"), xlabel=words("length"), ylabel=words("nats"))
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("pe-unseen",),
    equation=r"x_t + p_t \qquad R(t\theta)\,q_t \qquad q_t^{\top}k_s + b(t-s)",
    formula="x_t + p_t     R(t·θ) q_t     q_tᵀ k_s + b(t − s)",
    paper="§3.5, Table 3 (E)",
    sources=(
        "layers/position/sinusoidal.py",
        "layers/position/learned.py",
        "layers/position/rotary.py",
        "layers/position/alibi.py",
        "layers/position/relative.py",
    ),
)
