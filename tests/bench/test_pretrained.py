from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from glassformer.bench.pretrained import PIECES, PUBLISHED, REACTION, encoded, installed, run, table
from glassformer.bench.record import RESULTS, BenchResult
from glassformer.errors import ConfigError


def test_without_the_package_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"needs the files of a package .* pip install --no-deps 'rxnfp==0.1.0'"):
        installed()


def test_a_reaction_falls_into_its_pieces() -> None:
    assert PIECES.findall("Nc1cc([N+](=O)[O-])c(Cl)s1>>O") == [
        *("N", "c", "1", "c", "c", "(", "[N+]", "(", "=", "O", ")", "[O-]", ")", "c", "(", "Cl", ")", "s", "1"),
        *(">>", "O"),
    ]
    assert "".join(PIECES.findall(REACTION)) == REACTION


def test_pieces_become_numbers_and_unknown_ones_unk(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK]\n[CLS]\n[SEP]\nC\nO\n")
    assert encoded(path, "CON").tolist() == [[1, 3, 4, 0, 2]]


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("rxnfp") is None, reason="needs the files of rxnfp 0.1.0")
def test_the_published_numbers_come_out() -> None:
    found = run()
    assert found["largest"] <= 1e-5
    assert found["size"] == 256
    assert found["filled"] >= 0.9 * found["masked"]
    if found["reference"] is not None:
        assert max(found["reference"].values()) <= 1e-5


@pytest.mark.parametrize(("lang", "title"), [("en", "result"), ("ko", "결과")])
@pytest.mark.parametrize("reference", [None, {"fingerprint": 0.0, "logits": 2e-6}])
def test_the_table_leaves_out_what_was_not_compared(lang: str, title: str, reference: dict[str, float] | None) -> None:
    numbers = {"size": 256, "published": [0.0] * 5, "largest": 6e-7, "masked": 103, "filled": 98}
    rows = table({**numbers, "reference": reference}, lang)
    assert rows[0][1] == title
    assert [row[1] for row in rows[1:]] == ["6e-07", *(["0", "2e-06"] if reference else []), "98 / 103"]


def test_the_recorded_numbers_are_the_published_ones() -> None:
    numbers = BenchResult.read(RESULTS / "pretrained.json").numbers
    assert numbers["published"] == list(PUBLISHED)
    gaps = [abs(mine - theirs) for mine, theirs in zip(numbers["fingerprint"], PUBLISHED, strict=True)]
    assert max(gaps) == numbers["largest"] <= 1e-5
