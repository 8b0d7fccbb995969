from __future__ import annotations

import json
from dataclasses import replace

import pytest

from glassformer.training.progress import Progress, differing, origin
from small_run import examples, run_config


def test_the_best_so_far() -> None:
    progress = Progress(step=10)
    assert progress.keep_best(2.0, "less")
    progress.step = 20
    assert not progress.keep_best(2.5, "less")
    assert not progress.keep_best(2.0, "less")  # as good is not better
    assert (progress.best_step, progress.best_value, progress.since_best) == (10, 2.0, 2)
    assert progress.keep_best(1.0, "less")
    assert (progress.best_step, progress.since_best) == (20, 0)


@pytest.mark.parametrize(("way", "better"), [("less", 1.0), ("more", 3.0)])
def test_which_way_is_better(way: str, better: float) -> None:
    progress = Progress()
    assert progress.keep_best(2.0, way)
    assert progress.keep_best(better, way)
    assert not progress.keep_best(2.0, way)


def test_no_number_is_never_the_best() -> None:
    progress = Progress()
    assert not progress.keep_best(float("nan"), "less")
    assert progress.best_value is None and progress.since_best == 1
    assert progress.keep_best(5.0, "less")


def test_it_survives_json() -> None:
    progress = Progress(step=3, epoch=1, position=2, tokens=9, elapsed=0.1, best_step=2, best_value=1 / 3, since_best=1)
    assert Progress(**json.loads(json.dumps(progress.to_dict()))) == progress
    assert progress.place == (1, 2)


def test_what_a_checkpoint_must_share_with_its_run() -> None:
    config, store = run_config(), examples()
    ours = origin(config, store)
    assert differing(ours, dict(ours)) is None
    assert differing(ours, origin(run_config({"d_ff": 64}), store)) == "model"
    assert differing(ours, origin(run_config(optimizer="sgd"), store)) == "optimizer"
    assert differing(ours, origin(config, examples(seed=5))) == "data"
    longer = replace(config, train=replace(config.train, steps=99, log_every=7, keep=9))
    assert differing(ours, origin(longer, store)) is None  # a run may be made longer
    assert differing(ours, None) == "model"
