"""What attention costs: FLOPs from the ledger and measured time, against the length of the text.

Claim attention-quadratic; the rule is in `verdicts`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import log2
from statistics import median
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from glassformer.config.model import ModelConfig
from glassformer.layers.attention.kernel import KERNELS
from glassformer.layers.attention.mask import Mask
from glassformer.ledger.costs import Pass, costs
from glassformer.lessons.families.clock import in_turn
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact
from glassformer.models.build import build
from glassformer.models.encoder import EncoderOnly
from glassformer.show.drawing import lines, logarithmic
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LENGTHS = tuple(128 * 2**n for n in range(9))  # 128 … 32,768 tokens
BASE: dict[str, Any] = {"d_model": 512, "n_heads": 8, "d_ff": 2048, "n_encoder_layers": 6}  # the paper's encoder
CLOCKED = (64, 128, 256, 512, 1024, 2048)
SMALL: dict[str, Any] = {"d_model": 64, "n_heads": 4, "d_ff": 256, "n_encoder_layers": 1}
ROUNDS = 21
OF_PAIRS = ("scores", "heads")  # the two products over all pairs of positions


def run(setup: LessonSetup) -> Data:
    """FLOPs of the paper's encoder at every length by formula; times of a small encoder."""
    rows = [_flops(length) for length in LENGTHS]
    clocked = [n for n in CLOCKED if n <= setup.some(CLOCKED[-1], 128)]
    timed = _clock(setup, clocked)
    d_model, d_ff = BASE["d_model"], BASE["d_ff"]
    return {
        **{key: BASE[key] for key in ("d_model", "d_ff", "n_encoder_layers")},
        "rows": rows,
        "first": rows[0],
        "last": rows[-1],
        "half": next((row["length"] for row in rows if row["share"] > 0.5), None),
        "equal": (8 * d_model**2 + 4 * d_model * d_ff) / (4 * d_model),  # 4 n d = 8 d² + 4 d d_ff
        "clock": timed,
        "clock_last": timed[-1],
        "small": SMALL,
    }


def _config(sizes: dict[str, Any], longest: int) -> ModelConfig:
    return ModelConfig.from_dict({**sizes, "family": "encoder", "input": "vectors", "max_len": longest})


def _flops(length: int) -> dict[str, Any]:
    """FLOPs of one forward pass: the products over all pairs, and everything else."""
    parts = costs(_config(BASE, LENGTHS[-1]), Pass(batch=1, length=length, training=False))
    entries = [entry for part in parts.values() for entry in part.products]
    pairs = sum(entry.amount for entry in entries if entry.name in OF_PAIRS)
    every = sum(entry.amount for entry in entries)
    return {"length": length, "pairs": pairs, "rest": every - pairs, "share": pairs / every}


def _clock(setup: LessonSetup, lengths: list[int]) -> list[dict[str, Any]]:
    """Milliseconds of the attention kernel alone and of a whole layer: one thread, medians of interleaved rounds."""
    model = build(_config(SMALL, CLOCKED[-1]), seed=0).eval()
    assert isinstance(model, EncoderOnly)
    d_k = SMALL["d_model"] // SMALL["n_heads"]
    works: dict[tuple[str, int], Callable[[], None]] = {}
    for length in lengths:
        x = torch.randn(1, length, SMALL["d_model"], generator=torch.Generator().manual_seed(length))
        q = torch.randn(1, SMALL["n_heads"], length, d_k, generator=torch.Generator().manual_seed(length))
        works["attention", length] = partial(_attention, q)
        works["layer", length] = partial(_layer, model.encoder, x)
    found = {name: median(each) for name, each in in_turn(works, setup.some(ROUNDS, 2)).items()}
    rows: list[dict[str, Any]] = [
        {"length": n, "attention": found["attention", n], "layer": found["layer", n]} for n in lengths
    ]
    for before, row in pairwise(rows):
        row["exponent"] = {name: log2(row[name] / before[name]) for name in ("attention", "layer")}
    return rows


@torch.no_grad()
def _attention(q: torch.Tensor) -> None:
    KERNELS["fused"](q, q, q, Mask(), bias=None, scale=q.shape[-1] ** -0.5, dropout=0.0)


@torch.no_grad()
def _layer(encoder: nn.Module, x: torch.Tensor) -> None:
    encoder(x)


def verdicts(data: Data) -> dict[str, Verdict]:
    """Quadratic means: when the length doubles, the FLOPs over all pairs become exactly four times as many, while the
    rest doubles. They are the price if they are more than half of all FLOPs.

    The sides are the lengths. The ledger counts in integers, so there is no tolerance. Time is shown but not judged: it
    is of one machine.
    """
    rows = data["rows"]
    quadratic = exact(all(b["pairs"] == 4 * a["pairs"] and b["rest"] == 2 * a["rest"] for a, b in pairwise(rows)))
    sides = {str(row["length"]): {"quadratic": quadratic, "price": exact(row["share"] > 0.5)} for row in rows}
    measured = {
        "first": rows[0],
        "last": rows[-1],
        "half": data["half"],
        "equal": data["equal"],
        "d_model": data["d_model"],
        "clock": data["clock"][-1],
    }
    return {"attention-quadratic": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Three panels."""
    figure = theme.figure(10, 3.9)
    flops, share, clock = figure.subplots(1, 3)
    rows = data["rows"]
    lengths = [row["length"] for row in rows]
    curves = {words(name): [row[name] / 1e9 for row in rows] for name in ("pairs", "rest")}
    lines(flops, theme, lengths, curves)
    logarithmic(flops)
    flops.set_title(words("flops"))
    lines(share, theme, lengths, {words("share"): [row["share"] for row in rows]}, form=".1%")
    share.axhline(0.5, color=theme.muted, linestyle="--")
    share.set_ylim(0, 1)
    share.yaxis.set_major_formatter("{x:.0%}")
    share.set_title(words("share"))
    share.get_legend().remove()
    timed = data["clock"]
    times = {words(name): [row[name] for row in timed] for name in ("attention", "layer")}
    lines(clock, theme, [row["length"] for row in timed], times)
    logarithmic(clock)
    clock.set_title(words("time"))
    for axes in (flops, share, clock):
        logarithmic(axes, "x", base=2)
        axes.set_xlabel(words("length"))
        axes.tick_params(axis="x", labelrotation=45)
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("attention-quadratic",),
    equation=r"\mathrm{FLOPs}(n)=\underbrace{4n^2d}_{QK^\top,\ AV}+\underbrace{8nd^2}_{Q,K,V,O}"
    r"+\underbrace{4nd\,d_{ff}}_{FFN}",
    formula="FLOPs(n) = 4 n² d + 8 n d² + 4 n d d_ff   (one layer)",
    paper="§4, Table 1",
    sources=("ledger/costs.py", "symbols/attention.py", "layers/attention/kernel.py"),
)
