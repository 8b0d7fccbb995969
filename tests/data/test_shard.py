from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from glassformer.data import tokenise
from glassformer.data.cut import Cut
from glassformer.data.pairs import read_parallel
from glassformer.data.shard import ShardJob, serve, shard_path
from glassformer.data.store import Store
from glassformer.data.stored_texts import StoredTexts
from glassformer.text import Characters
from small_disk import no_file_larger_than
from stored_pairs import as_large, write_corpus


@pytest.fixture
def draft(own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a job of 150 pairs in shards of 64."""
    as_large(monkeypatch)
    pairs = read_parallel(*write_corpus(tmp_path, 153))
    assert isinstance(pairs.sources, StoredTexts) and isinstance(pairs.targets, StoredTexts)
    texts = pairs.sources.chosen(range(149, -1, -1)), pairs.targets.changed("lowercase", "de").chosen(range(150))
    one = Characters.train([*pairs.sources, *pairs.targets], None)
    (tmp_path / "draft").mkdir()
    sides = {name: tokenise.TextColumn(some, one) for name, some in zip(("source", "target"), texts, strict=True)}
    tokenise._write_job(tmp_path / "draft", sides, Cut("ended", tokens=(2,)))
    return tmp_path / "draft"


def asked(draft: Path, *numbers: int) -> list[dict[str, object]]:
    answers = io.StringIO()
    serve(draft, io.StringIO("".join(f"{number}\n" for number in numbers)), answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_each_number_is_answered_when_its_shard_is_there(draft: Path) -> None:
    assert asked(draft, 2, 0) == [{}, {}]
    job = ShardJob.open(draft)
    (texts, one), (others, _) = job.sides.values()
    assert len(texts) == 150
    last = Store.open(shard_path(draft, 2))
    assert len(last) == 150 - 2 * 64
    assert [side.tolist() for side in last[1]] == [[*one.encode(texts[129]), 2], [*one.encode(others[129]), 2]]
    assert not shard_path(draft, 1).exists()


def test_an_error_is_answered_and_the_next_number_asked(draft: Path) -> None:
    with no_file_larger_than(100):
        (found,) = asked(draft, 0)
    assert found["key"] == "disk"
    assert asked(draft, 0) == [{}]
