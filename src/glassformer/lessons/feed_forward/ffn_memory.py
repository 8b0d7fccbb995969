"""Where facts are kept: a small model learns facts and a rule, then one sub-layer after another is switched off.

Claim ffn-memory; the rule stands in `verdicts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.feed_forward.ffn_memory_experiment import (
    CONFIG,
    LAYERS,
    RELATIONS,
    WORDS,
    switched_off,
    taught,
    units,
)
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval, within_one
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, greater
from glassformer.show.drawing import bars
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


STEPS = 250


def run(setup: LessonSetup) -> Data:
    """Each seed has its own facts and its own model."""
    seen: list[dict[str, Any]] = []
    for seed in setup.each("training", setup.seeds):
        model, asked = taught(seed, setup.some(STEPS))
        found = {kind: switched_off(model, questions) for kind, questions in asked.items()}
        seen.append({**found, "units": units(model, asked["facts"], seed)})
    parts = list(seen[0]["facts"])
    right = {kind: {part: interval([one[kind][part] for one in seen]) for part in parts} for kind in ("facts", "copy")}
    return {
        "facts_taught": WORDS * RELATIONS,
        "words": WORDS,
        "relations": RELATIONS,
        "layers": LAYERS,
        "d_model": CONFIG.d_model,
        "d_ff": CONFIG.d_ff,
        "chance": 1 / WORDS,
        "steps": STEPS,
        **right,
        "specific": {name: _specific(seen, name) for name in ("feed_forward", "attention")},
        "more_specific": difference(_surplus(seen, "feed_forward"), _surplus(seen, "attention")),
        "units": {
            "top": seen[0]["units"]["top"],
            "of": seen[0]["units"]["of"],
            **{kind: interval([one["units"][kind] for one in seen]) for kind in ("own", "of_another", "any")},
        },
    }


def _surplus(seen: list[dict[str, Any]], name: str) -> list[float]:
    """How much more of the facts than of the copying is lost with all sub-layers of a kind."""
    lost = {kind: [one[kind]["nothing"] - one[kind][f"{name}_all"] for one in seen] for kind in ("facts", "copy")}
    return [of_facts - of_copy for of_facts, of_copy in zip(lost["facts"], lost["copy"], strict=True)]


def _specific(seen: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return interval(_surplus(seen, name))


def verdicts(data: Data) -> dict[str, Verdict]:
    """Whoever stores facts is missed by facts more than by a rule that needs none.

    Switching attention off also cuts the way from subject to answer, so its damage to facts alone says nothing: the
    same damage to copying, which needs that way and no fact, is subtracted. Two things are said: with all feed-forward
    networks off the facts lose more than the copying does, and this surplus is larger than attention's.
    """
    parts = {
        "stored": greater(data["specific"]["feed_forward"]),
        "more": greater(data["more_specific"]),
    }
    measured = {
        "facts": data["facts"],
        "copy": data["copy"],
        "feed_forward": data["specific"]["feed_forward"],
        "attention": data["specific"]["attention"],
        "more": data["more_specific"],
    }
    return {"ffn-memory": Verdict.of({"feed_forward": parts}, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Left: sub-layers switched off. Right: a few hidden units."""
    figure = theme.figure(10, 4.6)
    parts, units = figure.subplots(1, 2, width_ratios=(2.2, 1))
    names = list(data["facts"])
    labels = [_label(words, name) for name in names]
    groups = {words(kind): [within_one(data[kind][name]) for name in names] for kind in ("facts", "copy")}
    bars(parts, theme, labels, groups, form=".0%", horizontal=True)
    _as_share(parts, data["chance"], theme, words)
    parts.set_title(words("switched_off"))
    parts.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    kinds = ("own", "of_another", "any")
    recall = {words("facts"): [within_one(data["units"][kind]) for kind in kinds]}
    bars(units, theme, [words(kind) for kind in kinds], recall, form=".0%", horizontal=True)
    _as_share(units, data["chance"], theme, words)
    units.set_title(words("units", top=data["units"]["top"], of=data["units"]["of"]))
    return figure


def _label(words: PictureWords, name: str) -> str:
    part, _, layer = name.rpartition("_")
    if name == "nothing":
        return words("nothing")
    return words(f"{part}_all") if layer == "all" else words(part, layer=int(layer) + 1)


def _as_share(axes: Axes, chance: float, theme: Theme, words: PictureWords) -> None:
    axes.set_xlim(0, 1.15)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    axes.axvline(chance, color=theme.muted, linestyle=":", linewidth=1.2)
    axes.set_xlabel(words("right"))


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("ffn-memory",),
    equation=r"\mathrm{FFN}(x)=\sum_{i=1}^{d_{\text{ff}}}\max(0,\,x\cdot k_i)\,v_i",
    formula="FFN(x) = Σ_i max(0, x·k_i) v_i",
    paper="§3.3; Geva et al. 2021",
    sources=("layers/feed_forward/mlp.py", "trace/edit.py"),
)
