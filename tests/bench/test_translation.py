from __future__ import annotations

import pytest
import torch

from glassformer.bench.record import RESULTS, Result
from glassformer.bench.translation import RUNS, run, table
from glassformer.errors import ConfigError
from glassformer.open import recipes


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an accelerator")
def test_without_an_accelerator_it_says_so() -> None:
    with pytest.raises(ConfigError, match="translation is measured on an accelerator"):
        run()


def test_every_recipe_exists_and_every_seed_was_recorded() -> None:
    assert set(RUNS) <= set(recipes())
    rows = Result.read(RESULTS / "translation.h200.json").numbers["rows"]
    assert {(row["recipe"], row["seed"]) for row in rows} == {(name, seed) for name in RUNS for seed in RUNS[name]}


@pytest.mark.parametrize(("lang", "tokens"), [("en", "sacreBLEU 13a, cased"), ("ko", "sacreBLEU 13a, 대소문자 구분")])
def test_the_table_says_on_which_tokens(lang: str, tokens: str) -> None:
    row = {"recipe": "x", "seed": 0, "test": "t", "tokens": "13a", "bleu": 12.345}
    assert table({"rows": [row]}, lang)[1] == ["x", "t", "0", tokens, "12.35"]
