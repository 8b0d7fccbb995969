"""What a translator writes while it is interfered with: word by word, by a whole pass with the edits each time.

A pass of /api/trace reads the translation of the model as it is, so that rows can be compared; this one is the model's
own. The everyday search keeps keys and values of earlier words, so that no edit of an earlier row could reach it.
"""

from __future__ import annotations

from typing import Any

import torch

from glassformer.decoding.limits import prepare
from glassformer.decoding.step import evaluation_mode
from glassformer.errors import InputError
from glassformer.explorer import fields
from glassformer.explorer.edits import changes_of
from glassformer.explorer.fields import Fields
from glassformer.explorer.greedy import translation_limits
from glassformer.explorer.inputs import read
from glassformer.explorer.pieces import pieces_of
from glassformer.layers.position import table_size
from glassformer.loading import Loaded
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.trace.edit import edit

REQUEST_KEYS = ("model", "checkpoint", "input", "edits")
LONGEST = 64  # pieces: interfered with, a translator may never end


def rewritten(loaded: Loaded, request: Fields) -> dict[str, Any]:
    """The greedy translation with the edits of the request: its text and its pieces."""
    if loaded.task != "translation":
        raise InputError("explorer_rewritten", task=loaded.task)
    given = dict(fields.table("input", request.get("input", {})))
    source = read(loaded, given | {"target": ""}).inputs[0]  # 1 s
    ids = _written(loaded, source, fields.tables(request, "edits"))
    target = loaded.vocabularies.target
    text = target.decode([token for token in ids if token < target.vocab_size])
    return {"text": text, "pieces": [piece.to_json() for piece in pieces_of(target, ids, text)]}


def _written(loaded: Loaded, source: torch.Tensor, edits: list[Fields]) -> list[int]:
    assert isinstance(loaded.model, EncoderDecoder)
    _, checked = prepare(loaded.model, source, translation_limits(loaded))
    begun, places = loaded.target_frame.begun([]), table_size(loaded.model.decoder.positions)
    most = min(checked.max_len or LONGEST, LONGEST, (places or LONGEST + len(begun)) - len(begun))
    ids: list[int] = []
    with torch.no_grad(), evaluation_mode(loaded.model):
        while len(ids) < most:
            target = torch.tensor([[*begun, *ids]], device=source.device)  # 1 t
            changes = changes_of(loaded.model, [one for one in edits if _reached(one, target.shape[1])])
            with edit(loaded.model, changes.by_name):
                logits = loaded.model(source, target)[:, -1].float()  # 1 v
            best = int(checked.forbid(logits, len(ids)).argmax())
            if len(ids) == 0 and checked.first is not None:
                best = checked.first
            if best in checked.ends:
                break
            ids.append(best)
    return ids


def _reached(one: Fields, length: int) -> bool:
    """Does the edit lie inside a target of this length? A later word has not been written yet."""
    name, row, column = fields.text(one, "name"), fields.whole(one, "row"), fields.whole(one, "column")
    if not name.startswith(("decoder.", "head.")):
        return True
    inside = row is None or row < length
    keys = "cross_attention" not in name and name.rpartition(".")[2] in ("scores", "weights", "self_attention")
    return inside and not (keys and column is not None and column >= length)
