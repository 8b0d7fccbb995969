"""Every name that can be recorded or edited: the taps of every box. Nothing is run."""

from __future__ import annotations

from torch import nn

from glassformer.errors import InputError, shown
from glassformer.layers.attention import MultiHeadAttention
from glassformer.layers.embedding import TokenEmbedding
from glassformer.layers.feed_forward import FeedForward, GatedFeedForward
from glassformer.layers.head import ClassifierHead, DistilledHead, LanguageModelHead, ObjectsHead, RegressionHead
from glassformer.layers.norm import LayerNorm, RMSNorm
from glassformer.layers.patch import ImagePatches, SeriesPatches
from glassformer.layers.position import LearnedPositions, SinusoidalPositions
from glassformer.layers.queries import LearnedQueries
from glassformer.models.block import Block
from glassformer.models.stack import Stack

TAPS: dict[type[nn.Module], tuple[str, ...]] = {
    TokenEmbedding: ("output",),
    ImagePatches: ("output",),
    SeriesPatches: ("output",),
    LearnedQueries: ("output",),
    SinusoidalPositions: ("encoding",),
    LearnedPositions: ("encoding",),
    LayerNorm: ("output",),
    RMSNorm: ("output",),
    Stack: ("input", "output"),
    Block: ("after_self_attention", "after_cross_attention", "output"),
    MultiHeadAttention: ("q", "k", "v", "scores", "weights", "heads", "output"),
    FeedForward: ("hidden", "output"),
    GatedFeedForward: ("gate", "hidden", "output"),
    LanguageModelHead: ("logits",),
    ClassifierHead: ("pooled", "logits"),
    RegressionHead: ("pooled", "output"),
    DistilledHead: ("labelled", "taught", "logits"),
    ObjectsHead: ("logits", "boxes"),
}
_known: dict[type[nn.Module], tuple[str, ...]] = {}


def need_module(model: object) -> nn.Module:
    """Returns the model; raises if it is not a module."""
    if not isinstance(model, nn.Module):
        raise InputError("not_a_module", given=shown(model))
    return model


def taps(model: nn.Module) -> list[str]:
    """Every name of a model that can be recorded or edited, module by module."""
    return [
        f"{path}.{name}" if path else name
        for path, module in need_module(model).named_modules()
        for name in tap_names(type(module))
        if _has(module, name)
    ]


def tap_names(kind: type[nn.Module]) -> tuple[str, ...]:
    """What modules of this class tap; looked up once, since every record asks every module."""
    if kind not in _known:
        _known[kind] = tuple(name for box, names in TAPS.items() if issubclass(kind, box) for name in names)
    return _known[kind]


def _has(module: nn.Module, name: str) -> bool:
    """A parallel block taps its output only; one without cross-attention has no tap after it."""
    match module:
        case Block(norm_order="parallel"):
            return name == "output"
        case Block(cross_attention=None):
            return name != "after_cross_attention"
        case ClassifierHead(output=None):
            return name != "logits"
    return True
