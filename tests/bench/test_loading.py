from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from glassformer.bench.loading import LIMIT, SETTINGS, LoadingSetting, measured, table, write
from glassformer.bench.record import RESULTS, BenchResult
from glassformer.bench.references import save

SMALL = {"n_layer": 1, "n_embd": 8, "n_head": 2, "vocab_size": 50, "n_positions": 16}
WITHOUT_COMPILER = """
import sys
from glassformer.hub.open import open_foreign
open_foreign(sys.argv[1])
assert not {"torch._dynamo", "sympy"} & set(sys.modules)
"""


@pytest.mark.slow
def test_both_sides_load_the_same_weights(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    setting = LoadingSetting("gpt2", "bfloat16", "float32")
    write(tmp_path / "model", setting, SMALL)
    row = measured(tmp_path / "model", setting, rounds=2)
    parameters = 50 * 8 + 16 * 8 + (12 * 64 + 13 * 8) + 2 * 8
    assert row["weights"] == 4 * parameters
    assert all(row[side]["seconds"]["median"] > 0 for side in ("glassformer", "transformers"))
    assert row["glassformer"]["peak"] > 0


@pytest.mark.slow
def test_opening_a_folder_loads_no_compiler(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    save("bert-masked", tmp_path)
    subprocess.run([sys.executable, "-c", WITHOUT_COMPILER, str(tmp_path)], check=True, timeout=120)


@pytest.mark.parametrize(("lang", "title"), [("en", "peak memory ÷ weights"), ("ko", "최대 메모리 ÷ 가중치")])
def test_the_table_compares_with_ours(lang: str, title: str) -> None:
    sides = {
        name: {"seconds": {"median": m, "low": m, "high": 2 * m}, "peak": 1.5e6}
        for name, m in (("glassformer", 0.5), ("transformers", 1.0))
    }
    row = {"model": "gpt2", "stored": "bfloat16", "loaded": "float32", "weights": 1e6, **sides}
    rows = table({"transformers": "5.0", "rows": [row]}, lang)
    assert rows[0][-1] == title
    assert rows[1] == ["gpt2", "bfloat16", "float32", "1 MB", "glassformer", "1.00", "1.00 – 2.00", "1.50"]
    assert rows[2][4:6] == ["transformers 5.0", "2.00"]


def test_the_recorded_peak_is_below_the_limit() -> None:
    rows = BenchResult.read(RESULTS / "loading.json").numbers["rows"]
    assert [(row["model"], row["stored"], row["loaded"]) for row in rows] == list(SETTINGS)
    assert all(row["weights"] > 240e6 for row in rows)
    assert all(row["glassformer"]["peak"] < LIMIT * row["weights"] for row in rows)
