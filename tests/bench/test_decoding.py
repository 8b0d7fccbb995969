from __future__ import annotations

import pytest

from glassformer.bench.decoding import (
    DecodingSetting,
    _model,
    _ours,
    _sentences,
    _theirs,
    check_equal,
    ctranslate2_beside,
    table,
)
from glassformer.bench.peers import StepSetting as Sizes
from glassformer.errors import InputError

SMALL = DecodingSetting(Sizes(0, 6, 16, 1, 32, 2, 20, 0), batch=64, tokens=3, rounds=1)


@pytest.mark.parametrize("beam", [1, 4])
def test_both_sides_decode(beam: int) -> None:
    source, mask = _sentences(SMALL, "cpu")
    assert source.shape == mask.shape == (128, 6)
    for decode in (_ours(_model(SMALL, "cpu"), SMALL), _theirs(SMALL, "cpu")):
        decode(source[:4], mask[:4], beam)


@pytest.mark.parametrize("beam", [1, 4])
def test_ctranslate2_writes_what_we_write(beam: int) -> None:
    pytest.importorskip("ctranslate2", reason="ctranslate2 is not installed")
    source, mask = _sentences(SMALL, "cpu")
    same = _model(SMALL, "cpu")
    ours = _ours(same, SMALL)(source, mask, beam)
    with ctranslate2_beside(same, SMALL) as engine:
        for at_once in (False, True):
            check_equal(ours, engine(source, mask, beam, at_once))
    with pytest.raises(InputError, match="ctranslate2 writes 1 of 128 sentences otherwise"):
        check_equal(ours, [[19, 19], *ours[1:]])


def test_a_peer_that_is_not_installed_is_named() -> None:
    rows = table({"device": "cpu", "sentences": 128, "rows": [], "absent": ["ctranslate2"]}, "en")
    assert rows[1][2:4] == ["CTranslate2", "not installed"]


@pytest.mark.parametrize(("lang", "title"), [("en", "sentences/s"), ("ko", "초당 문장")])
def test_the_table_compares_with_ours(lang: str, title: str) -> None:
    seconds = {name: {"median": m, "low": m, "high": m} for name, m in (("glassformer", 0.5), ("marian", 1.0))}
    rows = table({"device": "cuda", "sentences": 128, "rows": [{"beam": 4, "seconds": seconds}]}, lang)
    assert rows[0][-1] == title
    assert [row[-1] for row in rows[1:]] == ["256", "128"]
