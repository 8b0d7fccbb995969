from __future__ import annotations

from pathlib import Path

import pytest
import torch

from glassformer.loading import load
from glassformer.runs import Run
from glassformer.tasks.classification import confusion
from glassformer.tasks.classification.confusion import class_metrics, class_scores, confusion_matrix
from glassformer.tasks.classification.task import Classification
from small_classifier import trained


def test_scores_and_metrics_by_hand() -> None:
    logits = torch.log(torch.tensor([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]]))
    sums = class_scores(logits, torch.tensor([0, 0, 1, 1]))
    assert sums["confusion"].total.tolist() == [[2, 0], [1, 1]] and int(sums["confusion"].count) == 4
    found = class_metrics(sums)
    assert found["accuracy"] == 0.75 and found["f1"] == pytest.approx((4 / 5 + 2 / 3) / 2)
    assert found["loss"] == pytest.approx(-float(torch.log(torch.tensor([0.9, 0.6, 0.8, 0.3])).mean()))


@pytest.mark.slow
def test_the_table_of_a_run_counts_validation_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.open(trained(tmp_path))
    material, model = Classification.again(run), load(run.folder).model
    found = confusion_matrix(material, model)
    assert found is not None and found.labels == ["bad", "good"] and found.counts == [[20, 0], [0, 20]]
    monkeypatch.setattr(confusion, "MOST_CLASSES", 1)
    assert confusion_matrix(material, model) is None
