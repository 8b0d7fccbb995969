"""The two attentions of a decoder layer: to its own words, and to the encoder. Where do Q, K and V come from?

Claim cross-attention; the rule is in `verdicts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.stacks.sentences import SENTENCE, teacher_forced
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact
from glassformer.loading import Loaded
from glassformer.models.block import DecoderBlock
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.show.drawing import colour_bar, heat
from glassformer.show.theme import Theme
from glassformer.tasks.search import SearchOptions
from glassformer.tasks.translation.translate import translate
from glassformer.trace.watch import NamedObserver, watching

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PARTS = ("q", "k", "v")
LONGEST = 16  # tokens: a hardly trained model does not know when to stop


class Keeper(NamedObserver):
    """Keeps q, k and v undetached, for gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, Tensor] = {}

    def meet(self, name: str, x: Tensor) -> Tensor:
        if name.rpartition(".")[2] in PARTS:
            self.kept[name] = x
        return x


def run(setup: LessonSetup) -> Data:
    """One translation: where the decoder of the trained translator looks, and where the gradients flow."""
    loaded = setup.model("ko-en")
    target = translate(loaded, SENTENCE, SearchOptions(max_len=LONGEST))[0]
    followed = teacher_forced(loaded, SENTENCE, target, ("decoder.*.weights",))
    causal, cross = (followed.trace.attention(kind) for kind in ("self_attention", "cross_attention"))
    layers = [(own[0].mean(0).tolist(), across[0].mean(0).tolist()) for own, across in zip(causal, cross, strict=True)]
    return {
        "sentence": SENTENCE,
        "translation": target,
        "source": followed.source,
        "target": followed.target,
        "layers": [{"self": _hidden(own), "cross": across} for own, across in layers],
        "future": max((v for own, _ in layers for i, row in enumerate(own) for v in row[i + 1 :]), default=0.0),
        "n_heads": causal[0].shape[1],
        **_gradients(loaded, target),
    }


def _hidden(rows: list[list[float]]) -> list[list[float | None]]:
    """The rows with None for masked entries."""
    return [[value if j <= i else None for j, value in enumerate(row)] for i, row in enumerate(rows)]


def _gradients(loaded: Loaded, target: str) -> dict[str, Any]:
    """Gradients through each cross-attention alone, with its two inputs kept separate, and through the whole model."""
    model, reader = loaded.model, loaded.reader()
    assert isinstance(model, EncoderDecoder)
    ids, said = reader.source(SENTENCE).ids, reader.target(target).ids
    source, begins = model.embedding(ids).detach(), model.embedding(said).detach()  # 1 s d_model, 1 t d_model
    source.requires_grad_(), begins.requires_grad_()
    with watching(model, keeper := Keeper()):
        model.decoder(begins, model.encoder(source))
    every = range(len(model.decoder.blocks))
    paths = [f"decoder.blocks.{layer}.cross_attention" for layer in every]
    whole = [{p: _norms(keeper.kept[f"{path}.{p}"], begins, source) for p in PARTS} for path in paths]
    direct = [_direct(model, layer, begins.detach(), source.detach()) for layer in every]
    return {"direct": direct, "whole": whole, "n_layers": len(direct)}


def _direct(model: EncoderDecoder, layer: int, begins: Tensor, source: Tensor) -> dict[str, dict[str, float]]:
    """One layer's cross-attention on its real stream and memory, made two independent inputs."""
    entered: list[Tensor] = []
    block = model.decoder.blocks[layer]
    assert isinstance(block, DecoderBlock) and isinstance(block.cross_attention, nn.Module)
    hook = block.cross_attention.register_forward_pre_hook(lambda _, inputs: entered.extend(inputs[:2]))
    with torch.no_grad():
        model.decoder(begins, model.encoder(source))
    hook.remove()
    stream, memory = (x.detach().requires_grad_() for x in entered)
    with watching(block.cross_attention, keeper := Keeper()):
        output = block.cross_attention(stream, memory, memory)
    kept = {**keeper.kept, "output": output}
    return {part: _norms(x, stream, memory) for part, x in kept.items()}


def _norms(x: Tensor, decoder: Tensor, encoder: Tensor) -> dict[str, float]:
    """The norms of the gradients of Σ r·x (r random) in both inputs: 0 if x does not depend on an input."""
    random = torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
    found = torch.autograd.grad((x * random).sum(), (decoder, encoder), allow_unused=True, retain_graph=True)
    lengths = [0.0 if one is None else float(one.norm()) for one in found]
    return {"decoder": lengths[0], "encoder": lengths[1]}


def verdicts(data: Data) -> dict[str, Verdict]:
    """Exact, so there is no tolerance: a path that does not exist has gradient 0, not a small one.

    In every layer, for the cross-attention alone: q has a gradient in the decoder's stream and none in the memory; k
    and v have one in the memory and none in the stream; the output has both.
    """
    layers = data["direct"]
    parts = {
        "q": exact(all(one["q"]["decoder"] > 0 and one["q"]["encoder"] == 0 for one in layers)),
        "k": exact(all(one["k"]["encoder"] > 0 and one["k"]["decoder"] == 0 for one in layers)),
        "v": exact(all(one["v"]["encoder"] > 0 and one["v"]["decoder"] == 0 for one in layers)),
        "output": exact(all(one["output"]["encoder"] > 0 and one["output"]["decoder"] > 0 for one in layers)),
    }
    measured = {"layers": len(layers), **{part: layers[0][part] for part in (*PARTS, "output")}}
    return {"cross-attention": Verdict.of({"cross_attention": parts}, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """A row for each layer: its two attentions, and its table of paths."""
    figure = theme.figure(10, 7.2)
    grid = figure.subplots(data["n_layers"], 3, width_ratios=(1.15, 1, 0.5), squeeze=False)
    for layer, (own, across, paths) in enumerate(grid):
        last = layer == data["n_layers"] - 1
        shown = data["layers"][layer]
        heat(
            own, theme, shown["self"], rows=data["target"], columns=data["target"] if last else None, most=1.0, bar=None
        )
        heat(across, theme, shown["cross"], columns=data["source"] if last else None, most=1.0, bar=None)
        across.set_yticks([])
        own.set_ylabel(words("asks"), fontsize=9)
        if last:
            own.set_xlabel(words("read"), fontsize=9)
            across.set_xlabel(words("source"), fontsize=9)
        for axes, name in ((own, "self"), (across, "cross")):
            axes.tick_params(labelsize=8)
            axes.set_title(words(name, layer=layer + 1), fontsize=10)
            if not last:
                axes.set_xticks([])
        _paths(paths, theme, words, data, layer)
    colour_bar(list(grid[:, :2].flat), theme, 1.0, label=words("weight"))
    return figure


def _paths(axes: Axes, theme: Theme, words: PictureWords, data: Data, layer: int) -> None:
    """1 if there is a gradient, 0 if there is no path; its norm is shown under the pointer."""
    found = data["direct"][layer]
    sides, parts = ("decoder", "encoder"), ("q", "k", "v", "output")
    lengths = [[found[part][side] for side in sides] for part in parts]
    labels = [words(part) for part in parts]
    most = max(max(row) for row in lengths)
    heat(
        axes,
        theme,
        lengths,
        rows=labels,
        columns=[words(side) for side in sides],
        most=most,
        printed=True,
        form=".3g",
    )
    axes.tick_params(labelsize=8)
    axes.set_title(words("gradient"), fontsize=10)


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("cross-attention",),
    models=("ko-en",),
    equation=r"\begin{aligned}Z_1&=\mathrm{LayerNorm}(Y+\mathrm{MaskedMultiHead}(Y))\\"
    r"Z_2&=\mathrm{LayerNorm}(Z_1+\mathrm{MultiHead}(Z_1,M,M))\\Z_3&=\mathrm{LayerNorm}(Z_2+\mathrm{FFN}(Z_2))\end{aligned}",
    formula="Z1 = LN(Y + MaskedMultiHead(Y)),  Z2 = LN(Z1 + MultiHead(Q=Z1, K=M, V=M)),  Z3 = LN(Z2 + FFN(Z2))",
    paper="§3.1, §3.2.3",
    sources=("models/decoder.py", "models/block.py", "layers/attention/multi_head.py"),
    picture="decoder_attention_patterns",
)
