"""Every family and variant: a reference model of `transformers`, imported, gives the same answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from glassformer.bench.families import LIMITS, compared, differences
from glassformer.bench.questions import questions
from glassformer.bench.references import VARIANTS, edit_json, opened_lifted, save
from glassformer.errors import FileError
from glassformer.hub.families import FAMILIES
from glassformer.hub.open import open_foreign

pytest.importorskip("transformers")


@pytest.mark.many
@pytest.mark.parametrize("name", VARIANTS)
def test_same_weights_same_answers(name: str) -> None:
    row = compared(name)
    for kind, limit in LIMITS.items():
        assert row[kind], kind
        for case, gap in row[kind].items():
            assert gap <= limit, (kind, case)  # a NaN is not within it either
    assert row["ours"] == row["parameters"]
    assert row["aside"] == []


@pytest.mark.slow
def test_every_family_has_a_variant(tmp_path: Path) -> None:
    found = set()
    for name in VARIANTS:
        save(name, tmp_path / name)
        found.add(open_foreign(tmp_path / name).family)
    assert found == set(FAMILIES)


def test_a_small_change_of_one_weight_is_seen(tmp_path: Path) -> None:
    save("llama", tmp_path)
    mine, theirs = open_foreign(tmp_path, dtype=torch.float64), opened_lifted("llama", tmp_path)
    asked = questions(mine.config.model, pad=0, by_length=False)
    assert max(differences(asked, mine.model, theirs, lift=True).values()) <= LIMITS["lifted"]
    with torch.no_grad():
        mine.model.state_dict()["decoder.blocks.1.self_attention.w_k.weight"][0, 0] += 1e-6
    changed = differences(asked, mine.model, theirs, lift=True)
    assert all(gap > LIMITS["lifted"] for gap in changed.values())


def test_a_config_without_a_model_type_may_be_given_its_family(tmp_path: Path) -> None:
    save("bert-masked", tmp_path)
    edit_json(tmp_path / "config.json", {"model_type": None})
    assert "model_type" not in json.loads((tmp_path / "config.json").read_text())
    with pytest.raises(FileError, match="has no key 'model_type'"):
        open_foreign(tmp_path)
    assert open_foreign(tmp_path, family="bert").family == "bert"
