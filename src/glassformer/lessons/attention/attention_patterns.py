"""Every head of one layer on a real sentence; and whether rows sum to 1 and heads differ, over many sentences.

Claims softmax-sums and heads-differ; the rules are in `verdicts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.data.batch import PairBatch, pair_batch
from glassformer.data.grammar.pair import GrammarPair
from glassformer.data.grammar.sample import pairs
from glassformer.data.store import Store
from glassformer.layers.attention.mask import causal
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.stacks.sentences import batch_of
from glassformer.lessons.stacks.small_translators import SmallTranslators
from glassformer.lessons.statistics import difference
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact, greater
from glassformer.loading.loaded import Loaded
from glassformer.losses import IGNORE
from glassformer.models.build import build
from glassformer.show.drawing import bars, colour_bar, heat
from glassformer.show.theme import Theme
from glassformer.trace.record import record
from glassformer.trace.sentence import follow

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DROPOUT = 0.1  # the paper's rate, to show what it does to the sums
SENTENCE = "나는 친구와 함께 학교에 갔다."  # I went to school with a friend.
SENTENCES = 32  # for each seed
MODELS = 3  # small translators; the heads of each are compared with those before its training
LAYERS = {"model.n_encoder_layers": 2, "model.n_decoder_layers": 2}
EPSILON = 2.0**-23  # float32's


def run(setup: LessonSetup) -> Data:
    """Row sums of the trained translator; the picture shows the last layer of its encoder.

    How far apart heads are is measured in several small translators: one model would only tell about itself.
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


# --- row sums, masked entries, and how far apart heads are ---


def batch_and_weights(
    loaded: Loaded, model: nn.Module, chosen: Sequence[GrammarPair]
) -> tuple[PairBatch, dict[str, Tensor]]:
    """The sentences as one padded batch, and the weights of every attention, b h t s, by a short name."""
    tokenizers = loaded.vocabularies
    special = tokenizers.target.specials
    sides = Store.of(
        {
            "source": tokenizers.source.encode_batch([one.source_ko for one in chosen]),
            "target": tokenizers.target.encode_batch([one.target_en for one in chosen]),
        }
    )
    batch = pair_batch(
        [sides[i][0] for i in range(len(chosen))],
        [sides[i][1] for i in range(len(chosen))],
        padding=special.need("pad"),
        source=loaded.frame,
        target=loaded.target_frame,
    )
    return batch, weights_of(model, batch)


@torch.no_grad()
def weights_of(model: nn.Module, batch: PairBatch) -> dict[str, Tensor]:
    """The weights of every attention, b h t s, by a short name."""
    with record(model, "*.weights") as trace:
        model(batch.source, batch.target_in, batch.source_mask)
    return {short(name): trace[name] for name in trace.names()}


def short(name: str) -> str:
    """encoder.blocks.0.self_attention.weights → encoder-1; in a decoder, decoder-1 and cross-1."""
    stack, _, layer, attention, _ = name.split(".")
    return f"{'cross' if attention == 'cross_attention' else stack}-{int(layer) + 1}"


def allowed(name: str, weights: Tensor, source_mask: Tensor | None) -> Tensor:
    """Which key each query may look at, b 1 t s, from the batch and not from the model: no padding, no future."""
    b, _, t, s = weights.shape
    if name.startswith("decoder"):
        return causal(t).expand(b, 1, t, t)
    seen = torch.ones(b, s, dtype=torch.bool) if source_mask is None else source_mask
    return seen[:, None, None, :].expand(b, 1, t, s)


def rows_and_blocks(loaded: Loaded, chosen: Sequence[GrammarPair], seed: int) -> dict[str, float]:
    """Over all attentions: how far row sums are from 1 and masked entries from 0 at most; row sums under dropout."""
    batch, found = batch_and_weights(loaded, loaded.model, chosen)
    torch.manual_seed(seed)
    result = {"rows": 0.0, "blocked": 0.0, "error": 0.0, "leak": 0.0, "longest": 0.0, "attentions": 0.0}
    low, high = 1.0, 1.0
    for name, weights in found.items():
        may = allowed(name, weights, batch.source_mask).expand_as(weights)
        sums = weights.double().sum(-1)  # b h t
        blocked = weights[~may]
        result["rows"] += sums.numel()
        result["blocked"] += blocked.numel()
        result["attentions"] += weights.shape[1]
        result["error"] = max(result["error"], float((sums - 1).abs().max()))
        result["leak"] = max(result["leak"], float(blocked.abs().max()) if blocked.numel() else 0.0)
        result["longest"] = max(result["longest"], float(weights.shape[-1]))
        dropped = F.dropout(weights, DROPOUT).double().sum(-1)
        low, high = min(low, float(dropped.min())), max(high, float(dropped.max()))
    whole = {key: int(result[key]) for key in ("rows", "blocked", "longest", "attentions")}
    return {**result, **whole, "dropped_low": low, "dropped_high": high}


def heads_apart(model: nn.Module, batch: PairBatch) -> dict[str, float]:
    """The mean Jensen-Shannon divergence between two heads, in bits, over all pairs of heads and all real queries."""
    found = weights_of(model, batch)
    target_real = batch.target_out != IGNORE  # b t
    source_real = torch.ones_like(batch.source, dtype=torch.bool) if batch.source_mask is None else batch.source_mask
    result = {}
    for name, weights in found.items():
        real = source_real if name.startswith("encoder") else target_real  # b t
        choice = allowed(name, weights, batch.source_mask).sum(-1)[:, 0] > 1  # b t: with one key there is no choice
        apart = divergence(weights.double())  # b t
        result[name] = float(apart[real & choice].mean())
    return result


def divergence(weights: Tensor) -> Tensor:
    r"""Jensen-Shannon divergence in bits, averaged over all pairs of heads: 0 = the same, 1 = nothing in common.

    JSD(p, q) = H((p + q) / 2) − (H(p) + H(q)) / 2
    """
    h = weights.shape[1]
    own = entropy(weights)  # b h t
    total, count = torch.zeros_like(own[:, 0]), 0
    for i in range(h):
        for j in range(i + 1, h):
            between = entropy((weights[:, i] + weights[:, j]) / 2)  # b t
            total = total + between - (own[:, i] + own[:, j]) / 2
            count += 1
    return total / max(count, 1)  # b t


def entropy(weights: Tensor) -> Tensor:
    """H = − Σ_s w_s log₂ w_s."""
    return -torch.xlogy(weights, weights).sum(-1) / torch.log(torch.tensor(2.0, dtype=weights.dtype))


def verdicts(data: Data) -> dict[str, Verdict]:
    """softmax-sums, exact: every row sums to 1 and every masked entry is 0.

    A sum of n rounded numbers may be off by n roundings, so the tolerance is the longest row × 2⁻²³.
    heads-differ: "different" means more different than heads with random weights: over the seeds, trained heads diverge
    more than those of the same model before its training. The sides are the kinds of attention.
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
    """The maps, two in a row; below them the divergences."""
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
    """cross-1 → its label in the language of the picture."""
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
