"""Generation on the KV cache: token ids in, token ids out. Greedy, sampled, by beam search, or as a stream."""

from collections.abc import Callable
from typing import Any

from glassformer.generate.beam import beam_search
from glassformer.generate.greedy import greedy
from glassformer.generate.hypothesis import Hypothesis
from glassformer.generate.length import LENGTH_NORMS
from glassformer.generate.sample import Sampling, sample
from glassformer.generate.stop import STOP_RULES
from glassformer.generate.stream import stream
from glassformer.generate.tree import Node, Tree

DECODERS: dict[str, Callable[..., Any]] = {
    "greedy": greedy,
    "sample": sample,
    "beam": beam_search,
}

__all__ = [
    "DECODERS",
    "LENGTH_NORMS",
    "STOP_RULES",
    "Hypothesis",
    "Node",
    "Sampling",
    "Tree",
    "beam_search",
    "greedy",
    "sample",
    "stream",
]
