from __future__ import annotations

import pytest
from sacrebleu.metrics.bleu import BLEU

from glassformer.errors import InputError
from glassformer.metrics import forensics as module
from glassformer.metrics.forensics import METRICS, Row, _compound, _moses, forensics
from glassformer.metrics.outputs import Outputs
from glassformer.words import sentences

HYPOTHESES = ["Ein Mann-mit Hut läuft, schnell.", "Das hochmoderne E-Mail-Programm ist „gut“."]
REFERENCES = ["Ein Mann mit Hut läuft sehr schnell.", "Das moderne E-Mail-Programm ist „gut“."]


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    pytest.importorskip("sacremoses")
    return {row.key: row for row in forensics(HYPOTHESES, REFERENCES)}


def test_at_least_five_conventions_each_with_a_value_and_a_signature_of_its_own(rows: dict[str, Row]) -> None:
    assert list(rows) == list(METRICS) and len(rows) >= 5
    assert len({row.signature for row in rows.values()}) == len(rows)
    assert all(row.value is not None and 0 < row.value < 100 and not row.missing for row in rows.values())
    assert len({round(row.value or 0, 4) for row in rows.values()}) >= 5


def test_each_says_what_it_is_in_both_languages() -> None:
    for lang in ("en", "ko"):
        assert all(f"forensics.{key}" in sentences(lang) for key in METRICS)


def test_the_first_is_sacrebleus_default(rows: dict[str, Row]) -> None:
    metric = BLEU()
    assert rows["sacrebleu"].value == metric.corpus_score(HYPOTHESES, [REFERENCES]).score
    assert rows["sacrebleu"].signature == str(metric.get_signature())


def test_moses_text_is_lower_cased_and_tokenised() -> None:
    pytest.importorskip("sacremoses")
    outputs = _moses(Outputs(["Der Mann, z.B. Bob, läuft."], ["Er sagt: „Ja!“"]), "de")
    assert outputs.hypotheses == ["der mann , z.b. bob , läuft ."]
    assert outputs.references == ["er sagt : „ ja ! “"]


def test_compounds_are_split_as_the_script_splits_them() -> None:
    pytest.importorskip("sacremoses")
    outputs = _compound(Outputs(["A rich-text format - new."], ["E-Mail-Programm a-b-c „ja“"]), "de")
    assert outputs.hypotheses == ["A rich ##AT##-##AT## text format - new ."]
    # one substitution eats the letter behind the hyphen, exactly as perl's does: the second hyphen of a-b-c stays
    assert outputs.references == ["E ##AT##-##AT## Mail ##AT##-##AT## Programm a ##AT##-##AT## b-c „ ja &quot;"]


def test_splitting_compounds_raises_the_score_of_half_right_ones() -> None:
    pytest.importorskip("sacremoses")
    found = {
        row.key: row.value or 0
        for row in forensics(["das alte rich-text ist gut da"], ["das alte rich-format ist gut da"])
    }
    # 5 of 6 words, 3 of 5 pairs, 1 of 4 triples become 7 of 8, 5 of 7, 3 of 6, and 1 of 5 fours
    assert found["compound"] == pytest.approx(100 * (7 / 8 * 5 / 7 * 3 / 6 * 1 / 5) ** 0.25)
    assert found["compound"] > found["sacrebleu"]


def test_multi_bleu_does_not_smooth() -> None:
    pytest.importorskip("sacremoses")
    found = {row.key: row.value or 0 for row in forensics(["a b c d"], ["a b c e"])}
    assert found["moses"] == 0.0 < found["sacrebleu"]
    assert found["sacrebleu"] == pytest.approx(100 * (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** 0.25)


def test_the_mean_over_sentences_is_another_number() -> None:
    rows = {row.key: row.value or 0 for row in forensics(["a b c d", "x"], ["a b c d", "y"])}
    assert rows["sentences"] == pytest.approx(50.0)
    assert rows["sacrebleu"] == pytest.approx(100 * (4 / 5) ** 0.25)


def test_characters_see_a_particle_where_words_see_nothing() -> None:
    rows = {row.key: row.value or 0 for row in forensics(["나는 학교에 간다"], ["나는 학교로 간다"], "ko")}
    assert rows["characters"] > 2 * rows["sacrebleu"]


def test_without_sacremoses_two_rows_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    rows = {row.key: row for row in forensics(HYPOTHESES, REFERENCES)}
    assert {key for key, row in rows.items() if row.missing} == {"moses", "compound"}
    assert rows["moses"] == Row("moses", None, "", missing="sacremoses")


def test_empty_lines_are_scored() -> None:
    assert [row.value for row in forensics(["", "a"], ["", "b"])] == [0.0] * len(METRICS)


def test_other_counts_are_refused() -> None:
    with pytest.raises(InputError, match="2 translations for 1 references"):
        forensics(["a", "b"], ["a"])
