"""What the model answers, task by task: the likeliest tokens of every row, classes, numbers, or objects."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from glassformer.explorer.given import ReadInput
from glassformer.loading import Loaded
from glassformer.tasks.classification.classify import class_names
from glassformer.tasks.object_queries.task import likeliest_objects
from glassformer.text import Tokenizer

TOP = 8


def answer(loaded: Loaded, given: ReadInput, output: Tensor) -> dict[str, Any]:
    """The output of a pass as the page shows it."""
    match loaded.config.model.head.kind:
        case "language_model":
            said = {"text": given.shown["target"]} if given.target is not None else {}
            return said | {"top": top_tokens(_target(loaded), output[0]), "masked": list(given.masked)}
        case "classifier" if loaded.task != "features":  # a body ends with a pooled vector
            return {"classes": classes(output[0], loaded.labels)}
        case "regression" if given.restore is not None:
            return {"numbers": given.restore(output[0]), "scaled": output[0].double().tolist()}
        case "objects":
            return {"objects": _objects(loaded, output[0])}
    return {}


def top_tokens(tokenizer: Tokenizer, logits: Tensor, count: int = TOP) -> list[list[dict[str, Any]]]:
    """The likeliest tokens of each row, t v → t lists, with their probabilities and logits."""
    shares = logits.float().softmax(-1)
    best = shares.topk(min(count, shares.shape[-1]))
    return [
        [
            {"piece": piece_name(tokenizer, token), "id": token, "p": share, "logit": float(logits[row, token])}
            for token, share in zip(tokens, some, strict=True)
        ]
        for row, (tokens, some) in enumerate(zip(best.indices.tolist(), best.values.tolist(), strict=True))
    ]


def classes(logits: Tensor, labels: list[str]) -> list[dict[str, Any]]:
    """All classes in their own order; a single logit is that of the second of two."""
    single = logits.shape[0] == 1
    both = torch.cat([-logits, logits]).float() if single else logits.float()
    shares = both.sigmoid() if single else both.softmax(0)
    names = class_names(labels, shares.shape[0])
    pairs = zip(names, shares.tolist(), both.tolist(), strict=True)
    return [{"label": name, "p": share, "logit": logit} for name, share, logit in pairs]


def piece_name(tokenizer: Tokenizer, token: int) -> str:
    return tokenizer.piece(token) if token < tokenizer.vocab_size else f"#{token}"


def _objects(loaded: Loaded, output: Tensor) -> list[dict[str, Any]]:
    """What each query or prompt says: a class (None: nothing), how sure it is, and its box, cx cy w h in 0 … 1."""
    found, labels = likeliest_objects(output), loaded.labels
    rows = zip(found.said.tolist(), found.sureness.tolist(), found.boxes.tolist(), strict=True)
    return [{"label": labels[said] if said >= 0 else None, "p": sure, "box": box} for said, sure, box in rows]


def _target(loaded: Loaded) -> Tokenizer:
    return loaded.vocabularies.target
