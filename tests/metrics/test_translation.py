from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from math import exp
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

import glassformer.metrics.translation as module
from glassformer.data.read import translation_pairs
from glassformer.errors import InputError
from glassformer.metrics.interval import wilson
from glassformer.metrics.translation import (
    METRICS,
    Convention,
    Outputs,
    Score,
    _compound,
    _moses,
    bleu,
    by_convention,
    chrf,
    exact_match,
    forensics,
    refuse_teacher_forced,
    ter,
)
from glassformer.words import sentences
from shared_data import need


def test_one_translation_for_each_reference() -> None:
    assert len(Outputs(["a", ""], ["b", "c"])) == 2
    with pytest.raises(InputError, match="1 translations for 2 references; give one for each"):
        Outputs(["a"], ["a", "b"])
    with pytest.raises(InputError, match="there is nothing to score; give at least one sentence"):
        Outputs([], [])


@pytest.mark.parametrize("score", [bleu, chrf, ter, exact_match, by_convention, refuse_teacher_forced])
def test_teacher_forced_output_is_refused_by_every_score_and_says_why(score: object) -> None:
    assert callable(score)
    outputs = Outputs(["a b"], ["a b"], teacher_forced=True)
    with pytest.raises(InputError, match="teacher-forced output is refused: the model saw each reference word") as no:
        score(outputs)
    assert "교사 강요" in no.value.in_language("ko")
    refuse_teacher_forced(Outputs(["a b"], ["a b"]))


def test_bleu_worked_by_hand() -> None:
    # 5 of 6 words, 3 of 5 pairs, 1 of 4 triples, 0 of 3 fours: the last is smoothed to ½ of 3
    expected = 100 * (5 / 6 * 3 / 5 * 1 / 4 * 1 / 6) ** (1 / 4)
    assert bleu(Outputs(["the cat sat on the mat"], ["the cat is on the mat"])).value == pytest.approx(expected)


def test_the_brevity_penalty_is_that_of_the_corpus() -> None:
    # together 10 words of translation for 12 of reference; the long second sentence makes up for the short first
    outputs = Outputs(["a b c d", "e f g h i j"], ["a b c d z y x", "e f g h i"])
    hits = [(4 + 5) / 10, (3 + 4) / 8, (2 + 3) / 6, (1 + 2) / 4]
    expected = 100 * exp(1 - 12 / 10) * (hits[0] * hits[1] * hits[2] * hits[3]) ** (1 / 4)
    assert bleu(outputs).value == pytest.approx(expected)


def test_chrf_worked_by_hand() -> None:
    # "ab" beside "ac": 1 of 2 characters, 0 of 1 pairs, nothing longer: F₂ of ¼ and ¼
    assert chrf(Outputs(["ab"], ["ac"])).value == pytest.approx(25.0)


def test_ter_worked_by_hand() -> None:
    assert ter(Outputs(["a b d"], ["a b c"])).value == pytest.approx(100 / 3)  # one word is another
    assert ter(Outputs(["b a"], ["a b"])).value == pytest.approx(50.0)  # one shift


def test_case_and_tokenisation_stand_in_the_signature() -> None:
    outputs = Outputs(["Das Haus ist groß."], ["das Haus ist Groß."])
    cased, lower = bleu(outputs), bleu(outputs, lowercase=True)
    assert cased.value < lower.value == pytest.approx(100.0)
    assert cased.signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert "case:lc" in lower.signature and "tok:char" in bleu(outputs, tokenize="char").signature
    assert "nc:6|nw:2" in chrf(outputs, word_order=2).signature


def worse(sentences: list[str], seed: int = 0) -> list[str]:
    """Sentences as a poor translator would leave them: words swapped and lost."""
    rng = random.Random(seed)
    found = []
    for sentence in sentences:
        words = sentence.split()
        for i in range(len(words) - 1):
            if rng.random() < 0.15:
                words[i], words[i + 1] = words[i + 1], words[i]
        found.append(" ".join(word for word in words if rng.random() > 0.1))
    return found


@pytest.mark.parametrize("score", [bleu, chrf, ter])
def test_the_interval_is_seeded_and_holds_the_value(score: Callable[..., Score]) -> None:
    references = [f"word{i} is followed by word{i + 1} and word{i * i % 7}" for i in range(60)]
    outputs = Outputs(worse(references), references)
    found = score(outputs, resamples=200)
    assert found.low < found.value < found.high
    assert score(outputs, resamples=200) == found
    other = score(outputs, resamples=200, seed=1)
    assert (other.value, other.signature) == (found.value, found.signature)
    assert (other.low, other.high) != (found.low, found.high)
    none = score(outputs, resamples=0)
    assert none.low == none.value == none.high


def test_equal_sentences_leave_no_doubt() -> None:
    found = bleu(Outputs(["a b c d e"] * 5, ["a b c d f"] * 5))
    assert found.low == pytest.approx(found.value) == pytest.approx(found.high)


@pytest.mark.parametrize(("score", "worst"), [(bleu, 0.0), (chrf, 0.0), (ter, 100.0)])
def test_empty_translations_are_bad_ones_not_errors(score: Callable[..., Score], worst: float) -> None:
    found = score(Outputs(["", ""], ["a b", "c"]))
    assert (found.value, found.low, found.high) == (worst, worst, worst)


@pytest.mark.slow
def test_sacrebleu_itself_gives_the_same_numbers_on_a_real_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    need(monkeypatch, "multi30k")
    references = translation_pairs("multi30k", "test_2016_flickr").targets
    outputs = Outputs(worse(references), references)
    for name, lines in (("output", outputs.hypotheses), ("reference", references)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "sacrebleu",
        "reference",
        "-i",
        "output",
        "-m",
        "bleu",
        "chrf",
        "ter",
        "-b",
        "-w",
        "8",
    ]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    theirs = [float(line.strip(" ,")) for line in printed.splitlines() if line.strip(" ,[]")]
    ours = [score(outputs, resamples=0).value for score in (bleu, chrf, ter)]
    assert ours == pytest.approx(theirs, abs=1e-7)
    assert ours == pytest.approx([53.8789, 78.1766, 19.5507], abs=1e-4)


@pytest.mark.slow
def test_the_interval_is_as_wide_as_sacrebleus(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "multi30k")
    references = translation_pairs("multi30k", "test_2017_mscoco").targets
    outputs = Outputs(worse(references), references)
    for ours, metric in ((bleu(outputs), BLEU()), (chrf(outputs), CHRF()), (ter(outputs), TER())):
        theirs = metric.corpus_score(list(outputs.hypotheses), [references], n_bootstrap=1000)
        assert (ours.high - ours.low) / 2 == pytest.approx(theirs._ci, rel=0.1)


def test_only_blanks_around_a_sentence_are_forgiven() -> None:
    outputs = Outputs(["I go. ", "I go", "i go.", "I  go.", ""], ["I go."] * 4 + [""])
    assert exact_match(outputs) == wilson(2, 5)


HYPOTHESES = ["Ein Mann-mit Hut läuft, schnell.", "Das hochmoderne E-Mail-Programm ist „gut“."]
REFERENCES = ["Ein Mann mit Hut läuft sehr schnell.", "Das moderne E-Mail-Programm ist „gut“."]


@pytest.fixture(scope="module")
def rows() -> dict[str, Convention]:
    pytest.importorskip("sacremoses")
    return {row.key: row for row in forensics(HYPOTHESES, REFERENCES)}


def test_at_least_five_conventions_each_with_a_value_and_a_signature_of_its_own(rows: dict[str, Convention]) -> None:
    assert list(rows) == list(METRICS) and len(rows) >= 5
    assert len({row.signature for row in rows.values()}) == len(rows)
    assert all(row.value is not None and 0 < row.value < 100 and not row.missing for row in rows.values())
    assert len({round(row.value or 0, 4) for row in rows.values()}) >= 5


def test_each_says_what_it_is_in_both_languages() -> None:
    for lang in ("en", "ko"):
        assert all(f"forensics.{key}" in sentences(lang) for key in METRICS)


def test_the_first_is_sacrebleus_default(rows: dict[str, Convention]) -> None:
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
    assert rows["moses"] == Convention("moses", None, "", missing="sacremoses")


def test_empty_lines_are_scored() -> None:
    assert [row.value for row in forensics(["", "a"], ["", "b"])] == [0.0] * len(METRICS)


def test_other_counts_are_refused() -> None:
    with pytest.raises(InputError, match="2 translations for 1 references"):
        forensics(["a", "b"], ["a"])
