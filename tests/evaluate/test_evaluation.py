from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.config import Choice
from glassformer.errors import ConfigError
from glassformer.evaluate.evaluation import EVALUATIONS, evaluate
from glassformer.evaluate.translation import TranslationEvaluation
from glassformer.open import load
from glassformer.tasks import TASKS
from small_translator import trained


def test_every_task_can_be_evaluated() -> None:
    assert list(EVALUATIONS) == list(TASKS)


def test_a_run_is_evaluated_by_its_task(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    found = evaluate(folder, "validation", checkpoint="last")
    assert isinstance(found, TranslationEvaluation)
    assert (found.folder, found.split, found.readings) == (folder, "validation", 1)


def test_a_task_that_nobody_can_judge_is_refused(tmp_path: Path) -> None:
    loaded = load(trained(tmp_path))
    other = replace(loaded, config=replace(loaded.config, task=Choice("transcription")))
    with pytest.raises(ConfigError, match="task='transcription' is unknown; use one of: translation"):
        evaluate(other)
