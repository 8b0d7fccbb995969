"""Figure 1 as a map of our own modules: what a built model is made of, from the text to the probabilities."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.lessons.desk import Desk
from glassformer.lessons.fingerprint import ROOT
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.overview.architecture_picture import draw
from glassformer.loading import open_config
from glassformer.models.build import build
from glassformer.trace.sentence import split

MODEL = "paper-base"
SOURCE, TARGET = "나는 학교에 간다", "I go to school"
# the boxes of Figure 1 by the paths of our modules, in the order of the data
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


def run(desk: Desk) -> Data:
    """Build the paper's base model without memory (on "meta"), send a sentence through, ask every box what it is."""
    config = open_config(MODEL)
    model = build(config, device="meta")
    source, target = split(SOURCE), split(TARGET)
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
    """What every module gave back, and in which order they were done."""
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
    file = Path(inspect.getfile(type(module))).resolve().relative_to(ROOT)
    return {
        "path": path,
        "class": type(module).__name__,
        "file": file.as_posix(),
        "parameters": sum(parameter.numel() for parameter in module.parameters()),
        "shape": shapes.get(path, []),
    }


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
