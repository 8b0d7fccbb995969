"""Figure 1 as a map of our own modules: the boxes of a built model, from the text to the probabilities."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from glassformer.lessons.fingerprint import PACKAGE
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.loading import open_config
from glassformer.models.build import build
from glassformer.show.drawing import hover
from glassformer.show.theme import Theme
from glassformer.trace.sentence import split_at_spaces

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MODEL = "paper-base"
SOURCE, TARGET = "나는 학교에 간다", "I go to school"
# the boxes of Figure 1 by the paths of our modules, in the order of the pass
BOXES = {
    "embedding": "embedding",
    "encoder_positions": "encoder.positions",
    "encoder_self_attention": "encoder.blocks.0.self_attention",
    "encoder_self_attention_norm": "encoder.blocks.0.self_attention_norm",
    "encoder_feed_forward": "encoder.blocks.0.feed_forward",
    "encoder_feed_forward_norm": "encoder.blocks.0.feed_forward_norm",
    "decoder_positions": "decoder.positions",
    "decoder_self_attention": "decoder.blocks.0.self_attention",
    "decoder_self_attention_norm": "decoder.blocks.0.self_attention_norm",
    "decoder_cross_attention": "decoder.blocks.0.cross_attention",
    "decoder_cross_attention_norm": "decoder.blocks.0.cross_attention_norm",
    "decoder_feed_forward": "decoder.blocks.0.feed_forward",
    "decoder_feed_forward_norm": "decoder.blocks.0.feed_forward_norm",
    "head": "head",
    "encoder_layer": "encoder.blocks.0",
    "decoder_layer": "decoder.blocks.0",
    "encoder": "encoder",
    "decoder": "decoder",
    "model": "",
}


def run(setup: LessonSetup) -> Data:
    """Build the paper's base model without memory (on "meta"), pass a sentence through it, and describe every box."""
    config = open_config(MODEL)
    model = build(config, device="meta")
    source, target = split_at_spaces(SOURCE), split_at_spaces(TARGET)
    shapes, order = _pass(model, len(source), len(target))
    boxes = {name: _box(model, path, shapes) for name, path in BOXES.items()}
    return {
        "model": MODEL,
        "sentence": {"source": SOURCE, "target": TARGET, "source_tokens": len(source), "target_tokens": len(target)},
        "n_layers": config.encoder_layers,
        "d_model": config.d_model,
        "n_heads": config.n_heads,
        "d_k": config.head_size,
        "d_ff": config.d_ff,
        "vocab_size": config.vocab_size,
        "tied": config.tie_embeddings,
        "boxes": boxes,
        "order": [name for path in order for name, known in BOXES.items() if path and known == path],
        "total": boxes["model"]["parameters"],
    }


def _pass(model: nn.Module, source: int, target: int) -> tuple[dict[str, list[int]], list[str]]:
    """The output shape of every module, and the order in which they ran."""
    shapes: dict[str, list[int]] = {}

    def note(path: str, result: Any) -> None:
        if isinstance(result, Tensor):
            shapes[path] = list(result.shape)

    hooks = [
        module.register_forward_hook(lambda _, __, result, path=path: note(path, result))
        for path, module in model.named_modules()
    ]
    ids = [torch.zeros(1, length, dtype=torch.long, device="meta") for length in (source, target)]
    try:
        with torch.no_grad():
            model.eval()(*ids)
    finally:
        for hook in hooks:
            hook.remove()
    return shapes, list(shapes)


def _box(model: nn.Module, path: str, shapes: dict[str, list[int]]) -> dict[str, Any]:
    module = model.get_submodule(path)
    file = Path(inspect.getfile(type(module))).resolve().relative_to(PACKAGE)
    return {
        "path": path,
        "class": type(module).__name__,
        "file": file.as_posix(),
        "parameters": sum(parameter.numel() for parameter in module.parameters()),
        "shape": shapes.get(path, []),
    }


LEFT, RIGHT, WIDE = 3.1, 7.3, 2.5  # the centres of the two stacks, and the width of a box
TALL, NORM = 0.62, 0.42  # heights of a box and of Add & Norm
# where every box is drawn, from text to probabilities
PLACES: dict[str, tuple[float, float]] = {
    "encoder_self_attention": (LEFT, 3.55),
    "encoder_self_attention_norm": (LEFT, 4.25),
    "encoder_feed_forward": (LEFT, 5.4),
    "encoder_feed_forward_norm": (LEFT, 6.1),
    "decoder_self_attention": (RIGHT, 3.55),
    "decoder_self_attention_norm": (RIGHT, 4.25),
    "decoder_cross_attention": (RIGHT, 5.4),
    "decoder_cross_attention_norm": (RIGHT, 6.1),
    "decoder_feed_forward": (RIGHT, 7.25),
    "decoder_feed_forward_norm": (RIGHT, 7.95),
}
EMBEDDED, POSITIONED, HEAD, SOFTMAX = 1.05, 2.05, 9.35, 10.25


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Encoder on the left, decoder on the right, read from the bottom to the top."""
    figure = theme.figure(8.4, 8)
    axes = figure.subplots()
    axes.set_xlim(0, 10.4)
    axes.set_ylim(-0.15, 11.25)
    axes.axis("off")
    _layers(axes, theme, words, data)
    _stream(axes, theme, LEFT, (0.3, 6.1 + NORM / 2))
    _stream(axes, theme, RIGHT, (0.3, 10.8))
    _memory(axes, theme, words)
    for name, place in PLACES.items():
        _draw_box(axes, theme, words, data, name, place)
    for x, side in ((LEFT, "encoder"), (RIGHT, "decoder")):
        _draw_box(axes, theme, words, data, "embedding", (x, EMBEDDED))
        _positions(axes, theme, words, data, side, x)
    _draw_box(axes, theme, words, data, "head", (RIGHT, HEAD))
    _plain_box(axes, theme, words("softmax"), (RIGHT, SOFTMAX))
    _bypasses(axes, theme)
    _texts(axes, theme, words, data)
    return figure


def _colour(theme: Theme, name: str) -> str:
    """The colours of the paper's figure where it has one: attention orange, feed-forward blue, norm yellow."""
    kinds = {"attention": theme.orange, "feed_forward": theme.sky, "embedding": theme.vermilion, "head": theme.purple}
    return theme.green if name.endswith("norm") else next(colour for kind, colour in kinds.items() if kind in name)


def _draw_box(axes: Axes, theme: Theme, words: PictureWords, data: Data, name: str, at: tuple[float, float]) -> None:
    found = data["boxes"][name]
    height = NORM if name.endswith("norm") else TALL
    label = words("norm") if name.endswith("norm") else words(name)
    patch = _plain_box(axes, theme, label, at, height, _colour(theme, name))
    hover(patch, _told(found))
    parameters = f"{found['parameters']:,}" if found["parameters"] else words("tied")
    side = -1 if at[0] == LEFT else 1
    if name != "embedding" or side < 0:
        axes.text(
            at[0] + side * (WIDE / 2 + 0.42),
            at[1],
            parameters,
            fontsize=8,
            color=theme.muted,
            va="center",
            ha="right" if side < 0 else "left",
        )


def _told(found: dict[str, Any]) -> str:
    shape = "×".join(map(str, found["shape"]))
    return f"{found['path']} · {found['class']} · {found['parameters']:,} · {shape} · {found['file']}"


def _plain_box(
    axes: Axes,
    theme: Theme,
    label: str,
    at: tuple[float, float],
    height: float = TALL,
    colour: str | None = None,
) -> Any:
    from matplotlib.patches import FancyBboxPatch

    corner = (at[0] - WIDE / 2, at[1] - height / 2)
    style = "round,pad=0,rounding_size=0.12"
    axes.add_patch(FancyBboxPatch(corner, WIDE, height, boxstyle=style, facecolor=theme.paper, linewidth=0, zorder=3))
    patch = FancyBboxPatch(
        corner,
        WIDE,
        height,
        boxstyle=style,
        facecolor=(colour or theme.muted, 0.28),
        edgecolor=colour or theme.muted,
        linewidth=1.3,
        zorder=4,
    )
    axes.add_patch(patch)
    axes.text(*at, label, ha="center", va="center", fontsize=9, color=theme.ink, zorder=5, linespacing=1.0)
    return patch


def _layers(axes: Axes, theme: Theme, words: PictureWords, data: Data) -> None:
    """The grey frames of Figure 1 with N×."""
    from matplotlib.patches import FancyBboxPatch

    for x, top, name in ((LEFT, 6.55, "encoder_layer"), (RIGHT, 8.4, "decoder_layer")):
        frame = FancyBboxPatch(
            (x - WIDE / 2 - 0.36, 2.72),
            WIDE + 0.72,
            top - 2.72,
            boxstyle="round,pad=0,rounding_size=0.2",
            facecolor=(theme.muted, 0.08),
            edgecolor=theme.muted,
            linewidth=1.1,
            zorder=1,
        )
        hover(frame, _told(data["boxes"][name]))
        axes.add_patch(frame)
        left = x == LEFT
        at = (x + (-1 if left else 1) * (WIDE / 2 + 0.5), 2.85)
        axes.text(*at, words("times", n=data["n_layers"]), fontsize=13, ha="right" if left else "left", va="center")


def _stream(axes: Axes, theme: Theme, x: float, ends: tuple[float, float]) -> None:
    axes.annotate(
        "", (x, ends[1]), (x, ends[0]), arrowprops={"arrowstyle": "-|>", "color": theme.ink, "linewidth": 1.3}, zorder=2
    )


def _path(axes: Axes, theme: Theme, points: Sequence[tuple[float, float]], arrow: bool = True) -> None:
    xs, ys = zip(*points, strict=True)
    axes.plot(xs, ys, color=theme.ink, linewidth=1.2, zorder=2, solid_joinstyle="round")
    if arrow:
        axes.annotate(
            "",
            points[-1],
            points[-2],
            arrowprops={"arrowstyle": "-|>", "color": theme.ink, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0},
            zorder=2,
        )


def _bypasses(axes: Axes, theme: Theme) -> None:
    """The residual connections around every sub-layer into its Add & Norm, and the forks to Q, K and V."""
    for name, (x, y) in PLACES.items():
        if name.endswith("norm"):
            below = PLACES[name.removesuffix("_norm")][1] - TALL / 2 - 0.22
            out = -1 if x == LEFT else 1
            edge = x + out * WIDE / 2
            _path(axes, theme, [(x, below), (edge + out * 0.2, below), (edge + out * 0.2, y), (edge, y)])
        elif "cross" not in name and "attention" in name:
            foot = y - TALL / 2
            for away in (-0.6, 0.6):
                _path(axes, theme, [(x, foot - 0.13), (x + away, foot - 0.13), (x + away, foot)])


def _memory(axes: Axes, theme: Theme, words: PictureWords) -> None:
    """The memory: the encoder's output gives keys and values to every decoder layer."""
    top, foot = 6.85, PLACES["decoder_cross_attention"][1] - TALL / 2
    middle = (LEFT + RIGHT) / 2
    _path(axes, theme, [(LEFT, 6.1), (LEFT, top), (middle, top), (middle, foot - 0.13)], arrow=False)
    for away in (-0.85, -0.3):
        _path(axes, theme, [(middle, foot - 0.13), (RIGHT + away, foot - 0.13), (RIGHT + away, foot)])
    axes.text(LEFT + 0.1, top + 0.1, words("memory"), fontsize=9, ha="left", va="bottom", color=theme.ink)
    axes.text(middle + 0.1, foot - 0.08, "K V", fontsize=8, ha="left", va="bottom", color=theme.muted)
    axes.text(RIGHT + 0.08, foot - 0.02, "Q", fontsize=8, ha="left", va="top", color=theme.muted)


def _positions(axes: Axes, theme: Theme, words: PictureWords, data: Data, side: str, x: float) -> None:
    from matplotlib.patches import Circle

    out = -1 if x == LEFT else 1
    for offset, sign, size in ((0.0, "+", 0.17), (out * 1.25, "~", 0.22)):
        if offset:
            _path(axes, theme, [(x + offset, POSITIONED), (x, POSITIONED)], arrow=False)
        circle = Circle((x + offset, POSITIONED), size, facecolor=theme.paper, edgecolor=theme.ink, zorder=4)
        axes.add_patch(circle)
        axes.text(x + offset, POSITIONED, sign, ha="center", va="center", fontsize=11, zorder=5)
        if offset:
            hover(circle, _told(data["boxes"][f"{side}_positions"]))
    axes.text(
        x + out * 1.55,
        POSITIONED,
        words("positions"),
        fontsize=8.5,
        ha="right" if out < 0 else "left",
        va="center",
    )


def _texts(axes: Axes, theme: Theme, words: PictureWords, data: Data) -> None:
    said = data["sentence"]
    axes.text(LEFT, 0.22, words("source", text=said["source"]), ha="center", va="top", fontsize=9)
    axes.text(RIGHT, 0.22, words("target", text=said["target"]), ha="center", va="top", fontsize=9)
    axes.text(RIGHT, 10.85, words("probabilities"), ha="center", va="bottom", fontsize=9)
    axes.text(LEFT, 8.6, words("about", model=data["model"], total=f"{data['total']:,}"), ha="center", fontsize=9)


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    equation=r"\begin{aligned}Z_1&=\mathrm{LayerNorm}(X+\mathrm{MultiHead}(X))\\"
    r"Z_2&=\mathrm{LayerNorm}(Z_1+\mathrm{FFN}(Z_1))\end{aligned}",
    formula="Z1 = LayerNorm(X + MultiHead(X)),  Z2 = LayerNorm(Z1 + FFN(Z1))",
    paper="§3, Figure 1",
    sources=("models/encoder_decoder.py", "models/stack.py", "models/block.py"),
)
