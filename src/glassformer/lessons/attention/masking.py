"""Masks on a real batch: padding, look-ahead, both; and whether random tokens in the padding change the outputs.

Claim pad-blocked; the rule is in `verdicts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.data.batch import pad
from glassformer.layers.attention.mask import causal, combine
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact
from glassformer.loading.loaded import Loaded
from glassformer.models.build import build
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.show.drawing import mask, mask_legend
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SENTENCES = ("나는 학교에 간다", "나는 Transformer를 공부한다", "나는 친구와 함께 학교에 갔다.", "나는 책을 읽는다.")
SHOWN = 1  # the sentence whose combined mask is shown
SMALL = {"vocab_size": 40, "max_len": 16, "d_model": 16, "n_heads": 4, "d_ff": 32}
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "relative", "none")
POOLS = ("cls", "mean", "max")
KERNELS = ("reference", "fused")
ORDERS = ("post", "pre", "parallel")


def run(setup: LessonSetup) -> Data:
    """The trained translator on four sentences, then every kind of small model on random ragged batches."""
    loaded = setup.model("ko-en")
    tokens, mask = batch_of(loaded)
    rows = [[loaded.tokenizer.piece(i) for i in row] for row in tokens.tolist()]
    length = mask.shape[1]
    both = combine(causal(length), mask[SHOWN][None, :])
    assert both is not None
    trained = _translator(loaded, tokens, mask, setup.seeds)
    small = [one for seed in setup.each("small models", setup.seeds) for one in _small_models(seed)]
    return {
        "pieces": rows,
        "lengths": mask.sum(1).tolist(),
        "shown": SHOWN,
        "padding": mask.int().tolist(),
        "look_ahead": causal(length).int().tolist(),
        "combined": both.int().tolist(),
        "share": float((~mask).float().mean()),
        "trained": trained,
        "small": {
            "models": len(small),
            "masked": max(one["masked"] for one in small),
            "unmasked_least": min(one["unmasked"] for one in small),
            "unmasked_most": max(one["unmasked"] for one in small),
        },
        "largest": max(trained["masked"], *(one["masked"] for one in small)),
        "models": len(small) + 1,
    }


def batch_of(loaded: Loaded) -> tuple[Tensor, Tensor]:
    """The sentences as the model reads them, padded to the longest: tokens and mask, b s."""
    ids = [torch.tensor(loaded.framed(text)).numpy() for text in SENTENCES]
    tokens, real = pad(ids, loaded.tokenizer.specials.need("pad"))
    return tokens, torch.from_numpy(real)


def filled(tokens: Tensor, mask: Tensor, vocab_size: int, seed: int) -> Tensor:
    """The same batch with random tokens in place of padding."""
    random = torch.Generator().manual_seed(seed)
    other = torch.randint(0, vocab_size, tokens.shape, generator=random)
    return torch.where(mask, tokens, other)


@torch.no_grad()
def _translator(loaded: Loaded, tokens: Tensor, mask: Tensor, seeds: Any) -> dict[str, float]:
    """The largest change of an output at a real position, with and without mask; the target is the first tokens."""
    model = loaded.model
    assert isinstance(model, EncoderDecoder)
    target = tokens[:, :3]
    size = loaded.config.model.output_vocab_size or 0
    plain = {use: _answers(model, tokens, target, mask, use) for use in (True, False)}
    largest = {True: 0.0, False: 0.0}
    for seed in seeds:
        rubbish = filled(tokens, mask, size, seed)
        for use in (True, False):
            memory, logits = _answers(model, rubbish, target, mask, use)
            before = plain[use]
            apart = max(_apart(memory[mask], before[0][mask]), _apart(logits, before[1]))
            largest[use] = max(largest[use], apart)
    alone = max(
        _apart(model.encode(tokens[i : i + 1, :n]), plain[True][0][i : i + 1, :n])
        for i, n in enumerate(mask.sum(1).tolist())
    )
    return {"masked": largest[True], "unmasked": largest[False], "alone": alone}


def _answers(model: EncoderDecoder, tokens: Tensor, target: Tensor, mask: Tensor, use: bool) -> tuple[Tensor, Tensor]:
    given = mask if use else None
    memory = model.encode(tokens, given)
    return memory, model.decode(target, memory, None, given)


def _apart(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


def _small_models(seed: int) -> list[dict[str, float]]:
    """Encoders with every position, norm order, pooling and kernel, and decoders padded on the left."""
    found: list[dict[str, float]] = []
    for position in POSITIONS:
        for order in ORDERS:
            for kernel in KERNELS:
                pool = POOLS[len(found) % len(POOLS)]
                shape: dict[str, Any] = {**SMALL, "position": Choice(position), "norm_order": order}
                head = Choice("classifier", {"classes": 3, "pool": pool})
                encoder = ModelConfig(family="encoder", n_encoder_layers=2, head=head, **shape)
                decoder = ModelConfig(family="decoder", n_decoder_layers=2, head=Choice("language_model"), **shape)
                found += [
                    _probe(build(config, seed=seed, kernel=kernel), config, seed) for config in (encoder, decoder)
                ]
    return found


@torch.no_grad()
def _probe(model: nn.Module, config: ModelConfig, seed: int) -> dict[str, float]:
    """A random ragged batch; a decoder is padded on the left, as in generation."""
    random = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, SMALL["vocab_size"], (4, 10), generator=random)
    lengths = torch.tensor([10, 7, 4, 2])
    mask = torch.arange(10)[None, :] < lengths[:, None]  # b s
    mask = mask if config.family == "encoder" else mask.flip(1)
    model.eval()
    other = filled(tokens, mask, SMALL["vocab_size"], seed + 1)
    one, two = (
        model(tokens, given)[_counts(config, mask)] - model(other, given)[_counts(config, mask)]
        for given in (mask, None)
    )
    return {"masked": float(one.abs().max()), "unmasked": float(two.abs().max())}


def _counts(config: ModelConfig, mask: Tensor) -> Tensor:
    """Which outputs count: one for each text, or one for each real token."""
    return torch.ones(len(mask), dtype=torch.bool) if config.family == "encoder" else mask


def verdicts(data: Data) -> dict[str, Verdict]:
    """Exact: no output at a real position changes by a single bit, in any model.

    The tolerance is 0: a masked key has weight 0 exactly, and 0 times anything finite is 0.
    """
    measured = {
        "largest": data["largest"],
        "models": data["models"],
        "unmasked": data["trained"]["unmasked"],
        "alone": data["trained"]["alone"],
    }
    return {"pad-blocked": Verdict.of(exact(data["largest"] == 0.0), measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Above: the batch with its padding. Below: the look-ahead mask, and the same without the padding."""
    figure = theme.figure(8.5, 7.4)
    grid = figure.add_gridspec(2, 2, height_ratios=[0.62, 1])
    pieces = [[piece.replace("▁", "") for piece in row] for row in data["pieces"]]
    batch = figure.add_subplot(grid[0, :])
    mask(batch, theme, data["padding"], rows=[words("row", number=i + 1) for i in range(len(pieces))])
    for i, row in enumerate(pieces):
        for j, piece in enumerate(row):
            batch.text(j, i, piece, ha="center", va="center", fontsize=9, color=theme.ink)
    batch.set_xticks([])
    batch.set_title(words("padding"))
    row = pieces[data["shown"]]
    for place, name in enumerate(("look_ahead", "combined")):
        axes = figure.add_subplot(grid[1, place])
        mask(axes, theme, data[name], rows=row, columns=row)
        axes.set(title=words(name, number=data["shown"] + 1), xlabel=words("keys"))
        if place == 0:
            axes.set_ylabel(words("queries"))
    mask_legend(figure, theme, words("may"), words("may_not"))
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("pad-blocked",),
    models=("ko-en",),
    equation=r"w=\mathrm{softmax}(S),\quad "
    r"S_{ts}=\begin{cases}q_t\cdot k_s/\sqrt{d_k}&\text{allowed}\\-\infty&\text{masked}\end{cases}",
    formula="w = softmax(S),  S_ts = q_t·k_s / √d_k where allowed, −∞ where masked",
    paper="§3.2.3",
    sources=("layers/attention/mask.py", "layers/attention/kernel.py", "data/batch.py"),
    picture="masking_visualization",
)
