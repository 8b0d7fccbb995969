"""Translations beside their references: what every score of a translation is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from glassformer.errors import InputError


@dataclass(frozen=True)
class Outputs:
    """One reference for each translation; an empty translation is a bad one, not an error.

    `teacher_forced` marks output that was not translated: at every position the model was given the reference's own
    words so far. It can repeat the reference's length and word order for free, so its "BLEU" has no meaning, although
    more than one tutorial reports it.
    """

    hypotheses: Sequence[str]
    references: Sequence[str]
    teacher_forced: bool = False

    def __post_init__(self) -> None:
        if len(self.hypotheses) != len(self.references):
            raise InputError("score_counts", hypotheses=len(self.hypotheses), references=len(self.references))
        if not self.hypotheses:
            raise InputError("score_nothing")

    def __len__(self) -> int:
        return len(self.hypotheses)


def refuse_teacher_forced(outputs: Outputs) -> None:
    """Called by every score that claims to judge translations."""
    if outputs.teacher_forced:
        raise InputError("teacher_forced_bleu")
