"""Texts with a label: reviews that are good or bad, questions with their answer and subject."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from glassformer.data.table import csv_rows, tsv_rows
from glassformer.errors import FileError


@dataclass(frozen=True)
class Labelled:
    """Texts and their labels; `empty` counts the texts that are empty in the original, and are kept."""

    texts: list[str]
    labels: list[int]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def empty(self) -> int:
        return sum(not text for text in self.texts)


@dataclass(frozen=True)
class Dialogue:
    """Questions, answers, and a label of the subject."""

    questions: list[str]
    answers: list[str]
    labels: list[int]

    def __len__(self) -> int:
        return len(self.questions)


def read_labelled_tsv(path: str | Path, text: str = "document", label: str = "label") -> Labelled:
    """A TSV with a header, quoting off: a quotation mark in a review is just a character."""
    found = Labelled([], [])
    for number, (words, mark) in enumerate(tsv_rows(path, (text, label)), 2):
        found.texts.append(words)
        found.labels.append(_whole(mark, path, number))
    return found


def read_dialogue_csv(path: str | Path) -> Dialogue:
    """A CSV with a header and three columns: question, answer, label."""
    found = Dialogue([], [], [])
    for line, row in csv_rows(path):
        if len(row) < 3:
            raise FileError("data_row_short", path=path, line=line, columns=len(row), needed=3)
        if line > 1:
            found.questions.append(row[0])
            found.answers.append(row[1])
            found.labels.append(_whole(row[2], path, line))
    return found


def _whole(text: str, path: str | Path, line: int) -> int:
    if not (text.strip().isascii() and text.strip().isdigit()):
        raise FileError("data_not_number", path=path, line=line, value=text)
    return int(text)
