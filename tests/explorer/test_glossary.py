from __future__ import annotations

import pytest

from explorer_client import client
from glassformer.explorer.glossary import EVERYDAY, forms
from glassformer.textbook.book import Page
from glassformer.words import LANGUAGES


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_terms_are_those_of_the_textbook_in_their_order(lang: str) -> None:
    found = client().get(f"/api/glossary?lang={lang}").json()
    terms = Page("glossary", lang).terms
    assert found["language"] == lang and [one["key"] for one in found["terms"]] == list(terms)
    for one in found["terms"]:
        assert (one["term"], one["other"]) == (terms[one["key"]]["term"], terms[one["key"]]["other"])
        assert one["meaning"] and "{{" not in one["meaning"]
        assert bool(one["forms"]) == (one["key"] not in EVERYDAY)


def test_the_language_is_that_of_the_request() -> None:
    asked = client()
    assert asked.get("/api/glossary", headers={"accept-language": "ko-KR"}).json()["language"] == "ko"
    assert asked.get("/api/glossary", headers={"accept-language": "en"}).json()["language"] == "en"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_form_belongs_to_two_terms(lang: str) -> None:
    terms = client().get(f"/api/glossary?lang={lang}").json()["terms"]
    all_forms = [form.lower() for one in terms for form in one["forms"]]
    assert sorted(set(all_forms)) == sorted(all_forms)
    assert {one["beside"] for one in terms} <= {None, *(one["key"] for one in terms)}


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("token", ["token"]),
        ("rotary positions (RoPE)", ["rotary positions", "RoPE"]),
        ("query (Q)", ["query"]),
        ("causal (look-ahead) mask", ["causal mask", "look-ahead mask"]),
        ("initialisation (Xavier, He)", ["initialisation"]),
        ("보정, 보정 오차(ECE)", ["보정", "보정 오차", "ECE"]),
        ("RNN, LSTM", ["RNN", "LSTM"]),
        ("training, validation, test split", ["training, validation, test split"]),
    ],
)
def test_the_forms_of_a_term_follow_from_its_name(term: str, expected: list[str]) -> None:
    assert forms(term) == expected


def test_written_forms_replace_them() -> None:
    assert forms("hidden", "hidden layer; hidden numbers") == ["hidden layer", "hidden numbers"]
