from __future__ import annotations

import pytest

from glassformer.bench.decoding import DecodingSetting, _ours, _sentences, _theirs, table
from glassformer.bench.peers import StepSetting as Sizes

SMALL = DecodingSetting(Sizes(0, 6, 16, 1, 32, 2, 20, 0), batch=64, tokens=3, rounds=1)


@pytest.mark.parametrize("beam", [1, 4])
def test_both_sides_decode(beam: int) -> None:
    source, mask = _sentences(SMALL, "cpu")
    assert source.shape == mask.shape == (128, 6)
    for decode in (_ours(SMALL, "cpu"), _theirs(SMALL, "cpu")):
        decode(source[:4], mask[:4], beam)


@pytest.mark.parametrize(("lang", "title"), [("en", "sentences/s"), ("ko", "초당 문장")])
def test_the_table_compares_with_ours(lang: str, title: str) -> None:
    seconds = {name: {"median": m, "low": m, "high": m} for name, m in (("glassformer", 0.5), ("marian", 1.0))}
    rows = table({"device": "cuda", "sentences": 128, "rows": [{"beam": 4, "seconds": seconds}]}, lang)
    assert rows[0][-1] == title
    assert [row[-1] for row in rows[1:]] == ["256", "128"]
