from __future__ import annotations

import pytest

from glassformer.bench import table3

EXACT = {  # row → parameters at 37,000 and at 40,946 tokens
    "base": (63_082_496, 65_102_848),
    "(B) d_k 16": (55_990_784, 58_011_136),
    "(B) d_k 32": (58_354_688, 60_375_040),
    "(C) N 2": (33_656_832, 35_677_184),
    "(C) N 4": (48_369_664, 50_390_016),
    "(C) N 8": (77_795_328, 79_815_680),
    "(C) d_model 256": (26_834_944, 27_845_120),
    "(C) d_model 1024": (163_889_152, 167_929_856),
    "(C) d_ff 1024": (50_487_296, 52_507_648),
    "(C) d_ff 4096": (88_272_896, 90_293_248),
    "big": (214_245_376, 218_286_080),
}


@pytest.mark.slow
def test_every_row_exactly() -> None:
    numbers = table3.run()
    assert numbers["vocabularies"] == [37_000, 40_946]
    assert {row["row"]: tuple(row["parameters"]) for row in numbers["rows"]} == EXACT


def test_the_base_model_by_hand() -> None:
    attention, network, norm = 4 * (512 * 512 + 512), 512 * 2048 + 2048 + 2048 * 512 + 512, 2 * 512
    encoder, decoder = attention + network + 2 * norm, 2 * attention + network + 3 * norm
    assert EXACT["base"][0] == 37_000 * 512 + 6 * encoder + 6 * decoder


@pytest.mark.slow
def test_the_best_vocabulary_is_a_minimum() -> None:
    def deviation(vocabulary: int) -> float:
        return sum((table3.parameters(row, vocabulary) / (printed * 1e6) - 1) ** 2
                   for row, (_, _, printed) in table3.ROWS.items())  # fmt: skip

    best = table3.best_vocabulary()
    assert deviation(best) < deviation(best - 50)
    assert deviation(best) < deviation(best + 50)


def test_one_vocabulary_fits_every_row_but_big() -> None:
    """What docs/en/table3.md says in words."""
    gaps = {row: EXACT[row][1] / (printed * 1e6) - 1 for row, (_, _, printed) in table3.ROWS.items()}
    big = gaps.pop("big")
    assert max(abs(gap) for gap in gaps.values()) < 0.01
    assert big == pytest.approx(0.025, abs=0.001)
    alone = (213e6 - table3.parameters("big", 37_000)) / 1024 + 37_000
    assert 35_700 < alone < 35_900
