"""Special tokens that begin as a sinusoidal pattern: can they be told from ordinary ones, before and after training?

Claim special-distinct; the rule is in `verdicts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from glassformer.layers.embedding import token_matrix
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, greater
from glassformer.models.build import build
from glassformer.show.drawing import bars, colour_bar, heat
from glassformer.show.theme import Theme
from glassformer.text.tokenizer import ROLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SMALL = {
    "data.source.count": 3000,
    "data.validation": 100,
    "text.vocab_size": 500,
    "model.d_model": 64,
    "model.d_ff": 128,
    "model.n_encoder_layers": 1,
    "train.batch_tokens": 320,
    "train.warmup": 20,
}
STEPS = 400
KINDS = {"sine": len(ROLES), "noise": 0}  # how many tokens begin as a sinusoid
NEIGHBOURS = 4  # ordinary tokens beside the special ones in the picture


def run(setup: LessonSetup) -> Data:
    """For every seed and both starts, a masked language model: it uses [CLS], [SEP], [PAD] and [MASK]."""
    experiment = Experiment("fill", SMALL)
    steps = setup.some(STEPS)
    found: dict[str, Any] = {}
    maps: dict[str, Any] = {}
    pairs = [(kind, seed) for kind in KINDS for seed in setup.seeds]
    looks: dict[str, dict[str, list[dict[str, float]]]] = {kind: {"before": [], "after": []} for kind in KINDS}
    for kind, seed in setup.each("trainings", pairs):
        changes = {"model.special_tokens": KINDS[kind], "train.steps": steps}
        before = _matrix(build(experiment.config(changes, seed).model, seed=seed))
        after = _matrix(experiment.train(seed, changes, validated=False).model)
        for when, matrix in (("before", before), ("after", after)):
            looks[kind][when].append(look(matrix, len(ROLES)) | {"moved": moved(before, matrix)})
            if seed == setup.seeds[0]:
                maps.setdefault(kind, {})[when] = _map(matrix)
    for kind, times in looks.items():
        found[kind] = {
            when: {name: interval([one[name] for one in seen]) for name in seen[0]} for when, seen in times.items()
        }
    vocabulary = experiment.material.vocabularies.source  # type: ignore[attr-defined]
    return {
        "roles": [f"[{role.upper()}]" for role in ROLES],
        "neighbours": [vocabulary.piece(len(ROLES) + i) for i in range(NEIGHBOURS)],
        "tokens": vocabulary.vocab_size,
        "d_model": SMALL["model.d_model"],
        "steps": steps,
        "found": found,
        "maps": maps["sine"],
        "recipe": look(_matrix(setup.model("fill").model), len(ROLES)),
    }


def _matrix(model: nn.Module) -> Tensor:
    matrix = token_matrix(model.get_submodule("embedding"))
    assert matrix is not None
    return matrix.detach().double()  # v d_model


def look(matrix: Tensor, n: int) -> dict[str, float]:
    """How well one direction separates the first n tokens from the rest, and the mean cosines within and across groups.

    `separation`: the share of pairs (special, ordinary) in which the special token points more towards the other
    special tokens; this is the area under the ROC curve. The direction for a special token leaves that token out.
    """
    unit = matrix / matrix.norm(dim=1, keepdim=True)
    cosines = unit @ unit.T  # v v
    special, ordinary = unit[:n], unit[n:]
    wins = []
    for i in range(n):
        direction = torch.cat([special[:i], special[i + 1 :]]).mean(0)  # d_model
        own, others = special[i] @ direction, ordinary @ direction
        wins.append((own > others).double().mean() + 0.5 * (own == others).double().mean())
    inside = cosines[:n, :n][~torch.eye(n, dtype=torch.bool)]
    return {
        "separation": float(torch.stack(wins).mean()),
        "inside": float(inside.mean()),
        "closest": float(inside.max()),
        "across": float(cosines[:n, n:].mean()),
        "across_most": float(cosines[:n, n:].max()),
    }


def moved(before: Tensor, after: Tensor) -> float:
    """How far the special tokens have moved from their start, relative to their length then."""
    change, start = (after - before)[: len(ROLES)].norm(dim=1), before[: len(ROLES)].norm(dim=1)
    return float((change / start).mean())


def _map(matrix: Tensor) -> list[list[float]]:
    """Cosines of the special tokens with themselves and with the first ordinary ones."""
    unit = (matrix / matrix.norm(dim=1, keepdim=True))[: len(ROLES) + NEIGHBOURS]
    return [[round(value, 3) for value in row] for row in (unit @ unit.T).tolist()]


def verdicts(data: Data) -> dict[str, Verdict]:
    """Distinguishable: the special token of a pair is recognised in more than 95 of 100 pairs.

    So the interval of `separation` over the seeds must lie above 0.95 (chance gives 0.5; one error in twenty is the
    usual significance level). The sides are before and after training.
    """
    sine = data["found"]["sine"]
    sides = {when: greater(sine[when]["separation"], 0.95) for when in ("before", "after")}
    measured = {
        "before": sine["before"]["separation"]["mean"],
        "after": sine["after"]["separation"]["mean"],
        "noise_before": data["found"]["noise"]["before"]["separation"]["mean"],
        "noise_after": data["found"]["noise"]["after"]["separation"]["mean"],
        "inside": sine["before"]["inside"]["mean"],
        "inside_after": sine["after"]["inside"]["mean"],
    }
    return {"special-distinct": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Two maps of cosines above, the separation below."""
    figure = theme.figure(10, 7.6)
    panels = figure.subplot_mosaic([["before", "after"], ["separation"] * 2], height_ratios=(3, 2))
    names = [*data["roles"], *data["neighbours"]]
    for when in ("before", "after"):
        axes = panels[when]
        heat(axes, theme, data["maps"][when], rows=names, columns=names, most=1.0, bar=None)
        axes.set_title(words(f"map_{when}"))
        last = len(data["roles"]) - 0.5
        axes.axhline(last, color=theme.ink, linewidth=0.8)
        axes.axvline(last, color=theme.ink, linewidth=0.8)
    colour_bar([panels["before"], panels["after"]], theme, 1.0, least=-1.0, label=words("cosine"))
    axes = panels["separation"]
    times, kinds = ("before", "after"), ("sine", "noise")
    found = {words(kind): [data["found"][kind][when]["separation"] for when in times] for kind in kinds}
    bars(axes, theme, [words(when) for when in times], found, form=".0%")
    axes.axhline(0.5, color=theme.muted, linewidth=1, linestyle=":")
    axes.set_ylim(0, 1.25)
    axes.set_yticks([0, 0.5, 1], ["0%", words("chance"), "100%"])
    axes.set_title(words("separation"))
    axes.legend(loc="upper center", ncols=2)
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("special-distinct",),
    models=("fill",),
    equation=r"E[\mathrm{special}_i] = \sigma\sqrt{2}\,\mathrm{PE}(i)",
    formula="E[special_i] = σ·√2 · PE(i)",
    paper="",
    sources=("layers/embedding.py", "text/tokenizer.py"),
    picture="special_token_embeddings",
)
