from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.errors import ConfigError, FileError
from glassformer.text import TOKENIZERS, open_tokenizer, train
from texts import CORPUS, SIZES


def test_every_kind_has_its_own_name() -> None:
    assert list(TOKENIZERS) == list(SIZES)
    assert all(TOKENIZERS[kind].kind == kind for kind in TOKENIZERS)


def test_options_are_those_of_the_kind() -> None:
    assert train("bpe", CORPUS, 300, {"min_frequency": 3}).vocab_size == 300
    with pytest.raises(ConfigError, match=r"tokenizer\.min_frequenzy: 'bpe' has no such option; did you mean min_freq"):
        train("bpe", CORPUS, 300, {"min_frequenzy": 3})
    with pytest.raises(ConfigError, match=r"tokenizer\.texts: 'bpe' has no such option"):
        train("bpe", CORPUS, 300, {"texts": []})
    with pytest.raises(ConfigError, match="tokenizer='bpee' is unknown; use one of: bpe, wordpiece"):
        train("bpee", CORPUS, 300)
    with pytest.raises(ConfigError, match="vocab_size is missing, and the tokenizer 'unigram' needs it"):
        train("unigram", CORPUS)
    with pytest.raises(ConfigError, match="vocab_size='300' is of the wrong type"):
        train("bpe", CORPUS, "300")  # type: ignore[arg-type]


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(FileError, match=r"holds no tokenizer; it needs tokenizer\.json"):
            open_tokenizer(folder)


@pytest.mark.parametrize("kind", ['"bpee"', "3", "[]"])
def test_a_folder_of_an_unknown_kind(kind: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text(f'{{"kind": {kind}}}')
    with pytest.raises(FileError, match=r"names the kind .*, which is unknown; use one of: bpe, wordpiece"):
        open_tokenizer(tmp_path)
