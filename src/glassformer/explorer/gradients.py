"""Which tokens mattered for one output: the gradient at every input token, beside the attention that it got.

Attention says where a head looked; the gradient says what would change the answer. They need not agree.
"""

from __future__ import annotations

from math import isnan
from typing import Any

import torch
from torch import Tensor

from glassformer.decoding.step import evaluation_mode
from glassformer.errors import InputError
from glassformer.explorer import fields
from glassformer.explorer.answers import piece_name
from glassformer.explorer.edits import changes_of
from glassformer.explorer.fields import Fields
from glassformer.explorer.given import ReadInput
from glassformer.explorer.inputs import read
from glassformer.explorer.pieces import Piece
from glassformer.layers.head import ClassifierHead, DistilledHead, RegressionHead
from glassformer.loading import Loaded
from glassformer.tasks.classification.classify import class_names
from glassformer.trace.edit import Change, edit
from glassformer.trace.record import record
from glassformer.trace.trace import Trace

REQUEST_KEYS = ("model", "checkpoint", "input", "edits", "row", "choice")
FEWEST = 3  # tokens: fewer have no order to agree about


def gradients(loaded: Loaded, request: Fields) -> dict[str, Any]:
    """d log p(choice) / d x, at the input of each stack: x is embedding plus position of a token.

    `row`: whose output (default: the last), `choice`: the token, class or number (default: the likeliest).
    """
    given = read(loaded, fields.table("input", request.get("input", {})))
    inputs: dict[str, Tensor] = {}
    stacks = loaded.config.model.family.split("-")  # encoder, decoder, or both
    changes = changes_of(loaded.model, fields.tables(request, "edits")).by_name

    def leaf(name: str) -> Change:
        """What enters a stack, before anything is changed there."""
        further = changes.get(f"{name}.input", lambda x: x)

        def begin(x: Tensor) -> Tensor:
            inputs[name] = x.detach().clone().requires_grad_()
            return further(inputs[name])

        return begin

    edits = changes | {f"{stack}.input": leaf(stack) for stack in stacks}
    with (
        torch.enable_grad(),
        evaluation_mode(loaded.model),
        edit(loaded.model, edits),
        record(loaded.model, "*.weights") as trace,
    ):
        output = given.run(loaded.model, given.inputs)
        value, chosen = chosen_output(loaded, given, output[0], request)
        found = torch.autograd.grad(value, [inputs[stack] for stack in stacks], allow_unused=True)
    asking = asking_rows(loaded, chosen["row"], inputs[stacks[-1]].shape[1])
    seen = asking[-1] + 1 if loaded.config.model.causal else None
    sides = [
        side(
            stack,
            labels(given, stack),
            inputs[stack],
            slope,
            attended(trace, stack, stacks, asking),
            seen if stack == "decoder" else None,
        )
        for stack, slope in zip(stacks, found, strict=True)
    ]
    return {**chosen, "value": float(value.detach()), "asking": asking, "sides": sides}


def labels(given: ReadInput, stack: str) -> list[Piece]:
    return given.target if stack == "decoder" and given.target is not None else given.source


def chosen_output(loaded: Loaded, given: ReadInput, output: Tensor, request: Fields) -> tuple[Tensor, dict[str, Any]]:
    """The number whose gradient is wanted: log p of a token or class, or a number of a forecast."""
    row, choice = fields.whole(request, "row"), fields.whole(request, "choice")
    match loaded.config.model.head.kind:
        case "language_model":
            at = _within("row", given.masked[0] if row is None and given.masked else row, len(output))
            logs = output[at].log_softmax(-1)
            token = int(logs.argmax()) if choice is None else _within("choice", choice, len(logs))
            name = piece_name(loaded.vocabularies.target, token)
            return logs[token], {"row": at, "choice": token, "name": name, "kind": "log_probability"}
        case "classifier" | "distilled" if output.dim() == 1 and loaded.task != "features":
            both = torch.cat([torch.zeros_like(output), output]) if len(output) == 1 else output
            logs = both.log_softmax(-1)
            label = int(logs.argmax()) if choice is None else _within("choice", choice, len(logs))
            name = class_names(loaded.labels, len(logs))[label]
            return logs[label], {"row": 0, "choice": label, "name": name, "kind": "log_probability"}
        case "regression" if output.dim() == 1:
            at = 0 if choice is None else _within("choice", choice, len(output))
            return output[at], {"row": 0, "choice": at, "name": str(at + 1), "kind": "number"}
    raise InputError("explorer_gradients", head=loaded.config.model.head.kind)


def asking_rows(loaded: Loaded, row: int, length: int) -> list[int]:
    """The rows of the last stack from which the answer is read: one, or all that a head pools."""
    every = [*range(length)]
    match loaded.model.head:
        case ClassifierHead(pool="cls") | RegressionHead(pool="cls"):
            return every[:1]
        case ClassifierHead(pool="sep") | RegressionHead(pool="sep"):
            return every[-1:]
        case DistilledHead():
            return every[:2]
        case ClassifierHead() | RegressionHead():
            return every
    return [row]


def attended(trace: Trace, stack: str, stacks: list[str], asking: list[int]) -> Tensor | None:
    """How much attention each token of a stack got, per layer: layer s, the mean of the heads and the rows that ask.

    A decoder's memory is looked at by its cross-attention; a stack alone by its self-attention.
    """
    last, kind = stacks[-1], "self_attention" if stack == stacks[-1] else "cross_attention"
    maps = [x[0].mean(0) for name, x in trace.tensors.items() if name.startswith(last) and f".{kind}." in name]
    return torch.stack([x[asking].mean(0) for x in maps]) if maps else None  # layer s


def side(
    stack: str, pieces: list[Piece], x: Tensor, slope: Tensor | None, looked: Tensor | None, seen: int | None
) -> dict[str, Any]:
    """One stack: for each token the norm of its gradient, gradient × input, and the attention it got.

    `agreement`: for each layer, does attention order the tokens as the norm does, and as the size of gradient × input?
    Only the first `seen` count: the others may not be looked at, and would agree about nothing.
    """
    slope = torch.zeros_like(x) if slope is None else slope
    norm, product = slope[0].norm(dim=-1), (slope * x.detach())[0].sum(-1)  # s, s
    seen = len(pieces) if seen is None else seen
    layers = [] if looked is None else [layer[:seen] for layer in looked]
    return {
        "stack": stack,
        "tokens": [piece.to_json() for piece in pieces],
        "seen": seen,
        "norm": norm.tolist(),
        "times_input": product.tolist(),
        "attention": None if looked is None else looked.tolist(),
        "agreement": {
            "norm": [rank_agreement(layer, norm[:seen]) for layer in layers],
            "times_input": [rank_agreement(layer, product[:seen].abs()) for layer in layers],
        },
    }


def rank_agreement(one: Tensor, other: Tensor) -> float | None:
    """Spearman's ρ: the correlation of the ranks, from −1 to 1; None where there is no order to compare."""
    if len(one) < FEWEST:
        return None
    ranks = torch.stack([ranked(one), ranked(other)])  # 2 s
    found = float(torch.corrcoef(ranks)[0, 1])
    return None if isnan(found) else found


def ranked(x: Tensor) -> Tensor:
    """The rank of each number; equal ones share the mean of theirs."""
    below = (x[None] < x[:, None]).sum(1)  # s
    same = (x[None] == x[:, None]).sum(1)  # s
    return below.double() + (same + 1) / 2


def _within(key: str, value: int | None, count: int) -> int:
    at = count - 1 if value is None else value
    if at >= count:
        raise InputError("explorer_index", key=key, value=at, last=count - 1)
    return at
