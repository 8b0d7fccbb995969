from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glassformer.config.recipe import DataConfig
from glassformer.config.values import Choice
from glassformer.data.grammar import KINDS
from glassformer.data.pair_corpus import pair_corpus
from glassformer.data.pairs import Pairs
from glassformer.errors import ConfigError, FileError
from shared_data import need


def config(kind: str, apart: int = 5, source: str = "ko", target: str = "en", **options: Any) -> DataConfig:
    return DataConfig(source=Choice(kind, options), validation=apart, source_language=source, target_language=target)


def files(folder: Path, name: str, count: int = 12) -> list[str]:
    paths = []
    for language in ("ko", "en"):
        path = folder / f"{name}.{language}"
        path.write_text("".join(f"{name} {language} {i}\n" for i in range(count)), encoding="utf-8")
        paths.append(str(path))
    return paths


# --- the grammar ---


def test_the_grammar_in_either_direction() -> None:
    found = pair_corpus(config("grammar", count=40, test=3))
    assert (len(found.train), len(found.validation)) == (40, 5)
    assert {name: len(pairs) for name, pairs in found.test.items()} == dict.fromkeys(KINDS, 3)
    back = pair_corpus(config("grammar", source="en", target="ko", count=40, test=3))
    assert back.train == found.train.reversed()
    same = pair_corpus(config("grammar", count=40, test=3))
    assert (found.train, found.validation, found.test) == (same.train, same.validation, same.test)


@pytest.mark.slow
def test_no_sentence_stands_in_two_splits() -> None:
    found = pair_corpus(config("grammar", count=300, test=20, apart=30))
    learned, held_out = set(found.train.sources), set(found.validation.sources)
    tested = {source for pairs in found.test.values() for source in pairs.sources}
    assert not (learned & held_out or learned & tested or held_out & tested)


def test_splits_by_name() -> None:
    found = pair_corpus(config("grammar", count=10, test=0))
    assert found.split("train") == {"train": found.train} and found.split("validation") == {
        "validation": found.validation
    }
    assert found.split("test") == {}
    with pytest.raises(ConfigError, match="split='dev' is unknown; use one of: train, validation, test"):
        found.split("dev")


def test_the_grammar_has_two_languages() -> None:
    with pytest.raises(ConfigError, match="the built-in corpus is Korean and English, not en and de; use ko and en"):
        pair_corpus(config("grammar", source="en", target="de"))


# --- files ---


def test_two_files_and_a_validation_set_set_apart(tmp_path: Path) -> None:
    found = pair_corpus(config("files", train=files(tmp_path, "a")))
    assert (len(found.train), len(found.validation), found.test) == (7, 5, {})
    assert sorted(found.train.sources + found.validation.sources) == sorted(f"a ko {i}" for i in range(12))
    assert all(source.replace("ko", "en") == target for source, target in found.train)


def test_files_for_every_split(tmp_path: Path) -> None:
    train, validation, test = (files(tmp_path, name, 3) for name in "abc")
    found = pair_corpus(config("files", train=train, validation=validation, test=test))
    assert [pairs.sources[0] for pairs in (found.train, found.validation, found.test["test"])] == [
        "a ko 0",
        "b ko 0",
        "c ko 0",
    ]


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("x.tsv", "물\twater\n불\tfire\n", None),
        ("x.tsv", "en\tko\nwater\t물\nfire\t불\n", ["ko", "en"]),
        ("x.tsv", "1\twater\t물\n2\tfire\t불\n", [3, 2]),
        ("x.jsonl", '{"source": "물", "target": "water"}\n{"source": "불", "target": "fire"}\n', None),
        ("x.jsonl", '{"ko": "물", "en": "water"}\n{"ko": "불", "en": "fire"}\n', ["ko", "en"]),
    ],
)
def test_one_file_with_columns(name: str, text: str, columns: list[Any] | None, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    options: dict[str, Any] = {} if columns is None else {"columns": columns}
    found = pair_corpus(config("files", train=str(path), validation=str(path), **options))
    assert found.train == Pairs(["물", "불"], ["water", "fire"])


def test_text_is_prepared_on_every_split(tmp_path: Path) -> None:
    both = files(tmp_path, "A", 3)
    wanted = DataConfig(source=Choice("files", {"train": both, "validation": both, "test": both}), prepare="lowercase")
    found = pair_corpus(wanted)
    assert found.train.sources[0] == found.validation.sources[0] == found.test["test"].sources[0] == "a ko 0"


@pytest.mark.parametrize(
    ("kind", "options", "line"),
    [
        ("web", {}, "data.source='web' is unknown; use one of: grammar, files, catalogue"),
        ("files", {"train": ["a", "b", "c"]}, "parallel text is two files, here: a, b, c; write "),
        ("files", {"trian": "a"}, "data.source.trian: 'files' has no such option; did you mean train?"),
        ("files", {}, "data.source='files' needs the option train; write data.source = "),
    ],
)
def test_what_is_refused(kind: str, options: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _ = pair_corpus(config(kind, **options)).train
    assert str(caught.value).startswith(line)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"nowhere\.tsv"):
        _ = pair_corpus(config("files", train=str(tmp_path / "nowhere.tsv"))).train


# --- the catalogue ---


def test_a_set_of_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "multi30k")
    names = ["test_2016_flickr"]
    found = pair_corpus(config("catalogue", source="en", target="de", names=["multi30k"], test=names))
    assert (len(found.train), len(found.validation)) == (29_000, 1_014)
    assert {name: len(pairs) for name, pairs in found.test.items()} == {"multi30k": 1_000}
    more = pair_corpus(
        config(
            "catalogue", source="en", target="de", names=["multi30k"], test=names, beyond=["multi30k/test_2017_mscoco"]
        )
    )
    assert {name: len(pairs) for name, pairs in more.test.items()} == {
        "multi30k": 1_000,
        "multi30k test_2017_mscoco": 461,
    }


def test_a_set_of_the_catalogue_beside_the_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "tatoeba-kor-eng")
    alone = pair_corpus(config("catalogue", source="en", target="ko", names="tatoeba-kor-eng"))
    beside = pair_corpus(config("catalogue", source="en", target="ko", names="tatoeba-kor-eng", grammar=50))
    built_in = pair_corpus(config("grammar", source="en", target="ko", count=50))
    assert beside.train.sources == [*alone.train.sources, *built_in.train.sources]
    assert beside.train.targets == [*alone.train.targets, *built_in.train.targets]
    assert beside.validation.sources == [*alone.validation.sources, *built_in.validation.sources]
    assert list(beside.test) == [*alone.test, *built_in.test]


@pytest.mark.parametrize(
    ("kind", "options", "line"),
    [
        ("grammar", {"count": "abc"}, "data.source.count='abc' is of the wrong type; use a whole number"),
        ("grammar", {"count": -3}, "data.source.count=-3 is out of range"),
        ("files", {"train": 3}, "data.source.train=3 is of the wrong type; use a name, or a list of names"),
        ("files", {"train": "x.tsv", "columns": [1]}, "is of the wrong type; use two columns, such as"),
        ("catalogue", {"names": 3}, "data.source.names=3 is of the wrong type; use a name, or a list of names"),
    ],
)
def test_an_option_of_the_wrong_kind_is_one_line(kind: str, options: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError) as error:
        pair_corpus(config(kind, **options))
    assert line in str(error.value)


def test_a_split_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    found = pair_corpus(
        config("files", train=[str(tmp_path / "no.ko"), str(tmp_path / "no.en")], test=files(tmp_path, "t"))
    )
    assert len(found.test["test"]) == 12
    with pytest.raises(FileError):
        _ = found.train
