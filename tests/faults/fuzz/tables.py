"""Files of rows and cells that are not what they should be."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import glassformer as gf
from faults.fuzz.files import damaged
from faults.fuzz.values import letters
from faults.fuzz.world import HERE, Case, world
from glassformer.data.channel import read_channels
from glassformer.data.documents import read_documents
from glassformer.data.pairs import read_pairs
from glassformer.data.texts import read_texts
from glassformer.tasks.own import own_recipe

# fmt: off
CELLS = (
    "1", "1.5", "1,5", "1.234,5", "1e400", "nan", "NaN", "inf", "-", "", " ", "2024-01-01", "2024-13-45", "01.02.2024",
    "2024-02-30 25:61", "0000-00-00", "9999999-01-01", "good", "bad", "나는 학교에 간다", "I go to school", '"', '"a',
    'a"b', "'", "\x00", "\ufeff", "\r", "label", "text", "date", "=1+1", "1_000", "٣", "1" * 400, "-5", "0", "3",
)
# fmt: on


def cell(chance: Random) -> str:
    return chance.choice(CELLS) if chance.random() < 0.8 else letters(chance, chance.randrange(6))


NAMES = ("given.csv", "given.tsv", "given.jsonl", "given.txt")
READERS: tuple[Callable[[Path], object], ...] = (
    own_recipe,
    read_channels,
    read_texts,
    read_pairs,
    read_documents,
    partial(read_documents, by_line=True),
)


def tables(chance: Random) -> Case:
    name = chance.choice(NAMES)
    content = chance.choice([_rows, _rows, _long])(chance, name)
    if chance.randint(0, 3) == 0:
        content = damaged(chance, content)
    how = chance.randrange(32)
    if how == 0:
        return Case({name: content}, ("forecast", f"{HERE}/forecasting", f"{HERE}/{name}", "--json"))
    if how == 1:
        task = chance.choice(["translation", "classification", "forecasting", "language_model", "x"])
        return Case({name: content}, ("train", f"{HERE}/{name}", "--dry-run", "--json", "--task", task))
    if how == 2:
        return Case({name: content}, partial(gf.forecast, world().loaded("forecasting"), world().here / name))
    return Case({name: content}, partial(chance.choice(READERS), world().here / name))


def _rows(chance: Random, name: str) -> bytes:
    """A few rows, ragged, of any cells."""
    rows = [[cell(chance) for _ in range(chance.randrange(5))] for _ in range(chance.randrange(7))]
    rows *= chance.choice([1, 1, 5, 20])
    if name.endswith(".jsonl"):
        return b"\n".join(_object(row) for row in rows)
    delimiter, end = (
        chance.choice([",", ";", "\t", "|", " ", ""]),
        chance.choice(["\n", "\r\n", "\r", "\n\n"]),
    )
    coding = chance.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp949", "latin-1"])
    return end.join(delimiter.join(row) for row in rows).encode(coding, "replace")


def _object(row: list[str]) -> bytes:
    if len(row) == 3:
        return json.dumps(row).encode()
    return json.dumps(dict(zip(("text", "label", "x", row[-1]) if row else (), row, strict=False))).encode()


def _long(chance: Random, name: str) -> bytes:
    """A good file of sixty rows with one bad cell."""
    rows = [[f"2024-01-{1 + i // 24:02d} {i % 24:02d}:00", f"{i % 24}.5"] for i in range(60)]
    rows[chance.randint(0, 59)][chance.randint(0, 1)] = cell(chance)
    if name.endswith(".jsonl"):
        return b"\n".join(_object(row) for row in rows)
    return "\n".join(("," if name.endswith("csv") else "\t").join(row) for row in [["date", "load"], *rows]).encode(
        "utf-8", "replace"
    )
