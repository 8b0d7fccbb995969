"""Every head of one layer on a real sentence; and whether rows sum to 1 and heads differ, over many sentences.

Claims softmax-sums and heads-differ; the rules stand in `verdicts`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from glassformer.data.grammar.pair import GrammarPair
from glassformer.data.grammar.sample import pairs
from glassformer.lessons.attention.attention_patterns_experiment import heads_apart, rows_and_blocks
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.stacks.sentences import batch_of
from glassformer.lessons.stacks.small_translators import SmallTranslators
from glassformer.lessons.statistics import difference
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact, greater
from glassformer.models.build import build
from glassformer.show.drawing import bars, colour_bar, heat
from glassformer.show.theme import Theme
from glassformer.trace.sentence import follow

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SENTENCE = "나는 친구와 함께 학교에 갔다."  # I went to school with a friend.
SENTENCES = 32  # for each seed
MODELS = 3  # small translators whose heads are compared, each with itself before its training
LAYERS = {"model.n_encoder_layers": 2, "model.n_decoder_layers": 2}
EPSILON = 2.0**-23  # of float32
MOST = ("attentions", "error", "leak", "longest", "dropped_high")  # of the seeds the largest counts


def run(setup: LessonSetup) -> Data:
    """The picture shows the encoder's last layer of the trained translator, whose rows are summed up too.

    How far heads are apart is asked of several small translators: one model alone would only tell of itself.
    """
    loaded = setup.model("ko-en")
    config = loaded.config.model
    story = follow("ko-en", config, SENTENCE, trained=loaded.reader())
    layer = config.encoder_layers - 1
    apart: dict[str, dict[str, list[float]]] = {}
    rows = []
    for seed in setup.each("sentences", setup.seeds):
        rows.append(rows_and_blocks(loaded, _sentences(setup, seed), seed))
    translators = SmallTranslators(replace(setup, seeds=setup.seeds[:MODELS]), LAYERS)
    for seed, outcome in translators.each():
        batch = batch_of(outcome.config, translators.material.vocabularies, _sentences(setup, seed))
        untrained = build(outcome.config.model, seed=seed).eval()
        for name, model in (("trained", outcome.model), ("untrained", untrained)):
            for attention, value in heads_apart(model, batch).items():
                apart.setdefault(attention, {}).setdefault(name, []).append(value)
    return {
        "sentence": SENTENCE,
        "tokens": story.tokens,
        "layer": layer + 1,
        "heads": story.trace[f"encoder.blocks.{layer}.self_attention.weights"][0].tolist(),
        "n_heads": config.n_heads,
        "sentences": setup.some(SENTENCES, 4),
        "sums": {
            **{key: sum(row[key] for row in rows) for key in ("rows", "blocked")},
            **{
                key: max(row[key] for row in rows) for key in ("attentions", "error", "leak", "longest", "dropped_high")
            },
            "dropped_low": min(row["dropped_low"] for row in rows),
        },
        "apart": {
            attention: {
                **{name: sum(values) / len(values) for name, values in found.items()},
                "more": difference(found["trained"], found["untrained"]),
            }
            for attention, found in apart.items()
        },
    }


def _sentences(setup: LessonSetup, seed: int) -> list[GrammarPair]:
    return pairs("test", setup.some(SENTENCES, 4), seed=seed)


def verdicts(data: Data) -> dict[str, Verdict]:
    """softmax-sums, exact: every row sums to 1 and every masked entry is 0.

    A sum of n rounded numbers may be off by n roundings, so the tolerance is the longest row × 2⁻²³.
    heads-differ: different is meant as more different than heads whose weights are random. The sides are the kinds of
    attention: the divergence of the trained heads is above that of the same model before its training, over the seeds.
    """
    sums = data["sums"]
    right = sums["error"] <= sums["longest"] * EPSILON and sums["leak"] == 0.0
    sides = {attention: greater(found["more"]) for attention, found in data["apart"].items()}
    effects = {attention: found["more"]["mean"] for attention, found in data["apart"].items()}
    least, most = min(effects, key=lambda name: effects[name]), max(effects, key=lambda name: effects[name])
    measured = {
        "models": max(found["more"]["n"] for found in data["apart"].values()),
        "trained": sum(found["trained"] for found in data["apart"].values()) / len(sides),
        "untrained": sum(found["untrained"] for found in data["apart"].values()) / len(sides),
        "least": {"name": least, **{key: data["apart"][least]["more"][key] for key in ("mean", "low", "high")}},
        "most": {"name": most, **{key: data["apart"][most]["more"][key] for key in ("mean", "low", "high")}},
    }
    return {"softmax-sums": Verdict.of(exact(right), dict(sums)), "heads-differ": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Maps side by side, two in a row; below them the divergences."""
    heads, tokens = data["heads"], [token.replace("▁", "") for token in data["tokens"]]
    rows = -(-len(heads) // 2)
    figure = theme.figure(8, 2.6 * rows + 2.6)
    grid = figure.add_gridspec(rows + 1, 2, height_ratios=[1] * rows + [0.9])
    maps = [figure.add_subplot(grid[number // 2, number % 2]) for number in range(len(heads))]
    for number, (axes, weights) in enumerate(zip(maps, heads, strict=True)):
        heat(axes, theme, weights, rows=tokens, columns=tokens, most=1.0, bar=None)
        axes.set_title(words("head", number=number + 1))
    colour_bar(maps, theme, 1.0, label=words("weight"))
    axes = figure.add_subplot(grid[rows, :])
    apart = data["apart"]
    groups = {words(kind): [apart[name][kind] for name in apart] for kind in ("untrained", "trained")}
    bars(axes, theme, [label(name, words) for name in apart], groups, form=".2f")
    axes.set(title=words("apart"), ylabel=words("bits"))
    axes.margins(y=0.2)
    return figure


def label(name: str, words: PictureWords) -> str:
    """cross-1 → as the language says it."""
    kind, _, layer = name.partition("-")
    return words(kind, layer=layer)


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("softmax-sums", "heads-differ"),
    models=("ko-en",),
    equation=r"w=\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_k}}\right),\quad\sum_s w_{ts}=1",
    formula="w = softmax(Q Kᵀ / √d_k),  Σ_s w_ts = 1",
    paper="§3.2.2; Figures 3 to 5",
    sources=("layers/attention/kernel.py", "trace/record.py"),
    picture="attention_patterns",
)
