from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.data.channel import read_channels
from glassformer.errors import FileError
from small_forecaster import hours, written


def test_columns_over_time(tmp_path: Path) -> None:
    path = written(tmp_path, "Name,Date,Open,Close\nx,2024-01-01,1,2.5\nx,2024-01-02,-3,4e1\n")
    open_, close = read_channels(path, columns=["Open", "close"])
    assert (open_.name, close.name, len(close)) == ("Open", "Close", 2)
    assert open_.values.tolist() == [1.0, -3.0] and close.values.tolist() == [2.5, 40.0]
    assert str(close.moments[1]) == "2024-01-02T00:00:00"


def test_all_columns_but_the_date_by_default_and_the_date_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, "a,when,b\n1,2024-01-01,2\n3,2024-01-02,4\n")
    assert [channel.name for channel in read_channels(path, date="when")] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "{path} is empty; give a file with at least one row"),
        ("date,x\n", "{path} is empty; give a file with at least one row"),
        ("date;x\n2024-01-01;1\n", "{path} is separated by semicolons; save it with commas and decimal points"),
        (
            "a,x\n2024-01-01,1\n",
            "{path} has no column called date or time; name it with date (source.date, --date); there are: a, x",
        ),
        ("date\n2024-01-01\n", "{path} has no column but the date 'date'; add a column of numbers"),
        (
            "date,x\n2024-01-01,1\n2024-01-02,\n",
            "{path}: line 3, column x: '' is no value; fill it in or leave the row out",
        ),
        (
            "date,x\n2024-01-01,1\n2024-01-02,NaN\n",
            "{path}: line 3, column x: 'NaN' is no value; fill it in or leave the row out",
        ),
        (
            "date,x\n2024-01-01,inf\n2024-01-02,1\n",
            "{path}: line 2, column x: 'inf' is no value; fill it in or leave the row out",
        ),
        (
            'date,x\n2024-01-01,1\n2024-01-02,"1,5"\n',
            "{path}: line 3, column x: '1,5' has a comma; write numbers as 1234.5",
        ),
        (
            'date,x\n2024-01-01,"1,234.5"\n2024-01-02,2\n',
            "{path}: line 2, column x: '1,234.5' has a comma; write numbers as 1234.5",
        ),
        (
            "date,x\n2024-01-01,up\n2024-01-02,2\n",
            "{path}: line 2, column x: 'up' is no number; mend it or choose other columns",
        ),
        ("date,x\n2024-01-01,1\n2024-01-02\n", "{path}: line 3 has 1 columns and 2 are needed; mend the line"),
        (
            "date,x\n2024-01-02,1\n2024-01-01,2\n",
            "{path}: line 3: 2024-01-01 comes before the date above it; sort the rows, oldest first",
        ),
        (
            "date,x\n2024-01-02,1\n2024-01-02,2\n",
            "{path}: line 3: 2024-01-02 is there twice; keep one row for each date",
        ),
    ],
)
def test_a_bad_file_is_one_line(text: str, line: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FileError) as caught:
        read_channels(path)
    assert str(caught.value) == line.format(path=path)


def test_an_unknown_column_is_answered_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="has no column nothing; there are: date, load"):
        read_channels(written(tmp_path, hours(3)), columns=["nothing"])
    with pytest.raises(FileError, match="has no column when; there are: date, load"):
        read_channels(written(tmp_path, hours(3)), date="when")


def test_gaps_may_be_allowed(tmp_path: Path) -> None:
    path = written(tmp_path, "date,x\n2024-01-05,1\n2024-01-06,2\n2024-01-07,2\n2024-01-09,3\n")
    with pytest.raises(FileError, match="line 5: rows are missing between 2024-01-07 and 2024-01-09"):
        read_channels(path)
    assert len(read_channels(path, gaps=True)[0]) == 4
