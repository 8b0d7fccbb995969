from __future__ import annotations

import itertools

import pytest

from glassformer.bench import growth
from glassformer.bench.growth import MOST, draw, run, table
from glassformer.bench.record import recorded_results
from glassformer.show.figure import finish
from glassformer.show.theme import LIGHT, styled
from legible import crossing, cut_off, laid_out, misprints, small, unexplained


@pytest.mark.slow
def test_every_command_is_measured_at_every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "VOCABULARY", {1000: 2000})
    monkeypatch.setenv(MOST, "1000")
    found = run((1000, 2000))
    assert [row["pairs"] for row in found["rows"]] == [1000]
    for row in found["rows"]:
        assert row["read"] > 1000 * 200 and row["stored"] == 0  # small files are not stored
        for what in growth.WHAT:
            assert 0 < row[what]["busy"] < row[what]["seconds"] * 8 and row[what]["anonymous"] > 1 << 20
        assert 0 < row["start"]["seen_after"] <= row["start"]["seconds"]


def test_the_table_has_seconds_and_memory_of_each_command() -> None:
    one = {"seconds": 12.3, "busy": 20.2, "seen_after": 4.5, "anonymous": 678_900_000}
    numbers = {"rows": [{"pairs": 4_500_000, "prepare": one, "start": one, "evaluate": one}]}
    titles, row = table(numbers, "en")
    assert titles == ["pairs", "data prepare", "of all cores", "memory", *titles[4:]]
    assert row == ["4,500,000", *("12 s", "20 s", "679 MB"), *("4 s", "20 s", "679 MB"), *("12 s", "20 s", "679 MB")]
    assert table(numbers, "ko")[0][0] == "문장 쌍"


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_picture_has_time_and_memory_of_every_command_at_every_size(lang: str) -> None:
    numbers = recorded_results("growth")[0].numbers
    with styled(LIGHT, lang):
        figure = laid_out(finish(draw(numbers, LIGHT, lang)))
    assert not any(find(figure) for find in (misprints, cut_off, crossing, small, unexplained))
    time, memory = figure.axes
    assert (time.get_xscale(), time.get_yscale(), memory.get_xscale(), memory.get_yscale()) == ("log",) * 3 + (
        "linear",
    )
    curves = [line for line in time.lines if len(line.get_xdata()) > 1]  # type: ignore[arg-type]
    assert [list(line.get_ydata()) for line in curves[:-1]] == [  # type: ignore[arg-type]
        [row[what]["busy"] for row in numbers["rows"]] for what in growth.WHAT
    ]
    assert memory.get_ylim()[0] == 0


def test_what_was_recorded_grows_as_it_should() -> None:
    """Linear in time: no more than in proportion. Flat in memory: 4.5 times the pairs take at most a quarter more."""
    rows = recorded_results("growth")[0].numbers["rows"]
    assert [row["pairs"] for row in rows] == [*growth.SIZES]
    for what in growth.WHAT:
        for smaller, larger in itertools.pairwise(rows):
            assert larger[what]["busy"] <= larger["pairs"] / smaller["pairs"] * smaller[what]["busy"]
        before, last = (row[what]["anonymous"] for row in rows[-2:])
        assert last < min(1.25 * before, 2e9)
    assert rows[-1]["start"]["seen_after"] < 60
