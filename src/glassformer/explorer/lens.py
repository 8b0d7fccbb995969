"""The logit lens: what every layer would answer if the model stopped there.

What leaves a layer goes through the last norm and the head of the model, as if no layer followed: layer × position.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from glassformer.errors import InputError
from glassformer.explorer.answers import piece_name
from glassformer.explorer.fields import Fields
from glassformer.explorer.given import ReadInput
from glassformer.explorer.passes import ShownPass, run
from glassformer.layers.embedding import token_matrix
from glassformer.loading import Loaded
from glassformer.tap import unobserved
from glassformer.tasks.classification.classify import class_names

REQUEST_KEYS = ("model", "checkpoint", "input", "edits")
HEADS = ("language_model", "classifier")
SHOWN = 5  # answers of a cell


def lens(loaded: Loaded, request: Fields) -> dict[str, Any]:
    """Every layer × position: the likeliest answers there, and how likely the model's last answer is already."""
    kind = loaded.config.model.head.kind
    if kind not in HEADS:
        raise InputError("explorer_lens", head=kind, known=", ".join(HEADS))
    stack = "encoder" if loaded.config.model.family == "encoder" else "decoder"
    one = run(loaded, {**request, "wanted": [f"{stack}.input", f"{stack}.blocks.*.output", f"{stack}.output"]})
    layers = [layer_shares(loaded, stack, one.trace[name]) for name in stream_names(loaded, stack)]
    return {"stack": stack, "positions": positions(one.given, kind), **told(loaded, kind, layers, one)}


def stream_names(loaded: Loaded, stack: str) -> list[str]:
    """What enters the stack, and what leaves each of its layers."""
    sizes = loaded.config.model
    count = sizes.encoder_layers if stack == "encoder" else sizes.decoder_layers
    return [f"{stack}.input", *(f"{stack}.blocks.{layer}.output" for layer in range(count))]


def layer_shares(loaded: Loaded, stack: str, x: Tensor) -> Tensor:
    """p(answer) if this were the last layer: rows × answers."""
    model: Any = loaded.model
    part = getattr(model, stack)
    target = getattr(model, "target_embedding", None)
    embedding = model.embedding if target is None else target
    with torch.no_grad(), unobserved():
        x = x if part.final_norm is None else part.final_norm(x)  # 1 t d_model
        logits: Tensor = model.head(x, None, token_matrix(embedding))[0]
    logits = logits.float() if logits.dim() == 2 else logits.float()[None]  # rows answers
    if logits.shape[1] == 1:  # one logit: that of the second of two classes
        logits = torch.cat([torch.zeros_like(logits), logits], 1)
    return logits.softmax(-1)


def positions(given: ReadInput, kind: str) -> list[str]:
    """The names of the rows: pieces of the decoder's own text, or of the only one; a class is said of the whole."""
    if kind == "classifier":
        return [""]
    return [piece.piece for piece in (given.source if given.target is None else given.target)]


def told(loaded: Loaded, kind: str, layers: list[Tensor], one: ShownPass) -> dict[str, Any]:
    """The lens as JSON. `appears`: the first layer from which the answer stays the likeliest (0: before all)."""
    answers = layers[-1].argmax(-1)  # rows
    rows = range(len(answers))
    shares = [[float(layer[row, answers[row]]) for row in rows] for layer in layers]
    ranks = [[int((layer[row] > layer[row, answers[row]]).sum()) for row in rows] for layer in layers]
    names = namer(loaded, kind, layers[-1].shape[1])
    return {
        "layers": len(layers) - 1,
        "answers": [{"id": int(answers[row]), "piece": names(int(answers[row]))} for row in rows],
        "p": shares,
        "rank": ranks,
        "appears": [_appears([layer[row] for layer in ranks]) for row in rows],
        "top": [[_best(layer[row], names) for row in rows] for layer in layers],
        "notes": one.notes,
    }


def namer(loaded: Loaded, kind: str, count: int) -> Any:
    """Id → name: a token of the vocabulary or a class."""
    if kind == "classifier":
        return class_names(loaded.labels, count).__getitem__
    tokenizer = loaded.vocabularies.target
    return lambda token: piece_name(tokenizer, token)


def _best(shares: Tensor, names: Any) -> list[dict[str, Any]]:
    best = shares.topk(min(SHOWN, len(shares)))
    return [
        {"id": token, "piece": names(token), "p": share}
        for token, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]


def _appears(ranks: list[int]) -> int:
    """The first layer from which the rank is 0 up to the end."""
    first = len(ranks)
    while first > 0 and ranks[first - 1] == 0:
        first -= 1
    return first
