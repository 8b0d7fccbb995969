"""`glassformer data list|get|show|check [NAME]`: list sets, fetch or build, show, verify one; `prepare`, `cache`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.cli.options import Debug, Json, Lang
from glassformer.cli.output import print_json, print_rich
from glassformer.cli.prepared import prepare_recipe, show_cache
from glassformer.errors import FileError, UsageError
from glassformer.show import Column, ColumnKind, Table
from glassformer.words import language, say

if TYPE_CHECKING:
    from rich.progress import TaskID

    from glassformer.data.download import GetWatch

Action = Annotated[str, typer.Argument(help=say("help.data_action"), metavar="ACTION")]
Name = Annotated[str, typer.Argument(help=say("help.data_name"), metavar="NAME", show_default=False)]
SplitName = Annotated[str, typer.Option("--split", help=say("help.data_split"), show_default=False)]
Rows = Annotated[int, typer.Option("--rows", help=say("help.data_rows"))]
From = Annotated[str, typer.Option("--from", help=say("help.data_from"), metavar="FOLDER", show_default=False)]
Limit = Annotated[int | None, typer.Option("--limit", help=say("help.data_limit"), metavar="N", show_default=False)]


def command(
    action: Action = "list",
    name: Name = "",
    split: SplitName = "",
    rows: Rows = 3,
    source: From = "",
    limit: Limit = None,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> int:
    for option, given in {"--from": source, "--limit": limit}.items():
        if given and action != "get":
            raise UsageError("data_get_only", action=action, option=option)
    match action:
        case "list" if name:
            raise UsageError("usage_extra", command="data list", given=name, expected="glassformer data list")
        case "list":
            return _list(json)
        case "check":
            return _check(name, json)
        case "cache":
            return show_cache(name, json)
        case "get" | "show" if not name:
            raise UsageError("data_no_name", action=action)
        case "get":
            return _get(name, source, limit, json)
        case "prepare":
            return prepare_recipe(name, json)
        case "show":
            return _show(name, split, max(rows, 0), json)
    raise UsageError("data_action", action=action, known="list, get, show, check, prepare, cache")


def _table(columns: list[Column], rows: list[list[str]]) -> Table:
    table = Table(*columns)
    for row in rows:
        table.add(*row)
    return table


def _list(json: bool) -> int:
    from glassformer.data.catalogue import DATASETS
    from glassformer.data.find import at_hand, dataset, home, rows_here, slices_here

    names = [*DATASETS, *slices_here()]
    if json:
        print_json([_row(name) for name in names])
        return 0
    rows = []
    for name in names:
        known = dataset(name)
        counts = " · ".join(f"{split} {rows_here(name, split):,}" for split in known.splits)
        here, mark = "✓" if at_hand(name) else "", "" if known.verified else " *"
        task = say(f"data.tasks.{known.task}")
        rows.append([name + mark, task, "-".join(known.languages), counts, known.licence, here])
    kinds: dict[str, tuple[ColumnKind, int]] = {
        "name": ("name", 0),
        "task": ("text", 0),
        "languages": ("name", 1),
        "rows": ("text", 0),
        "licence": ("text", 2),
        "here": ("name", 0),
    }
    columns = [Column(say(f"data.{key}"), *kind) for key, kind in kinds.items()]
    print_rich(_table(columns, rows), say("data.not_counted"), say("data.folder", folder=home()))
    return 0


def _row(name: str) -> dict[str, Any]:
    from glassformer.data.find import at_hand, dataset, rows_here

    known = dataset(name)
    return {
        "name": name,
        "task": known.task,
        "format": known.format,
        "languages": list(known.languages),
        "splits": {
            split: {"files": list(part.files), "rows": rows_here(name, split)} for split, part in known.splits.items()
        },
        "licence": known.licence,
        "source": known.source,
        "verified": known.verified,
        "here": at_hand(name),
    }


def _show(name: str, split: str, rows: int, json: bool) -> int:
    from glassformer.data.find import dataset
    from glassformer.data.show import glance

    seen = glance(name, split, rows)
    if json:
        print_json({**_row(name), **vars(seen)})
        return 0
    known = dataset(name)
    rows_of = say("data.characters" if known.format == "text" else "data.rows_of", count=f"{seen.rows:,}")
    texts = [f"{name}, {seen.split}: {rows_of} · {known.licence} · {known.source}"]
    for column, length in seen.lengths.items():
        values = {"mean": f"{length['mean']:.1f}", "longest": f"{length['longest']:,}"}
        texts.append(say("data.length", column=column, **values))
    if seen.skipped:
        texts.append(say("data.skipped", count=f"{seen.skipped:,}"))
    print_rich(*texts, _table([Column(name) for name in seen.columns], [list(row) for row in seen.first]))
    return 0


def _check(name: str, json: bool) -> int:
    from glassformer.data.catalogue import DATASETS
    from glassformer.data.find import at_hand, check_files, dataset, home, slices_here

    names = [name] if name else [*(each for each in DATASETS if at_hand(each)), *slices_here()]
    if not names:
        raise FileError("data_none_here", folder=home())
    rows, documents, good = [], [], True
    for each in _watched(names):
        for found in check_files(each):
            good = good and found.problem is None
            text = found.problem.in_language(language()) if found.problem else _fine(found, dataset(each).sha256)
            rows.append([each, found.file, text])
            documents.append(
                {
                    "name": each,
                    "file": found.file,
                    "sha256": found.sha256,
                    "lines": found.lines,
                    "ok": not found.problem,
                    "found": text,
                }
            )
    if json:
        print_json({"ok": good, "files": documents})
    else:
        print_rich(_table([_name("name"), _name("file"), Column(say("data.found"))], rows))
    return 0 if good else 1


def _name(key: str) -> Column:
    return Column(say(f"data.{key}"), "name")


def _watched(names: list[str]) -> Iterator[str]:
    """A bar on a terminal: reading all sets takes some seconds."""
    if len(names) == 1 or not sys.stderr.isatty():
        yield from names
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(names, say("data.checking"), console=Console(stderr=True), transient=True)


def _fine(found: Any, known: dict[str, str]) -> str:
    text = say("data.good_file") if found.lines is None else say("data.good", lines=f"{found.lines:,}")
    return text if found.file in known else f"{text}; " + say("data.unverified", sha256=found.sha256)


def _get(name: str, source: str, limit: int | None, json: bool) -> int:
    from glassformer.data.find import folder
    from glassformer.data.obtain import obtain

    if limit is not None and limit < 1:
        raise UsageError("data_limit", limit=limit)
    with _watch(quiet=json) as watch:
        name, got = obtain(name, Path(source) if source else None, limit or 0, watch)
    if json:
        files = [str(path) for path in got.paths]
        print_json({"name": name, "files": files, "uncompared": got.uncompared, "corpora": got.corpora})
        return 0
    if got.corpora:
        print_rich(say("data.made_of", name=name), _corpora(got.corpora))
    print_rich(
        say("data.got", name=name, files=len(got.paths), folder=folder(name)),
        *(say("data.uncompared", file=file, sha256=digest) for file, digest in got.uncompared.items()),
    )
    return 0


def _corpora(corpora: Mapping[str, Mapping[str, int]]) -> Table:
    """What was read of each corpus, what was kept, and why the rest was not."""
    counts = ("read", "kept", "empty", "long", "ratio")
    columns = [_name("corpus"), *(Column(say(f"data.{key}"), "number") for key in counts)]
    return _table(columns, [[name, *(f"{tally[key]:,}" for key in counts)] for name, tally in corpora.items()])


@contextmanager
def _watch(quiet: bool) -> Iterator[GetWatch]:
    """Bars on a terminal, a line per file elsewhere, nothing with --json; always on stderr."""
    from glassformer.data.download import GetWatch

    def say_line(key: str, **values: object) -> None:
        if not quiet:
            print(say(key, **values), file=sys.stderr)

    def fetched(address: str, done: int, total: int | None) -> None:
        if done == total:
            say_line("data.fetched", address=address, size=f"{done:,}")

    def built(corpus: str, pairs: int, whole: bool) -> None:
        if whole:
            say_line("data.built", corpus=corpus, pairs=f"{pairs:,}")

    def waiting(folder: Path) -> None:
        say_line("data.waiting", folder=folder)

    if quiet or not sys.stderr.isatty():
        yield GetWatch(fetched, waiting, built)
        return
    from rich.console import Console
    from rich.filesize import decimal
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[size]}", markup=False),
    )
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def bar(name: str, size: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name.rpartition("/")[2], size=size)
            bars.update(tasks[name], completed=done, total=total, size=size)

        yield GetWatch(
            lambda address, done, total: bar(
                address, decimal(done) if total is None else f"{decimal(done)}/{decimal(total)}", done, total
            ),
            waiting,
            lambda corpus, pairs, whole: bar(corpus, f"{pairs:,}", pairs, pairs if whole else None),
        )
