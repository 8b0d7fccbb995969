from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, modeling_rope_utils
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from glassformer.errors import ConfigError
from glassformer.layers.position import RotaryPositions, rotary

CPU = torch.device("cpu")


def frequencies(**options: float | str) -> list[float]:
    return RotaryPositions(**options).frequencies(CPU).tolist()


def test_one_pair_is_turned_by_its_position() -> None:
    x = torch.tensor([1.0, 0.0]).double().expand(1, 1, 3, 2)
    turned = RotaryPositions(d_k=2)(x)
    for t in range(3):
        assert turned[0, 0, t].tolist() == pytest.approx([math.cos(t), math.sin(t)], abs=1e-12)


@pytest.mark.parametrize("layout", ["halves", "interleaved"])
def test_pairs_of_each_layout_by_hand(layout: str) -> None:
    # d_k = 4: the angles of position 3 are 3 and 3/100.
    a, b, c, d = 1.0, 2.0, 3.0, 4.0
    x = torch.tensor([a, b, c, d]).double().reshape(1, 1, 1, 4)
    turned = RotaryPositions(d_k=4, layout=layout)(x, torch.tensor([3])).flatten().tolist()

    def turn(first: float, second: float, angle: float) -> tuple[float, float]:
        cos, sin = math.cos(angle), math.sin(angle)
        return first * cos - second * sin, second * cos + first * sin

    if layout == "halves":  # dimension i is turned with dimension i + 2
        (a, c), (b, d) = turn(a, c, 3.0), turn(b, d, 0.03)
    else:  # neighbours are turned together
        (a, b), (c, d) = turn(a, b, 3.0), turn(c, d, 0.03)
    assert turned == pytest.approx([a, b, c, d], abs=1e-12)


@pytest.mark.parametrize("layout", ["halves", "interleaved"])
@pytest.mark.parametrize("scaling", rotary.SCALINGS)
def test_a_score_depends_on_the_distance_alone(layout: str, scaling: str) -> None:
    factor = 1.0 if scaling == "none" else 4.0
    positions = RotaryPositions(d_k=16, layout=layout, scaling=scaling, factor=factor, original_max_len=64)
    q, k = torch.randn(2, 1, 1, 1, 16).double()

    def score(t: int, s: int) -> float:
        turned_q, turned_k = positions(q, torch.tensor([t])), positions(k, torch.tensor([s]))
        return (turned_q * turned_k).sum().item() / positions.amplitude**2

    assert score(0, 0) == pytest.approx((q * k).sum().item(), abs=1e-10)
    for distance in (0, 1, 5, 40):
        for shift in (1, 7) if scaling == "dynamic" else (1, 7, 500):  # a dynamic base is fixed up to 64 only
            assert score(distance + shift, shift) == pytest.approx(score(distance, 0), abs=1e-10)
    assert abs(score(5, 0) - score(0, 0)) > 1e-6


def test_turning_keeps_the_length() -> None:
    x = torch.randn(2, 3, 7, 16).double()
    turned = RotaryPositions(d_k=16)(x)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-12, rtol=0)


def test_the_hands_slow_down_by_the_formula() -> None:
    assert frequencies(d_k=8) == pytest.approx([1.0, 0.1, 0.01, 0.001], rel=1e-12)
    assert frequencies(d_k=4, base=500000.0) == pytest.approx([1.0, 500000**-0.5], rel=1e-12)


def test_linear_scaling_squeezes_the_positions() -> None:
    assert frequencies(d_k=8, scaling="linear", factor=4.0) == pytest.approx([0.25, 0.025, 0.0025, 0.00025], rel=1e-12)
    x = torch.randn(1, 1, 3, 8).double()
    squeezed = RotaryPositions(d_k=8, scaling="linear", factor=4.0)(x, torch.tensor([0, 4, 8]))
    torch.testing.assert_close(squeezed, RotaryPositions(d_k=8)(x, torch.tensor([0, 1, 2])), atol=1e-12, rtol=0)


def test_ntk_scaling_keeps_the_fastest_hand_and_divides_the_slowest() -> None:
    # base' = base · 4^(8/6); the last exponent is 6/8, so the last hand is divided by 4 exactly.
    scaled = frequencies(d_k=8, scaling="ntk", factor=4.0)
    base = 10000 * 4 ** (8 / 6)
    assert scaled == pytest.approx([1.0, base**-0.25, base**-0.5, base**-0.75], rel=1e-12)
    assert scaled[-1] == pytest.approx(0.001 / 4, rel=1e-12)


def test_ntk_scaling_of_a_single_hand_keeps_it() -> None:
    assert frequencies(d_k=2, scaling="ntk", factor=4.0) == [1.0]


def test_llama3_scaling_by_hand() -> None:
    # θ = 1, 0.1, 0.01, 0.001 turn 100/2π · θ = 15.9, 1.59, 0.159, 0.0159 times in a context of 100:
    # above 4 kept, below 1 divided by 8, between them (1.59 − 1)/3 = 0.197 kept and 0.803 divided.
    scaled = frequencies(d_k=8, scaling="llama3", factor=8.0, original_max_len=100)
    keep = (100 * 0.1 / (2 * math.pi) - 1) / 3
    assert keep == pytest.approx(0.1972, abs=1e-4)
    expected = [1.0, 0.1 * (keep + (1 - keep) / 8), 0.01 / 8, 0.001 / 8]
    assert scaled == pytest.approx(expected, rel=1e-12)


def test_dynamic_scaling_by_hand() -> None:
    # 20 positions where 8 were trained on, factor 2: base · (1 + 2·(20/8 − 1))^(8/6) = base · 4^(8/6).
    positions = RotaryPositions(d_k=8, scaling="dynamic", factor=2.0, original_max_len=8)
    expected = frequencies(d_k=8, scaling="ntk", factor=4.0)
    assert positions.frequencies(CPU, 20).tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("factor", [1.0, 1.1, 3.0])
def test_dynamic_scaling_changes_nothing_up_to_the_original_length(factor: float) -> None:
    positions, plain = (
        RotaryPositions(d_k=8, scaling="dynamic", factor=factor, original_max_len=8),
        RotaryPositions(d_k=8),
    )
    x = torch.randn(1, 2, 9, 8).double()
    assert torch.equal(positions(x[:, :, :8]), plain(x[:, :, :8]))
    assert not torch.equal(positions(x)[:, :, :8], plain(x)[:, :, :8])


def test_dynamic_scaling_knows_the_length_from_the_positions() -> None:
    # One new token behind 11 in the cache, or rows of different length: the longest counts.
    positions = RotaryPositions(d_k=8, scaling="dynamic", factor=2.0, original_max_len=8)
    whole, step = (
        positions.rotation(torch.arange(12), torch.float64),
        positions.rotation(torch.tensor([11]), torch.float64),
    )
    assert torch.equal(whole.cos[-1:], step.cos)
    rows = positions.rotation(torch.stack([torch.arange(12), torch.arange(12).clamp(max=5)]), torch.float64)
    assert torch.equal(rows.cos[0, 0], whole.cos)
    assert torch.equal(rows.cos[1, 0, :6], whole.cos[:6])


def test_dynamic_scaling_of_a_single_hand_keeps_it() -> None:
    positions = RotaryPositions(d_k=2, scaling="dynamic", factor=2.0, original_max_len=8)
    assert positions.frequencies(CPU, 99).tolist() == [1.0]


def test_yarn_scaling_by_hand() -> None:
    # θ = 1, 0.1, 0.01, 0.001. Hand i turns 1000/2π · 10^(−i) times in a context of 1000, and so n times at
    # i = log10(1000/2π n): 0.7 for n = 32 and 2.2 for n = 1, without rounding a ramp of length log10(32) = 1.5.
    scaled = frequencies(d_k=8, scaling="yarn", factor=4.0, original_max_len=1000, truncate=False)
    first, last = math.log10(1000 / (2 * math.pi * 32)), math.log10(1000 / (2 * math.pi))
    assert (first, last) == pytest.approx((0.6967, 2.2018), abs=1e-4)
    keep = [1.0, 1 - (1 - first) / (last - first), 1 - (2 - first) / (last - first), 0.0]
    expected = [theta * (k + (1 - k) / 4) for theta, k in zip([1.0, 0.1, 0.01, 0.001], keep, strict=True)]
    assert scaled == pytest.approx(expected, rel=1e-12)
    # Rounded outwards to 0 and 3: the hands keep 1, 2/3, 1/3 and 0.
    rounded = frequencies(d_k=8, scaling="yarn", factor=4.0, original_max_len=1000)
    assert rounded == pytest.approx([1.0, 0.1 * (2 / 3 + 1 / 12), 0.01 * (1 / 3 + 1 / 6), 0.001 / 4], rel=1e-12)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 0.1 * math.log(4) + 1),
        ({"attention_factor": 0.8}, 0.8),
        ({"mscale": 0.7, "mscale_all_dim": 0.4}, (0.07 * math.log(4) + 1) / (0.04 * math.log(4) + 1)),
        ({"factor": 0.5}, 1.0),
    ],
)
def test_yarn_makes_queries_and_keys_larger(options: dict[str, float], expected: float) -> None:
    positions, x = (
        RotaryPositions(d_k=8, scaling="yarn", **{"factor": 4.0, **options}),
        torch.randn(1, 1, 5, 8).double(),
    )
    torch.testing.assert_close(positions(x).norm(dim=-1), x.norm(dim=-1) * expected, atol=1e-12, rtol=0)


class Lifted:
    """torch as `transformers` sees it, with float64 wherever it asks for float32."""

    def __getattr__(self, name: str) -> Any:
        return torch.float64 if name in ("float", "float32") else getattr(torch, name)


@pytest.mark.parametrize("seq_len", [100, 8192, 8193, 10_000, 40_000])
def test_dynamic_scaling_is_that_of_transformers(seq_len: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modeling_rope_utils, "torch", Lifted())
    ours = RotaryPositions(d_k=128, base=500000.0, scaling="dynamic", factor=2.5, original_max_len=8192)
    for length in (seq_len, torch.tensor(seq_len)):
        expected = theirs("dynamic", seq_len=seq_len, factor=2.5)
        assert expected.dtype == torch.float64
        torch.testing.assert_close(ours.frequencies(CPU, length), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"beta_fast": 8.0, "beta_slow": 0.5},
        {"truncate": False},
        {"attention_factor": 1.3},
        {"mscale": 1.0, "mscale_all_dim": 0.7},
        {"original_max_len": 64, "truncate": False},  # no ramp at all is left of it
        {"factor": 40.0, "original_max_len": 4096},
    ],
)
def test_yarn_scaling_is_that_of_transformers(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modeling_rope_utils, "torch", Lifted())
    chosen = {"factor": 4.0, "original_max_len": 8192, **options}
    ours = RotaryPositions(d_k=128, base=500000.0, scaling="yarn", **chosen)
    named = {"original_max_position_embeddings" if key == "original_max_len" else key: v for key, v in chosen.items()}
    expected, amplitude = scaled_by_them("yarn", **named)
    torch.testing.assert_close(ours.frequencies(CPU), expected, rtol=1e-12, atol=0)
    assert ours.amplitude == pytest.approx(amplitude, rel=1e-14)


@pytest.mark.parametrize(
    ("kind", "options", "parameters"),
    [
        ("dynamic", {"factor": 3.0, "original_max_len": 16}, {"factor": 3.0}),
        ("yarn", {"factor": 3.0, "original_max_len": 16}, {"factor": 3.0, "original_max_position_embeddings": 16}),
    ],
)
def test_angles_of_a_growing_text_are_those_of_transformers(
    kind: str, options: dict[str, Any], parameters: dict[str, Any]
) -> None:
    config = LlamaConfig(
        hidden_size=32,
        num_attention_heads=2,
        max_position_embeddings=16 if kind == "dynamic" else 48,
        rope_parameters={"rope_type": kind, "rope_theta": 10000.0, **parameters},
    )
    reference, ours = LlamaRotaryEmbedding(config), RotaryPositions(d_k=16, scaling=kind, **options)
    for at in (torch.arange(12), *(torch.tensor([t]) for t in range(12, 40))):  # a prompt, then token by token
        cos, sin = reference(torch.zeros(1), at[None])
        rotation = ours.rotation(at, torch.float32)
        torch.testing.assert_close(rotation.cos, cos[0, :, :8], atol=1e-5, rtol=0)
        torch.testing.assert_close(rotation.sin, sin[0, :, :8], atol=1e-5, rtol=0)


def theirs(kind: str, seq_len: int | None = None, **parameters: float) -> torch.Tensor:
    found, attention_factor = scaled_by_them(kind, seq_len, **parameters)
    assert attention_factor == 1.0
    return found


def scaled_by_them(kind: str, seq_len: int | None = None, **parameters: float) -> tuple[torch.Tensor, float]:
    config = LlamaConfig(
        hidden_size=256,
        num_attention_heads=2,
        max_position_embeddings=8192,
        rope_parameters={"rope_type": kind, "rope_theta": 500000.0, **parameters},
    )
    found: tuple[torch.Tensor, float] = ROPE_INIT_FUNCTIONS[kind](config, CPU, seq_len=seq_len)
    return found


def test_llama3_scaling_is_that_of_transformers() -> None:
    ours = RotaryPositions(d_k=128, base=500000.0, scaling="llama3", factor=8.0, original_max_len=8192)
    expected = theirs(
        "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=8192
    )
    torch.testing.assert_close(ours.frequencies(CPU).float(), expected, rtol=1e-5, atol=0)


def test_llama3_scaling_with_other_factors_is_that_of_transformers() -> None:
    ours = RotaryPositions(
        d_k=128,
        base=500000.0,
        scaling="llama3",
        factor=32.0,
        low_frequency_factor=2.0,
        high_frequency_factor=9.0,
        original_max_len=4096,
    )
    expected = theirs(
        "llama3", factor=32.0, low_freq_factor=2.0, high_freq_factor=9.0, original_max_position_embeddings=4096
    )
    torch.testing.assert_close(ours.frequencies(CPU).float(), expected, rtol=1e-5, atol=0)


def test_linear_scaling_is_that_of_transformers() -> None:
    ours = RotaryPositions(d_k=128, base=500000.0, scaling="linear", factor=3.0)
    torch.testing.assert_close(ours.frequencies(CPU).float(), theirs("linear", factor=3.0), rtol=1e-5, atol=0)


def test_ntk_scaling_is_the_dynamic_one_of_transformers_at_that_length() -> None:
    ours = RotaryPositions(d_k=128, base=500000.0, scaling="ntk", factor=4.0)
    expected = theirs("dynamic", seq_len=4 * 8192, factor=1.0)
    torch.testing.assert_close(ours.frequencies(CPU).float(), expected, rtol=1e-5, atol=0)


def test_rows_of_the_batch_may_have_positions_of_their_own() -> None:
    positions, x = RotaryPositions(d_k=8), torch.randn(2, 3, 4, 8).double()
    at = torch.tensor([[0, 1, 2, 3], [5, 6, 7, 8]])
    turned = positions(x, at)
    for row in range(2):
        torch.testing.assert_close(turned[row], positions(x[row : row + 1], at[row])[0], atol=1e-12, rtol=0)


@pytest.mark.parametrize(
    ("given", "held"),
    [(torch.float64, torch.float64), (torch.float32, torch.float32), (torch.bfloat16, torch.float32)],
)
def test_angles_are_held_in_at_least_float32(given: torch.dtype, held: torch.dtype) -> None:
    positions = RotaryPositions(d_k=8)
    assert positions.rotation(torch.arange(4), given).cos.dtype == held
    assert positions(torch.zeros(1, 1, 4, 8, dtype=given)).dtype == given


def test_far_positions_are_exact() -> None:
    # A float32 product of 100,000 and a frequency would be off by up to 0.004 radians.
    rotation = RotaryPositions(d_k=4, base=7.0).rotation(torch.tensor([100_003]), torch.float64)
    assert rotation.cos[0, 1].item() == pytest.approx(math.cos(100_003 * 7**-0.5), abs=1e-9)


def test_a_device_without_float64_computes_the_angles_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    positions, at = RotaryPositions(d_k=8, scaling="ntk", factor=2.0), torch.arange(50)
    wide = positions.rotation(at, torch.float32)
    monkeypatch.setattr(rotary, "WITHOUT_FLOAT64", ("cpu",))
    narrow = positions.rotation(at, torch.float32)
    assert narrow.cos.dtype == narrow.sin.dtype == torch.float32
    assert not torch.equal(narrow.cos, wide.cos)
    torch.testing.assert_close(narrow.cos, wide.cos, atol=1e-5, rtol=0)
    torch.testing.assert_close(narrow.sin, wide.sin, atol=1e-5, rtol=0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("scaling", ["llama3", "dynamic", "yarn"])
def test_a_compiled_rotation_answers_as_the_eager_one(scaling: str) -> None:
    positions = RotaryPositions(d_k=8, scaling=scaling, factor=8.0, original_max_len=4)
    x = torch.randn(2, 3, 5, 8)
    compiled = torch.compile(positions, fullgraph=True)
    torch.testing.assert_close(compiled(x), positions(x), atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"scaling": "x"}, "position.scaling='x' is unknown; use one of: none, linear, ntk, dynamic, yarn, llama3"),
        ({"layout": "half"}, "position.layout='half' is unknown; use one of: interleaved, halves"),
        ({"base": 0}, "position.base=0 is not positive and finite; use a number above 0"),
        ({"d_k": 5}, "position=rotary needs an even d_k, and d_k=5; set d_k to an even number"),
        ({"d_k": 0}, "d_k=0 is out of range; use 1 to 2147483647"),
        ({"factor": 2.0}, "position.scaling=none with position.factor=2.0 changes nothing; set both, "),
        ({"scaling": "linear"}, "position.scaling=linear with position.factor=1.0 changes nothing; set both, "),
        ({"scaling": "ntk", "factor": 1}, "position.scaling=ntk with position.factor=1 changes nothing; set both, "),
        ({"scaling": "ntk", "factor": -2}, "position.factor=-2 is not positive and finite; use a number above 0"),
        (
            {"scaling": "llama3", "factor": 8.0, "low_frequency_factor": 5.0},
            "position.high_frequency_factor=4.0 is not above low_frequency_factor=5.0; use 4 and 1, as Llama 3",
        ),
        ({"scaling": "yarn"}, "position.scaling=yarn with position.factor=1.0 changes nothing; set both, "),
        ({"beta_fast": 1.0}, "position.beta_fast=1.0 is not above beta_slow=1.0; use 32 and 1, as YaRN"),
        ({"truncate": 1}, "position.truncate=1 is of the wrong type; use true or false"),
        ({"attention_factor": -1.0}, "position.attention_factor=-1.0 is not positive and finite; use a number above 0"),
        (
            {"mscale": 0.0, "mscale_all_dim": 1.0},
            "position.mscale=0.0 is not positive and finite; use a number above 0",
        ),
        ({"mscale": 2.0}, "position.mscale stands alone; give mscale and mscale_all_dim together, or neither"),
        ({"scaling": "yarn", "factor": 2.0, "base": 0.5}, "position.scaling=yarn needs a base above 1, and "),
        ({"original_max_len": 0}, "position.original_max_len=0 is out of range; use 1 to 2147483647"),
    ],
)
def test_what_turns_nothing_is_refused(options: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        RotaryPositions(**{"d_k": 8, **options})
    assert str(caught.value).startswith(line)


def test_nothing_is_registered() -> None:
    positions = RotaryPositions(d_k=8)
    assert positions.state_dict() == {}
    assert list(positions.buffers()) == []
