"""Training: one optimiser step after the other, saved so that nothing is lost and continued bit for bit."""

from glassformer.training.loop import Training, train

__all__ = ["Training", "train"]
