"""Texts with a label each, a word or a number: what a classifier learns from, out of files of one's own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path

from glassformer.data.jsonl import jsonl_objects, text_of
from glassformer.data.pairs import BLANKS
from glassformer.data.table import Column, named, tsv_rows
from glassformer.errors import FileError, shown


@dataclass(frozen=True)
class Texts:
    """All texts of a file in its order, and the label of each as it stands there."""

    texts: list[str]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    def chosen(self, indexes: Iterable[int]) -> Texts:
        """Some of them, in the order given."""
        indexes = list(indexes)
        return Texts([self.texts[i] for i in indexes], [self.labels[i] for i in indexes])


def read_texts(path: str | Path, columns: Sequence[Column] = ("text", "label")) -> Texts:
    """A .tsv or .jsonl file, plain or packed. A row without a text or without a label is refused, with its line."""
    name = str(path).removesuffix(".gz").removesuffix(".xz")
    rows = _jsonl(path, columns) if name.endswith(".jsonl") else _tsv(path, columns)
    found = Texts([], [])
    for line, text, label in rows:
        for column, value in zip(columns, (text, label), strict=True):
            if not value:
                raise FileError("data_blank", path=path, line=line, column=column)
        found.texts.append(text)
        found.labels.append(label)
    if not len(found):
        raise FileError("data_empty_file", path=path)
    return found


def _tsv(path: str | Path, columns: Sequence[Column]) -> Iterator[tuple[int, str, str]]:
    first = 2 if named(columns) else 1
    for line, (text, label) in enumerate(tsv_rows(path, columns), first):
        if text or label:  # an empty line is no row
            yield line, text.strip(BLANKS), label.strip(BLANKS)


def _jsonl(path: str | Path, columns: Sequence[Column]) -> Iterator[tuple[int, str, str]]:
    text, label = ("text", "label") if any(isinstance(column, int) for column in columns) else map(str, columns)
    for line, row in jsonl_objects(path):
        words = text_of(row, text, path, line).strip(BLANKS)
        mark = row.get(label, "")
        if label in row and not isinstance(mark, str):  # true, 3: as they are written
            if not isinstance(mark, int):  # null, NaN, 0.5, a list
                raise FileError("data_not_label", path=path, line=line, name=label, value=shown(mark))
            row = {**row, label: json.dumps(mark)}
        yield line, words, text_of(row, label, path, line).strip(BLANKS)


def apart(texts: Texts, number: int, seed: int) -> tuple[Texts, Texts]:
    """(the rest, about `number` texts kept apart): drawn by seed, of each label its share, no text in both."""
    number = min(number, len(texts) // 2)
    label = dict(zip(reversed(texts.texts), reversed(texts.labels), strict=True))  # the first one that a text has
    sizes, left = Counter(texts.texts), Counter(texts.labels)
    left = Counter({name: round(count * number / len(texts)) for name, count in left.items()})
    taken: set[str] = set()
    for text in sorted(sizes, key=lambda text: sha1(f"{seed}:{text}".encode(), usedforsecurity=False).digest()):
        if sizes[text] <= left[label[text]]:
            taken.add(text)
            left[label[text]] -= sizes[text]
    rest = [i for i, text in enumerate(texts.texts) if text not in taken]
    return texts.chosen(rest), texts.chosen(i for i, text in enumerate(texts.texts) if text in taken)
