from __future__ import annotations

import gzip
import re
import shlex
from hashlib import sha1
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.data.pairs import (
    Pair,
    Pairs,
    gather,
    hashed,
    parallel_rows,
    read_keyed,
    read_pairs,
    read_parallel,
)
from glassformer.data.table import Form
from glassformer.errors import FileError


def test_pairs_are_a_sequence_of_source_and_target() -> None:
    pairs = gather([("가", "a"), ("나", "b")], "file")
    assert (len(pairs), pairs[1], list(pairs)) == (2, Pair("나", "b"), [Pair("가", "a"), Pair("나", "b")])
    assert list(pairs.reversed()) == [("a", "가"), ("b", "나")]
    assert list(pairs.chosen([1])) == [("나", "b")]


def test_a_pair_with_an_empty_side_is_left_out_whole_and_its_line_is_kept() -> None:
    rows = [("a", "b"), ("", "c"), ("d", "  \u3000"), ("", ""), ("e", "f")]
    assert gather(rows, "file") == Pairs(["a", "e"], ["b", "f"], (2, 3, 4))
    assert gather(rows, "file", first_line=2).skipped == (3, 4, 5)


def test_blanks_around_a_sentence_go_and_control_characters_stay() -> None:
    assert gather([(" a\t", "\u00a0\x00b\x1f ")], "file")[0] == ("a", "\x00b\x1f")


def test_a_file_of_empty_sides_is_refused() -> None:
    with pytest.raises(FileError, match=r"file gives no pair: in all 2 rows a side is empty; check"):
        gather([("", "a"), ("b", "")], "file")


def write_sides(folder: Path, source: str, target: str) -> tuple[Path, Path]:
    paths = folder / "train.ko", folder / "train.en"
    for path, text in zip(paths, (source, target), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def test_line_n_goes_with_line_n(tmp_path: Path) -> None:
    pairs = read_parallel(*write_sides(tmp_path, "나는 간다\n너는 온다\n", "I go\nyou come\n"))
    assert list(pairs) == [("나는 간다", "I go"), ("너는 온다", "you come")]
    assert pairs.skipped == ()


def test_one_side_may_be_packed(tmp_path: Path) -> None:
    source, target = write_sides(tmp_path, "a\n", "b\n")
    packed = tmp_path / "train.en.gz"
    packed.write_bytes(gzip.compress(target.read_bytes()))
    assert list(read_parallel(source, packed)) == [("a", "b")]


@pytest.mark.parametrize(("source", "target"), [(3, 2), (2, 3), (5, 1), (1, 5)])
def test_different_counts_are_refused_with_both_named(source: int, target: int, tmp_path: Path) -> None:
    paths = write_sides(tmp_path, "a\n" * source, "b\n" * target)
    with pytest.raises(FileError, match=rf"train\.ko has {source} lines, .*train\.en has {target}; line N") as failure:
        read_parallel(*paths)
    assert f"train.ko {source}줄" in failure.value.in_language("ko")


@pytest.mark.parametrize(("source", "target", "name"), [("", "b\n", "ko"), ("a\n", "", "en"), ("", "", "ko")])
def test_an_empty_file_is_refused_by_name(source: str, target: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=rf"train\.{name} is empty; give a file"):
        read_parallel(*write_sides(tmp_path, source, target))


def test_empty_lines_are_left_out_together_and_counted(tmp_path: Path) -> None:
    pairs = read_parallel(*write_sides(tmp_path, "a\n\nc\nd\n", "1\n2\n\n4\n"))
    assert (list(pairs), pairs.skipped) == ([("a", "1"), ("d", "4")], (2, 3))


def test_rows_come_one_by_one(tmp_path: Path) -> None:
    rows = parallel_rows(*write_sides(tmp_path, "a\nb\n", "1\n"))
    assert next(rows) == ("a", "1")
    with pytest.raises(FileError, match="has 2 lines"):
        next(rows)


def write_jsonl(folder: Path, text: str) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def test_keys_by_name(tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path, '{"source": "가", "target": "a", "more": 1}\n{"ko": "나", "en": "b", "source": "다", "target": "c"}\n'
    )
    assert list(read_keyed(path)) == [("가", "a"), ("다", "c")]


def test_other_keys_and_escapes_in_nfc(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, r'{"ko": "\u1112\u1161\u11ab", "en": "a\nb"}')
    assert list(read_keyed(path, "ko", "en")) == [("한", "a\nb")]


def test_empty_lines_and_texts_are_counted(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, '{"source": "a", "target": "b"}\n\n{"source": "", "target": "c"}\n')
    assert read_keyed(path).skipped == (2, 3)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{broken", r"line 2 is not JSON \(.*\); write one object per line"),
        ("[" * 100_000, "line 2 is not JSON"),
        ('{"source": ' + "1" * 5000 + ', "target": "b"}', "line 2 is not JSON"),
        ('["a", "b"]', r"line 2 is \['a', 'b'\], not an object; write"),
        ('"a"', "line 2 is 'a', not an object"),
        ('{"source": "a"}', "line 2 has no key 'target'; there are: source"),
        ('{"source": "a", "target": 3}', "line 2 has 3 under 'target'; use a text in quotes"),
        ('{"source": null, "target": "b"}', "line 2 has None under 'source'"),
        (r'{"source": "\ud800", "target": "b"}', r"line 2 has '\\ud800' under 'source'"),
    ],
)
def test_a_bad_line_is_named(line: str, message: str, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, '{"source": "a", "target": "b"}\n' + line + "\n")
    with pytest.raises(FileError, match=message) as failure:
        read_keyed(path)
    assert "2번째 줄" in failure.value.in_language("ko")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is empty"):
        read_keyed(write_jsonl(tmp_path, ""))


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


@pytest.mark.parametrize("name", ["ab.tsv", "a b.tsv", 'a "b".tsv', "a 'b' $c.tsv"])
@pytest.mark.parametrize("encoding", ["cp949", "utf-16"])
def test_another_encoding_is_named_with_the_command_that_converts_it(encoding: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes("나는 간다\tI go\n".encode(encoding))
    with pytest.raises(FileError) as caught:
        read_pairs(path)
    command = re.search(r"iconv .* (?=> NEW_FILE)", str(caught.value))
    assert command and shlex.split(command[0]) == ["iconv", "-f", encoding.upper(), "-t", "UTF-8", str(path)]


def test_bytes_of_no_known_encoding_are_only_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"caf\xe9 cr\xe8me\tna\xefve\n")
    with pytest.raises(FileError, match="is not UTF-8 in line 1, byte 4 of that line; convert the file to UTF-8"):
        read_pairs(path)


PARTS = ("train", "val", "test")


def test_the_rule_of_the_documentation_on_one_pair() -> None:
    for sentence in ("Go.", "Hi.", "Who?", "I go to school.", "나는 간다"):
        number = int(sha1(sentence.encode()).hexdigest(), 16) % 20
        expected = "test" if number == 0 else "val" if number == 1 else "train"
        assert [part for part in PARTS if len(hashed(Pairs([sentence], ["x"]), part))] == [expected]


sentence = st.text("abc", min_size=1, max_size=3)


@given(st.lists(st.tuples(sentence, sentence), min_size=1, max_size=60))
def test_no_sentence_of_either_side_stands_in_two_parts_and_none_is_lost(rows: list[tuple[str, str]]) -> None:
    pairs = Pairs([source for source, _ in rows], [target for _, target in rows])
    parts = {part: list(hashed(pairs, part)) for part in PARTS}
    assert sorted(pair for part in parts.values() for pair in part) == sorted(rows)
    for one in PARTS:
        for other in PARTS:
            if one != other:
                for side in (0, 1):
                    assert not {pair[side] for pair in parts[one]} & {pair[side] for pair in parts[other]}


@pytest.mark.slow
@given(st.lists(st.tuples(sentence, sentence), min_size=1, max_size=30), st.randoms())
def test_the_order_of_the_file_does_not_matter(rows: list[tuple[str, str]], random: object) -> None:
    mixed = list(rows)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    for part in PARTS:
        found = [hashed(Pairs([a for a, _ in each], [b for _, b in each]), part) for each in (rows, mixed)]
        assert sorted(found[0]) == sorted(found[1])
