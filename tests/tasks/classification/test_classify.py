from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from glassformer.config.values import Choice
from glassformer.errors import InputError
from glassformer.tasks.classification.classify import class_names, classify, decided
from small_models import LABELS, small

TEXTS = ["나는 학교에 간다.", "나는", "I go to school! " * 3, "he", "한"]


def test_each_text_gets_what_the_model_says_of_it_alone() -> None:
    loaded = small("classification")
    found = classify(loaded, TEXTS)
    assert [one.input for one in found] == TEXTS
    for one in found:
        logits = loaded.model(torch.tensor([loaded.framed(one.input)]))[0]
        shares = logits.softmax(0).tolist()
        assert [one.probabilities[label] for label in LABELS] == pytest.approx(shares, abs=1e-6)
        assert one.label == LABELS[shares.index(max(shares))]
        assert one.probability == max(one.probabilities.values())
        assert list(one.probabilities.values()) == sorted(one.probabilities.values(), reverse=True)
    assert len({one.label for one in found}) > 1


def test_dropout_is_off_and_comes_back() -> None:
    loaded = small("classification", dropout=0.5)
    loaded.model.train()
    assert classify(loaded, TEXTS) == classify(loaded, TEXTS)
    assert loaded.model.training


def test_a_text_and_no_texts() -> None:
    loaded = small("classification")
    assert classify(loaded, "he") == classify(loaded, ["he"])
    assert classify(loaded, []) == []


@pytest.mark.parametrize(
    ("logit", "label", "share"), [(2.0, "good", 0.880797), (-2.0, "bad", 0.880797), (0.0, "good", 0.5)]
)
def test_one_logit_is_the_second_of_two_classes(logit: float, label: str, share: float) -> None:
    (found,) = decided(["x"], torch.tensor([[logit]]), ["bad", "good"])
    assert (found.label, found.probability) == (label, pytest.approx(share, abs=1e-6))
    assert sum(found.probabilities.values()) == pytest.approx(1.0)


def test_one_logit_far_away_loses_nothing() -> None:
    (found,) = decided(["x"], torch.tensor([[-40.0]]), ["bad", "good"])
    assert found.probabilities["good"] == pytest.approx(4.248354e-18, rel=1e-5)


def test_small_types_are_summed_in_float32() -> None:
    (found,) = decided(["x"], torch.zeros(1, 3, dtype=torch.bfloat16), LABELS)
    assert found.probabilities == {label: pytest.approx(1 / 3, abs=1e-7) for label in LABELS}
    assert found.label == "bad"


def test_classes_without_names_have_numbers() -> None:
    assert class_names([], 3) == class_names(["a"], 3) == ["0", "1", "2"]
    assert class_names(["a", "b"], 2) == ["a", "b"]
    assert class_names(["a", "b", "a"], 3) == ["a (0)", "b", "a (2)"]
    (found,) = decided(["x"], torch.tensor([[1.0]]), ["LABEL_0"])
    assert found.label == "1"


def test_a_model_that_looks_back_classifies_too() -> None:
    loaded = small("classification", family="decoder", head=Choice("classifier", {"classes": 3, "pool": "sep"}))
    alone = loaded.model(torch.tensor([loaded.framed("he")]))[0].softmax(0)
    assert classify(loaded, ["he", TEXTS[2]])[0].probability == pytest.approx(alone.max().item(), abs=1e-6)


def test_a_text_without_a_token() -> None:
    loaded = small("classification", frame=("none", "none"))
    with pytest.raises(InputError, match="the text is empty"):
        classify(loaded, ["he", ""])


def test_a_text_that_is_too_long() -> None:
    with pytest.raises(InputError, match="the text has 80 positions, and at most 48 are read; shorten it"):
        classify(small("classification", frame=("none", "none")), ["\0" * 80])


def test_a_text_is_prepared_as_the_training_text_was() -> None:
    loaded = small("classification")
    data = replace(loaded.config.data, prepare="lowercase")
    lower = replace(loaded, config=replace(loaded.config, data=data))
    assert classify(lower, "HE GO")[0].probability == classify(loaded, "he go")[0].probability


def test_it_shows_itself() -> None:
    (found,) = classify(small("classification"), "he")
    assert found.lines() == [["he", found.label, f"{found.probability:.4f}"]]
    assert "<td>he</td>" in found._repr_html_() and len(found.__rich__().rows) == 1
    assert found.to_json()["probabilities"] == found.probabilities
    assert found.to_json(2)["probabilities"] == dict(found.top(2))


@pytest.mark.parametrize("text", ["", "  \t"])
def test_a_text_of_blanks_has_no_class(text: str) -> None:
    with pytest.raises(InputError, match="the text is empty: there is no token in it; give at least one"):
        classify(small("classification"), ["he", text])
