from __future__ import annotations

import pytest

from glassformer.errors import ConfigError
from glassformer.tasks.output_ids import forbidden_and_ends, forbidden_ids, spelled_ids
from glassformer.text.tokenizer import Specials
from texts import trained


def test_every_special_token_but_the_end_is_forbidden() -> None:
    assert forbidden_ids(Specials()) == [0, 1, 3, 4, 5, 6]
    assert forbidden_ids(Specials(bos=7, eos=7, unk=None, cls=7, sep=None, mask=None)) == [0]


def test_a_task_may_forbid_less() -> None:
    assert forbidden_ids(Specials(), ["pad"]) == [0]
    assert forbidden_ids(Specials(), ["pad", "eos"]) == [0]
    assert forbidden_ids(Specials(mask=None), ["mask"]) == []
    assert forbidden_ids(Specials(), []) == []


def test_the_roles_of_the_configuration() -> None:
    assert forbidden_and_ends({}) == (None, None)
    assert forbidden_and_ends({"forbidden": ["pad", "unk"], "ends": [2, 5]}) == (("pad", "unk"), (2, 5))
    assert forbidden_and_ends({"forbidden": []}) == ((), None)
    with pytest.raises(ConfigError, match=r"task\.forbidden='padding' is unknown; use one of: pad, bos"):
        forbidden_and_ends({"forbidden": ["padding"]})
    for wrong in ("pad", 3):
        with pytest.raises(
            ConfigError, match=f"task.forbidden={wrong!r} is not a list of special tokens; name some of:"
        ):
            forbidden_and_ends({"forbidden": wrong})


def test_rows_that_no_piece_belongs_to_are_not_spelled() -> None:
    tokenizer = trained("bpe")
    assert spelled_ids(tokenizer, [9, tokenizer.vocab_size - 1, tokenizer.vocab_size]) == [9, tokenizer.vocab_size - 1]
