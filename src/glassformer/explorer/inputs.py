"""A text, an image, a series or a prompt of a request → what the model reads, task by task.

The same functions as the everyday verbs use, so that the page shows what `glassformer translate` computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from glassformer.errors import InputError
from glassformer.explorer import fields
from glassformer.explorer.fields import Fields
from glassformer.explorer.given import ReadInput
from glassformer.explorer.greedy import greedy_target
from glassformer.explorer.pictures import read_canvas, read_image, read_prompted
from glassformer.explorer.pieces import pieces_of, spelled
from glassformer.explorer.series import series_input
from glassformer.layers.position import table_size
from glassformer.loading import Loaded
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.tasks.language_model.write import beginning
from glassformer.tasks.masked_language_model.fill import split_at_gaps, with_masks
from glassformer.tasks.text_inputs import pair_ids, position_limit, text_ids
from glassformer.text.normalisation import normalise

MOST_POSITIONS = 1024  # of a text, even where the model's own table is longer or there is none


def read(loaded: Loaded, given: Fields) -> ReadInput:
    """The input of a request, as the task of the model wants it."""
    with told_to_the_page():
        return _read(loaded, given)


@contextmanager
def told_to_the_page() -> Iterator[None]:
    """A text that is too long: the everyday verbs can cut it off if they are told to, the page cannot."""
    try:
        yield
    except InputError as error:
        if error.key != "text_too_long":
            raise
        raise InputError("explorer_too_long", length=error.values["length"], most=error.values["most"]) from error


def _read(loaded: Loaded, given: Fields) -> ReadInput:
    if loaded.config.model.input.kind == "tokens" and loaded.task not in READERS:
        return _one_text(loaded, given)
    if loaded.task not in READERS:
        raise InputError("explorer_no_input", task=loaded.task, input=loaded.config.model.input.kind)
    return READERS[loaded.task](loaded, given)


def most_positions(loaded: Loaded) -> int:
    """The most positions of a text: those of the model, or ours if it has more."""
    own = position_limit(loaded)
    return MOST_POSITIONS if own is None else min(own, MOST_POSITIONS)


def _one_text(loaded: Loaded, given: Fields) -> ReadInput:
    """A text for a classifier or a body without a head; with `second`, a pair."""
    fields.known_keys(given, ("text", "second"))
    text, second = fields.text(given, "text"), fields.optional_text(given, "second")
    if not text.strip():
        raise InputError("empty_text")
    ids = text_ids(loaded, text, longest=most_positions(loaded)) if second is None else pair_ids(loaded, text, second)
    _check_length(loaded, len(ids.tokens))
    inputs = [torch.tensor([ids.tokens], device=loaded.device)]  # 1 t
    if ids.segments is not None:
        segments = torch.tensor([ids.segments], dtype=torch.int32, device=loaded.device)  # 1 t
        inputs += [torch.ones_like(inputs[0], dtype=torch.bool), segments]
    shown = {"text": spelled(loaded, text)} | ({} if second is None else {"second": spelled(loaded, second)})
    return ReadInput(tuple(inputs), pieces_of(loaded.tokenizer, ids.tokens, shown["text"]), shown=shown)


def _translation(loaded: Loaded, given: Fields) -> ReadInput:
    """Source and target; without a target, the greedy translation is what the decoder reads."""
    fields.known_keys(given, ("text", "target"))
    text, wanted = fields.text(given, "text"), fields.optional_text(given, "target")
    if not text.strip():
        raise InputError("empty_text")
    source = text_ids(loaded, text, longest=most_positions(loaded)).tokens
    target = loaded.vocabularies.target
    own = greedy_target(loaded, source) if wanted is None else target.encode(wanted)
    said = target.decode([token for token in own if token < target.vocab_size])
    begun = loaded.target_frame.begun(own)
    assert isinstance(loaded.model, EncoderDecoder)
    places = table_size(loaded.model.decoder.positions)
    _check_length(loaded, len(begun), places)
    inputs = tuple(torch.tensor([ids], device=loaded.device) for ids in (source, begun))  # 1 s, 1 t
    composed = normalise(said if wanted is None else wanted)
    prepared = spelled(loaded, text)
    return ReadInput(
        inputs,
        pieces_of(loaded.tokenizer, source, prepared),
        pieces_of(target, begun, composed),
        shown={"text": prepared, "target": composed, "greedy": wanted is None},
    )


def _written(loaded: Loaded, given: Fields) -> ReadInput:
    """The beginning of a text, which the model would continue."""
    fields.known_keys(given, ("text",))
    text = fields.text(given, "text")
    ids = beginning(loaded, text)
    _check_length(loaded, len(ids))
    composed = spelled(loaded, text)
    return ReadInput(
        (torch.tensor([ids], device=loaded.device),),
        pieces_of(loaded.tokenizer, ids, composed),
        shown={"text": composed},
    )


def _with_gaps(loaded: Loaded, given: Fields) -> ReadInput:
    """A text with gaps: written as [MASK] or ___, or the pieces whose places are in `masked`."""
    fields.known_keys(given, ("text", "masked"))
    text = normalise(fields.text(given, "text"))
    tokenizer, mask = loaded.tokenizer, loaded.tokenizer.specials.need("mask")
    parts = split_at_gaps(tokenizer, text)
    if not text.strip():
        raise InputError("empty_text")
    plain = loaded.encode(text) if len(parts) == 1 else with_masks(loaded, parts[::2], mask)
    ids = loaded.frame.around(loaded.frame.fit(plain, most_positions(loaded)))
    before = pieces_of(tokenizer, ids, spelled(loaded, text) if len(parts) == 1 else "")
    for place in fields.wholes(given, "masked") or ():
        if place >= len(ids):
            raise InputError("explorer_index", key="masked", value=place, last=len(ids) - 1)
        ids[place] = mask
    gaps = tuple(place for place, token in enumerate(ids) if token == mask)
    named = pieces_of(tokenizer, ids, "")
    pieces = [type(one)(one.piece, one.id, was.span, one.special) for one, was in zip(named, before, strict=True)]
    return ReadInput((torch.tensor([ids], device=loaded.device),), pieces, shown={"text": text}, masked=gaps)


def _check_length(loaded: Loaded, length: int, places: int | None = None) -> None:
    most = min(most_positions(loaded), places or MOST_POSITIONS)
    if length > most:
        raise InputError("explorer_too_long", length=length, most=most)


READERS: dict[str, Callable[[Loaded, Fields], ReadInput]] = {
    "translation": _translation,
    "language_model": _written,
    "masked_language_model": _with_gaps,
    "classification": _one_text,
    "image_classification": read_image,
    "object_queries": read_canvas,
    "prompted_objects": read_prompted,
    "forecasting": series_input,
}
