"""Training: one optimiser step after the other, saved so that nothing is lost and continued bit for bit."""

from glassformer.training.job import Training
from glassformer.training.loop import train

__all__ = ["Training", "train"]
