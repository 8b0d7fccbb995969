from __future__ import annotations

from pathlib import Path

import pytest
import torch

from glassformer.models.build import build
from glassformer.runs import Run
from glassformer.tasks.object_queries.samples import ObjectSamples, picture_file, sample_objects
from glassformer.tasks.object_queries.task import ObjectQueries
from tiny_tasks import tiny

pytest.importorskip("sklearn")


@pytest.mark.slow
def test_every_evaluation_draws_a_picture(tmp_path: Path) -> None:
    material = ObjectQueries.begin(tiny("object_queries"))
    run = Run.create(tmp_path / "run", material.config, fill=material.fill)
    model, measure = build(material.config.model, seed=0).eval(), sample_objects(run, material)
    assert isinstance(measure, ObjectSamples) and len(measure.batch.images) == 4
    with torch.no_grad():
        assert measure(model, 500) == {}
    assert picture_file(run, 500) == run.samples / "step-00000500.png"
    first = picture_file(run, 500).read_bytes()
    assert first.startswith(b"\x89PNG")
    with torch.no_grad():
        model.head.output.bias[3] = 100.0  # every query is sure to see a 3
        measure(model, 500)
    assert picture_file(run, 500).read_bytes() != first


def test_without_validation_there_is_nothing_to_draw(tmp_path: Path) -> None:
    material = ObjectQueries.begin(tiny("object_queries", data={"validation": 0}))
    assert sample_objects(Run.create(tmp_path / "run", material.config), material) is None
