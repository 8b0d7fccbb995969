"""Sinusoidal positions, §3.5: waves, the linear map for an offset, distances and similarities of positions.

Claims pe-linear, pe-difference, pe-distance, pe-near and pe-frequency; the rules are in `verdicts`.
"""

from __future__ import annotations

from itertools import pairwise
from math import pi
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from glassformer.layers.position.sinusoidal import sinusoid
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact
from glassformer.show.drawing import heat, hover
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


D_MODEL, SHOWN = 128, 100  # dimensions and positions in the picture
DIMENSIONS = (0, 10, 50, 100)
LAST = 5000  # number of positions measured
OFFSETS = (1, 2, 5, 10, 50, 100, 500, 1000)
WIDTHS = (8, 16, 32, 64, 128, 256, 512)
BANDS = ((1, 3), (4, 10), (11, 31), (32, 99))  # half a power of ten each
EPS = float(torch.finfo(torch.float64).eps)
# An angle up to LAST + offset is off by that many eps, several times: in the power and the division, on both sides.
TOLERANCE = 8 * EPS * (LAST + max(OFFSETS))


def run(setup: LessonSetup) -> Data:
    """All in float64, except for one check of the float32 table that a model uses."""
    table = sinusoid(torch.arange(LAST), D_MODEL, dtype=torch.float64)  # p d_model
    offsets = [_offset(table, k) for k in setup.each("offsets", OFFSETS)]
    shown = table[:SHOWN]
    similar = {str(width): _similarity(width) for width in WIDTHS}
    return {
        "d_model": D_MODEL,
        "positions": SHOWN,
        "last": LAST,
        "tolerance": TOLERANCE,
        "heat": _bytes(shown),
        "dots": _bytes(_cosines(shown)),
        "waves": {str(dimension): [round(x, 3) for x in shown[:, dimension].tolist()] for dimension in DIMENSIONS},
        "map": {"k": 10, "matrix": [[round(x, 3) for x in row] for row in linear_map(10, 16).tolist()]},
        "offsets": offsets,
        "near": offsets[0],
        "noise": _noise(setup),
        "similarity": {width: found["bands"] for width, found in similar.items()},
        "falling": similar[str(D_MODEL)]["falling"],
        "periods": _periods(table),
    }


def linear_map(k: int, d_model: int) -> Tensor:
    """M_k: rotates every pair (sin, cos) of dimensions by k·θ_i. It depends on k, not on any position."""
    angles = k / 10000.0 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)  # d_model/2
    blocks = [
        torch.tensor([[c, s], [-s, c]], dtype=torch.float64)
        for c, s in zip(angles.cos().tolist(), angles.sin().tolist(), strict=True)
    ]
    return torch.block_diag(*blocks)  # d_model d_model


def _offset(table: Tensor, k: int) -> dict[str, float]:
    """PE(p + k) against M_k PE(p); how much differences and distances vary over p."""
    now, later = table[:-k], table[k:]
    differences = later - now  # p d_model
    lengths = differences.norm(dim=1)  # p
    narrow = sinusoid(torch.arange(LAST), D_MODEL, dtype=torch.float32).double()
    return {
        "k": k,
        "error": float((now @ linear_map(k, D_MODEL).T - later).abs().max()),
        "error_float32": float((narrow[:-k] @ linear_map(k, D_MODEL).T - narrow[k:]).abs().max()),
        "difference_spread": float((differences - differences[0]).norm(dim=1).max() / lengths.mean()),
        "difference_cosine": float((differences @ differences[0] / (lengths * lengths[0])).min()),
        "distance": float(lengths.mean()),
        "distance_spread": float(lengths.max() - lengths.min()),
    }


def _noise(setup: LessonSetup) -> dict[str, float]:
    """The error of the best linear map (least squares) for a table of noise: the control of pe-linear."""
    random = torch.Generator().manual_seed(setup.seeds[0])
    table = torch.randn(LAST, D_MODEL, generator=random, dtype=torch.float64)
    best = torch.linalg.lstsq(table[:-1], table[1:]).solution
    return {"left": float((table[:-1] @ best - table[1:]).norm() / table[1:].norm())}


def _similarity(d_model: int) -> dict[str, Any]:
    """Mean cosine by offset, over positions; then in bands, and how often one step further is less similar."""
    table = sinusoid(torch.arange(LAST), d_model, dtype=torch.float64)
    unit = table / table.norm(dim=1, keepdim=True)
    cosine = [float((unit[k:] * unit[: len(unit) - k]).sum(1).mean()) for k in range(SHOWN)]
    bands = [sum(cosine[low : high + 1]) / (high + 1 - low) for low, high in BANDS]
    falling = sum(later < now for now, later in pairwise(cosine)) / (SHOWN - 1)
    return {"bands": bands, "falling": falling}


def _cosines(table: Tensor) -> Tensor:
    unit = table / table.norm(dim=1, keepdim=True)
    return unit @ unit.T


def _periods(table: Tensor) -> list[float]:
    """The period of each pair of dimensions, from the angle between neighbouring positions."""
    pairs = table.unflatten(1, (-1, 2))  # p d_model/2 2
    sin, cos = pairs[..., 0], pairs[..., 1]
    turned = torch.atan2(sin[1:] * cos[:-1] - cos[1:] * sin[:-1], (pairs[1:] * pairs[:-1]).sum(-1)).mean(0)
    return (2 * pi / turned).tolist()


def _bytes(values: Tensor) -> list[str]:
    """Numbers from −1 to 1 as bytes, two hexadecimal digits each: compact, and precise enough for a picture."""
    return [bytes(row).hex() for row in ((values.clamp(-1, 1) + 1) * 127.5).round().to(torch.uint8).tolist()]


def verdicts(data: Data) -> dict[str, Verdict]:
    """The rules, all exact. `tolerance` is float64's rounding of an angle at the largest position, 8 · eps · (last +
    offset).

    pe-linear: M_k PE(p) is PE(p + k) within the tolerance, for every offset and position.
    pe-difference: taken literally, PE(p + k) − PE(p) is one vector for all p: no difference is further from that of
    p = 0 than the tolerance (relative to its length).
    pe-distance: the length of that difference varies over p by no more than the tolerance times √d_model.
    pe-near: the mean cosine falls from band to band (offsets 1–3, 4–10, 11–31, 32–99); the sides are the widths.
    pe-frequency: the period read from the encodings rises from each pair of dimensions to the next.
    """
    offsets, tolerance, first = data["offsets"], data["tolerance"], data["near"]
    linear = max(row["error"] for row in offsets)
    spread = max(row["distance_spread"] for row in offsets)
    literal = max(row["difference_spread"] for row in offsets)
    periods = data["periods"]
    rising = all(slow > fast for fast, slow in pairwise(periods))
    measured = {
        "linear": {"error": linear, "tolerance": tolerance, "noise": data["noise"]["left"], "last": data["last"]},
        "difference": {"spread": first["difference_spread"], "cosine": first["difference_cosine"]},
        "distance": {"spread": spread, "distance": first["distance"], "last": data["last"]},
        "frequency": {"first": periods[0], "last": periods[-1], "pairs": len(periods)},
    }
    return {
        "pe-linear": Verdict.of(exact(linear <= tolerance), measured["linear"]),
        "pe-difference": Verdict.of(exact(literal <= tolerance), measured["difference"]),
        "pe-distance": Verdict.of(exact(spread <= tolerance * data["d_model"] ** 0.5), measured["distance"]),
        "pe-near": _verdict_near(data),
        "pe-frequency": Verdict.of(exact(rising), measured["frequency"]),
    }


def _verdict_near(data: Data) -> Verdict:
    bands = data["similarity"][str(data["d_model"])]
    sides = {
        width: exact(all(far < near for near, far in pairwise(found))) for width, found in data["similarity"].items()
    }
    return Verdict.of(sides, {"near": bands[0], "far": bands[-1], "falling": data["falling"]})


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Table and waves above, similarities and linear map below."""
    figure = theme.figure(10, 8)
    (table, waves), (dots, linear) = figure.subplots(2, 2)
    heat(table, theme, values(data["heat"]), most=1.0)
    table.set_title(words("table", d_model=data["d_model"], positions=data["positions"]))
    table.set_xlabel(words("dimension"))
    table.set_ylabel(words("position"))
    _waves(waves, data, theme, words)
    heat(dots, theme, values(data["dots"]), most=1.0)
    dots.set(title=words("dots"), xlabel=words("position"), ylabel=words("position"))
    heat(linear, theme, data["map"]["matrix"], most=1.0)
    linear.set(title=words("map", k=data["map"]["k"]), xlabel=words("from"), ylabel=words("to"))
    return figure


def values(rows: list[str]) -> list[list[float]]:
    """Bytes in hexadecimal digits → numbers from −1 to 1."""
    return [[byte / 127.5 - 1 for byte in bytes.fromhex(row)] for row in rows]


def _waves(axes: Axes, data: Data, theme: Theme, words: PictureWords) -> None:
    """Waves one above the other: crossing lines would be hard to follow."""
    for number, (dimension, wave) in enumerate(data["waves"].items()):
        middle = -2.4 * number
        axes.axhline(middle, color=theme.grid, linewidth=0.8)
        (line,) = axes.plot(
            range(len(wave)),
            [middle + value for value in wave],
            color=theme.series[number],
            linestyle=theme.lines[0],
        )
        hover(line, words("wave", dimension=dimension))
    axes.set_yticks([-2.4 * i for i in range(len(data["waves"]))], list(data["waves"]))
    axes.set(title=words("waves"), xlabel=words("position"), ylabel=words("dimension"))
    axes.grid(visible=False)


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("pe-linear", "pe-difference", "pe-distance", "pe-near", "pe-frequency"),
    equation=(
        r"PE_{(pos,2i)}=\sin\!\left(\frac{pos}{10000^{2i/d_{\mathrm{model}}}}\right),\quad "
        r"PE_{(pos,2i+1)}=\cos\!\left(\frac{pos}{10000^{2i/d_{\mathrm{model}}}}\right)"
    ),
    formula="PE(pos, 2i) = sin(pos / 10000^(2i/d_model)),  PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model))",
    paper="§3.5",
    sources=("layers/position/sinusoidal.py",),
    picture="positional_encoding_analysis",
)
