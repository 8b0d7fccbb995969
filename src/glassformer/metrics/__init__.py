"""The metrics, `gf.metrics`: every function under its own name, whatever its file."""

from glassformer.metrics.classification import accuracy, calibration, confusion, f1, most_confused
from glassformer.metrics.forecasting import direction, mae, mase, mse
from glassformer.metrics.interval import wilson
from glassformer.metrics.language import bits_per_character, perplexity
from glassformer.metrics.translation import Outputs, Score, bleu, chrf, exact_match, forensics, ter

__all__ = [
    "Outputs",
    "Score",
    "accuracy",
    "bits_per_character",
    "bleu",
    "calibration",
    "chrf",
    "confusion",
    "direction",
    "exact_match",
    "f1",
    "forensics",
    "mae",
    "mase",
    "most_confused",
    "mse",
    "perplexity",
    "ter",
    "wilson",
]
