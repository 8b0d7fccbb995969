from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from glassformer.data.catalogue import DATASETS
from glassformer.data.read import dialogue, images, labelled, prices, series, text, translation_pairs
from glassformer.errors import FileError, InputError
from shared_data import need

TRANSLATION = [name for name, row in DATASETS.items() if row.task == "translation" and row.verified]


@pytest.mark.many
@pytest.mark.parametrize("name", TRANSLATION)
def test_translation_sets_have_the_rows_of_the_catalogue_in_both_directions(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(monkeypatch, DATASETS[name].folder or name)
    first, second = DATASETS[name].languages
    for split, part in DATASETS[name].splits.items():
        pairs = translation_pairs(name, split)
        assert (len(pairs), pairs.skipped) == (part.rows, ())
        back = translation_pairs(name, split, second, first)
        assert (back.sources, back.targets) == (pairs.targets, pairs.sources)


def test_the_first_pairs_of_a_real_set(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "multi30k")
    assert translation_pairs("multi30k", "val")[0].source == "A group of men are loading cotton onto a truck"
    assert (
        translation_pairs("multi30k", "val", target="en")[0].source
        == "Eine Gruppe von Männern lädt Baumwolle auf einen Lastwagen"
    )


def test_the_splits_of_tatoeba_share_no_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "tatoeba-kor-eng")
    parts = [translation_pairs("tatoeba-kor-eng", split) for split in ("train", "val", "test")]
    for side in ("sources", "targets"):
        seen = Counter(sentence for part in parts for sentence in set(getattr(part, side)))
        assert max(seen.values()) == 1


@pytest.mark.slow
def test_other_kinds_of_data_have_what_their_readme_says(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "nsmc")
    reviews = labelled("nsmc", "test")
    assert (len(reviews), reviews.empty, Counter(reviews.labels)) == (50_000, 3, {1: 25_173, 0: 24_827})
    need(monkeypatch, "korean-chatbot")
    assert Counter(dialogue("korean-chatbot", "all").labels) == {0: 5_290, 1: 3_570, 2: 2_963}
    need(monkeypatch, "ett")
    assert series("ett", "ETTh1").values.shape == (17_420, 7)
    need(monkeypatch, "stocks-daily")
    assert {name: len(share) for name, share in prices("stocks-daily", "2000-2013").items()}["AAPL"] == 3_270


def test_the_text_is_cut_as_nanogpt_cuts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "tinyshakespeare")
    first, second = text("tinyshakespeare", "train"), text("tinyshakespeare", "val")
    assert (len(first), len(second), len(set(first + second))) == (1_003_854, 111_540, 65)
    assert first.startswith("First Citizen:\n") and second.endswith("\n")


def test_images_are_counted_and_balanced(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "fashion-mnist")
    found = images("fashion-mnist", "test")
    assert found.images.shape == (10_000, 28, 28)
    assert set(Counter(found.labels.tolist()).values()) == {1_000}


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of data with files of our own under the name of a set."""
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path))
    place = tmp_path / "newstest2014-ende"
    place.mkdir()
    (place / "newstest2014.en.gz").write_bytes(gzip.compress(b"one\ntwo\n"))
    (place / "newstest2014.de").write_bytes(b"eins\nzwei\n")
    return tmp_path


@pytest.mark.usefixtures("own")
def test_a_local_copy_is_read_whatever_its_packing() -> None:
    assert list(translation_pairs("newstest2014-ende", "test", source="de")) == [("eins", "one"), ("zwei", "two")]


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(("source", "target"), [("fr", ""), ("", "fr"), ("en", "en")])
def test_languages_that_are_not_there_are_refused(source: str, target: str) -> None:
    with pytest.raises(InputError, match=r"newstest2014-ende is not in '(fr|en)' and another.*choose two of: en, de"):
        translation_pairs("newstest2014-ende", "test", source, target)


@pytest.mark.usefixtures("own")
def test_what_is_not_there_or_of_another_kind_is_refused() -> None:
    with pytest.raises(FileError, match=r"nsmc is not here: ratings_test\.txt is missing"):
        labelled("nsmc", "test")
    with pytest.raises(InputError, match="nsmc holds tsv_labelled, and parallel, tsv, tsv_hashed is wanted"):
        translation_pairs("nsmc", "test")
    with pytest.raises(InputError, match="multi30k holds parallel, and images is wanted"):
        images("multi30k", "val")
