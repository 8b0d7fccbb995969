"""The lessons by chapter, in the reading order that contents, report, notebooks and commands share.

The lesson NAME of a chapter is in lessons/CHAPTER/NAME.py.
"""

from __future__ import annotations

from importlib import import_module

from glassformer.errors import UsageError, suggest
from glassformer.lessons.lesson import Lesson

CHAPTERS: dict[str, tuple[str, ...]] = {
    "overview": ("architecture",),
    "data": ("tokenizer", "dataset"),
    "embedding": ("token_embedding", "special_tokens"),
    "position": ("positional_encoding", "position_kinds", "word_order"),
    "attention": ("worked_example", "scaled_scores", "attention_patterns", "masking", "look_ahead_mask"),
    "residual": ("residual", "stochastic_depth"),
    "norm": ("layer_norm", "norm_kinds", "pre_or_post_norm"),
    "feed_forward": ("feed_forward", "ffn_memory"),
    "stacks": (
        "encoder_attention",
        "encoder_contributions",
        "decoder_attention",
        "decoder_contributions",
        "transformer_attention",
        "generation",
        "cross_attention_elsewhere",
    ),
    "training": (
        "initialization",
        "gradient_flow",
        "schedules",
        "noam_schedule",
        "warmup",
        "onecycle",
        "cyclic",
        "label_smoothing",
        "focal_loss",
        "mlm_masking",
        "accumulation",
        "training_run",
    ),
    "evaluation": ("metrics", "small_budget", "confusion_matrix", "cls_or_sep"),
    "families": (
        "families",
        "parameters",
        "parts_that_matter",
        "stock_patches",
        "image_patches",
        "long_range",
        "price_of_attention",
    ),
}
LESSONS: dict[str, str] = {name: chapter for chapter, names in CHAPTERS.items() for name in names}
NUMBERS: dict[str, str] = {
    name: f"{chapter}.{at}" for chapter, names in enumerate(CHAPTERS.values(), 1) for at, name in enumerate(names, 1)
}

# shorter paths for less time; the order is always the one above
_TWO_HOURS = {
    *("architecture", "tokenizer", "token_embedding", "special_tokens", "positional_encoding"),
    *("worked_example", "scaled_scores", "attention_patterns", "masking", "look_ahead_mask"),
    *("residual", "layer_norm", "feed_forward", "encoder_attention", "encoder_contributions"),
    *("decoder_attention", "transformer_attention", "generation"),
}
_SIX_HOURS = _TWO_HOURS | {
    *("word_order", "pre_or_post_norm", "decoder_contributions", "initialization", "warmup", "label_smoothing"),
    *("mlm_masking", "training_run", "metrics", "families", "parameters", "price_of_attention"),
}
PATHS: dict[int, tuple[str, ...]] = {  # hours → lessons
    2: tuple(name for name in LESSONS if name in _TWO_HOURS),
    6: tuple(name for name in LESSONS if name in _SIX_HOURS),
    15: tuple(LESSONS),
}


def module_of(name: str) -> str:
    """The module of a lesson: "lessons.attention.scaled_scores"."""
    if name not in LESSONS:
        raise UsageError("lesson_unknown", name=name, hint=suggest(name, LESSONS))
    return f"lessons.{LESSONS[name]}.{name}"


def lesson(name: str) -> Lesson:
    """The lesson with this name; imports its module, and torch with it."""
    found: Lesson = import_module(f"glassformer.{module_of(name)}").LESSON
    return found
