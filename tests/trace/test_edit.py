from __future__ import annotations

import pytest
import torch
from torch import Tensor

import glassformer as gf
from glassformer.errors import InputError
from glassformer.models.build import build
from grid import GRID
from marks import first_is_fast
from measure import inputs, with_dropout

X = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(3))


def encoder(**options: object) -> gf.Encoder:
    torch.manual_seed(0)
    return gf.Encoder(d_model=16, n_heads=4, d_ff=24, n_layers=2, max_len=8, **options).eval()


def test_nothing_is_left_behind() -> None:
    model = encoder()
    before = model(X)
    with gf.edit(model, {"blocks.0.self_attention.heads": gf.zero()}):
        assert not torch.equal(model(X), before)
    assert torch.equal(model(X), before)


def test_a_head_that_is_switched_off_adds_nothing() -> None:
    model = encoder()
    with gf.record(model, "*.heads") as trace, gf.edit(model, {"blocks.1.self_attention.heads": gf.zero(head=3)}):
        edited = model(X)
    assert trace["blocks.1.self_attention.heads"][:, 3].eq(0).all()
    assert trace["blocks.1.self_attention.heads"][:, :3].ne(0).any()
    with torch.no_grad():  # the same by hand: the columns of W_O that belong to the head
        model.blocks[1].self_attention.w_o.weight[:, 12:] = 0.0
    torch.testing.assert_close(model(X), edited)


@pytest.mark.parametrize("inner", ["edit", "record"])
def test_a_trace_shows_what_the_model_went_on_with(inner: str) -> None:
    model, name = encoder(), "blocks.0.feed_forward.hidden"
    change = {name: gf.scale(2.0, row=1)}
    plain = _recorded(model, name)
    if inner == "edit":
        with gf.record(model) as trace, gf.edit(model, change):
            model(X)
    else:
        with gf.edit(model, change), gf.record(model) as trace:
            model(X)
    torch.testing.assert_close(trace[name][:, 1], 2 * plain[:, 1])
    assert torch.equal(trace[name][:, 0], plain[:, 0])


def _recorded(model: gf.Encoder, name: str) -> Tensor:
    with gf.record(model) as trace:
        model(X)
    return trace[name]


def test_patching_everything_after_the_input_gives_the_other_answer() -> None:
    model, other = encoder(), torch.randn(2, 5, 16)
    with gf.record(model) as trace:
        expected = model(other)
    with gf.edit(model, {"blocks.1.output": gf.patch(trace, "blocks.1.output")}):
        assert torch.equal(model(X), expected)


def test_replacing_by_a_number_or_a_tensor() -> None:
    model, name = encoder(), "blocks.0.self_attention.v"
    with gf.record(model) as trace, gf.edit(model, {name: gf.replace(7.0, head=2)}):
        model(X)
    assert trace[name][:, 2].eq(7).all() and trace[name][:, 1].ne(7).all()
    with (
        pytest.raises(InputError, match=r"the new tensor has shape \(3,\), and what it replaces"),
        gf.edit(model, {name: gf.replace(torch.zeros(3))}),
    ):
        model(X)


@pytest.mark.parametrize("kernel", ["fused", "reference"])
def test_weights_that_are_changed_change_the_answer(kernel: str) -> None:
    model = encoder(kernel=kernel)
    uniform = gf.replace(1 / 5)
    with gf.edit(model, {"blocks.0.self_attention.weights": uniform}) as editor, gf.record(model) as trace:
        model(X)
    assert editor.notes == ["blocks.0.self_attention: kernel=reference"]
    heads, v = trace["blocks.0.self_attention.heads"], trace["blocks.0.self_attention.v"]
    torch.testing.assert_close(heads, v.mean(2, keepdim=True).expand_as(heads))


def test_a_name_or_a_head_that_does_not_exist_is_refused() -> None:
    model = encoder()
    with (
        pytest.raises(InputError, match=r"nothing was recorded under 'blocks.0.self_atention.heads'; did you mean"),
        gf.edit(model, {"blocks.0.self_atention.heads": gf.zero()}),
    ):
        model(X)
    with (
        pytest.raises(InputError, match=r"head=4, row=None is not in a tensor of shape \(2, 4, 5, 4\)"),
        gf.edit(model, {"blocks.0.self_attention.heads": gf.zero(head=4)}),
    ):
        model(X)


@pytest.mark.parametrize("first", first_is_fast(range(0, len(GRID), 40)))
def test_the_catalogue_names_what_a_pass_taps(first: int) -> None:
    for config in GRID[first : first + 40]:
        model = build(with_dropout(config, 0.0), seed=0, kernel="reference")
        with gf.record(model) as trace:
            model(*inputs(config, torch.float32))
        assert {name.partition("#")[0] for name in trace} == set(gf.taps(model))


def test_a_function_must_give_a_tensor_of_the_same_shape() -> None:
    model = encoder().eval()
    x = torch.randn(2, 3, 16)
    for wrong, message in ((lambda y: 5, "changes nothing"), (lambda y: y[:1], "give the same shape")):
        with gf.edit(model, {"*.output": wrong}), pytest.raises(InputError, match=message):  # type: ignore[dict-item]
            model(x)
    with pytest.raises(InputError, match=r"gf\.scale"):
        gf.scale("a")  # type: ignore[arg-type]
