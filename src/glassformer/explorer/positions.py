"""The same weights with another kind of position: what does a model rest on when it knows where a token stands?

Only kinds that hold no trained numbers can take the place of another; everything else of the model stays as it is.
"""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

from torch import nn

from glassformer.config.values import Choice, one_of
from glassformer.errors import InputError
from glassformer.loading import Loaded
from glassformer.models.build import build
from glassformer.models.quantize import is_quantized

KINDS = ("none", "sinusoidal", "rotary", "alibi")
_made: WeakKeyDictionary[nn.Module, dict[str, Loaded]] = WeakKeyDictionary()  # as long as a model is open


def with_position(loaded: Loaded, kind: str | None) -> Loaded:
    """The model with positions of this kind; None, or the kind that it has: the model itself."""
    own = loaded.config.model.position.kind
    if kind is None or one_of("position", kind, (own, *KINDS)) == own:
        return loaded
    made = _made.setdefault(loaded.model, {})
    if kind not in made:
        made[kind] = _rebuilt(loaded, kind)
    return made[kind]


def _rebuilt(loaded: Loaded, kind: str) -> Loaded:
    if is_quantized(loaded.model):
        raise InputError("explorer_position", position=kind)
    config = replace(loaded.config.model, position=Choice(kind))
    model = build(config, device=loaded.device, dtype=loaded.dtype)
    left = model.load_state_dict(loaded.model.state_dict(), strict=False)  # trained positions have no place any more
    assert not left.missing_keys, left
    return replace(loaded, model=model, config=replace(loaded.config, model=config))
