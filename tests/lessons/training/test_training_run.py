from __future__ import annotations

from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.training.training_run import MOST, run, thinned
from glassformer.runs import Run
from lesson_models import tiny


def test_thinning_keeps_the_last_line() -> None:
    lines = [{"step": i} for i in range(1, 151)]
    kept = thinned(lines)
    assert len(kept) <= MOST and kept[-1] == lines[-1]
    assert thinned(lines[:3]) == lines[:3] and thinned([]) == []


def test_it_is_the_log_of_the_run_and_another_run_has_other_numbers() -> None:
    first, second = (run(LessonSetup(models={"ko-en": tiny("ko-en", seed)})) for seed in (0, 1))
    lines = [line for line in Run.open(tiny("ko-en")).log.read() if line["kind"] == "train"]
    assert first["loss"] == [line["loss"] for line in lines]
    assert first["loss"] != second["loss"]
