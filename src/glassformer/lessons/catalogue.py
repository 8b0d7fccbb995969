"""The lessons by chapter, in the order of reading. A lesson NAME of a chapter stands in lessons/CHAPTER/NAME.py."""

from __future__ import annotations

from importlib import import_module

from glassformer.errors import UsageError, suggest
from glassformer.lessons.lesson import Lesson

CHAPTERS: dict[str, tuple[str, ...]] = {
    "embedding": (),
    "position": (),
    "attention": ("scaled_scores",),
    "norm": (),
    "feed_forward": (),
    "residual": (),
    "stacks": (),
    "training": (),
    "data": ("tokenizer", "dataset", "mlm_masking", "small_budget"),
    "evaluation": ("metrics", "confusion_matrix", "cls_or_sep"),
    "families": ("families", "stock_patches", "image_patches", "long_range", "price_of_attention"),
}
LESSONS: dict[str, str] = {name: chapter for chapter, names in CHAPTERS.items() for name in names}


def module_of(name: str) -> str:
    """Where a lesson stands: "lessons.attention.scaled_scores"."""
    if name not in LESSONS:
        raise UsageError("lesson_unknown", name=name, hint=suggest(name, LESSONS))
    return f"lessons.{LESSONS[name]}.{name}"


def lesson(name: str) -> Lesson:
    """The lesson of a name; its module is imported now, and torch with it."""
    found: Lesson = import_module(f"glassformer.{module_of(name)}").LESSON
    return found


def claims() -> dict[str, str]:
    """Every claim and the lesson that answers it, in the order of reading."""
    return {claim: name for name in LESSONS for claim in lesson(name).claims}
