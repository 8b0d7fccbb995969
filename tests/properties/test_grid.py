"""Properties that every configuration has: over the pairwise grid, both kernels, in evaluation."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import glassformer as gf
from glassformer.config.model import ModelConfig
from glassformer.layers.attention import mask as mask_module
from glassformer.layers.position.relative import distances
from glassformer.models.build import build
from grid import GRID
from marks import first_is_fast
from measure import BATCH, LENGTH, TARGET, inputs

CHUNK = 44
CHUNKS = first_is_fast(range(0, len(GRID), CHUNK))
KERNELS = ("fused", "reference")


@cache
def made(config: ModelConfig, kernel: str, dtype: torch.dtype = torch.float64) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """A model and what it is given, for all properties that are tested in this process: none of them changes either."""
    return build(config, seed=0, kernel=kernel, dtype=dtype).eval(), inputs(config, dtype)


def changed(x: Tensor, at: slice, config: ModelConfig) -> Tensor:
    """Other tokens, or other vectors, at these positions."""
    other = x.clone()
    if x.is_floating_point():
        other[:, at] += 1.0
    else:
        vocabulary = int(config.vocab_size or 2)
        small = min(vocabulary, int(config.output_vocab_size or vocabulary))
        other[:, at] = (x[:, at] + 1) % small
    return other


def gives_sequence(config: ModelConfig) -> bool:
    return config.head.kind in ("none", "language_model", "objects") or config.head.options.get("pool") == "each"


@torch.no_grad()
@pytest.mark.parametrize("first", CHUNKS)
def test_recording_never_changes_the_answer(first: int) -> None:
    for config in GRID[first : first + CHUNK]:
        for kernel in KERNELS:
            model, given = made(config, kernel, torch.float32)
            plain = model(*given)
            with gf.record(model):
                assert torch.equal(model(*given), plain)
            with gf.record(model, "*.weights", heads=[0], rows=[1]):
                assert torch.equal(model(*given), plain)


def leaks(config: ModelConfig, kernel: str) -> bool:
    """Does a change of the last token reach an output before it?"""
    with torch.no_grad():
        model, given = made(config, kernel)
        last = given[-1].shape[1] - 1
        before = model(*given)
        after = model(*given[:-1], changed(given[-1], slice(last, None), config))
    assert not torch.equal(before[:, last], after[:, last])
    return not torch.equal(before[:, :last], after[:, :last])


CAUSAL = [
    config
    for config in GRID
    if config.family != "encoder" and config.causal and not config.queries and gives_sequence(config)
]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", first_is_fast(KERNELS))
def test_the_future_cannot_be_seen(kernel: str) -> None:
    assert len(CAUSAL) > 40
    assert [config for config in CAUSAL if leaks(config, kernel)] == []


def test_a_mask_that_leaks_one_token_turns_the_grid_red(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaky(t: int, s: int | None = None, device: torch.device | None = None) -> Tensor:
        return distances(t, t if s is None else s, device or torch.device("cpu")) <= 1

    monkeypatch.setattr(mask_module, "causal", leaky)
    assert any(leaks(config, "reference") for config in CAUSAL)


def padded(config: ModelConfig, given: tuple[Tensor, ...], left: bool) -> tuple[tuple[Tensor, ...], dict[str, Tensor]]:
    """The same inputs with two positions of padding, and the masks that say so."""
    names = {"encoder": ["real"], "decoder": ["real"], "encoder-decoder": ["source_real", "target_real"]}[config.family]
    names = names[: len(given)]  # queries are never padded
    longer, masks = [], {}
    for name, x in zip(names, given, strict=True):
        noise = x[:, :2].flip(1)
        real = torch.ones(x.shape[:2], dtype=torch.bool)
        none = torch.zeros(x.shape[0], 2, dtype=torch.bool)
        longer.append(torch.cat([noise, x] if left else [x, noise], 1))
        masks[name] = torch.cat([none, real] if left else [real, none], 1)
    return tuple(longer), masks


FREE = [config for config in GRID if config.input.kind in ("tokens", "vectors")]  # patches have no padding


@pytest.mark.slow
@torch.no_grad()
@pytest.mark.parametrize("kernel", first_is_fast(KERNELS))
@pytest.mark.parametrize("left", first_is_fast([False, True]), ids=["right", "left"])
def test_padding_changes_nothing(kernel: str, left: bool) -> None:
    assert len(FREE) > 60
    for config in FREE:
        model, given = made(config, kernel)
        longer, masks = padded(config, given, left)
        n = TARGET if config.family == "encoder-decoder" else LENGTH
        is_longer = gives_sequence(config) and not config.queries
        part: Any = (slice(None), slice(2, None) if left else slice(0, n)) if is_longer else slice(None)
        expected, found = model(*given), model(*longer, **masks)[part]
        torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)
        other = [changed(x, slice(0, 2) if left else slice(-2, None), config) for x in longer]
        assert torch.equal(model(*other, **masks)[part], found)  # what stands under padding is never seen
        assert torch.isfinite(model(*longer, **masks)).all()


@pytest.mark.slow
@torch.no_grad()
@pytest.mark.parametrize("first", CHUNKS)
def test_a_row_does_not_depend_on_the_others(first: int) -> None:
    for config in GRID[first : first + CHUNK]:
        model, given = made(config, "fused")
        whole = model(*given)
        for row in range(BATCH):
            alone = model(*(x[row : row + 1] for x in given))
            torch.testing.assert_close(alone, whole[row : row + 1], atol=1e-10, rtol=0)


@pytest.mark.slow
@torch.no_grad()
@pytest.mark.parametrize("kernel", first_is_fast(KERNELS))
def test_the_cache_gives_what_the_whole_pass_gives(kernel: str) -> None:
    for config in CAUSAL:
        model, given = made(config, kernel)
        cache, steps = model.decoder.empty_cache(), []
        memory = model.encode(given[0]) if config.family == "encoder-decoder" else None
        for t in range(given[-1].shape[1]):
            token = given[-1][:, t : t + 1]
            steps.append(model(token, cache=cache) if memory is None else model.decode(token, memory, cache=cache))
        torch.testing.assert_close(torch.cat(steps, 1), model(*given), atol=1e-10, rtol=0)


@pytest.mark.slow
@torch.no_grad()
@pytest.mark.parametrize("first", CHUNKS)
def test_both_kernels_agree(first: int) -> None:
    for config in GRID[first : first + CHUNK]:
        fused, given = made(config, "fused")
        reference, _ = made(config, "reference")
        torch.testing.assert_close(fused(*given), reference(*given), atol=1e-10, rtol=0)
