"""Trained models that leave their machine: a small run folder with its card, and the models of the package."""

from glassformer.sharing.card import ModelCard
from glassformer.sharing.packaged import TrainedModels, trained_models
from glassformer.sharing.write import share_run

__all__ = ["ModelCard", "TrainedModels", "share_run", "trained_models"]
