from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.data.table import (
    DELIMITERS,
    ColumnLayout,
    delimiter_of,
    find_layout,
    label_columns,
    names_columns,
    pair_columns,
    table_rows,
)
from glassformer.errors import ConfigError, FileError


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["ko", "en"], (0, 1)),
        (["target", "source"], (1, 0)),
        (["번역문", "원문"], (1, 0)),
        (["id", "en", "ko"], (1, 2)),
        (["id", "en"], None),
    ],
)
def test_source_and_target_by_their_names(names: list[str], places: tuple[int, int] | None) -> None:
    assert pair_columns(names) == places


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["text", "label"], (0, 1)),
        (["label", "text"], (1, 0)),
        (["id", "document", "label"], (1, 2)),
        (["리뷰", "감정"], (0, 1)),
        (["remark", "class"], (0, 1)),  # what is left is the text
        (["text", "stars"], (0, 1)),  # what is left is the label
        (["ko", "en"], None),
        (["text", "comment", "label"], None),
    ],
)
def test_text_and_label_by_their_names(names: list[str], places: tuple[int, int] | None) -> None:
    assert label_columns(names) == places


def test_names_of_columns_and_sentences() -> None:
    assert names_columns(["Text", "LABEL"]) and names_columns(["", "text", "label"])
    assert not names_columns(["text"]) and not names_columns(["text", "text"]) and not names_columns(["text", "좋다"])


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


ROWS = [["text", "label"], ["좋은 영화", "good"], ["지루한 영화", "bad"]]


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_delimiter_and_header_are_found_out(delimiter: str, header: bool, mark: str, tmp_path: Path) -> None:
    rows = ROWS if header else ROWS[1:]
    path = written(tmp_path, "a.csv", mark + "".join(delimiter.join(row) + "\r\n" for row in rows))
    layout = find_layout(path)
    assert layout == ColumnLayout(delimiter, ("text", "label") if header else ())
    assert [cells for _, cells in table_rows(path, layout)] == ROWS[1:]


def test_a_comma_inside_quotes_inside_a_sentence_or_inside_a_number_does_not_mislead(tmp_path: Path) -> None:
    quoted = written(tmp_path, "a.csv", 'text,label\n"Yes, indeed",a\n"He said ""no"", twice",b\n')
    assert [cells for _, cells in table_rows(quoted, find_layout(quoted))] == [
        ["Yes, indeed", "a"],
        ['He said "no", twice', "b"],
    ]
    sentences = written(tmp_path, "b.csv", "Yes, indeed;Ja, gewiss\nNo, never;Nein, nie\n")
    assert find_layout(sentences).delimiter == ";"
    numbers = written(tmp_path, "c.csv", "2024-01-01;1,5\n2024-01-02;2,5\n")
    assert find_layout(numbers).delimiter == ";"


def test_a_quoted_cell_may_go_on_behind_the_lines_that_are_looked_at(tmp_path: Path) -> None:
    text = "text,label\n" + "".join(f"row {i},a\n" for i in range(198)) + '"goes\non\nand on",b\n'
    assert find_layout(written(tmp_path, "a.csv", text)).delimiter == ","


def test_a_tsv_has_tabs_and_its_quotation_marks_are_characters(tmp_path: Path) -> None:
    path = written(tmp_path, "a.tsv", '"a, b\tc, d"\ne, f\tg, h\n')
    layout = find_layout(path)
    assert layout == ColumnLayout("\t") and next(table_rows(path, layout)) == (1, ['"a, b', 'c, d"'])


@pytest.mark.parametrize(
    ("first", "header"),
    [
        ("ko\ten", True),
        ("Korean\tEnglish", True),
        ("한국어\t영어", True),
        ("원문\t번역문", True),
        ("text_ko\ttext_en", True),
        ("\tko\ten", True),  # an index without a name
        ("it\t그것", False),
        ("text\ttext", False),
        ("나는 간다\tI go", False),
        ("7\t8", False),
    ],
)
def test_a_header_is_known_by_its_names(first: str, header: bool, tmp_path: Path) -> None:
    width = first.count("\t")
    path = written(tmp_path, "a.tsv", f"{first}\n" + "\t".join("가나다"[: width + 1]) + "\n")
    assert bool(find_layout(path).header) is header
    assert find_layout(path, header=not header).header == (() if header else tuple(first.split("\t")))


def test_a_row_of_another_width_is_named_by_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "text,label\nfine,a\nYes, indeed,a\nfine,b\n")
    with pytest.raises(FileError) as caught:
        list(table_rows(path, find_layout(path)))
    assert str(caught.value) == (
        f"{path}: line 3 has 3 columns and 2 are needed; mend the line, or put text that holds the separator between "
        "double quotes"
    )


def test_lines_that_nothing_cuts_into_columns_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "only one column\nand one, with a comma\n")
    with pytest.raises(FileError, match=r"no tab, semicolon, \| or comma cuts its rows into the same number of"):
        find_layout(path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is empty; give a file with at least one row"):
        find_layout(written(tmp_path, "a.csv", "\n\n"))


@pytest.mark.parametrize("text", ['"', '\ufeff"', '"\r\n', '"\n\n\t ', '" \r\n\n" \r'])
def test_a_file_of_quotation_marks_alone_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(text.encode())
    with pytest.raises(FileError, match=r"a\.csv"):
        find_layout(tmp_path / "a.csv", header=True, least=1)


def test_a_layout_says_itself() -> None:
    assert ColumnLayout("\t", ("ko", "en")).phrase.say("en") == "separated by tabs, header 'ko, en' skipped"
    assert ColumnLayout(";").phrase.say("ko") == "세미콜론으로 구분, 머리글 없음"


def test_a_recipe_may_say_the_delimiter() -> None:
    assert [delimiter_of("d", value) for value in ("tab", "\t", "|")] == ["\t", "\t", "|"]
    with pytest.raises(ConfigError, match=r"d='::'"):
        delimiter_of("d", "::")


@pytest.mark.parametrize("cell", ['"line {i}', '"line" {i}'])
def test_a_quotation_mark_that_is_not_closed_joins_no_rows(cell: str, tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "text,label\n" + "".join(f"{cell.format(i=i)},{i % 2}\n" for i in range(40)))
    with pytest.raises(FileError, match=r"line \d+ is not CSV"):
        list(table_rows(path, find_layout(path)))
