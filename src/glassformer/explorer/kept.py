"""What a page that is saved as a file takes along: the answers to the questions that it will ask, computed before.

Besides the pass itself these are the words, the lessons and the norms, what the views ask when they are opened, what
the page says that it has asked so far, and the reasons of the numbers that a person is likeliest to click.
"""

from __future__ import annotations

import itertools
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from glassformer.errors import GlassformerError
from glassformer.explorer import fields
from glassformer.explorer.decode import decode
from glassformer.explorer.fields import Fields
from glassformer.explorer.glossary import glossary
from glassformer.explorer.gradients import gradients
from glassformer.explorer.lens import lens
from glassformer.explorer.passes import MAPS, ShownPass, run, without_batch
from glassformer.explorer.payload import payload
from glassformer.explorer.reasons import Reasons
from glassformer.explorer.rewritten import rewritten
from glassformer.explorer.shelf import Offered
from glassformer.explorer.sizes import model_entry
from glassformer.explorer.sweep import attentions, sweep
from glassformer.explorer.texts import lesson_text, norm_weights, norms_of
from glassformer.explorer.why import explained
from glassformer.files import without_nan
from glassformer.hub.empty_model import parameter_count
from glassformer.lessons.catalogue import LESSONS
from glassformer.loading import Loaded
from glassformer.words import LANGUAGES, sentences

SPOKEN = ("explorer.", "explorer_faults.", "trace.steps.", "families.", "parts.", "plan.", "compare.")  # the page says
JSON, LINES, BYTES = "application/json", "application/x-ndjson", "application/octet-stream"
MOST_REASONS = 4_000  # numbers whose reasons are saved
CHAIN = 200  # of these, how many follow from a number that was clicked
AT_ONCE = 4_000_000  # parameters of a model whose heads are measured without being asked, as in the page
FIRST = 8  # columns of a followed row: as many as the page prints of a vector
Answerer = Callable[[Loaded, Fields], Any]


@dataclass(frozen=True)
class SavedAnswer:
    """One answer: the path and the body of its question without model and input, and its content."""

    path: str
    body: Fields
    content: bytes
    type: str = JSON


def as_json(path: str, body: Fields, found: Any) -> SavedAnswer:
    return SavedAnswer(path, body, json.dumps(without_nan(found), ensure_ascii=False).encode())


def searched(loaded: Loaded, body: Fields) -> list[Any]:
    return [*decode(lambda: nullcontext(loaded), body)]


ANSWERS: dict[str, Answerer] = {
    "/api/lens": lens,
    "/api/sweep": sweep,
    "/api/rewritten": rewritten,
    "/api/gradients": gradients,
    "/api/decode": searched,
}


def passes(loaded: Loaded, request: Fields, name: str) -> Iterator[tuple[SavedAnswer, ShownPass]]:
    """The pass as it is on the screen; if it is interfered with, also the one before."""
    asked = {key: request[key] for key in ("input", "layers") if key in request}
    edits = fields.tables(request, "edits")
    for one in [edits, []] if edits else [[]]:
        shown = run(loaded, {**asked, "edits": one})
        yield SavedAnswer("/api/trace", {"edits": one}, payload(shown, name), BYTES), shown


def around(offered: Offered, loaded: Loaded) -> Iterator[SavedAnswer]:
    """What does not depend on the input."""
    yield as_json("/api/models", {}, {"models": [model_entry(offered, loaded)]})
    for lang in LANGUAGES:
        yield as_json(f"/api/words/{lang}", {}, page_words(lang))
        yield as_json("/api/glossary", {"lang": lang}, glossary(lang))
        for name in LESSONS:
            yield as_json(f"/api/lesson/{name}", {"lang": lang}, lesson_text(name, lang))
    for name in norms_of(loaded.model):
        yield as_json("/api/norm", {"name": name}, norm_weights(loaded.model, name))


def page_words(lang: str) -> dict[str, str]:
    return {key: text for key, text in sentences(lang).items() if key.startswith(SPOKEN)}


def usual(loaded: Loaded, edits: list[Fields]) -> Iterator[tuple[str, Fields]]:
    """What the views ask as soon as they are opened; heads are measured at once only in a small model."""
    yield "/api/lens", {"edits": edits}
    if parameter_count(loaded.config.model) < AT_ONCE:
        for attention in attentions(loaded.model):
            yield "/api/sweep", {"attention": attention}
    if edits:
        yield "/api/rewritten", {"edits": edits}
    yield "/api/decode", {"kind": "next", "temperature": 1}
    yield "/api/decode", {"kind": "beam", "width": 3, "alpha": 0.6}


def answered(
    loaded: Loaded, questions: Iterable[tuple[str, Fields]], given: Mapping[str, Any]
) -> Iterator[SavedAnswer]:
    """The answers to questions about one input; a question that does not fit the model has none."""
    met = set()
    for path, body in questions:
        key = path, json.dumps(body, sort_keys=True)
        if path not in ANSWERS or key in met:
            continue
        met.add(key)
        with suppress(GlassformerError):
            found = ANSWERS[path](loaded, {**body, "input": given})
            if path == "/api/decode":
                lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in found)
                yield SavedAnswer(path, body, lines.encode(), LINES)
            else:
                yield as_json(path, body, found)


def reasons(one: ShownPass, clicked: list[Fields], follow: tuple[int, int]) -> SavedAnswer:
    """Why some numbers are what they are: those that were clicked and what they lead to, the first ones of the followed
    tokens, and every score and weight, as long as there is room.
    """
    known, found = Reasons(one), dict[str, Any]()

    def add(name: str, index: tuple[int, ...]) -> list[tuple[str, tuple[int, ...]]]:
        key = f"{name} {','.join(map(str, index))}"
        if key in found or len(found) >= MOST_REASONS:
            return []
        found[key] = explained(known, name, index)
        return [(each["name"], tuple(each["index"])) for each in found[key]["further"]]

    waiting = deque((fields.text(each, "name"), tuple(fields.wholes(each, "index") or ())) for each in clicked)
    while waiting and len(found) < CHAIN:
        with suppress(GlassformerError):  # a number of another text
            waiting.extend(add(*waiting.popleft()))
    for name, index in itertools.chain(beside(one, follow), cells(one)):
        if len(found) >= MOST_REASONS:
            break
        add(name, index)
    return as_json("/api/why", {}, found)


def beside(one: ShownPass, follow: tuple[int, int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The first numbers of each vector of the followed tokens."""
    for name, x in one.trace.tensors.items():
        shape = without_batch(name, x).shape
        if len(shape) < 1 or name.rpartition(".")[2] in MAPS:
            continue
        row = min(follow[is_target(one, name)], shape[-2] - 1) if len(shape) > 1 else 0
        heads = [(head,) for head in range(shape[0])] if len(shape) > 2 else [()]
        for head, column in itertools.product(heads, range(min(FIRST, shape[-1]))):
            yield name, (*head, row, column) if len(shape) > 1 else (column,)


def cells(one: ShownPass) -> Iterator[tuple[str, tuple[int, ...]]]:
    """All scores and weights."""
    for name, x in one.trace.tensors.items():
        if name.rpartition(".")[2] in MAPS:
            for index in itertools.product(*map(range, without_batch(name, x).shape)):
                yield name, index


def is_target(one: ShownPass, name: str) -> bool:
    """Do the rows of a tensor belong to the tokens of the decoder of a pair of stacks?"""
    if one.given.target is None or name.endswith(("cross_attention.k", "cross_attention.v")):
        return False
    return name.startswith(("decoder", "head", "target")) or "#2" in name
