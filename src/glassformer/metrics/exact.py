"""The share of translations that are the reference, word for word: the demo's measure, where only one is right."""

from __future__ import annotations

from glassformer.metrics.interval import Proportion, wilson
from glassformer.metrics.outputs import Outputs, refuse_teacher_forced


def exact_match(outputs: Outputs) -> Proportion:
    """How many are equal, blanks around them aside; case and punctuation count."""
    refuse_teacher_forced(outputs)
    pairs = zip(outputs.hypotheses, outputs.references, strict=True)
    return wilson(sum(line.strip() == reference.strip() for line, reference in pairs), len(outputs))
