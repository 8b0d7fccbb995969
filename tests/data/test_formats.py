from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from glassformer.data.formats import (
    csv_rows,
    read_dialogue_csv,
    read_idx,
    read_images,
    read_labelled_tsv,
    read_prices,
    read_series,
    read_tsv,
    tsv_rows,
)
from glassformer.data.table import ColumnName
from glassformer.errors import FileError


def write_table(folder: Path, text: str) -> Path:
    path = folder / "pairs.tsv"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_columns_by_number_count_from_one(tmp_path: Path) -> None:
    path = write_table(tmp_path, "hello\t안녕\tnote\nbye\t잘 가\tnote\n")
    assert list(read_tsv(path)) == [("hello", "안녕"), ("bye", "잘 가")]
    assert list(read_tsv(path, 2, 1)) == [("안녕", "hello"), ("잘 가", "bye")]
    assert list(tsv_rows(path, (3,))) == [("note",), ("note",)]


def test_columns_by_name_need_the_header_and_skip_it(tmp_path: Path) -> None:
    path = write_table(tmp_path, "id\tko\ten\n1\t안녕\thello\n")
    assert list(read_tsv(path, "ko", "en")) == [("안녕", "hello")]
    assert list(read_tsv(path, 2, "en")) == [("안녕", "hello")]
    assert list(read_tsv(path, 2, 3, header=True)) == [("안녕", "hello")]
    assert len(read_tsv(path, 2, 3)) == 2


def test_quotation_marks_are_characters_and_crlf_ends_a_line(tmp_path: Path) -> None:
    assert list(read_tsv(write_table(tmp_path, '"a\tb"\r\nc""\t"d\r\n'))) == [('"a', 'b"'), ('c""', '"d')]


def test_empty_cells_and_empty_lines_are_counted_with_their_line(tmp_path: Path) -> None:
    pairs = read_tsv(write_table(tmp_path, "ko\ten\na\tb\n\n\tc\nd\te\n"), "ko", "en")
    assert (list(pairs), pairs.skipped) == ([("a", "b"), ("d", "e")], (3, 4))


@pytest.mark.parametrize(("column", "known"), [("fr", "ko, en"), (3, "1–2"), (0, "1–2"), (-1, "1–2")])
def test_a_missing_column_is_refused_with_those_there_are(column: ColumnName, known: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=f"pairs.tsv has no column {column}; there are: {known}"):
        read_tsv(write_table(tmp_path, "ko\ten\na\tb\n"), 1, column)


def test_a_row_that_is_too_short_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="line 2 has 1 columns and 2 are needed; mend the line"):
        read_tsv(write_table(tmp_path, "a\tb\nonly one\n"))


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = write_table(tmp_path, "")
    with pytest.raises(FileError, match="is empty"):
        read_tsv(path)
    with pytest.raises(FileError, match="is empty"):
        list(csv_rows(path))


def test_csv_has_quotes_and_line_breaks_in_them(tmp_path: Path) -> None:
    path = write_table(tmp_path, 'Q,A\r\n"a, ""b""",c\r\n"two\nlines",d\r\n')
    assert list(csv_rows(path)) == [(1, ["Q", "A"]), (2, ['a, "b"', "c"]), (4, ["two\nlines", "d"])]


def test_a_csv_row_of_another_width_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="line 3 has 3 columns and 2 are needed"):
        list(csv_rows(write_table(tmp_path, "a,b\n1,2\n1,2,3\n")))


def test_a_cell_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"line \d+ is not CSV \(field larger than field limit"):
        list(csv_rows(write_table(tmp_path, 'a,b\n"' + "x\n" * 100_000)))


def write_labelled(folder: Path, text: str) -> Path:
    path = folder / "texts.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_reviews_keep_their_quotes_and_empty_ones_are_counted(tmp_path: Path) -> None:
    found = read_labelled_tsv(write_labelled(tmp_path, 'id\tdocument\tlabel\n1\t"좋아요\t1\n2\t\t0\n'))
    assert (found.texts, found.labels, found.empty, len(found)) == (['"좋아요', ""], [1, 0], 1, 2)


def test_questions_and_answers(tmp_path: Path) -> None:
    found = read_dialogue_csv(write_labelled(tmp_path, 'Q,A,label\n"안녕, 너",응,0\n잘 가,그래,2  \n'))
    assert (found.questions, found.answers, found.labels) == (["안녕, 너", "잘 가"], ["응", "그래"], [0, 2])
    assert len(found) == 2


def test_a_label_that_is_no_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="line 3 holds 'good' where a number belongs; mend"):
        read_labelled_tsv(write_labelled(tmp_path, "id\tdocument\tlabel\n1\ta\t1\n2\tb\tgood\n"))
    with pytest.raises(FileError, match="line 2 holds '²'"):
        read_dialogue_csv(write_labelled(tmp_path, "Q,A,label\na,b,²\n"))


def test_a_table_of_two_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="line 1 has 2 columns and 3 are needed"):
        read_dialogue_csv(write_labelled(tmp_path, "Q,A\na,b\n"))
    with pytest.raises(FileError, match="no column document; there are: id, text"):
        read_labelled_tsv(write_labelled(tmp_path, "id\ttext\n1\ta\n"))


def write_series(folder: Path, text: str) -> Path:
    path = folder / "series.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_channels_over_time(tmp_path: Path) -> None:
    found = read_series(write_series(tmp_path, "date,HUFL,OT\n2016-07-01,1.5,-2\n2016-07-02,3,4e-1\n"))
    assert (found.dates, found.channels, len(found)) == (["2016-07-01", "2016-07-02"], ("HUFL", "OT"), 2)
    assert found.values.tolist() == [[1.5, -2.0], [3.0, 0.4]]


def test_one_series_for_each_share(tmp_path: Path) -> None:
    found = read_prices(write_series(tmp_path, "date,close,ticker\nd1,1,A\nd2,2,A\nd1,9,B\n"))
    assert {ticker: series.values.tolist() for ticker, series in found.items()} == {"A": [[1.0], [2.0]], "B": [[9.0]]}
    assert (found["A"].dates, found["A"].channels) == (["d1", "d2"], ("close",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("date,OT\n", "is empty"),
        ("date,OT\nd1,\n", "line 2 holds '' where a number belongs"),
        ("date,OT\nd1,1\nd2\n", "line 3 has 1 columns and 2 are needed"),
    ],
)
def test_a_bad_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=message):
        read_series(write_series(tmp_path, text))


def write_idx(folder: Path, content: bytes, name: str = "images") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


IMAGES = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255])
LABELS = bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9])


def test_two_images_of_one_row_and_three_columns(tmp_path: Path) -> None:
    found = read_images(write_idx(tmp_path, IMAGES), write_idx(tmp_path, lzma.compress(LABELS), "labels.xz"))
    assert found.images.tolist() == [[[1, 2, 3]], [[4, 5, 255]]]
    assert (found.labels.tolist(), len(found)) == ([7, 9], 2)


@pytest.mark.parametrize("content", [b"", b"\0\0\x08", IMAGES[:9], b"PNG" + IMAGES, b"\0\0\x0d\x01" + LABELS[4:]])
def test_what_is_no_idx_is_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is not an IDX file of bytes; use one in the format of MNIST"):
        read_idx(write_idx(tmp_path, content))


@pytest.mark.parametrize("content", [IMAGES[:-1], IMAGES + b"x"])
def test_too_few_or_too_many_bytes_are_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"should hold 2 × 1 × 3 bytes after its header and holds [57]"):
        read_idx(write_idx(tmp_path, content))


def test_as_many_labels_as_images(tmp_path: Path) -> None:
    one = bytes([0, 0, 8, 1, 0, 0, 0, 1, 7])
    with pytest.raises(FileError, match="labels holds 1 labels for 2 images; use two files"):
        read_images(write_idx(tmp_path, IMAGES), write_idx(tmp_path, one, "labels"))
