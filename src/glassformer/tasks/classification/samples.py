"""A few validation texts at every evaluation, with their predicted classes so far."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import nn

from glassformer.data.examples import Examples
from glassformer.data.texts import Texts
from glassformer.runs import Run
from glassformer.tasks.classification.task import Classification, LabelledTexts
from glassformer.tasks.samples import SHOWN, Sample, write_samples


@dataclass(frozen=True)
class ClassificationSamples:
    """`Training.show` of a classifier: writes samples/step-00000500.json. It adds no metrics of its own."""

    run: Run
    task: Classification
    texts: Texts
    examples: Examples  # the same texts, encoded

    @torch.no_grad()
    def __call__(self, model: nn.Module, step: int) -> dict[str, float]:
        batch = self.task.collate([self.examples[i] for i in range(len(self.examples))])
        classes = self.task.logits(model, batch.to(next(model.parameters()).device)).argmax(-1).tolist()
        true = [self.task.labels[int(self.examples[i][1][0])] for i in range(len(self.examples))]
        said = [self.task.labels[i] for i in classes]
        write_samples(self.run, step, [asdict(one) for one in map(Sample, self.texts.texts, true, said)])
        return {}


def sample_guesses(run: Run, material: LabelledTexts) -> ClassificationSamples | None:
    """At every evaluation, write the predicted classes of some validation texts."""
    if material.validation is None:
        return None
    some = range(min(SHOWN, len(material.validation_texts)))
    return ClassificationSamples(
        run, material.task, material.validation_texts.chosen(some), material.validation.select(some)
    )
