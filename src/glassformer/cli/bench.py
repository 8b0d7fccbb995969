"""`glassformer bench [NAME …]`: measure, print the table, record."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.options import Debug, Force, Json, Lang
from glassformer.cli.output import print_json, print_rich
from glassformer.errors import UsageError
from glassformer.show import Column, ColumnKind, Table
from glassformer.words import language, say


def command(
    names: Annotated[list[str] | None, typer.Argument(help=say("help.names"), show_default=False)] = None,
    record: Annotated[Path | None, typer.Option("--record", help=say("help.record"), show_default=False)] = None,
    force: Force = False,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    from glassformer.bench.catalogue import BENCHMARKS

    if not names:
        if json:
            print_json(list(BENCHMARKS))
        else:
            print_rich(say("bench.list", known=", ".join(BENCHMARKS)))
        return
    for name in names:
        if name not in BENCHMARKS:
            raise UsageError("unknown_bench", name=name, known=", ".join(BENCHMARKS))
    from dataclasses import asdict
    from functools import partial

    from glassformer.bench.record import is_of, result
    from glassformer.files import disk
    from glassformer.runs.output import claim

    if record is not None:
        with disk(record):
            record.mkdir(parents=True, exist_ok=True)
        for name in names:
            claim(record / f"{name}.json", force=force, ours=partial(is_of, name))
    documents = []
    for name in names:
        measured = result(name, BENCHMARKS[name].run())
        documents.append(asdict(measured))
        if not json:
            print_rich(_drawn(BENCHMARKS[name].table(measured.numbers, language())))
        if record is not None:
            measured.write(record / f"{name}.json")
            if not json:
                print_rich(say("bench.written", path=record / f"{name}.json"))
    if json:
        print_json(documents[0] if len(documents) == 1 else documents)


def _drawn(rows: list[list[str]]) -> Table:
    """A table from rows, titles first. A column whose cells are all numbers or signs is a column of numbers."""
    titles, *lines = rows
    _, *others = zip(*lines, strict=True)
    table = Table(Column(titles[0], "name"), *(Column(*of) for of in zip(titles[1:], map(_kind, others), strict=True)))
    for line in lines:
        table.add(*line)
    return table


def _kind(cells: tuple[str, ...]) -> ColumnKind:
    return "text" if any(len(re.findall(r"[^\W\d_]{3,}", cell)) for cell in cells) else "number"
