"""What the page shows beside the numbers of a pass: the text of a lesson, and what a norm has learned."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any

from starlette.exceptions import HTTPException
from torch import nn

from glassformer.errors import InputError, suggest
from glassformer.layers.norm import LayerNorm, RMSNorm
from glassformer.lessons.catalogue import LESSONS
from glassformer.lessons.view import DEPTHS, LessonView
from glassformer.textbook.prose import html, kept, marked

PARSING = Lock()  # Python 3.11 adds up the depths of two threads that parse code at once, and gives up


def lesson_text(name: str, lang: str) -> dict[str, str]:
    """A lesson's title and question, and its easy and deep text as HTML with the recorded numbers."""
    if name not in LESSONS:
        raise HTTPException(404)
    with PARSING:  # whether a recorded result is that of the code as it is
        return _lesson_text(name, lang)


@cache
def _lesson_text(name: str, lang: str) -> dict[str, str]:
    view = LessonView(name, lang)
    texts = {depth: str(marked(kept(html(view.text(depth), level=4)), lang)) for depth in DEPTHS}
    return {"name": name, "title": view.title, "question": view.question, **texts}


def norms_of(model: nn.Module) -> dict[str, nn.Module]:
    return {path: each for path, each in model.named_modules() if isinstance(each, LayerNorm | RMSNorm)}


def norm_weights(model: nn.Module, name: str) -> dict[str, Any]:
    """Scale γ and shift β of a norm (None: it has no shift), and its ε, by the name of its module."""
    norms = norms_of(model)
    if name not in norms:
        raise InputError("no_such_tap", name=name, hint=suggest(name, norms))
    norm: Any = norms[name]
    bias = getattr(norm, "bias", None)
    return {
        "kind": "rms" if isinstance(norm, RMSNorm) else "layer",
        "eps": norm.eps,
        "scale": norm.weight.detach().float().tolist(),
        "shift": None if bias is None else bias.detach().float().tolist(),
    }
