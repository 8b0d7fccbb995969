from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from glassformer.errors import ConfigError, InputError
from glassformer.layers.position import SinusoidalPositions, sinusoid
from glassformer.layers.position.sinusoidal import encodings_at
from glassformer.trace.record import record

TABLE = torch.arange(5.0)[:, None].expand(5, 2)


def test_without_positions_the_rows_come_in_order() -> None:
    assert torch.equal(encodings_at(TABLE, torch.zeros(3, 4, 2), None), TABLE[:4])


def test_one_list_of_positions_serves_the_batch() -> None:
    assert encodings_at(TABLE, torch.zeros(3, 2, 2), torch.tensor([3, 1]))[:, 0].tolist() == [3.0, 1.0]


def test_rows_of_the_batch_may_have_positions_of_their_own() -> None:
    found = encodings_at(TABLE, torch.zeros(2, 2, 2), torch.tensor([[0, 1], [4, 4]]))
    assert found[..., 0].tolist() == [[0.0, 1.0], [4.0, 4.0]]


def test_the_whole_table_can_be_used() -> None:
    assert encodings_at(TABLE, torch.zeros(1, 5, 2), None).shape == (5, 2)
    assert encodings_at(TABLE, torch.zeros(1, 1, 2), torch.tensor([4]))[0, 0].item() == 4.0


def test_a_longer_text_is_refused() -> None:
    with pytest.raises(InputError, match="the text has 6 positions, and max_len=5"):
        encodings_at(TABLE, torch.zeros(1, 6, 2), None)


def test_a_position_beyond_the_table_is_refused() -> None:
    with pytest.raises(InputError, match="the text has 9 positions, and max_len=5"):
        encodings_at(TABLE, torch.zeros(1, 2, 2), torch.tensor([[0, 8]]))


def test_a_batch_of_no_sentences_gives_none() -> None:
    at = torch.zeros(0, 2, dtype=torch.long)
    assert encodings_at(TABLE, torch.zeros(0, 2, 2), at).shape == (0, 2, 2)


@pytest.mark.parametrize("pos", [0, 1, 7, 99, 4999])
def test_equals_the_formula(pos: int) -> None:
    row = SinusoidalPositions(d_model=128, max_len=5000).table[pos]
    for i in range(64):
        angle = pos / 10000 ** (2 * i / 128)
        assert row[2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
        assert row[2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_four_dimensions_by_hand() -> None:
    # 10000^(2/4) = 100: the second pair turns a hundred times more slowly.
    table = SinusoidalPositions(d_model=4, max_len=3).table
    expected = [[0.0, 1.0, 0.0, 1.0], [0.841471, 0.540302, 0.01, 0.99995], [0.909297, -0.416147, 0.019999, 0.9998]]
    torch.testing.assert_close(table, torch.tensor(expected), atol=1e-6, rtol=0)


def test_an_odd_d_model_has_one_sine_more() -> None:
    row = sinusoid(torch.tensor([3]), 5)[0]
    angles = [3 / 10000 ** (2 * i / 5) for i in range(3)]
    expected = [math.sin(angles[0]), math.cos(angles[0]), math.sin(angles[1]), math.cos(angles[1]), math.sin(angles[2])]
    torch.testing.assert_close(row, torch.tensor(expected), atol=1e-6, rtol=0)


def test_halves_hold_all_sines_before_all_cosines() -> None:
    at = torch.arange(20)
    for d_model in (6, 7):
        interleaved, halves = sinusoid(at, d_model), sinusoid(at, d_model, layout="halves")
        assert torch.equal(halves, torch.cat([interleaved[:, 0::2], interleaved[:, 1::2]], -1))


def test_the_base_sets_the_slowest_hand() -> None:
    row = sinusoid(torch.tensor([5]), 4, base=16.0)[0]
    torch.testing.assert_close(row[2:], torch.tensor([math.sin(5 / 4), math.cos(5 / 4)]))


@pytest.mark.parametrize("k", [-99, -7, 1, 2, 5, 10, 37, 64, 99])
def test_moving_on_by_k_is_one_linear_map_for_all_positions(k: int) -> None:
    """PE(pos + k) = M_k PE(pos), with M_k the closed form: each pair is turned by k / 10000^(2i / d_model)."""
    d_model = 128
    table = SinusoidalPositions(d_model=d_model, max_len=200).table.double()
    m_k = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(d_model // 2):
        angle = k / 10000 ** (2 * i / d_model)
        sine, cosine = 2 * i, 2 * i + 1
        m_k[sine, sine], m_k[sine, cosine] = math.cos(angle), math.sin(angle)
        m_k[cosine, sine], m_k[cosine, cosine] = -math.sin(angle), math.cos(angle)
    start = max(0, -k)
    here, there = table[start : start + 100], table[start + k : start + k + 100]
    assert (here @ m_k.T - there).abs().max().item() <= 1e-6
    assert (here - there).abs().max().item() > 0.1


def test_the_table_is_a_buffer_that_is_not_saved() -> None:
    positions = SinusoidalPositions(d_model=128, max_len=100)
    assert list(positions.parameters()) == []
    assert {name: buffer.numel() for name, buffer in positions.named_buffers()} == {"table": 12800}
    assert positions.state_dict() == {}


def test_a_wider_type_gets_exact_waves() -> None:
    positions = SinusoidalPositions(d_model=6, max_len=50)
    exact = sinusoid(torch.arange(50), 6, dtype=torch.float64)
    assert not torch.equal(positions.table.double(), exact)
    assert torch.equal(positions.double().table, exact)
    assert torch.equal(positions.bfloat16().float().table, exact.float())
    assert positions.bfloat16().table.dtype == torch.bfloat16


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_a_table_without_memory_is_filled_where_it_gets_some(layout: str) -> None:
    with torch.device("meta"):
        positions = SinusoidalPositions(d_model=6, max_len=50, base=500.0, layout=layout)
    assert positions.table.is_meta
    expected = sinusoid(torch.arange(50), 6, base=500.0, layout=layout)
    for _ in range(2):
        positions.to_empty(device="cpu").load_state_dict({})
        assert torch.equal(positions.table, expected)
        assert positions.state_dict() == {}
        assert [name for name, _ in positions.named_buffers()] == ["table"]
        positions.table.fill_(torch.nan)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_compiled_table_answers_as_the_eager_one() -> None:
    positions, x = SinusoidalPositions(d_model=6, max_len=10), torch.randn(2, 4, 6)
    compiled = torch.compile(positions, fullgraph=True)
    assert torch.equal(compiled(x), positions(x))
    positions.double()
    assert torch.equal(compiled(x.double()), positions(x.double()))


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"layout": "foo"}, "position.layout='foo' is unknown; use one of: interleaved, halves"),
        ({"base": 0}, "position.base=0 is not positive and finite; use a number above 0"),
        ({"max_len": 0}, "max_len=0 is out of range; use 1 to 2147483647"),
        ({"d_model": 2.5}, "d_model=2.5 is of the wrong type; use a whole number, such as 512"),
    ],
)
def test_what_makes_no_waves_is_refused(options: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        SinusoidalPositions(**{"d_model": 6, "max_len": 10, **options})
    assert str(caught.value) == line


def test_it_is_added_to_the_stream() -> None:
    positions, x = SinusoidalPositions(d_model=6, max_len=10), torch.randn(2, 4, 6)
    with record(positions) as trace:
        result = positions(x)
    assert torch.equal(result, x + positions.table[:4])
    assert torch.equal(trace["encoding"], positions.table[:4])


def test_positions_can_be_given() -> None:
    positions, x = SinusoidalPositions(d_model=6, max_len=10), torch.zeros(2, 3, 6)
    at = torch.tensor([[0, 0, 1], [7, 8, 9]])
    assert torch.equal(positions(x, at), positions.table[at])
    assert torch.equal(positions(x, torch.tensor([4, 5, 6])), positions.table[4:7].expand(2, 3, 6))


def test_the_type_of_the_stream_is_kept() -> None:
    positions = SinusoidalPositions(d_model=6, max_len=10)
    assert positions(torch.zeros(1, 3, 6, dtype=torch.bfloat16)).dtype == torch.bfloat16


def test_a_text_longer_than_the_table_is_refused() -> None:
    positions = SinusoidalPositions(d_model=6, max_len=10)
    with pytest.raises(InputError, match=r"^the text has 11 positions, and max_len=10; shorten it, or set a larger"):
        positions(torch.zeros(1, 11, 6))
