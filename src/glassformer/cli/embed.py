"""`glassformer embed MODEL [TEXT …]`: sentence vectors as JSON, or a table of how similar the sentences are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from glassformer.cli.lines import Lines, outside_training
from glassformer.cli.options import Checkpoint, Debug, Device, Dtype, Json, Lang, Texts, Trained, Truncate, open_model
from glassformer.cli.output import print_json, print_rich
from glassformer.show import Column, Table
from glassformer.words import say

if TYPE_CHECKING:
    from torch import Tensor

WIDEST = 10  # sentences in a square of similarities; for more, only the nearest of each


def command(
    model: Trained,
    texts: Texts = None,
    pool: Annotated[str | None, typer.Option("--pool", help=say("help.pool"), show_default=False)] = None,
    truncate: Truncate = False,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
    dtype: Dtype = "float32",
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> int:
    import torch

    from glassformer.tasks.embed import embed, similarities

    loaded = open_model(model, checkpoint=checkpoint, device=device, dtype=dtype)
    _ = loaded.vocabularies  # refuses a model that reads no text, before any line of the input

    def find(some: list[str]) -> list[Tensor]:
        return list(embed(loaded, some, pool, truncate=truncate))

    given = Lines(texts)
    pairs = [pair for lines in given.answered(find) for pair in lines]
    outside = outside_training(loaded, pairs)
    if json:
        vectors = [None if vector is None else vector.tolist() for _, vector in pairs]
        print_json(
            {
                "embeddings": vectors,
                "unseen": [each.unseen for each in outside],
                "longer_than": [each.longest for each in outside],
            }
        )
        return given.exit_code
    whole = [(text, vector) for text, vector in pairs if vector is not None]
    if whole:
        alike = similarities(torch.stack([vector for _, vector in whole]))
        print_rich(_table([text for text, _ in whole], alike), say("answers.cosine"))
    return given.exit_code


def _table(texts: list[str], alike: Tensor) -> Table:
    """A square of cosines for few sentences; for many, each with its nearest."""
    number, sentence = Column("", "name"), Column(say("answers.input"))
    if len(texts) <= WIDEST:
        square = Table(number, sentence, *(Column(str(i), "number") for i in range(1, len(texts) + 1)))
        for i, (text, row) in enumerate(zip(texts, alike.tolist(), strict=True), 1):
            square.add(str(i), text, *(f"{cosine:.3f}" for cosine in row))
        return square
    table = Table(number, sentence, Column(say("answers.nearest")), Column("cos", "number"))
    nearest = alike.fill_diagonal_(-2.0).max(1)
    for i, text in enumerate(texts):
        other, cosine = int(nearest.indices[i]), float(nearest.values[i])
        table.add(str(i + 1), text, f"{other + 1} {texts[other]}", f"{cosine:.3f}")
    return table
