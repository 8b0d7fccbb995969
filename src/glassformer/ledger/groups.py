"""Which modules and functions of a box share a row of the ledger, and what the row is called.

A box not listed here has one row, named as in its registry: a new norm, network, kind of position or head needs no
entry.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import nn

from glassformer.layers.attention import MultiHeadAttention
from glassformer.layers.embedding import TokenEmbedding
from glassformer.layers.feed_forward import FEED_FORWARDS
from glassformer.layers.head import HEADS, ClassifierHead, LanguageModelHead
from glassformer.layers.norm import NORMS
from glassformer.layers.patch import ImagePatches, SeriesPatches
from glassformer.layers.position import POSITIONS
from glassformer.layers.queries import LearnedQueries
from glassformer.models.block import Block
from glassformer.models.parts import MODELS
from glassformer.models.stack import Stack

CONTAINERS = (*MODELS.values(), Stack, Block, nn.ModuleList)  # their contents have rows of their own


class RowGroup(NamedTuple):
    """One row of a box: its name, the key of its title in words/, and its members."""

    name: str
    kind: str
    members: tuple[str, ...] = ()  # children, tensors, functions; the others belong to the first group without members


FUNCTIONS = ("relu", "gelu", "silu", "sigmoid")  # every activation

GROUPS: dict[type[nn.Module], tuple[RowGroup, ...]] = {
    MultiHeadAttention: (
        RowGroup("qkv", "attention.qkv", ("w_q", "w_k", "w_v")),
        RowGroup("w_o", "attention.output", ("w_o",)),
        RowGroup("qk_norm", "attention.qk_norm", ("q_norm", "k_norm")),
        RowGroup("scores", "attention.scores"),
    ),
    TokenEmbedding: (RowGroup("", "embedding"), RowGroup("segments", "segments", ("segments",))),
    ImagePatches: (RowGroup("", "patches.image"), RowGroup("class_token", "class_token", ("class_token",))),
    SeriesPatches: (RowGroup("", "patches.series"),),
    LearnedQueries: (RowGroup("", "queries"),),
    LanguageModelHead: (
        RowGroup("transform", "head.transform", ("transform", "norm", *FUNCTIONS)),
        RowGroup("", "head.language_model"),
        RowGroup("offset", "head.offset", ("offset",)),
    ),
    ClassifierHead: (RowGroup("pooler", "head.pooler", ("pooler", "tanh")), RowGroup("", "head.classifier")),
}
REGISTRIES: dict[str, dict[str, Any]] = {
    "feed_forward": dict(FEED_FORWARDS),
    "norm": dict(NORMS),
    "positions": POSITIONS,
    "head": HEADS,
}
REGISTERED: dict[type[nn.Module], tuple[RowGroup, ...]] = {
    box: (RowGroup("", f"{registry}.{name}"),) for registry, boxes in REGISTRIES.items() for name, box in boxes.items()
}


def groups_of(box: type[nn.Module]) -> tuple[RowGroup, ...]:
    """All rows of a box, in the order of the ledger."""
    return GROUPS.get(box) or REGISTERED.get(box) or (RowGroup("", ""),)


def group_of(box: type[nn.Module], member: str) -> RowGroup:
    """The row of a child, of a tensor or of a function of the box itself."""
    every = groups_of(box)
    named = next((group for group in every if member in group.members), None)
    return named or next(group for group in every if not group.members)


class Boxes:
    """The boxes of a model: each path belongs to the outermost module on it that is not a container."""

    def __init__(self, model: nn.Module) -> None:
        self.modules = dict(model.named_modules())
        self._found: dict[str, tuple[str, str]] = {}

    def box(self, path: str) -> tuple[str, str]:
        """The path of the box, and the path inside it."""
        if path not in self._found:
            names = path.split(".")
            for end in range(1, len(names) + 1):
                start = ".".join(names[:end])
                if start in self.modules and not isinstance(self.modules[start], CONTAINERS):
                    self._found[path] = start, ".".join(names[end:])
                    break
            else:
                self._found[path] = path, ""
        return self._found[path]

    def part(self, path: str, function: str) -> str:
        """The row to which a step belongs."""
        start, inside = self.box(path)
        group = group_of(type(self.modules[start]), inside.partition(".")[0] or function)
        return f"{start}.{group.name}" if group.name else start
