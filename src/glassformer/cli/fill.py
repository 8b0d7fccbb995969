"""`glassformer fill [MODEL] [TEXT …]`: the words that fit into each [MASK] or ___ of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.cli.lines import Lines
from glassformer.cli.model_argument import model_and_inputs
from glassformer.cli.options import Checkpoint, Debug, Device, Dtype, Json, Lang, ObviousModel, Truncate, open_model
from glassformer.cli.output import print_rich
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.tasks.masked_language_model.fill import Filled
    from glassformer.tasks.verbs import Answers


def command(
    model: ObviousModel = None,
    texts: Annotated[
        list[str] | None, typer.Argument(help=say("help.gaps").replace("[", r"\["), metavar="TEXT", show_default=False)
    ] = None,
    truncate: Truncate = False,
    top: Annotated[int, typer.Option("--top", help=say("help.top_words"))] = 5,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
    dtype: Dtype = "float32",
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> int:
    from glassformer.tasks.masked_language_model.fill import fill, split_at_gaps
    from glassformer.tasks.verbs import check_verb

    model, texts = model_and_inputs("fill", model, texts)
    loaded = open_model(model, checkpoint=checkpoint, device=device, dtype=dtype)
    check_verb(loaded, "fill")

    def find(lines: list[str]) -> list[Answers[Filled]]:
        return [fill(loaded, line, top, truncate=truncate) for line in lines]

    def to_json(line: str, masks: Answers[Filled] | None) -> dict[str, Any]:
        return {"text": line, "masks": [one.to_json() for one in masks or ()]}

    def words(line: str) -> str:
        return " ".join(split_at_gaps(loaded.tokenizer, line)[::2])  # a gap is not a word

    return Lines(texts).answer(loaded, find, print_rich, to_json, json=json, words=words)
