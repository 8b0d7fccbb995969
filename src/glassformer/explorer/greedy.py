"""How a translator of the page searches: the limits of its everyday verb, and the greedy translation as ids."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import torch
from torch import nn

from glassformer.decoding import Limits, greedy
from glassformer.decoding.step import evaluating
from glassformer.layers.position import table_size
from glassformer.loading import Loaded
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.tasks.output_ids import forbidden_ids
from glassformer.tasks.search import search_for
from glassformer.tasks.translation.translate import as_trained
from glassformer.text.tokenizer import Specials

KEPT = 32  # translations of one model
_known: WeakKeyDictionary[nn.Module, OrderedDict[tuple[int, ...], list[int]]] = WeakKeyDictionary()


def translation_limits(loaded: Loaded) -> Limits:
    """What a translation may be: the same as in `glassformer translate`."""
    assert isinstance(loaded.model, EncoderDecoder)
    search = as_trained(search_for(loaded, beam=1), loaded.config)
    specials, places = loaded.vocabularies.target.specials, table_size(loaded.model.decoder.positions)
    ends = search.ends or (specials.need("eos"),)
    longest = search.max_len if search.max_len is None or places is None else min(search.max_len, places)
    return Limits(
        eos=ends,
        bos=specials.need(search.start),
        max_len=longest,
        min_len=search.min_len,
        forbidden={*forbidden_ids(specials, search.forbidden, search.ends), *search.suppressed} - set(ends),
        first=_one(specials, search.first),
        last=_one(specials, search.last),
    )


def greedy_target(loaded: Loaded, source: Sequence[int]) -> list[int]:
    """The ids of the greedy translation of a framed source, without beginning and end.

    Every question about a sentence needs it, and the ids themselves: a text is not always split into them again.
    """
    known, key = _known.setdefault(loaded.model, OrderedDict()), tuple(source)
    if key not in known:
        given = torch.tensor([key], device=loaded.device)  # 1 s
        with evaluating(loaded.model):
            ((best, *_),) = greedy(loaded.model, given, None, limits=translation_limits(loaded))
        known[key] = best.tokens
        while len(known) > KEPT:
            known.popitem(last=False)
    return [*known[key]]


def _one(specials: Specials, role: str) -> int | None:
    return None if role == "none" else specials.need(role)
