"""Generation on the KV cache: token ids in, token ids out. Greedy, sampled, by beam search, or as a stream."""

from collections.abc import Callable
from typing import Any

from glassformer.decoding.beam import beam_search
from glassformer.decoding.hypothesis import Hypothesis
from glassformer.decoding.rules import LENGTH_NORMS, STOP_RULES
from glassformer.decoding.sampling import Sampling, sample, stream
from glassformer.decoding.tree import Node, Tree
from glassformer.decoding.walking import greedy

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
