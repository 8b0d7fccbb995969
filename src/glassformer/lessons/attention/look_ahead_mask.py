"""The causal mask and its proof: changing a target token changes no output before it, in every kind of decoder.

Claim causal; the rule is in `verdicts`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact
from glassformer.models.build import build
from glassformer.models.decoder import DecoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.models.presets import PRESETS
from glassformer.show.drawing import heat
from glassformer.show.theme import Theme
from glassformer.trace.record import record

if TYPE_CHECKING:
    from matplotlib.figure import Figure


VOCABULARY, LENGTH, MEMORY = 30, 7, 5
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "relative", "none")
ORDERS = ("post", "pre", "parallel")
NORMS = ("layer", "rms")
FAMILIES = ("decoder", "encoder-decoder")
SOURCE, TARGET = "나는 친구와 함께 학교에 갔다.", "I went to school with a friend."
KERNELS = ("reference", "fused")
SEEDS = 2  # per configuration: an exact result needs no statistics


def run(setup: LessonSetup) -> Data:
    """One example in the trained translator; then a test of every decoder that can be configured."""
    loaded = setup.model("ko-en")
    assert isinstance(loaded.model, EncoderDecoder)
    reader = loaded.reader()
    source, target = reader.source(SOURCE), reader.target(TARGET)
    weights, moved = _shown(loaded.model, source.ids, target.ids)
    found = {name: _ask(config, setup) for name, config in setup.each("decoders", list(configurations().items()))}
    unmasked = [_ask(config, setup, masked=False) for config in configurations().values()]
    return {
        "source": SOURCE,
        "target": TARGET,
        "tokens": target.tokens,
        "weights": weights.tolist(),
        "moved": moved.tolist(),
        "moved_before": float(moved.tril(-1).max()),
        "configurations": len(found),
        "passes": len(found) * len(KERNELS) * len(setup.seeds[:SEEDS]),
        "leaks": sum(one["before"] != 0.0 for one in found.values()),
        "before": max(one["before"] for one in found.values()),
        "after": min(one["after"] for one in found.values()),
        "unmasked": min(one["before"] for one in unmasked),
        "names": list(found),
    }


@torch.no_grad()
def _shown(model: EncoderDecoder, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The weights, t t, and how far each position moves (column) when one token is changed (row), t t."""
    with record(model, "decoder.blocks.0.self_attention.weights") as trace:
        before = model(source, target)[0]  # t v
    rows = []
    for place in range(target.shape[1]):
        other = target.clone()
        other[0, place] = (target[0, place] + 7) % before.shape[-1]
        rows.append(torch.linalg.vector_norm(model(source, other)[0] - before, dim=-1))
    return trace["decoder.blocks.0.self_attention.weights"][0].mean(0), torch.stack(rows)


def _ask(config: ModelConfig, setup: LessonSetup, masked: bool = True) -> dict[str, float]:
    """Over kernels and seeds: the largest change before the changed token, the smallest change at it."""
    seeds, kernels = (setup.seeds[:SEEDS], KERNELS) if masked else (setup.seeds[:1], KERNELS[1:])
    results = [probe(_built(config, seed, kernel, masked), seed) for kernel in kernels for seed in seeds]
    return {"before": max(one["before"] for one in results), "after": min(one["after"] for one in results)}


def _built(config: ModelConfig, seed: int, kernel: str, masked: bool) -> nn.Module:
    """The model, with or without the mask: without it the test must fail, which shows that it can."""
    model = build(config, seed=seed, kernel=kernel).eval()
    assert isinstance(model, EncoderDecoder | DecoderOnly)
    model.decoder.causal = masked
    return model


# --- every decoder that can be configured, and the test of each ---


def configurations() -> dict[str, ModelConfig]:
    """The grid of families, positions, norm orders and norms; and every named model that has a decoder, shrunk."""
    grid = {
        f"{family} {position} {order} {norm}": small(
            ModelConfig(
                family=family,
                position=Choice(position),
                norm_order=order,
                norm=Choice(norm),
                head=Choice("language_model"),
            )
        )
        for family, position, order, norm in product(FAMILIES, POSITIONS, ORDERS, NORMS)
    }
    extra = {
        "shared key heads": replace(small(ModelConfig(family="decoder", head=Choice("language_model"))), n_kv_heads=2),
        "gated": small(ModelConfig(family="decoder", feed_forward=Choice("gated"), head=Choice("language_model"))),
    }
    named = {name: small(make()) for name, make in PRESETS.items() if make().decoder_layers}
    return grid | extra | named


def small(config: ModelConfig) -> ModelConfig:
    """The same choices in tiny sizes: two layers, four heads of four numbers, a window of three."""
    position = Choice("rotary", {"base": 10000.0}) if config.position.kind == "rotary" else config.position
    return replace(
        config,
        vocab_size=VOCABULARY,
        max_len=16,
        d_model=16,
        n_heads=4,
        n_kv_heads=None if config.n_kv_heads in (None, config.n_heads) else 2,
        d_k=None if config.d_k is None else 6,
        d_ff=32,
        n_encoder_layers=None if config.family == "decoder" else 2,
        n_decoder_layers=2,
        position=position,
        window=None if config.window is None else 3,
        special_tokens=0,
    )


@torch.no_grad()
def probe(model: nn.Module, seed: int) -> dict[str, float]:
    """Row i of the batch has its token at position i changed: how far the outputs move before it, and at it."""
    random = torch.Generator().manual_seed(seed)
    row = torch.randint(0, VOCABULARY, (1, LENGTH), generator=random)
    source = torch.randint(0, VOCABULARY, (1, MEMORY), generator=random)
    same = row.expand(LENGTH, LENGTH)
    changed = same + torch.eye(LENGTH, dtype=torch.long)
    moved = (_run(model, changed % VOCABULARY, source) - _run(model, same, source)).abs().amax(-1)  # row position
    place = torch.arange(LENGTH)
    before = moved[place[None, :] < place[:, None]]
    return {"before": float(before.max()), "after": float(moved.diagonal().min())}


def _run(model: nn.Module, tokens: Tensor, source: Tensor) -> Tensor:
    if isinstance(model, EncoderDecoder):
        answer: Tensor = model(source.expand(len(tokens), -1), tokens)
        return answer
    alone: Tensor = model(tokens)
    return alone


def verdicts(data: Data) -> dict[str, Verdict]:
    """Exact: in no configuration does an output before the changed token differ by a single bit.

    The tolerance is 0: the same numbers go through the same operations. The outputs at the changed token must move in
    every configuration, so that a model with constant output cannot pass.
    """
    measured = {name: data[name] for name in ("configurations", "passes", "before", "after", "unmasked", "leaks")}
    return {"causal": Verdict.of(exact(data["before"] == 0.0 and data["after"] > 0.0), measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Two triangles: weights (row = query, column = key), and changes (row = changed token, column = what moved)."""
    figure = theme.figure(10, 5.2)
    tokens = [token.replace("▁", "") for token in data["tokens"]]
    left, right = figure.subplots(1, 2)
    seen = [[value if s <= t else None for s, value in enumerate(row)] for t, row in enumerate(data["weights"])]
    heat(left, theme, seen, rows=tokens, columns=tokens, most=1.0, bar=words("weight"))
    left.set(title=words("weights"), xlabel=words("keys"), ylabel=words("queries"))
    moved = [[None if value == 0.0 else value for value in row] for row in data["moved"]]
    heat(right, theme, moved, rows=tokens, columns=tokens, form=".3g", bar=words("change"))
    right.set(title=words("moved"), xlabel=words("outputs"), ylabel=words("changed"))
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("causal",),
    models=("ko-en",),
    equation=r"M_{ts}=[s\le t]",
    formula="M_ts = (s ≤ t)",
    paper="§3.1, §3.2.3",
    sources=("layers/attention/mask.py", "models/decoder.py"),
    picture="look_ahead_mask",
)
