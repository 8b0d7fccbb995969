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

from glassformer.data.read import read
from glassformer.metrics.bleu import Score, bleu, chrf, ter
from glassformer.metrics.outputs import Outputs
from shared_data import need


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


def test_sacrebleu_itself_gives_the_same_numbers_on_a_real_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    need(monkeypatch, "multi30k")
    references = read("multi30k", "test_2016_flickr").targets
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


def test_the_interval_is_as_wide_as_sacrebleus(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "multi30k")
    references = read("multi30k", "test_2017_mscoco").targets
    outputs = Outputs(worse(references), references)
    for ours, metric in ((bleu(outputs), BLEU()), (chrf(outputs), CHRF()), (ter(outputs), TER())):
        theirs = metric.corpus_score(list(outputs.hypotheses), [references], n_bootstrap=1000)
        assert (ours.high - ours.low) / 2 == pytest.approx(theirs._ci, rel=0.1)
