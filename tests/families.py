"""One imported model beside the model of `transformers` that it came from: the same inputs, the largest difference.

The reference computes some things in float32 whatever its type (RMSNorm, rotary tables, the softmax of eager
attention): `lifted` makes these as wide as the rest, so that what remains is a difference of the models.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

from glassformer.hub.effective_config import differing_keys
from glassformer.hub.families import FAMILIES
from glassformer.hub.foreign import Foreign
from glassformer.hub.open import Imported, inspect_folder, open_foreign
from glassformer.ledger.parameters import count
from reference_seq2seq import tap_differences


class Difference(NamedTuple):
    """Largest absolute difference, and the same relative to the largest number of the reference."""

    absolute: float
    relative: float


@contextmanager
def lifted(model: nn.Module) -> Iterator[None]:
    """Everything of a float64 reference in float64: `Tensor.float`, casts to float32 and `torch.float32` ask for it."""
    with pytest.MonkeyPatch.context() as patch:
        to = Tensor.to

        def to_wide(x: Tensor, *given: Any, **named: Any) -> Tensor:
            given = tuple(torch.float64 if each is torch.float32 else each for each in given)
            named = {key: torch.float64 if each is torch.float32 else each for key, each in named.items()}
            return to(x, *given, **named)

        softmax = nn.functional.softmax

        def wide_softmax(x: Tensor, *given: Any, **named: Any) -> Tensor:
            return softmax(x, *given, **{key: each for key, each in named.items() if key != "dtype"})

        arange = torch.arange

        def wide_arange(*given: Any, **named: Any) -> Tensor:
            return arange(
                *given, **{key: torch.float64 if each is torch.float32 else each for key, each in named.items()}
            )

        patch.setattr(torch, "arange", wide_arange)
        patch.setattr(Tensor, "float", lambda x: x.double() if x.is_floating_point() else to(x, torch.float64))
        patch.setattr(Tensor, "to", to_wide)
        patch.setattr(nn.functional, "softmax", wide_softmax)
        _exact_angles(model)
        yield


def _exact_angles(model: nn.Module) -> None:
    """The frequencies of rotary positions, computed once more where float32 now means float64."""
    for module in model.modules():
        if "inv_freq" in dict(module.named_buffers(recurse=False)):
            kind = str(module.rope_type)
            if kind == "default":
                found, _ = module.compute_default_rope_parameters(module.config)
            else:
                from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

                found, _ = ROPE_INIT_FUNCTIONS[kind](module.config)
            module.register_buffer("inv_freq", found, persistent=False)
            module.original_inv_freq = found


def pair(model: Any, folder: Path, dtype: torch.dtype) -> tuple[Any, Imported]:
    """A copy of the reference and the imported model, both of one type."""
    return copy.deepcopy(model).to(dtype), open_foreign(folder, dtype=dtype)


def tokens(vocabulary: int, pad: int, rows: int = 4, longest: int = 13, *, left: bool = False) -> tuple[Tensor, Tensor]:
    """Ids b t of odd lengths, padded behind or in front, and the mask of what is real."""
    generator = torch.Generator().manual_seed(7)
    ids = torch.randint(3, vocabulary, (rows, longest), generator=generator)
    lengths = torch.tensor([longest, 1, 5, 8])[:rows, None]
    at = torch.arange(longest)[None]
    mask = at >= longest - lengths if left else at < lengths
    return ids.masked_fill(~mask, pad), mask


def places(mask: Tensor) -> Tensor:
    """The positions that `transformers.generate` passes: real tokens are counted, padding is not."""
    return (mask.long().cumsum(1) - 1).masked_fill(~mask, 1)


@torch.no_grad()
def answer(model: Any, ids: Tensor, mask: Tensor | None, **inputs: Any) -> Tensor:
    """What the reference says: logits, else the pooled vector, else the stream."""
    out = model(input_ids=ids, attention_mask=None if mask is None else mask.long(), **inputs)
    if "logits" in out:
        return out.logits
    if "prediction_logits" in out:
        return out.prediction_logits
    pooled = out.get("pooler_output")
    return out.last_hidden_state if pooled is None else pooled


def difference(theirs: Tensor, ours: Tensor, mask: Tensor | None = None) -> Difference:
    """Over the real tokens alone: what stands at padding is nobody's answer."""
    assert theirs.shape == ours.shape, (theirs.shape, ours.shape)
    if mask is not None and theirs.shape[:2] == mask.shape and theirs.dim() == 3:
        theirs, ours = theirs[mask], ours[mask]
    assert torch.isfinite(ours).all()
    largest = float((theirs.double() - ours.double()).abs().max())
    return Difference(largest, largest / float(theirs.double().abs().max()))


def compare(
    model: Any, folder: Path, dtype: torch.dtype, *, pad: int = 0, left: bool = False, lift: bool = False
) -> Difference:
    """Both on one batch with padding behind, or in front with the positions that `generate` passes."""
    theirs, imported = pair(model, folder, dtype)
    ids, mask = tokens(imported.config.model.vocab_size or 0, pad, left=left)
    inputs = {"position_ids": places(mask)} if left else {}
    with lifted(theirs) if lift else nullcontext():
        expected = answer(theirs, ids, mask, **inputs)
    with torch.no_grad():
        return difference(expected, imported.model(ids, mask), mask)


@torch.no_grad()
def step_by_step(model: Any, folder: Path, *, first: int = 4, length: int = 11) -> Difference:
    """A decoder with its cache in float64: some tokens at once, then one at a time, in both."""
    theirs, imported = pair(model, folder, torch.float64)
    ids, _ = tokens(imported.config.model.vocab_size or 0, 0, rows=1, longest=length)
    ours = imported.model
    cache, past, found, expected = ours.decoder.empty_cache(), None, [], []
    for piece in (ids[:, :first], *ids[:, first:].split(1, 1)):
        found.append(ours(piece, cache=cache))
        with lifted(theirs):
            out = theirs(input_ids=piece, past_key_values=past, use_cache=True)
        past = out.past_key_values
        expected.append(out.logits)
    return difference(torch.cat(expected, 1), torch.cat(found, 1))


def check(name: str, model: Any, folder: Path) -> None:
    """What every variant must hold: equal answers in every type, padded or not, and not one parameter more or less."""
    pad = model.config.pad_token_id or 0
    assert compare(model, folder, torch.float64, pad=pad, lift=True).absolute <= 1e-10, name
    assert compare(model, folder, torch.float64, pad=pad).relative <= 1e-6, name
    assert compare(model, folder, torch.float32, pad=pad).relative <= 1e-5, name
    found = inspect_folder(folder)
    aside = sum(math.prod(found.weights.tensors[key].shape) for key in found.located.aside)
    theirs = sum(weight.numel() for weight in model.parameters())
    assert count(name, found.config).total.parameters + aside == theirs, name


def check_inverse(name: str, folder: Path) -> None:
    """describe ∘ configure gives the same model, and configure ∘ describe the same configuration."""
    found = inspect_folder(folder)
    table = json.loads(json.dumps(found.family.describe(found.config, found.task)))
    again = found.family.configure(Foreign(table, Path("config.json")), found.task)
    assert not differing_keys(again, found.config), name


def check_taps(model: Any, folder: Path, expected: int) -> None:
    """Every tap that the family has a module for holds what that module gives, in float64."""
    theirs, imported = pair(model, folder, torch.float64)
    ids, _ = tokens(imported.config.model.vocab_size or 0, 3, rows=1)
    with torch.no_grad(), lifted(theirs):
        found = tap_differences(FAMILIES[imported.family], imported.model, theirs, lambda each: each(ids))
    assert len(found) == expected, sorted(found)
    assert max(found.values()) <= 1e-10, found
