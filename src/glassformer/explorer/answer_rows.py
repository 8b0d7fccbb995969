"""The answers of two passes row by row: tokens, classes, numbers or objects, side by side, and how far each moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor

from glassformer.comparison.distance import finite_or_none
from glassformer.explorer import sweep
from glassformer.explorer.alignment import Alignment, RowPair, align, matched
from glassformer.explorer.answers import piece_name
from glassformer.explorer.passes import ShownPass
from glassformer.loading import Loaded

SHOWN = 6  # gaps, numbers or objects in one line
KINDS = {"top": "tokens", "classes": "classes", "numbers": "numbers", "objects": "objects"}


@dataclass(frozen=True)
class AnswerRow:
    """One row of an answer: what it belongs to, what is said there, and how likely; `at`: its place in the output."""

    name: str
    said: str | None
    p: float | None
    at: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class AnswerTable:
    """All rows of one pass. `vocabulary`: what its probabilities are about; only then can two be subtracted."""

    kind: str  # tokens, classes, numbers, objects; "": a body without a head says nothing
    text: str
    rows: list[AnswerRow]
    measure: str
    vocabulary: tuple[str, ...]
    output: Tensor

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "text": self.text}


def answers_of(one: ShownPass) -> AnswerTable:
    said, loaded = one.answer(), one.loaded
    key = next((key for key in KINDS if key in said), "")
    rows = _rows(key, said, one)
    text = said["text"] if "text" in said else _in_one_line(key, rows, one)
    return AnswerTable(KINDS.get(key, ""), text, rows, sweep.kind_of(loaded), _vocabulary(loaded), one.output)


def in_one_table(a: AnswerTable, b: AnswerTable, alignment: Alignment) -> dict[str, Any]:
    """The rows of both in one table; none if the two answer in different ways. `alignment`: of the rows of tokens."""
    pairs = _pairs(a, b, alignment) if a.kind == b.kind else []
    moved = _moved(a, b, pairs)
    known = [one for one in moved if one is not None]
    rows = [
        {
            "a": None if i is None else a.rows[i].to_json(),
            "b": None if j is None else b.rows[j].to_json(),
            "moved": None if len(moved) != len(pairs) else moved[number],
        }
        for number, (i, j) in enumerate(pairs)
    ]
    return {
        "kind": a.kind if pairs else "",
        "measure": a.measure,
        "rows": rows,
        "moved": sum(known) / len(known) if known else None,
        **_changed(a, b, pairs),
    }


def _rows(key: str, said: dict[str, Any], one: ShownPass) -> list[AnswerRow]:
    pieces = one.given.source if one.given.target is None else one.given.target
    match key:
        case "top":
            wanted = said["masked"] or range(len(said["top"]))
            best = {i: said["top"][i][0] for i in wanted}
            return [AnswerRow(pieces[i].piece, each["piece"], finite_or_none(each["p"]), i) for i, each in best.items()]
        case "classes":
            return [
                AnswerRow(each["label"], None, finite_or_none(each["p"]), i) for i, each in enumerate(said["classes"])
            ]
        case "numbers":
            return [AnswerRow(f"+{i + 1}", f"{value:.2f}", None, i) for i, value in enumerate(said["numbers"])]
        case "objects":
            return [
                AnswerRow(f"q{i}", each["label"], finite_or_none(each["p"]), i)
                for i, each in enumerate(said["objects"])
            ]
    return []


def _in_one_line(key: str, rows: list[AnswerRow], one: ShownPass) -> str:
    """What a person would call the answer: what fills the gaps or comes next, the class, the numbers, the objects."""
    if key == "top" and not one.given.masked:
        best = one.output[0].argmax(-1).tolist()
        whole = one.loaded.task == "masked_language_model"  # without a gap it repeats the text
        return one.loaded.vocabularies.target.decode(best) if whole else str(rows[-1].said)
    if key == "classes":
        return max(rows, key=lambda row: row.p or 0.0).name
    said = [row.said for row in rows if row.said is not None]
    return " · ".join(said[:SHOWN]) + " …" * (len(said) > SHOWN)


def _vocabulary(loaded: Loaded) -> tuple[str, ...]:
    if loaded.config.model.head.kind == "language_model":
        tokenizer = loaded.vocabularies.target
        return tuple(piece_name(tokenizer, token) for token in range(tokenizer.vocab_size))
    return tuple(loaded.labels)


def _pairs(a: AnswerTable, b: AnswerTable, alignment: Alignment) -> list[RowPair]:
    match a.kind:
        case "tokens":
            mine, yours = _places(a), _places(b)
            found = [(mine.get(i), yours.get(j)) for i, j in alignment.pairs]
            return [pair for pair in found if pair != (None, None)]  # masked words: gaps alone are rows
        case "classes":
            return matched([row.name for row in a.rows], [row.name for row in b.rows])
    return align([row.name for row in a.rows], [row.name for row in b.rows], words=True).pairs


def _places(answers: AnswerTable) -> dict[int | None, int]:
    """Which row of the answer stands at a position."""
    return {row.at: i for i, row in enumerate(answers.rows)}


def _changed(a: AnswerTable, b: AnswerTable, pairs: Sequence[RowPair]) -> dict[str, int]:
    """How many rows say something else; of classes there is one answer."""
    if a.kind == b.kind == "classes":
        return {"changed": int(a.text != b.text), "total": 1}
    both = [(i, j) for i, j in pairs if i is not None and j is not None]
    return {"changed": sum(a.rows[i].said != b.rows[j].said for i, j in both), "total": len(both)}


def _moved(a: AnswerTable, b: AnswerTable, pairs: Sequence[RowPair]) -> list[float | None]:
    """½ Σ |p − p′| and its like (sweep.py), row by row; of classes one number for all; empty if it has no sense."""
    if a.vocabulary != b.vocabulary or a.measure != b.measure or a.output.shape[-1] != b.output.shape[-1]:
        return []
    if a.kind == "classes":
        return [finite_or_none(sweep.apart(a.measure, a.output, b.output).item())]
    both = [(i, j) for i, j in pairs if i is not None and j is not None]
    if not both:
        return []
    one, other = a.output[:, [a.rows[i].at for i, _ in both]], b.output[:, [b.rows[j].at for _, j in both]]
    found = iter(sweep.apart(a.measure, one, other)[0].tolist())
    return [None if None in pair else finite_or_none(next(found)) for pair in pairs]
