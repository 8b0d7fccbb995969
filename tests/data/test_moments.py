from __future__ import annotations

import numpy as np
import pytest

from glassformer.data.moments import TimeStep, check_order, gap, read_moments, refuse_gaps, step_of, written_moment
from glassformer.errors import FileError


def moments(*texts: str) -> np.ndarray:
    return np.array(texts, dtype="datetime64[s]")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["2024-01-31", "2024-02-01"], ["2024-01-31", "2024-02-01"]),
        (["2024-01-31 13:00", "2024-01-31T14:00:30"], ["2024-01-31T13:00", "2024-01-31T14:00:30"]),
        (["2024-01-31T13:00:00+09:00"], ["2024-01-31T13:00"]),
        (["20240131"], ["2024-01-31"]),
        (["2024/01/31", "2024/2/1 9:05"], ["2024-01-31", "2024-02-01T09:05"]),
        (["2024. 1. 31.", "2024.02.01"], ["2024-01-31", "2024-02-01"]),
        (["01.02.2024", "31.01.2024"], ["2024-02-01", "2024-01-31"]),
        (["01/02/2024", "01/31/2024"], ["2024-01-02", "2024-01-31"]),
        ([" 2024-01-31 "], ["2024-01-31"]),
    ],
)
def test_dates_are_read_as_people_write_them(cells: list[str], expected: list[str]) -> None:
    assert read_moments(cells, range(2, 9)[: len(cells)], "f.csv").tolist() == moments(*expected).tolist()


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        (
            ["2024-01-31", "soon"],
            "f.csv: line 3: 'soon' is not a date; write 2024-01-31, 2024-01-31 13:00, 20240131 or",
        ),
        (["2024-02-30"], "f.csv: line 2: '2024-02-30' is not a date"),
        (["2024/13/01"], "f.csv: line 2: '2024/13/01' is not a date"),
        (["45321"], "f.csv: line 2: '45321' is not a date"),
        ([""], "f.csv: line 2: '' is not a date"),
        (["31.01.2024", "01.31.2024"], "f.csv: line 3: '01.31.2024' is not a date"),
        (
            ["01.02.2024", "02.02.2024"],
            "f.csv: line 2: '01.02.2024' may be day, month or month, day, and no row shows which; write 2024-01-31",
        ),
    ],
)
def test_a_bad_date_is_named_by_its_line(cells: list[str], line: str) -> None:
    with pytest.raises(FileError) as caught:
        read_moments(cells, range(2, 9)[: len(cells)], "f.csv")
    assert str(caught.value).startswith(line)


def test_dates_go_forward_and_come_once() -> None:
    check_order(moments("2024-01-01", "2024-01-02"), [2, 3], "f.csv")
    with pytest.raises(FileError, match="line 3: 2024-01-02 is there twice; keep one row"):
        check_order(moments("2024-01-02", "2024-01-02"), [2, 3], "f.csv")
    with pytest.raises(FileError, match="line 4: 2024-01-01 12:00 comes before the date above it; sort the rows"):
        check_order(moments("2024-01-02", "2024-01-03", "2024-01-01T12:00"), [2, 3, 4], "f.csv")


@pytest.mark.parametrize(
    ("texts", "step", "said", "following"),
    [
        (("2024-01-01T00", "2024-01-01T01", "2024-01-01T02"), TimeStep(seconds=3600), "1 hour", "2024-01-01 04:00"),
        (("2024-01-05", "2024-01-06", "2024-01-07"), TimeStep(seconds=86400), "1 day", "2024-01-09"),
        (("2024-01-01", "2024-01-08", "2024-01-15"), TimeStep(seconds=604800), "1 week", "2024-01-29"),
        (
            ("2024-01-03", "2024-01-04", "2024-01-05", "2024-01-08", "2024-01-09"),
            TimeStep(weekdays=True),
            "a weekday",
            "2024-01-11",
        ),
        (("2023-11-30", "2023-12-31", "2024-01-31"), TimeStep(months=1), "1 month", "2024-03-31"),
        (("2023-01-15", "2023-04-15", "2023-07-15"), TimeStep(months=3), "3 months", "2024-01-15"),
        (
            ("2024-01-01T00:00", "2024-01-01T00:15", "2024-01-01T00:30"),
            TimeStep(seconds=900),
            "15 minutes",
            "2024-01-01 01:00",
        ),
        (("2024-01-01T00:00:00", "2024-01-01T00:00:01"), TimeStep(seconds=1), "1 second", "2024-01-01 00:00:03"),
    ],
)
def test_a_step_is_found_and_gone_on_with(texts: tuple[str, ...], step: TimeStep, said: str, following: str) -> None:
    given = moments(*texts)
    assert step_of(given) == step and gap(given, step) is None
    assert step.phrase.say("en") == said
    assert written_moment(step.after(given[-1], 2)[-1]) == following


def test_months_end_where_they_end() -> None:
    ahead = TimeStep(months=1).after(np.datetime64("2024-01-31T00:00:00"), 3)
    assert [written_moment(each) for each in ahead] == ["2024-02-29", "2024-03-31", "2024-04-30"]
    ahead = TimeStep(months=1).after(np.datetime64("2024-01-30T06:00:00"), 2)
    assert [written_moment(each) for each in ahead] == ["2024-02-29 06:00", "2024-03-30 06:00"]


def test_friday_is_followed_by_monday() -> None:
    ahead = TimeStep(weekdays=True).after(np.datetime64("2024-01-05T16:00:00"), 1)
    assert written_moment(ahead[0]) == "2024-01-08 16:00"


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        (
            ("2024-01-01T00", "2024-01-01T01", "2024-01-01T03", "2024-01-01T04"),
            "f.csv: line 4: rows are missing between 2024-01-01 01:00 and 2024-01-01 03:00 (step elsewhere: 1 hour"
            "); fill them in, or allow gaps (data.source.gaps=true, --gaps)",
        ),
        (
            ("2024-01-04", "2024-01-05", "2024-01-08", "2024-01-09", "2024-01-22"),
            "f.csv: line 6: rows are missing between 2024-01-09 and 2024-01-22 (step elsewhere: a weekday); "
            "fill them in, or allow gaps (data.source.gaps=true, --gaps)",
        ),
        (
            ("2024-01-01", "2024-02-01", "2024-03-01", "2024-05-01"),
            "f.csv: line 5: rows are missing between 2024-03-01 and 2024-05-01 (step elsewhere: 1 month); "
            "fill them in, or allow gaps (data.source.gaps=true, --gaps)",
        ),
        (("2024-01-01",), "f.csv has too few rows (1): a series needs at least two; give a longer file"),
    ],
)
def test_gaps_are_refused(texts: tuple[str, ...], line: str) -> None:
    with pytest.raises(FileError) as caught:
        refuse_gaps(moments(*texts), range(2, 9), "f.csv")
    assert str(caught.value) == line


def test_holidays_are_no_gaps() -> None:
    trade = moments("2001-09-06", "2001-09-07", "2001-09-10", "2001-09-17", "2001-09-18")
    assert refuse_gaps(trade, range(2, 9), "f.csv") == TimeStep(weekdays=True)
