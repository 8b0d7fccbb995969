from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.data.channel import SeriesForm, read_channels, read_number, sign_of
from glassformer.errors import ConfigError, FileError
from small_forecaster import hours, written


def test_columns_over_time(tmp_path: Path) -> None:
    path = written(tmp_path, "Name,Date,Open,Close\nx,2024-01-01,1,2.5\nx,2024-01-02,-3,4e1\n")
    open_, close = read_channels(path, SeriesForm(columns=["Open", "close"]))
    assert (open_.name, close.name, len(close)) == ("Open", "Close", 2)
    assert open_.values.tolist() == [1.0, -3.0] and close.values.tolist() == [2.5, 40.0]
    assert str(close.moments[1]) == "2024-01-02T00:00:00"


def test_all_columns_but_the_date_by_default_and_the_date_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, "a,when,b\n1,2024-01-01,2\n3,2024-01-02,4\n")
    assert [channel.name for channel in read_channels(path, SeriesForm(date="when"))] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "{path} is empty; give a file with at least one row"),
        ("date,x\n", "{path} is empty; give a file with at least one row"),
        (
            "a,x\nyesterday,1\n",
            "{path} has no column called date or time; name it with date (data.source.date, --date); there are: a, x",
        ),
        ("date\n2024-01-01\n", "{path} has no column but the date 'date'; add a column of numbers"),
        (
            "date,x\n2024-01-01,1\n2024-01-02,\n",
            "{path}: line 3, column x: '' is not a value; fill it in or leave the row out",
        ),
        (
            "date,x\n2024-01-01,1\n2024-01-02,NaN\n",
            "{path}: line 3, column x: 'NaN' is not a value; fill it in or leave the row out",
        ),
        (
            "date,x\n2024-01-01,inf\n2024-01-02,1\n",
            "{path}: line 2, column x: 'inf' is not a value; fill it in or leave the row out",
        ),
        (
            'date,x\n2024-01-01,1.5\n2024-01-02,"1,5"\n',
            "{path}: line 3, column x: '1,5' is not a number; mend it or choose other columns",
        ),
        (
            'date,x\n2024-01-01,1\n2024-01-02,"1,234"\n',
            "{path}: is '1,234' a thousand or a fraction? Say which sign begins the fraction: "
            '--set data.source.decimal="." or --set data.source.decimal=","',
        ),
        (
            "date,x\n2024-01-01,up\n2024-01-02,2\n",
            "{path}: line 2, column x: 'up' is not a number; mend it or choose other columns",
        ),
        (
            "date,x\n2024-01-01,1\n2024-01-02\n",
            "{path}: line 3 has 1 columns and 2 are needed; mend the line, or put text that holds the separator "
            "between double quotes",
        ),
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
        read_channels(written(tmp_path, hours(3)), SeriesForm(columns=["nothing"]))
    with pytest.raises(FileError, match="has no column when; there are: date, load"):
        read_channels(written(tmp_path, hours(3)), SeriesForm(date="when"))


def test_gaps_may_be_allowed(tmp_path: Path) -> None:
    path = written(tmp_path, "date,x\n2024-01-05,1\n2024-01-06,2\n2024-01-07,2\n2024-01-09,3\n")
    with pytest.raises(FileError, match="line 5: rows are missing between 2024-01-07 and 2024-01-09"):
        read_channels(path)
    assert len(read_channels(path, SeriesForm(gaps=True))[0]) == 4


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("date;a;b\n01.02.2024;1,5;-2\n13.02.2024;1.234,5;3,0\n", ["a", "b"]),  # as Excel saves it in Germany
        ("date,a,b\n2024-02-01,1.5,-2\n2024-02-13,1234.5,3\n", ["a", "b"]),
        ('date,a,b\n2024-02-01,1.5,-2\n2024-02-13,"1,234.5",3\n', ["a", "b"]),
        ("when\ta\tb\n2024-02-01\t1,5\t-2\n2024-02-13\t1234,5\t3\n", ["a", "b"]),
        ("2024-02-01|1.5|-2\n2024-02-13|1234.5|3\n", ["2", "3"]),  # no header: by number
        ("1,5;-2;01.02.2024\n1.234,5;3;13.02.2024\n", ["1", "2"]),
    ],
)
def test_delimiter_header_and_decimal_sign_are_found_out(text: str, names: list[str], tmp_path: Path) -> None:
    channels = read_channels(written(tmp_path, text), SeriesForm(gaps=True))
    assert [channel.name for channel in channels] == names
    assert [channel.values.tolist() for channel in channels] == [[1.5, 1234.5], [-2.0, 3.0]]
    assert [str(moment)[:10] for moment in channels[0].moments] == ["2024-02-01", "2024-02-13"]


def test_a_thousand_or_a_fraction_as_it_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, 'date,x\n2024-01-01,1\n2024-01-02,"1,234"\n')
    assert read_channels(path, SeriesForm(decimal="."))[0].values.tolist() == [1.0, 1234.0]
    assert read_channels(path, SeriesForm(decimal=","))[0].values.tolist() == [1.0, 1.234]


@pytest.mark.parametrize("cell", ["1_000", "1.2.3", "1,23,4", "0x10", "", "1 000"])
def test_what_is_no_number_with_either_sign(cell: str) -> None:
    assert read_number(cell, ".") is None and read_number(cell, ",") is None


def test_a_decimal_sign_is_one_of_two() -> None:
    assert sign_of("d", ",") == ","
    with pytest.raises(ConfigError, match="d=';'"):
        sign_of("d", ";")
