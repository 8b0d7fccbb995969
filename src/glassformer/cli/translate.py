"""`glassformer translate [MODEL] [TEXT …]`: arguments, or standard input line by line, answered as it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.cli.lines import Lines
from glassformer.cli.model_argument import model_and_inputs
from glassformer.cli.options import (
    Beam,
    Checkpoint,
    Debug,
    Device,
    Dtype,
    Json,
    Lang,
    LengthNorm,
    LengthPenalty,
    ObviousModel,
    Stop,
    Texts,
    Truncate,
    open_model,
)
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.tasks.translation.translate import Translated


def command(
    model: ObviousModel = None,
    texts: Texts = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    length_norm: LengthNorm = None,
    stop: Stop = None,
    nbest: Annotated[int, typer.Option("--nbest", help=say("help.nbest"))] = 1,
    truncate: Truncate = False,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
    dtype: Dtype = "float32",
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> int:
    from glassformer.tasks.search import search_for
    from glassformer.tasks.translation.translate import translations
    from glassformer.tasks.verbs import check_verb

    model, texts = model_and_inputs("translate", model, texts)
    loaded = open_model(model, checkpoint=checkpoint, device=device, dtype=dtype)
    check_verb(loaded, "translate")
    search = search_for(
        loaded,
        beam=beam,
        length_penalty=length_penalty,
        length_norm=length_norm,
        stop=stop,
        nbest=nbest,
        truncate=truncate,
    )

    def find(lines: list[str]) -> list[list[Translated]]:
        return translations(loaded, lines, search)

    def to_json(line: str, found: list[Translated] | None) -> dict[str, Any]:
        return {"source": line, "translations": [vars(one) for one in found or ()]}

    def show(found: list[Translated]) -> None:
        for one in found:
            text = " ".join(one.text.splitlines())  # one line in, one line out
            print(text if nbest == 1 else f"{one.score:.4f}\t{text}")

    return Lines(texts).answer(loaded, find, show, to_json, json=json)
