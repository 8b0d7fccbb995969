from __future__ import annotations

import pytest

from glassformer.bench.recording import table


@pytest.mark.parametrize(("lang", "texts"), [("en", "attention weights of layer 5"), ("ko", "5층의 어텐션 가중치")])
def test_the_table_gives_ratios(lang: str, texts: str) -> None:
    ratio = {"median": 1.05, "low": 1.04, "high": 1.06}
    numbers = {"device": "cuda", "batch": 8, "length": 1024, "layer": 5, "ratios": {"weights": ratio}}
    assert table(numbers, lang)[1] == ["cuda, 8×1024", texts, "1.050", "1.040 – 1.060"]
