"""Small translators of several seeds, trained for seconds: one model would only tell about itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from glassformer.lessons.experiment import Experiment, Outcome
from glassformer.lessons.setup import LessonSetup
from glassformer.tasks.material import TextMaterial

SMALL: dict[str, Any] = {
    "data.source.test": 1,
    "data.validation": 100,
    "data.max_length": 60,
    "text.vocab_size": 1000,
    "model.d_model": 64,
    "model.n_heads": 4,
    "model.d_ff": 256,
    "model.max_len": 64,
    "train.warmup": 50,
    "train.ema": 0.0,
}
SENTENCES = 4000
STEPS = 300


class SmallTranslators:
    """The same sentences and vocabulary for every seed; `changes` are keys of the recipe ko-en."""

    def __init__(self, setup: LessonSetup, changes: Mapping[str, Any]) -> None:
        self.setup = setup
        sizes = {"data.source.count": setup.some(SENTENCES, 600), "train.steps": setup.some(STEPS, 2)}
        self.experiment = Experiment("ko-en", {**SMALL, **sizes, **changes})

    @property
    def material(self) -> TextMaterial:
        """Sentences, vocabulary and task."""
        material = self.experiment.material
        assert isinstance(material, TextMaterial)
        return material

    def each(self) -> Iterator[tuple[int, Outcome]]:
        """One trained translator for each seed."""
        for seed in self.setup.each("translators", self.setup.seeds):
            yield seed, self.experiment.train(seed)
