from __future__ import annotations

import pytest

from glassformer.config.recipe import DataConfig
from glassformer.metrics.language import perplexity
from glassformer.metrics.translation import Outputs
from glassformer.tasks.translation.scores import score_outputs

RIGHT = ["I go to the school today", "they go to the old market"]
OUTPUTS = Outputs(RIGHT, RIGHT)
SURPRISE = perplexity(8.0, 4)


def test_what_is_right_scores_full_marks_with_every_signature() -> None:
    scores = score_outputs(OUTPUTS, SURPRISE, DataConfig())
    assert (scores.bleu.value, scores.chrf.value, scores.ter.value) == (pytest.approx(100), pytest.approx(100), 0)
    assert (scores.exact.hits, scores.exact.total, scores.sentences, scores.characters) == (2, 2, 2, None)
    assert "tok:13a" in scores.bleu.signature and "case:mixed" in scores.bleu.signature


def test_the_json_has_the_keys_of_the_contract() -> None:
    table = score_outputs(OUTPUTS, SURPRISE, DataConfig()).to_json()
    assert {"bleu", "signature", "chrf", "sentences", "loss"} <= set(table)
    assert (table["loss"], table["tokens"], table["exact"]) == (2.0, 4, 1.0)
    assert table["details"]["bleu"]["low"] <= table["bleu"] <= table["details"]["bleu"]["high"] + 1e-9


def test_korean_is_scored_on_characters_too() -> None:
    korean = Outputs(["나는 학교에서 공부한다"], ["나는 학교에서 공부했다"])
    scores = score_outputs(korean, SURPRISE, DataConfig(source_language="en", target_language="ko"))
    assert scores.characters is not None and "tok:char" in scores.characters.signature
    assert scores.characters.value > scores.bleu.value
    assert scores.to_json()["bleu_characters"] == scores.characters.value


@pytest.mark.parametrize(("prepare", "cut"), [("lowercase", "tok:13a"), ("moses", "tok:none")])
def test_what_was_done_to_the_text_stands_in_the_signature(prepare: str, cut: str) -> None:
    signature = score_outputs(OUTPUTS, SURPRISE, DataConfig(prepare=prepare)).bleu.signature
    assert signature.startswith(f"prepare:{prepare}|") and cut in signature
