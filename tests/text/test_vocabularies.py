from __future__ import annotations

from pathlib import Path

import pytest

from foreign_texts import marian, t5
from glassformer.errors import FileError
from glassformer.text import Vocabularies
from texts import CORPUS

KOREAN = [text for text in CORPUS if not text.isascii()]
ENGLISH = [text for text in CORPUS if text.isascii()]


def test_joint(tmp_path: Path) -> None:
    both = Vocabularies.train("bpe", iter(KOREAN), iter(ENGLISH), 400)
    assert both.joint and both.source is both.target
    both.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer"]
    opened = Vocabularies.open(tmp_path)
    assert opened.joint
    assert opened.source.encode_batch(CORPUS) == both.source.encode_batch(CORPUS)


def test_separate(tmp_path: Path) -> None:
    each = Vocabularies.train("bpe", KOREAN, ENGLISH, 300, joint=False, options={"min_frequency": 1})
    assert not each.joint
    assert len(each.source.encode(KOREAN[0])) < len(each.target.encode(KOREAN[0]))
    each.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tokenizer.source", "tokenizer.target"]
    opened = Vocabularies.open(tmp_path)
    assert not opened.joint
    assert opened.source.encode_batch(CORPUS) == each.source.encode_batch(CORPUS)
    assert opened.target.encode_batch(CORPUS) == each.target.encode_batch(CORPUS)


def test_a_folder_without_them(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.source").mkdir()
    with pytest.raises(FileError, match=r"holds no vocabularies; it needs tokenizer/, or tokenizer\.source/"):
        Vocabularies.open(tmp_path)


def test_the_folder_of_a_model_of_the_world(tmp_path: Path) -> None:
    """Its tokenizer stands beside its weights."""
    opened = Vocabularies.open(t5(tmp_path / "t5"))
    assert opened.joint and opened.source.kind == "sentencepiece"
    opened.save(tmp_path / "run")
    assert Vocabularies.open(tmp_path / "run").source.encode_batch(CORPUS) == opened.source.encode_batch(CORPUS)
    two = Vocabularies.open(marian(tmp_path / "marian"))
    assert two.joint and two.source is not two.target
    assert two.source.encode("나는 간다") != two.target.encode("나는 간다")
