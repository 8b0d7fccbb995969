from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from glassformer.data.form import Form
from glassformer.data.pair_files import read_pairs
from glassformer.errors import FileError

PAIRS = [("나는 간다", "I go"), ("너는 온다", "you come")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", "나는 간다\tI go\n너는 온다\tyou come\n"),
        ("a.tsv", "ko\ten\n나는 간다\tI go\n너는 온다\tyou come\n"),
        ("a.tsv", "나는 간다\tI go\tCC-BY 2.0\n\n너는 온다\tyou come\n"),
        ("a.csv", "source,target\n나는 간다,I go\n너는 온다,you come\n"),
        ("a.csv", "id;target;source\n1;I go;나는 간다\n2;you come;너는 온다\n"),
        ("a.txt", "나는 간다|I go\n너는 온다|you come\n"),
        ("a.jsonl", '{"ko": "나는 간다", "en": "I go"}\n{"ko": "너는 온다", "en": "you come"}\n'),
        ("a.jsonl", '{"target": "I go", "source": "나는 간다"}\n{"target": "you come", "source": "너는 온다"}\n'),
    ],
)
def test_files_as_people_have_them(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert list(read_pairs(tmp_path / name)) == PAIRS


def test_a_packed_file_and_columns_of_ones_choice(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b,c\n1,x,y\n2,z,w\n"))
    assert list(read_pairs(path, Form(columns=["c", "b"]))) == [("y", "x"), ("w", "z")]
    assert list(read_pairs(path, Form(columns=[3, 2], header=True))) == [("y", "x"), ("w", "z")]
    assert read_pairs(path, Form(columns=[3, 2], header=False))[0] == ("c", "b")


def test_a_header_that_is_meant_as_a_pair(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("ko\ten\n나는\tI\n", encoding="utf-8")
    assert len(read_pairs(path)) == 1 and len(read_pairs(path, Form(header=False))) == 2


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.tsv", "가\ta\n나\n", "line 2 has 1 columns and 2 are needed"),
        ("a.tsv", "가\n나\n", "has no column 2; there are: 1–1"),
        ("a.jsonl", '{"id": "1", "text": "a"}\n', "which two columns? There are: id, text"),
        ("a.jsonl", "", "is empty"),
        ("a.tsv", "id\ttext\n1\t가\n", "which two columns? There are: id, text"),
    ],
)
def test_what_gives_no_pairs_is_one_line(name: str, text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as caught:
        read_pairs(tmp_path / name)
    assert said in str(caught.value)


@pytest.mark.parametrize("encoding", ["cp949", "utf-16"])
def test_another_encoding_is_named_with_the_command_that_converts_it(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a b.tsv"
    path.write_bytes("나는 간다\tI go\n".encode(encoding))
    with pytest.raises(FileError) as caught:
        read_pairs(path)
    assert f'iconv -f {encoding.upper()} -t UTF-8 "{path}" >' in str(caught.value)


def test_bytes_of_no_known_encoding_are_only_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"caf\xe9 cr\xe8me\tna\xefve\n")
    with pytest.raises(FileError, match="is not UTF-8 in line 1, byte 4 of that line; convert the file to UTF-8"):
        read_pairs(path)
