from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from glassformer.data.table import Form
from glassformer.data.texts import Texts, apart, read_texts
from glassformer.errors import FileError


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("a.tsv", "id\tlabel\ttext\n1\tgood\t 좋다 \n2\t0\t나쁘다\n\n", ("text", "label")),
        ("a.tsv", "좋다\tgood\n나쁘다\t0\n", (1, 2)),
        ("a.jsonl", '{"text": "좋다", "label": "good"}\n\n{"text": "나쁘다", "label": 0}\n', ("text", "label")),
        ("a.jsonl", '{"text": "좋다", "label": "good"}\n{"text": "나쁘다", "label": 0}\n', (1, 2)),
        ("a.jsonl", '{"t": "좋다", "l": "good"}\n{"t": "나쁘다", "l": 0}\n', ("t", "l")),
    ],
)
def test_words_and_numbers_are_labels(name: str, text: str, columns: Any, tmp_path: Path) -> None:
    found = read_texts(write(tmp_path, name, text), Form(columns))
    assert (found.texts, found.labels, len(found)) == (["좋다", "나쁘다"], ["good", "0"], 2)


def test_a_packed_file_and_labels_that_are_true_or_false(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "a", "label": true}\n'))
    assert read_texts(path).labels == ["true"]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.tsv", "text\tlabel\tclass\na\t1\t2\n", r"a\.tsv: which two columns\? There are: text, label, class; name"),
        ("a.tsv", "a\tb\tc\nd\te\tf\n", r"a\.tsv: which two columns\? There are: 1–3; name them"),
        ("a.tsv", "text\tlabel\na\t1\n \t0\n", r"a\.tsv: line 3 has nothing but blanks in the column 'text'; write"),
        ("a.tsv", "text\tlabel\na\t1\nb\t \n", r"a\.tsv: line 3 has nothing but blanks in the column 'label'"),
        ("a.tsv", "text\tlabel\na\n", r"a\.tsv: line 2 has 1 columns and 2 are needed"),
        ("a.tsv", "", r"a\.tsv is empty; give a file with at least one row"),
        ("a.tsv", "text\tlabel\n", r"a\.tsv is empty; give a file with at least one row"),
        ("a.jsonl", "", r"a\.jsonl is empty"),
        ("a.jsonl", '{"ko": "a", "en": "b"}\n', r"a\.jsonl: which two columns\? There are: ko, en; name them"),
        (
            "a.jsonl",
            '{"text": "a", "label": 1}\n{"text": "b"}\n',
            r"line 2 has no key 'label'; there are: text",
        ),
        ("a.jsonl", '{"text": "a", "label": NaN}\n', r"line 1 has nan under 'label'; a label is a text in quotes or"),
        ("a.jsonl", '{"text": "a", "label": null}\n', r"line 1 has None under 'label'; a label is a text"),
        ("a.jsonl", '{"text": "a", "label": 0.5}\n', r"line 1 has 0\.5 under 'label'"),
        ("a.jsonl", '{"text": NaN, "label": 1}\n', r"line 1 has nan under 'text'; use a text in quotes"),
        ("a.jsonl", '{"text": " \\u3000", "label": 1}\n', r"line 1 has nothing but blanks in the column 'text'"),
    ],
)
def test_what_is_no_labelled_text_is_refused_with_its_line(name: str, text: str, line: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=line):
        read_texts(write(tmp_path, name, text))


def test_some_are_kept_apart_of_each_label_its_share_and_no_text_is_in_both() -> None:
    every = Texts([f"t{i % 90}" for i in range(100)], ["a" if i % 90 < 60 else "b" for i in range(100)])
    rest, kept = apart(every, 20, seed=0)
    assert not set(rest.texts) & set(kept.texts) and len(rest) + len(kept) == 100
    assert Counter(kept.labels) == {"a": 14, "b": 6}
    assert apart(every, 20, seed=0)[1] == kept
    assert apart(every, 20, seed=1)[1] != kept
    assert len(apart(every, 5000, seed=0)[1]) <= 50
    assert len(apart(every, 0, seed=0)[1]) == 0


ROWS = [("좋다", "good"), ("나쁘다", "bad"), ("멋지다", "good"), ("싫다", "bad")]


@pytest.mark.parametrize(
    ("name", "delimiter", "header", "order"),
    [
        ("a.csv", ",", "text,label", (0, 1)),
        ("a.csv", ";", "label;text", (1, 0)),
        ("a.csv", ",", "문장,감정", (0, 1)),
        ("a.csv", ",", "text,tone", (0, 1)),
        ("a.csv", ",", "", (0, 1)),
        ("a.tsv", "\t", "", (0, 1)),
        ("a.tsv", "\t", "", (1, 0)),  # the label first: it has fewer values
        ("a.txt", "|", "label|document", (1, 0)),
    ],
)
def test_tables_as_people_have_them(
    name: str, delimiter: str, header: str, order: tuple[int, int], tmp_path: Path
) -> None:
    rows = [delimiter.join(row[i] for i in order) for row in ROWS]
    found = read_texts(write(tmp_path, name, "".join(f"{row}\n" for row in ([header] if header else []) + rows)))
    assert list(zip(found.texts, found.labels, strict=True)) == ROWS


def test_a_first_line_that_may_be_a_header_is_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "remark,tone\n" + "".join(f"{text},{label}\n" for text, label in ROWS))
    with pytest.raises(FileError) as caught:
        read_texts(path)
    assert str(caught.value) == (
        f"{path}: the first line has the label 'tone', which no other line has: is it a header? Say so: "
        "--set data.source.header=true (it is) or --set data.source.header=false (it is data)"
    )
    assert len(read_texts(path, Form(header=True))) == 4 and len(read_texts(path, Form(header=False))) == 5
