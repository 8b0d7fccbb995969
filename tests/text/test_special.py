from __future__ import annotations

import pytest

from glassformer.errors import InputError
from glassformer.text.special import NAMES, ROLES, Specials, find_specials


def test_names_stand_in_the_order_of_their_ids() -> None:
    assert NAMES == ("<pad>", "<bos>", "<eos>", "<unk>", "<cls>", "<sep>", "<mask>")
    assert Specials().ids() == {role: number for number, role in enumerate(ROLES)}


def test_all_but_the_unknown_are_left_out_of_text() -> None:
    assert Specials().dropped() == {0, 1, 2, 4, 5, 6}


def test_a_missing_one_that_is_needed_is_an_error() -> None:
    assert Specials().need("eos") == 2
    with pytest.raises(InputError, match="this tokenizer has no 'pad' token"):
        Specials(pad=None).need("pad")


def test_they_are_found_by_declaration_or_by_their_usual_names() -> None:
    vocabulary = {"[PAD]": 0, "</s>": 7, "<s>": 8, "!": 9}
    found = find_specials(vocabulary.get, {"unk": "!"})
    assert found == Specials(pad=0, bos=8, eos=7, unk=9, cls=None, sep=None, mask=None)
