from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch

from families import answer, check, check_inverse, check_taps, compare, difference, tokens
from glassformer.errors import FileError
from glassformer.hub.effective_config import differing_keys
from glassformer.hub.families.bert import BERT
from glassformer.hub.foreign import Foreign
from glassformer.hub.open import open_foreign
from glassformer.models.presets import PRESETS
from reference import VARIANTS, reference

NAMES = [name for name in VARIANTS if "bert" in name]


@pytest.mark.many
@pytest.mark.parametrize("name", NAMES)
def test_the_answers_are_those_of_the_reference(name: str) -> None:
    check(name, *reference(name))


@pytest.mark.parametrize("name", NAMES)
def test_describing_is_the_inverse_of_configuring(name: str) -> None:
    check_inverse(name, reference(name)[1])


def test_segments_tell_two_sentences_apart() -> None:
    model, folder = reference("bert body")
    ids, mask = tokens(41, 0)
    segments = torch.randint(0, 2, ids.shape)
    imported = open_foreign(folder)
    theirs = answer(model, ids, mask, token_type_ids=segments)
    with torch.no_grad():
        assert difference(theirs, imported.model(ids, mask, segments)).relative <= 1e-5
        assert difference(theirs, imported.model(ids, mask)).relative > 1e-3


def test_one_number_in_another_place_would_show() -> None:
    model, folder = reference("bert")
    changed = copy.deepcopy(model)
    with torch.no_grad():
        changed.bert.encoder.layer[1].attention.output.dense.weight[2, 3] += 0.1
    assert compare(changed, folder, torch.float64).relative > 1e-4


def test_what_our_boxes_do_not_have_is_refused() -> None:
    with pytest.raises(FileError, match=r"config\.json: is_decoder is True; only False can be built here"):
        BERT.configure(Foreign({"is_decoder": True}, Path("config.json")), "features")
    with pytest.raises(FileError, match="hidden_act is tanh; only relu, gelu, "):
        BERT.configure(Foreign({"hidden_act": "tanh"}, Path("config.json")), "features")


def test_a_config_that_says_nothing_is_the_base_model() -> None:
    base = BERT.configure(Foreign({}, Path("config.json")), "features")
    assert not differing_keys(base, PRESETS["bert-base"]())


@pytest.mark.parametrize(("name", "count"), [("bert", 26), ("roberta", 26), ("bert classifier", 25), ("bert body", 25)])
def test_taps_are_the_outputs_of_their_modules(name: str, count: int) -> None:
    check_taps(*reference(name), count)
