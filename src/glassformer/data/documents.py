"""Plain texts, the input of a language model: one long text or many short ones, from files or from Python's help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from itertools import chain
from pathlib import Path
from unicodedata import normalize

import numpy as np

from glassformer.data.groups import drawn_by_content, stored_parts
from glassformer.data.keyed import is_keyed, keyed_rows
from glassformer.data.lines import read_lines
from glassformer.data.pairs import BLANKS
from glassformer.data.prepared import mark_of
from glassformer.data.stored_texts import RowNumbers, StoredTexts, are_large, chosen_texts, stored_columns
from glassformer.errors import FileError

HELD_OUT_SHARE = 0.1  # of a single long text: its last tenth is for validation, as in nanoGPT
SHARES = (("test", 0.1), ("validation", 0.1))  # of all characters; the rest is for training


@dataclass(frozen=True)
class Documents:
    """Texts in order; `skipped`: the lines of the file that hold only blanks, from 1."""

    texts: Sequence[str]
    skipped: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    @property
    def characters(self) -> int:
        return sum(map(len, self.texts))

    def chosen(self, indexes: Iterable[int]) -> Documents:
        """Some of them, in the order given."""
        rows = np.asarray(indexes if isinstance(indexes, np.ndarray) else list(indexes), dtype=np.int64)
        return Documents(chosen_texts(self.texts, rows))

    @property
    def mark(self) -> str:
        """Tells these texts from all others."""
        return self.texts.mark if isinstance(self.texts, StoredTexts) else mark_of([*self.texts])


def together(parts: Iterable[Documents]) -> Documents:
    """Several sets, one after another."""
    every = list(parts)
    if len(every) == 1:
        return Documents(every[0].texts)
    if not any(isinstance(each.texts, StoredTexts) for each in every):
        return Documents(list(chain.from_iterable(every)))
    marks = [each.mark for each in every]
    (texts,), _ = stored_columns((), marks, ("text",), lambda _: ((text,) for text in chain.from_iterable(every)))
    return Documents(texts)


def read_documents(path: str | Path, *, by_line: bool = False, column: str = "text") -> Documents:
    """A file as one document, including line breaks; or a document for each line, as in every .jsonl and .parquet.

    `column`: the key of the text in a .jsonl or a .parquet.
    """
    if is_keyed(path):
        return _many(path, ["keyed", column], lambda: (text for text, _ in keyed_rows(path, column, column)))
    if by_line:
        return _many(path, "lines", lambda: read_lines(path))
    whole = "".join(f"{line}\n" for line in read_lines(path))
    return _each(path, [whole], strip="")


def _many(path: str | Path, form: object, texts: Callable[[], Iterable[str]]) -> Documents:
    """Many short texts: in memory, or in the cache if the file is large."""
    if not are_large([path]):
        return _each(path, texts())

    def rows(skipped: list[int]) -> Iterator[tuple[str]]:
        return ((text,) for text in _filled(path, texts(), BLANKS, skipped))

    (column,), skipped = stored_columns((path,), [form, BLANKS], ("text",), rows)
    return Documents(column, skipped)


def _each(path: str | Path, texts: Iterable[str], strip: str = BLANKS) -> Documents:
    skipped: list[int] = []
    return Documents(list(_filled(path, texts, strip, skipped)), tuple(skipped))


def _filled(path: str | Path, texts: Iterable[str], strip: str, skipped: list[int]) -> Iterator[str]:
    """The texts that are not blank; the lines of the others are appended to `skipped`."""
    number = 0
    for number, text in enumerate(texts, 1):
        if text.strip():
            yield text.strip(strip) if strip else text
        else:
            skipped.append(number)
    if number == len(skipped):
        raise FileError("documents_blank", path=path)


def apart(documents: Documents, number: int, seed: int) -> tuple[Documents, Documents]:
    """(the rest, about `number` documents held out): drawn by seed, and no text is in both."""

    def part() -> tuple[RowNumbers, RowNumbers]:
        return drawn_by_content(documents.texts, number, seed)

    stored = isinstance(documents.texts, StoredTexts)
    key = {"texts": documents.mark, "number": number, "seed": seed, "by": "content"} if stored else {}
    rest, kept = stored_parts(key, part) if stored else part()
    return documents.chosen(rest), documents.chosen(kept)


def tail_apart(documents: Documents, share: float = HELD_OUT_SHARE) -> tuple[Documents, Documents]:
    """(the beginning, the last `share` of the characters) of every document: for single long texts.

    A very short text has only a beginning.
    """
    cuts = [len(text) - int(len(text) * share) for text in documents.texts]
    both = list(zip(documents.texts, cuts, strict=True))
    return Documents([text[:cut] for text, cut in both]), Documents([text[cut:] for text, cut in both if text[cut:]])


@cache
def topics(split: str) -> Documents:
    """The topics of a split, by the hash of their names.

    Many topics quote others: a repeated paragraph is kept only in the first, so that no test text was trained on.
    Another version of Python has other texts, and gives other numbers.
    """
    from pydoc_data.topics import topics as every

    left = _without_repetitions({name: normalize("NFC", every[name]) for name in sorted(every)})
    total, parts = sum(map(len, left.values())), dict[str, str]()
    order = sorted(left, key=lambda name: sha1(name.encode(), usedforsecurity=False).digest())
    done, bounds = 0, [(name, share * total) for name, share in SHARES]
    for topic in order:
        while bounds and done >= bounds[0][1]:
            done, bounds = 0, bounds[1:]
        parts[topic] = bounds[0][0] if bounds else "train"
        done += len(left[topic])
    return Documents([left[topic] for topic in sorted(left) if parts[topic] == split])


def _without_repetitions(texts: dict[str, str]) -> dict[str, str]:
    seen: set[str] = set()
    left: dict[str, str] = {}
    for name, text in texts.items():
        kept = []
        for paragraph in text.strip().split("\n\n"):
            mark = " ".join(paragraph.split())  # the same paragraph may be indented elsewhere
            if mark not in seen:
                seen.add(mark)
                kept.append(paragraph)
        if kept:
            left[name] = "\n\n".join(kept) + "\n"
    return left
