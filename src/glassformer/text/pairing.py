"""Two texts in one sequence: where the special tokens stand, as a tokenizer's files say, and whose each token is."""

from __future__ import annotations

import json
from collections.abc import Sequence

import tokenizers
from tokenizers import models
from tokenizers.processors import PostProcessor

from glassformer.text.corpus import LARGEST_VOCABULARY
from glassformer.text.files import CONFIG
from glassformer.text.frame_of_file import pair
from glassformer.text.panic import contained
from glassformer.text.pipeline import Pipeline
from glassformer.text.tokenizer import Tokenizer

FIRST, SECOND = LARGEST_VOCABULARY, LARGEST_VOCABULARY + 1  # ids that no tokenizer has
TWICE = ("RobertaTokenizer", "BartTokenizer")  # classes that end the first text twice, and know no segments


def paired(
    tokenizer: Tokenizer, first: Sequence[int], second: Sequence[int], begin: Sequence[int], end: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Both texts in their frame, and the segment of each token; see `framing.pair`."""
    if isinstance(tokenizer, Pipeline) and not tokenizer.own and tokenizer.library.post_processor is not None:
        return _by_processor(tokenizer.library.post_processor, first, second)
    twice = _maker(tokenizer) in TWICE
    tokens, segments = pair(first, second, begin, end, end if twice else ())
    return tokens, [0] * len(tokens) if twice else segments


def _by_processor(processor: PostProcessor, first: Sequence[int], second: Sequence[int]) -> tuple[list[int], list[int]]:
    """What the post-processor puts around two tokens of a tokenizer that knows nothing else."""
    probe = tokenizers.Tokenizer(models.WordLevel({"a": FIRST, "b": SECOND}, unk_token="a"))
    probe.post_processor = processor
    found = contained(lambda: probe.encode("a", "b"))
    tokens: list[int] = []
    segments: list[int] = []
    for token, segment in zip(found.ids, found.type_ids, strict=True):
        some = list(first) if token == FIRST else list(second) if token == SECOND else [token]
        tokens += some
        segments += [segment] * len(some)
    return tokens, segments


def _maker(tokenizer: Tokenizer) -> str:
    if not isinstance(tokenizer, Pipeline) or CONFIG not in tokenizer.files:
        return ""
    named = json.loads(tokenizer.files[CONFIG]).get("tokenizer_class")
    return str(named).removesuffix("Fast")
