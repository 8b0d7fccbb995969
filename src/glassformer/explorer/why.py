"""Why is this number what it is? Its formula with the operands of this very pass; each can be asked in turn."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from glassformer.explorer import fields
from glassformer.explorer.fields import Fields
from glassformer.explorer.passes import run
from glassformer.explorer.reasons import Reasons
from glassformer.explorer.terms import Term, number
from glassformer.loading import Loaded

REQUEST_KEYS = ("model", "checkpoint", "input", "edits", "wanted", "layers", "rows", "name", "index")
SHOWN = 24  # terms, the largest first; the others come as one sum
CLOSE = 1e-3  # relative: kernels add in another order


def why(loaded: Loaded, request: Fields) -> dict[str, Any]:
    """The number that a request names, and its reasons."""
    name, index = fields.text(request, "name"), fields.wholes(request, "index") or []
    asked = {key: value for key, value in request.items() if key in ("input", "edits")}
    return explained(Reasons(run(loaded, asked | {"layers": _layers(loaded, name)})), name, index)


def explained(reasons: Reasons, name: str, index: Sequence[int]) -> dict[str, Any]:
    """One number of a pass, and its reasons."""
    value = number(reasons.one, name, index)
    step = next((step for step in reasons.one.steps if step.name == name), None)
    reason = reasons.of(name, index)
    shown, rest = _largest(reason.terms)
    return {
        "value": value,
        "formula": step.formula if step else "",
        "filled": reason.filled,
        "terms": [term.to_json() for term in shown],
        "rest": {"count": len(rest), "value": math.fsum(term.value for term in rest)},
        "result": reason.result,
        "exact": abs(reason.result - value) <= CLOSE * max(1.0, abs(value)),
        "source": step.source.to_json() if step and step.source else None,
        "further": [{"name": term.name, "index": [*term.index]} for term in shown if term.name],
    }


def _layers(loaded: Loaded, name: str) -> list[int]:
    """The layers that a number can be made of: its own and the one before, or the last of each stack."""
    inside, config = re.match(r"(?:en|de)coder\.blocks\.(\d{1,4})\.", name), loaded.config.model
    depth = max(config.encoder_layers, config.decoder_layers)
    layers = {int(inside[1]), int(inside[1]) - 1} if inside else {config.encoder_layers - 1, config.decoder_layers - 1}
    return sorted(layer for layer in layers if 0 <= layer < depth)


def _largest(terms: list[Term]) -> tuple[list[Term], list[Term]]:
    if len(terms) <= SHOWN:
        return terms, []
    kept = {id(term) for term in sorted(terms, key=lambda term: -abs(term.value))[:SHOWN]}
    return [term for term in terms if id(term) in kept], [term for term in terms if id(term) not in kept]
