"""What attention knows about order without positions: an encoder sees a bag of words.

Claim order-lost; the rule is in `verdicts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact
from glassformer.models.build import build
from glassformer.show.drawing import bars
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CAT = ("고양이", "가", "쥐", "를", "잡았다")
MOUSE = ("쥐", "가", "고양이", "를", "잡았다")
VOCABULARY = tuple(dict.fromkeys(("[CLS]", *CAT)))
SIZES: dict[str, Any] = {"d_model": 64, "n_heads": 4, "d_ff": 256, "norm_order": "pre", "max_len": 64}
LAYERS = 6
LENGTH = 16  # tokens that are shuffled
SHUFFLES = 8
# Six layers of sums of 64 to 256 products of size 1, in another order: some thousand roundings.
TOLERANCE = 1e4 * float(torch.finfo(torch.float64).eps)


def run(setup: LessonSetup) -> Data:
    """Untrained models in float64, every seed: with and without positions, as an encoder and as a causal decoder."""
    cases = {
        "encoder_none": ("encoder", "none"),
        "encoder_sinusoidal": ("encoder", "sinusoidal"),
        "decoder_none": ("decoder", "none"),
        "decoder_sinusoidal": ("decoder", "sinusoidal"),
    }
    found: dict[str, Any] = {}
    for name, (family, position) in setup.each("models", cases.items()):
        models = [make(family, position, seed) for seed in setup.seeds]
        found[name] = {
            "shuffled": interval([shuffled(model, seed) for model, seed in zip(models, setup.seeds, strict=True)]),
            "sentences": interval([vector_distance(model, family) for model in models]),
            "words": words(models[0], family),
        }
    return {
        "tokens": ["[CLS]", *CAT],
        "other": ["[CLS]", *MOUSE],
        "layers": LAYERS,
        "length": LENGTH,
        "shuffles": SHUFFLES,
        "tolerance": TOLERANCE,
        "cases": found,
    }


def make(family: str, position: str, seed: int) -> nn.Module:
    """A model in float64: rounding in another order of summation is then far below anything that matters."""
    layers = {f"n_{family}_layers": LAYERS}
    vocabulary = len(VOCABULARY)
    config = ModelConfig(family=family, vocab_size=vocabulary, position=Choice(position), **SIZES, **layers)  # type: ignore[arg-type]
    return build(config, seed=seed, dtype=torch.float64).eval()


@torch.no_grad()
def shuffled(model: nn.Module, seed: int) -> float:
    """How far f(shuffled tokens) is from shuffled f(tokens), relative to f: 0 if the model ignores order."""
    random = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, len(VOCABULARY), (1, LENGTH), generator=random)
    plain = model(tokens)[0]  # t d_model
    worst = 0.0
    for _ in range(SHUFFLES):
        order = torch.randperm(LENGTH, generator=random)
        worst = max(worst, float((model(tokens[:, order])[0] - plain[order]).norm() / plain.norm()))
    return worst


def _outputs(model: nn.Module) -> tuple[Tensor, Tensor]:
    """The outputs for both sentences, those of the second in the word order of the first."""
    first, second = (
        model(torch.tensor([[VOCABULARY.index(word) for word in ("[CLS]", *sentence)]]))[0] for sentence in (CAT, MOUSE)
    )
    return first, second[[0, *(1 + MOUSE.index(word) for word in CAT)]]  # t d_model


@torch.no_grad()
def vector_distance(model: nn.Module, family: str) -> float:
    """How far apart the two sentence vectors are: an encoder's at [CLS], a decoder's at the last word."""
    first, second = _outputs(model)
    at = 0 if family == "encoder" else -1
    return float((first[at] - second[at]).norm() / first[at].norm())


@torch.no_grad()
def words(model: nn.Module, family: str) -> list[float]:
    """The same for every word: the vector of 쥐 in one sentence against that of 쥐 in the other."""
    first, second = _outputs(model)
    return ((first - second).norm(dim=1) / first.norm(dim=1)).tolist()


def verdicts(data: Data) -> dict[str, Verdict]:
    """Order is lost if shuffling the tokens only shuffles the outputs, and both sentences have the same vector.

    Exact, within float64's rounding (`tolerance`: some thousand roundings), for every seed. The sides are the encoder
    and the causal decoder, both without positions.
    """

    def lost(name: str) -> bool:
        case = data["cases"][name]
        return all(value <= data["tolerance"] for kind in ("shuffled", "sentences") for value in case[kind]["values"])

    measured = {
        "encoder": data["cases"]["encoder_none"]["sentences"]["mean"],
        "shuffled": data["cases"]["encoder_none"]["shuffled"]["mean"],
        "positions": data["cases"]["encoder_sinusoidal"]["sentences"]["mean"],
        "decoder": data["cases"]["decoder_none"]["sentences"]["mean"],
    }
    sides = {name: exact(lost(f"{name}_none")) for name in ("encoder", "decoder")}
    return {"order-lost": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """The encoder above, the decoder below, with and without positions."""
    figure = theme.figure(9, 6)
    panels = figure.subplots(2, 1, sharey=True)
    for axes, family in zip(panels, ("encoder", "decoder"), strict=True):
        kinds = ("none", "sinusoidal")
        groups = {words(kind): data["cases"][f"{family}_{kind}"]["words"] for kind in kinds}
        bars(axes, theme, data["tokens"], groups, form=".2f")
        axes.set(title=words(family), ylabel=words("change"))
        axes.margins(y=0.2)
    panels[1].get_legend().remove()
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("order-lost",),
    equation=r"f(\Pi X) = \Pi f(X)",
    formula="f(Π X) = Π f(X)",
    paper="§3.5",
    sources=("layers/position/none.py", "models/encoder.py"),
)
