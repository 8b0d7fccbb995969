from __future__ import annotations

from pathlib import Path

import pytest
import torch

from foreign_folder import Tensors, changed
from glassformer.errors import FileError
from glassformer.hub.family import At
from glassformer.hub.names import check_copies, read_into, their_shape, to_theirs
from glassformer.hub.open import inspect_folder, open_foreign
from glassformer.hub.weights import SINGLE, StoredWeights, write_tensors
from reference import reference

EMBEDDING, HEAD = "transformer.wte.weight", "lm_head.weight"


def same(one: Path, other: Path) -> None:
    ours, theirs = open_foreign(one).model.state_dict(), open_foreign(other).model.state_dict()
    assert ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_with_and_without_prefix(tmp_path: Path) -> None:
    def bare(tensors: Tensors) -> Tensors:
        return {key.removeprefix("transformer."): x for key, x in tensors.items()}

    same(reference("gpt2")[1], changed("gpt2", tmp_path / "tied", bare))
    same(reference("gpt2 untied")[1], changed("gpt2 untied", tmp_path / "untied", bare))

    def bert(tensors: Tensors) -> Tensors:
        return {key.removeprefix("bert."): x for key, x in tensors.items()}

    same(reference("bert")[1], changed("bert", tmp_path / "bert", bert))
    prefixed = changed("bert body", tmp_path / "body", lambda tensors: {f"bert.{key}": x for key, x in tensors.items()})
    same(reference("bert body")[1], prefixed)


def test_the_endings_of_older_files(tmp_path: Path) -> None:
    def older(tensors: Tensors) -> Tensors:
        new = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
        return {next((key.replace(a, b) for a, b in new.items() if a in key), key): x for key, x in tensors.items()}

    same(reference("bert")[1], changed("bert", tmp_path, older))


def test_a_head_that_is_tied_may_be_stored_twice_or_alone(tmp_path: Path) -> None:
    twice = changed("gpt2", tmp_path / "twice", lambda tensors: {**tensors, HEAD: tensors[EMBEDDING]})
    same(reference("gpt2")[1], twice)

    def alone(tensors: Tensors) -> Tensors:
        return {HEAD if key == EMBEDDING else key: x for key, x in tensors.items()}

    same(reference("gpt2")[1], changed("gpt2", tmp_path / "alone", alone))


def test_a_head_that_differs_although_it_is_tied(tmp_path: Path) -> None:
    folder = changed("gpt2", tmp_path, lambda tensors: {**tensors, HEAD: tensors[EMBEDDING] + 1})
    with pytest.raises(
        FileError, match=rf"{HEAD} differs from {EMBEDDING} although config.json ties them; set tie_word"
    ):
        open_foreign(folder)
    found = inspect_folder(folder)
    with pytest.raises(FileError, match="differs from"):
        check_copies(found.weights, found.located)


def test_what_follows_from_the_configuration_is_skipped(tmp_path: Path) -> None:
    mask = {"transformer.h.0.attn.bias": torch.ones(1, 1, 23, 23).tril(), "h.1.attn.masked_bias": torch.tensor(-1e4)}
    folder = changed("gpt2", tmp_path, lambda tensors: {**tensors, **mask})
    assert sorted(inspect_folder(folder).located.computed) == ["h.1.attn.masked_bias", "transformer.h.0.attn.bias"]
    same(reference("gpt2")[1], folder)


def test_heads_of_other_tasks_are_left_aside_and_named(tmp_path: Path) -> None:
    located = inspect_folder(reference("bert pretraining")[1]).located
    assert sorted(located.aside) == [
        "bert.pooler.dense.bias",
        "bert.pooler.dense.weight",
        "cls.seq_relationship.bias",
        "cls.seq_relationship.weight",
    ]
    assert inspect_folder(reference("bert")[1]).located.aside == ()


def test_a_tensor_that_is_missing_is_named(tmp_path: Path) -> None:
    gone = "model.layers.1.mlp.up_proj.weight"
    folder = changed("llama", tmp_path, lambda tensors: {key: x for key, x in tensors.items() if key != gone})
    with pytest.raises(
        FileError, match=rf"has no tensor {gone} \(ours: decoder\.blocks\.1\.feed_forward\.w_1\.weight\)"
    ):
        inspect_folder(folder)


@pytest.mark.parametrize("more", ["model.layers.1.mlp.extra.weight", "adapter.weight", "layers.1.mlp.up_proj.weight"])
def test_a_tensor_that_is_left_over_is_named(tmp_path: Path, more: str) -> None:
    folder = changed("llama", tmp_path, lambda tensors: {**tensors, more: torch.zeros(2)})
    with pytest.raises(FileError, match=r"(extra|adapter|up_proj)\.weight belongs to nothing that a llama has"):
        inspect_folder(folder)


def test_a_bias_that_the_configuration_does_not_have_is_left_over(tmp_path: Path) -> None:
    folder = changed("llama biased", tmp_path, mlp_bias=False)
    with pytest.raises(FileError, match=r"mlp\.\w+_proj\.bias belongs to nothing that a llama has"):
        inspect_folder(folder)


def test_a_tensor_of_another_shape_is_named(tmp_path: Path) -> None:
    folder = changed("gpt2", tmp_path, n_inner=61)
    with pytest.raises(
        FileError, match=r"transformer\.h\.0\.mlp\.c_fc\.weight is 15×60, but its config\.json means 15×61"
    ):
        inspect_folder(folder)


@pytest.mark.parametrize(
    "at",
    [
        [At("x")],
        [At("x", transposed=True)],
        [At("x", part=part, parts=3) for part in range(3)],
        [At("x", transposed=True, part=part, parts=3) for part in range(3)],
        [At("x", shape=(4, 2, 3, 1))],
    ],
)
def test_theirs_is_the_inverse_of_ours(tmp_path: Path, at: list[At]) -> None:
    ours = [torch.randn(4, 6) for _ in at]
    theirs = to_theirs(at[0], ours)
    assert tuple(theirs.shape) == their_shape((4, 6), at[0])
    write_tensors(tmp_path / SINGLE, {"x": (theirs.dtype, tuple(theirs.shape))}, lambda _: theirs)
    weights = StoredWeights.open(tmp_path)
    for each, expected in zip(at, ours, strict=True):
        place = torch.empty(4, 6)
        read_into(weights, each, place)
        assert torch.equal(place, expected)


def test_one_of_ours_that_holds_two_of_theirs(tmp_path: Path) -> None:
    theirs = {"a": torch.randn(1, 1, 5), "b": torch.randn(1, 1, 5)}
    write_tensors(tmp_path / SINGLE, {key: (x.dtype, tuple(x.shape)) for key, x in theirs.items()}, theirs.__getitem__)
    at, place = At("a", shape=(1, 1, 5), more=("b",)), torch.empty(2, 5)
    assert their_shape((2, 5), at) == (1, 1, 5)
    read_into(StoredWeights.open(tmp_path), at, place)
    assert torch.equal(place, torch.cat([theirs["a"], theirs["b"]]).view(2, 5))
