"""Training: one optimiser step after the other, saved so that nothing is lost and continued bit for bit."""

from glassformer.training.loop import Job, train

__all__ = ["Job", "train"]
