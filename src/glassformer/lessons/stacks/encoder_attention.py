"""All layers and heads of an encoder on one sentence, and whether they become more abstract with depth.

Claim abstraction; the rule is in `verdicts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.data import grammar
from glassformer.data.batch import PairBatch
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.stacks.contribution import slope
from glassformer.lessons.stacks.probes import probe
from glassformer.lessons.stacks.sentences import SENTENCE, batch_of, validation_sentences, without_space_mark
from glassformer.lessons.stacks.small_translators import SmallTranslators
from glassformer.lessons.stacks.untrained_picture import untrained
from glassformer.lessons.statistics import differences, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, greater, less
from glassformer.loading import Loaded
from glassformer.models.build import build
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.show.drawing import colour_bar, heat, lines
from glassformer.show.theme import Theme
from glassformer.trace.record import record

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LAYERS = {"model.n_encoder_layers": 4, "model.n_decoder_layers": 2}
FIT, JUDGED = 1500, 300  # sentences to fit the probes, and to evaluate them
MEASURES = ("entropy", "distance", "surface", "structure")
NEIGHBOURS = 40  # the longest of these sentences joins ours in the batch


def run(setup: LessonSetup) -> Data:
    """The trained translator ko-en on one sentence, then deeper encoders of several seeds on many."""
    return {"sentence": SENTENCE, **_maps(setup.model("ko-en")), **depth(setup)}


def _maps(loaded: Loaded) -> dict[str, Any]:
    """The maps of our sentence, padded to a longer one: no query may look at the padding."""
    reader, model = loaded.reader(), loaded.model
    assert isinstance(model, EncoderDecoder)
    short = reader.source(SENTENCE)
    long = max(
        (reader.source(pair.source_ko) for pair in validation_sentences(NEIGHBOURS)), key=lambda one: one.ids.shape[1]
    )
    pad, wide = loaded.tokenizer.specials.need("pad"), max(short.ids.shape[1], long.ids.shape[1])
    rows = [[*one.ids[0].tolist(), *[pad] * (wide - one.ids.shape[1])] for one in (short, long)]
    ids = torch.tensor(rows)  # 2 t
    mask = torch.tensor([[i < one.ids.shape[1] for i in range(wide)] for one in (short, long)])  # 2 t
    with torch.no_grad(), record(model, "encoder.*.weights") as trace:
        model.encode(ids, mask)
    real = short.ids.shape[1]
    layers = [one[0, :, :real].tolist() for one in trace.attention()]  # each h t s
    blocked = [value for layer in layers for head in layer for row in head for value in row[real:]]
    return {
        "tokens": [*map(without_space_mark, short.tokens)],
        "columns": [
            *map(without_space_mark, short.tokens),
            *[without_space_mark(loaded.tokenizer.piece(pad))] * (wide - real),
        ],
        "maps": [[[[*row[:real], *[None] * (wide - real)] for row in head] for head in layer] for layer in layers],
        "padding": wide - real,
        "to_padding": max(blocked, default=0.0),
        "n_layers": len(layers),
        "n_heads": len(layers[0]),
    }


# --- deeper encoders of several seeds: where they look and what they encode ---


class SentenceGroup(NamedTuple):
    """Sentences as tokens, with the grammatical construction of each."""

    batch: PairBatch
    constructions: Tensor  # b

    @property
    def real(self) -> Tensor:
        mask = self.batch.source_mask  # b s
        return torch.ones_like(self.batch.source, dtype=torch.bool) if mask is None else mask


def depth(setup: LessonSetup) -> dict[str, Any]:
    """For every measure a curve over the layers (mean and interval over the seeds), and the slope for each seed.

    Also the same for these models before training, and what training adds to their slopes.
    """
    translators = SmallTranslators(setup, LAYERS)
    fitted = grammar.pairs("train", setup.some(FIT, 100), level="small")
    fit, judged = _groups(translators, [fitted, validation_sentences(setup.some(JUDGED, 30))])
    before, after, accuracy = [], [], []
    for seed, outcome in translators.each():
        after.append(look(outcome.model, fit, judged))
        before.append(look(build(outcome.config.model, seed=seed).eval(), fit, judged))
        accuracy.append(outcome.validation["accuracy"])
    trained, untrained = _over(after), _over(before)
    slopes = trained["slopes"], untrained["slopes"]
    return {
        "depth": LAYERS["model.n_encoder_layers"],
        **trained,
        "untrained": untrained,
        "added": differences(slopes[0], slopes[1], MEASURES),
        "accuracy": interval(accuracy),
        "steps": translators.material.config.train.steps,
        "d_model": translators.material.config.model.d_model,
        "judged": len(judged.constructions),
        "fitted": len(fit.constructions),
        "constructions": int(torch.cat([fit.constructions, judged.constructions]).max()) + 1,
        "commonest": float(judged.constructions.bincount().max() / len(judged.constructions)),
    }


def _over(seen: Sequence[dict[str, list[float]]]) -> dict[str, Any]:
    """Curves and slopes of several models; a slope is over the layers, without the input of the first."""
    layers = LAYERS["model.n_encoder_layers"]
    return {
        "curves": {
            name: [interval(list(at)) for at in zip(*(one[name] for one in seen), strict=True)] for name in MEASURES
        },
        "slopes": {name: interval([slope(one[name][-layers:]) for one in seen]) for name in MEASURES},
    }


def _groups(translators: SmallTranslators, several: Sequence[Sequence[grammar.GrammarPair]]) -> list[SentenceGroup]:
    names = sorted({pair.tags.construction for pairs in several for pair in pairs})
    material = translators.material
    return [
        SentenceGroup(
            batch_of(material.config, material.vocabularies, pairs),
            torch.tensor([names.index(pair.tags.construction) for pair in pairs]),
        )
        for pairs in several
    ]


def look(model: nn.Module, fit: SentenceGroup, judged: SentenceGroup) -> dict[str, list[float]]:
    """Entropy and distance for each layer; the probes for the input of the first layer, then for each layer."""
    weights, judged_at = _pass(model, judged)
    _, fit_at = _pass(model, fit)
    found: dict[str, list[float]] = {
        "entropy": [entropy(one, judged.real) for one in weights],
        "distance": [distance(one, judged.real) for one in weights],
        "surface": [],
        "structure": [],
    }
    for here, there in zip(fit_at, judged_at, strict=True):
        tokens = fit.batch.source[fit.real], judged.batch.source[judged.real]
        found["surface"].append(probe(here[fit.real], tokens[0], there[judged.real], tokens[1]))
        found["structure"].append(probe(here[:, 0], fit.constructions, there[:, 0], judged.constructions))
    return found


def _pass(model: nn.Module, group: SentenceGroup) -> tuple[list[Tensor], list[Tensor]]:
    """The weights of every layer, and the stream before the first layer and after each."""
    assert isinstance(model, EncoderDecoder)
    names = ["encoder.input", *(f"encoder.blocks.{i}.output" for i in range(len(model.encoder.blocks)))]
    with torch.no_grad(), record(model, [*names, "encoder.*.weights"]) as trace:
        model.encode(group.batch.source, group.batch.source_mask)
    return trace.attention(), [trace[name] for name in names]


def entropy(weights: Tensor, real: Tensor) -> float:
    """H = − Σ_s w_s log₂ w_s in bits, averaged over heads and real tokens: how widely attention spreads."""
    bits = -torch.xlogy(weights, weights).sum(-1) / torch.log(torch.tensor(2.0))  # b h t
    return float(bits.mean(1)[real].mean())


def distance(weights: Tensor, real: Tensor) -> float:
    """Σ_s w_s |t − s| in tokens, averaged over heads and real tokens: how far attention reaches."""
    places = torch.arange(weights.shape[-1])
    apart = (places[:, None] - places).abs().to(weights)  # t s
    return float((weights * apart).sum(-1).mean(1)[real].mean())


def verdicts(data: Data) -> dict[str, Verdict]:
    """ "More abstract" has two readings, each fixed here before the first result; each seed gives a slope over depth.

    Attention: a deeper layer looks wider, at more tokens and farther away: entropy and distance rise.
    Content: a deeper layer's vectors tell more about the sentence and less about their own token: the structure probe
    rises and the surface probe falls.
    The claim is about trained models, so they are judged; the same models before training are a control, which was
    added after the first result and is not judged.
    """
    slopes = data["slopes"]
    sides = {
        "attention": {"entropy": greater(slopes["entropy"]), "distance": greater(slopes["distance"])},
        "content": {"structure": greater(slopes["structure"]), "surface": less(slopes["surface"])},
    }
    ends = {name: data["curves"][name][-data["depth"] :] for name in MEASURES}
    measured = {
        **{name: slopes[name] for name in MEASURES},
        "first": {name: ends[name][0]["mean"] for name in MEASURES},
        "last": {name: ends[name][-1]["mean"] for name in MEASURES},
        "untrained": {name: data["untrained"]["slopes"][name] for name in MEASURES},
        "added": {name: data["added"][name] for name in MEASURES},
        "layers": data["depth"],
        "seeds": slopes["entropy"]["n"],
    }
    return {"abstraction": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """A row of maps for each layer, then the curves."""
    figure = theme.figure(10, 8)
    parts: Any = figure.subfigures(2, 1, height_ratios=(1.75, 1))
    upper, lower = parts
    _draw_maps(upper, theme, words, data)
    _curves(lower, theme, words, data)
    return figure


def _draw_maps(figure: Any, theme: Theme, words: PictureWords, data: Data) -> None:
    grid = figure.subplots(data["n_layers"], data["n_heads"], squeeze=False)
    for layer, row in enumerate(grid):
        for head, axes in enumerate(row):
            heat(
                axes,
                theme,
                data["maps"][layer][head],
                rows=data["tokens"] if head == 0 else None,
                columns=data["columns"] if layer == data["n_layers"] - 1 else None,
                most=1.0,
                bar=None,
            )
            axes.tick_params(labelsize=8)
            for label in axes.get_xticklabels():
                label.set(rotation=90, ha="right", va="center", rotation_mode="anchor")
            if head:
                axes.set_yticks([])
            if layer < data["n_layers"] - 1:
                axes.set_xticks([])
            axes.set_title(words("head", layer=layer + 1, head=head + 1), fontsize=9)
    colour_bar(list(grid.flat), theme, 1.0, label=words("weight"))


def _curves(figure: Any, theme: Theme, words: PictureWords, data: Data) -> None:
    left, middle, right = figure.subplots(1, 3)
    for axes, names in ((left, ("entropy",)), (middle, ("distance",)), (right, ("surface", "structure"))):
        labels = {name: words("trained") if len(names) == 1 else words(name) for name in names}
        layers = range(1 if len(names) == 1 else 0, data["depth"] + 1)
        lines(axes, theme, layers, {labels[name]: data["curves"][name] for name in names})
        control = data["untrained"]["curves"]
        for number, name in enumerate(names):
            label = words("untrained") if len(names) == 1 else words("untrained_of", what=words(name))
            untrained(axes, layers, control[name], label, theme.series[number])
        axes.set_xlabel(words("layer"))
        axes.set_xticks(layers)
        axes.set_title(words(names[0]) if len(names) == 1 else words("probe"), fontsize=10)
        axes.legend(fontsize=8)
        if len(names) > 1:
            axes.set_ylim(0, 1.05)


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("abstraction",),
    models=("ko-en",),
    equation=r"Z_1=\mathrm{LayerNorm}(X+\mathrm{MultiHead}(X)),\qquad Z_2=\mathrm{LayerNorm}(Z_1+\mathrm{FFN}(Z_1))",
    formula="Z1 = LayerNorm(X + MultiHead(X)),  Z2 = LayerNorm(Z1 + FFN(Z1))",
    paper="§3.1, §3.2.3",
    sources=("models/encoder.py", "models/block.py", "layers/attention/multi_head.py"),
    picture="encoder_attention_patterns",
)
