from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.data.table import Column, csv_rows, read_tsv, tsv_rows
from glassformer.errors import FileError


def write(folder: Path, text: str) -> Path:
    path = folder / "pairs.tsv"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_columns_by_number_count_from_one(tmp_path: Path) -> None:
    path = write(tmp_path, "hello\t안녕\tnote\nbye\t잘 가\tnote\n")
    assert list(read_tsv(path)) == [("hello", "안녕"), ("bye", "잘 가")]
    assert list(read_tsv(path, 2, 1)) == [("안녕", "hello"), ("잘 가", "bye")]
    assert list(tsv_rows(path, (3,))) == [("note",), ("note",)]


def test_columns_by_name_need_the_header_and_skip_it(tmp_path: Path) -> None:
    path = write(tmp_path, "id\tko\ten\n1\t안녕\thello\n")
    assert list(read_tsv(path, "ko", "en")) == [("안녕", "hello")]
    assert list(read_tsv(path, 2, "en")) == [("안녕", "hello")]
    assert list(read_tsv(path, 2, 3, header=True)) == [("안녕", "hello")]
    assert len(read_tsv(path, 2, 3)) == 2


def test_quotation_marks_are_characters_and_crlf_ends_a_line(tmp_path: Path) -> None:
    assert list(read_tsv(write(tmp_path, '"a\tb"\r\nc""\t"d\r\n'))) == [('"a', 'b"'), ('c""', '"d')]


def test_empty_cells_and_empty_lines_are_counted_with_their_line(tmp_path: Path) -> None:
    pairs = read_tsv(write(tmp_path, "ko\ten\na\tb\n\n\tc\nd\te\n"), "ko", "en")
    assert (list(pairs), pairs.skipped) == ([("a", "b"), ("d", "e")], (3, 4))


@pytest.mark.parametrize(("column", "known"), [("fr", "ko, en"), (3, "1–2"), (0, "1–2"), (-1, "1–2")])
def test_a_missing_column_is_refused_with_those_there_are(column: Column, known: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=f"pairs.tsv has no column {column}; there are: {known}"):
        read_tsv(write(tmp_path, "ko\ten\na\tb\n"), 1, column)


def test_a_row_that_is_too_short_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="line 2 has 1 columns and 2 are needed; mend the line"):
        read_tsv(write(tmp_path, "a\tb\nonly one\n"))


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "")
    with pytest.raises(FileError, match="is empty"):
        read_tsv(path)
    with pytest.raises(FileError, match="is empty"):
        list(csv_rows(path))


def test_csv_has_quotes_and_line_breaks_in_them(tmp_path: Path) -> None:
    path = write(tmp_path, 'Q,A\r\n"a, ""b""",c\r\n"two\nlines",d\r\n')
    assert list(csv_rows(path)) == [(1, ["Q", "A"]), (2, ['a, "b"', "c"]), (4, ["two\nlines", "d"])]


def test_a_csv_row_of_another_width_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="line 3 has 3 columns and 2 are needed"):
        list(csv_rows(write(tmp_path, "a,b\n1,2\n1,2,3\n")))


def test_a_cell_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"line \d+ is not CSV \(field larger than field limit"):
        list(csv_rows(write(tmp_path, 'a,b\n"' + "x\n" * 100_000)))
