"""Generation on the KV cache: token ids in, token ids out. Greedy, sampled, by beam search, or as a stream."""

from glassformer.decoding.beam import Beams, beam_search, beam_trees
from glassformer.decoding.limits import Limits
from glassformer.decoding.rules import LENGTH_NORMS, STOP_RULES
from glassformer.decoding.sampling import Sampling, sample, stream_tokens
from glassformer.decoding.step import Hypothesis
from glassformer.decoding.tree import Node, Tree
from glassformer.decoding.walking import greedy

__all__ = [
    "LENGTH_NORMS",
    "STOP_RULES",
    "Beams",
    "Hypothesis",
    "Limits",
    "Node",
    "Sampling",
    "Tree",
    "beam_search",
    "beam_trees",
    "greedy",
    "sample",
    "stream_tokens",
]
