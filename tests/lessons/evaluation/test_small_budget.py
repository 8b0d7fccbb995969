from __future__ import annotations

from math import log
from typing import Any

import pytest

from glassformer.data.documents import topics
from glassformer.lessons.evaluation.small_budget import _entropies, _settings, verdicts
from lesson_models import tiny_result


def data(unigrams: tuple[float, float], bigram: float = 5.0) -> dict[str, Any]:
    rows = [{"vocab_size": 10**n, "unigram": one, "bigram": bigram} for n, one in enumerate(unigrams, 3)]
    budget = {name: {"validation": {"mean": 1.0}} for name in ("plain", "own")} | {"unigram": 5.0, "scale": 10}
    reported = {"training": 6.79, "validation": 7.74}
    return {"reported": reported, "rows": rows, "last": rows[1], "assumed": rows[1], "budget": budget}


def test_the_rule() -> None:
    assert verdicts(data((6.0, 7.0)))["wmt-loss"].verdict == "confirmed"
    assert verdicts(data((6.0, 8.0)))["wmt-loss"].verdict == "depends"
    assert verdicts(data((7.8, 8.0)))["wmt-loss"].verdict == "refuted"
    assert verdicts(data((6.0, 7.0), bigram=7.0))["wmt-loss"].verdict == "refuted"


def some() -> dict[str, list[str]]:
    return {part: topics(part).texts for part in ("train", "validation")}


@pytest.mark.slow
def test_knowing_more_is_less_surprising() -> None:
    found = _entropies(500, some())
    assert found is not None
    assert found["bigram"] < found["unigram"] < found["uniform"] == log(500)


def test_the_settings_are_those_of_the_recipes() -> None:
    plain, own = _settings("budget-3100-plain"), _settings("budget-3100")
    assert (plain["model.norm_order"], own["model.norm_order"]) == ("post", "pre")
    assert plain["train.learning_rate"] == 5e-5 and plain["train.warmup"] == 0


@pytest.mark.slow
def test_another_text_gives_other_entropies() -> None:
    text = "the same few words again and again " * 50 + " and more of them in turn"
    before, after = _entropies(270, some()), _entropies(270, {"train": [text] * 4, "validation": [text]})
    assert before is not None and after is not None
    assert after["bigram"] < before["bigram"]
    assert _entropies(5000, {"train": [text], "validation": [text]}) is None


@pytest.mark.slow
def test_it_trains_both() -> None:
    found = tiny_result("small_budget")["budget"]
    assert len(found["plain"]["validation"]["values"]) == 2
    assert found["plain"]["validation"]["values"] != found["own"]["validation"]["values"]
