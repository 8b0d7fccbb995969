from __future__ import annotations

import threading

import pytest
import torch
from torch import Tensor, nn

import glassformer as gf
from glassformer.errors import InputError
from glassformer.tap import observe, observed, tap
from glassformer.trace.record import record

SIZES = {"d_model": 16, "n_heads": 4, "d_ff": 24, "max_len": 16}
X = torch.randn(2, 5, 16)


def encoder(**options: object) -> gf.Encoder:
    return gf.Encoder(**SIZES, n_layers=2, **options).eval()


def hooks(model: nn.Module) -> int:
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())


def test_every_step_is_named_by_the_module_that_made_it() -> None:
    model = encoder()
    with record(model) as trace:
        model(X)
    attention = [f"self_attention.{name}" for name in ("q", "k", "v", "scores", "weights", "heads", "output")]
    network = ["feed_forward.hidden", "feed_forward.output", "feed_forward_norm.output", "output"]
    block = [*attention, "self_attention_norm.output", "after_self_attention", *network]
    blocks = [f"blocks.{layer}.{name}" for layer in (0, 1) for name in block]
    assert trace.names() == ["positions.encoding", "input", *blocks, "output"]
    assert len(trace) == len(trace.names())


def test_a_whole_model_from_embedding_to_logits() -> None:
    model = gf.build("small-translator", seed=0).eval()
    with gf.record(model) as trace:
        logits = model(torch.tensor([[5, 6, 7]]), torch.tensor([[8, 9]]))
    assert trace.names()[0] == "embedding.output"
    assert torch.equal(trace["head.logits"], logits)
    assert torch.equal(trace["encoder.output"], model.encode(torch.tensor([[5, 6, 7]])))
    assert trace["decoder.blocks.0.cross_attention.weights"].shape[-2:] == (2, 3)


@pytest.mark.parametrize("kernel", ["fused", "reference"])
def test_recording_changes_nothing(kernel: str) -> None:
    model = encoder(kernel=kernel)
    expected = model(X)
    with record(model):
        assert torch.equal(model(X), expected)
    assert torch.equal(model(X), expected)


@pytest.mark.parametrize("kernel", ["fused", "reference"])
def test_recording_changes_nothing_in_training_either(kernel: str) -> None:
    model = gf.Encoder(**SIZES, n_layers=3, dropout=0.3, stochastic_depth=0.3, kernel=kernel)

    def gradients() -> tuple[Tensor, ...]:
        torch.manual_seed(0)
        result = model(X)
        return (result, *torch.autograd.grad(result.square().sum(), tuple(model.parameters())))

    expected = gradients()
    with record(model):
        recorded = gradients()
    assert all(torch.equal(one, other) for one, other in zip(recorded, expected, strict=True))


def test_recorded_weights_explain_the_heads() -> None:
    model = encoder()
    with record(model) as trace:
        model(X)
    path = "blocks.1.self_attention"
    torch.testing.assert_close(trace[f"{path}.weights"] @ trace[f"{path}.v"], trace[f"{path}.heads"])


def test_weights_are_those_before_dropout() -> None:
    model = gf.Encoder(**SIZES, n_layers=1, dropout=0.5)
    with record(model) as trace:
        model(X)
    torch.testing.assert_close(trace.attention()[0].sum(-1), torch.ones(2, 4, 5))


def test_attention_gives_one_map_a_layer() -> None:
    model = gf.Decoder(**SIZES, n_layers=3, cross_attention=True)
    with record(model) as trace:
        model(X, X[:, :4])
    assert [tuple(one.shape) for one in trace.attention()] == [(2, 4, 5, 5)] * 3
    assert [tuple(one.shape) for one in trace.attention("cross_attention")] == [(2, 4, 5, 4)] * 3
    assert trace.attention()[0].mean(1).shape == (2, 5, 5)
    assert torch.equal(trace.attention()[1], trace["blocks.1.self_attention.weights"])


def test_recorded_tensors_hold_no_graph() -> None:
    model = encoder()
    with record(model) as trace:
        model(X)
    assert not any(trace[name].requires_grad for name in trace.names())


def test_a_second_pass_overwrites_the_first() -> None:
    model = encoder()
    with record(model) as trace:
        model(X)
        model(X[:, :3])
    assert trace["output"].shape == (2, 3, 16)
    assert trace.attention()[0].shape == (2, 4, 3, 3)


def test_nothing_stays_behind() -> None:
    model = encoder()
    with record(model) as trace:
        assert hooks(model) > 0
        model(X)
    assert hooks(model) == 0
    assert observe(None) is None
    recorded = trace["output"]
    model(X[:, :2])
    assert trace["output"] is recorded


def test_an_error_inside_leaves_nothing_behind_either() -> None:
    model = encoder()
    with pytest.raises(InputError, match="the text has 20 positions"), record(model):
        model(torch.randn(1, 20, 16))
    assert hooks(model) == 0
    assert observe(None) is None


def test_after_a_failed_pass_the_next_one_has_its_right_names() -> None:
    model = encoder()
    with record(model) as trace:
        with pytest.raises(InputError, match="mask has type float32"):
            model(X, torch.ones(2, 5))
        with pytest.raises(InputError, match="the text has 20 positions"):
            model(torch.randn(1, 20, 16))
        model(X)
    with record(model) as fresh:
        model(X)
    assert set(trace.names()) == set(fresh.names())


def test_recordings_can_be_nested() -> None:
    model = encoder()
    with record(model) as outer:
        with record(model) as inner:
            model(X)
        model(X[:, :3])
    assert inner["output"].shape == (2, 5, 16)
    assert outer["output"].shape == (2, 3, 16)
    assert inner.names() == outer.names()


def test_a_part_of_a_model_is_recorded_alone() -> None:
    model = encoder()
    with record(model) as whole:
        model(X)
    with record(model.blocks[1]) as part:
        model(X)
    inside = [name for name in whole.names() if name.startswith("blocks.1.")]
    assert part.names() == [name.removeprefix("blocks.1.") for name in inside]
    for name in part.names():
        assert torch.equal(part[name], whole[f"blocks.1.{name}"])


def test_another_thread_is_not_recorded() -> None:
    model = encoder()
    with record(model) as trace:
        thread = threading.Thread(target=model, args=(X,))
        thread.start()
        thread.join()
        assert len(trace) == 0
        model(X[:, :3])
    assert trace["output"].shape == (2, 3, 16)


def test_a_pass_in_another_thread_does_not_disturb_the_names() -> None:
    model, main = encoder(), threading.current_thread()
    reached, go_on = threading.Event(), threading.Event()
    worker = threading.Thread(target=model, args=(X,))

    def pause(module: nn.Module, inputs: object) -> None:
        if threading.current_thread() is worker:
            reached.set()
            go_on.wait(timeout=60)

    def let_the_other_finish(module: nn.Module, inputs: object) -> None:
        if threading.current_thread() is main:
            go_on.set()
            worker.join(timeout=60)

    with record(model) as expected:
        model(X)
    with record(model) as trace:
        model.positions.register_forward_pre_hook(pause)
        model.blocks[1].register_forward_pre_hook(let_the_other_finish)
        worker.start()
        assert reached.wait(timeout=60)
        model(X)
    assert not worker.is_alive()
    assert trace.names() == expected.names()


def test_shapes_of_any_size_on_the_meta_device() -> None:
    model = gf.build("paper-base", device="meta")
    tokens = torch.zeros(1, 3, dtype=torch.long, device="meta")
    with record(model) as trace:
        model(tokens, tokens)
    assert trace["encoder.blocks.5.self_attention.q"].shape == (1, 8, 3, 64)
    assert trace["encoder.blocks.5.self_attention.weights"].shape == (1, 8, 3, 3)
    assert trace["encoder.blocks.5.self_attention.output"].shape == (1, 3, 512)
    assert trace["head.logits"].is_meta


def test_a_name_that_was_not_recorded_is_answered_with_the_nearest() -> None:
    model = encoder()
    with record(model) as trace:
        model(X)
    message = (
        r"^nothing was recorded under 'blocks.0.self_attention.score'; did you mean blocks.0.self_attention.scores\?$"
    )
    with pytest.raises(InputError, match=message):
        trace["blocks.0.self_attention.score"]


def test_a_name_like_no_other_is_answered_with_all() -> None:
    network = gf.FeedForward(d_model=16, d_ff=24)
    with record(network) as trace:
        network(X)
    with pytest.raises(InputError, match=r"^nothing was recorded under 'xyz'; there are: hidden, output$"):
        trace["xyz"]


# --- chosen names, layers, heads, rows; gradients ---


def test_only_what_was_asked_for_is_recorded() -> None:
    model = encoder()
    with record(model, "*.weights", layers=[1]) as trace:
        model(X)
    assert trace.names() == ["blocks.1.self_attention.weights"]


@pytest.mark.parametrize("kernel", ["fused", "reference"])
def test_heads_and_rows_are_those_of_the_whole(kernel: str) -> None:
    torch.manual_seed(0)
    model = gf.Decoder(d_model=16, n_heads=4, d_ff=24, n_layers=2, position="alibi", kernel=kernel).eval()
    with record(model) as whole:
        expected = model(X)
    with record(model, heads=[1, 3], rows=[0, 4]) as part:
        assert torch.equal(model(X), expected)
    for name in ("scores", "weights", "q", "heads"):
        full = whole[f"blocks.1.self_attention.{name}"][:, [1, 3]][:, :, [0, 4]]
        torch.testing.assert_close(part[f"blocks.1.self_attention.{name}"], full)


def test_gradients_are_those_of_autograd() -> None:
    model = encoder()
    x = X.clone().requires_grad_()
    with record(model, gradients=True) as trace:
        model(x).square().sum().backward()
    assert torch.equal(trace.gradient("output"), 2 * trace["output"])
    assert set(trace.gradients) >= {"blocks.0.self_attention.heads", "blocks.1.feed_forward.hidden", "blocks.0.output"}
    with pytest.raises(InputError, match="nothing was recorded under 'nowhere'"):
        trace.gradient("nowhere")


def test_a_shared_embedding_is_recorded_twice_in_a_pass() -> None:
    model = gf.build("paper-base", layers=1, vocab_size=20, d_model=16, n_heads=2, d_ff=16)
    source, target = torch.randint(20, (1, 5)), torch.randint(20, (1, 3))
    for _ in range(2):
        with record(model) as trace:
            model(source, target)
            model(source, target)
        assert trace["embedding.output"].shape == (1, 5, 16)
        assert trace["embedding.output#2"].shape == (1, 3, 16)
        assert "embedding.output#3" not in trace


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_compiled_model_is_recorded_as_it_is_written() -> None:
    model = encoder()
    compiled = torch.compile(model, fullgraph=True)
    before = compiled(X)
    with record(model) as trace:
        compiled(X)
    assert len(trace.attention()) == 2
    assert torch.equal(compiled(X), before)


def test_a_large_model_is_traced_on_meta() -> None:
    model = gf.build("llama2-7b", device="meta")
    with record(model) as trace:
        model(torch.zeros(1, 128, dtype=torch.long, device="meta"))
    assert trace["decoder.blocks.31.self_attention.weights"].shape == (1, 32, 128, 128)
    assert trace["head.logits"].shape == (1, 128, 32000)


def test_nobody_looks_into_layers_that_are_not_asked_for() -> None:
    model = gf.build("gpt2", n_decoder_layers=3, d_model=16, n_heads=2, d_ff=32, vocab_size=11, seed=0).eval()
    looks: list[bool] = []
    for block in model.get_submodule("decoder.blocks").children():
        block.get_submodule("feed_forward").register_forward_pre_hook(lambda *_: looks.append(observed()))
    tokens = torch.arange(5)[None]
    with gf.record(model, layers=[1]) as trace:
        model(tokens)
    assert looks == [False, True, False]
    assert trace["head.logits"].shape == (1, 5, 11)  # after the last layer it is there again


def test_where_watchers_nest_each_sees_its_own_layers() -> None:
    model = gf.build("gpt2", n_decoder_layers=3, d_model=16, n_heads=2, d_ff=32, vocab_size=11, seed=0).eval()
    tokens = torch.arange(5)[None]
    with gf.record(model, "*.weights", layers=[0]) as outer, gf.record(model, "*.weights", layers=[2]) as inner:
        model(tokens)
    with gf.record(model, "*.weights", layers=[0, 2]) as both:
        model(tokens)
    parts = {**outer.tensors, **inner.tensors}
    assert [*parts] == [*both.tensors]
    assert all(torch.equal(parts[name], x) for name, x in both.tensors.items())


def test_only_modules_that_can_hold_what_is_asked_for_get_hooks() -> None:
    """An accelerator waits while hooks are given; the whole model has one to know that a pass begins."""
    model = gf.build("gpt2", n_decoder_layers=3, d_model=16, n_heads=2, d_ff=32, vocab_size=11, seed=0).eval()
    with record(model, "*.blocks.1.*.weights", layers=[1]):
        hooked = [path for path, module in model.named_modules() if module._forward_pre_hooks]
        model(torch.zeros(1, 4, dtype=torch.long))
    assert hooked == ["", "decoder.blocks.1.self_attention"]


@pytest.mark.parametrize("within", [False, True])
def test_taps_inside_a_module_are_not_taken_for_its_own(within: bool) -> None:
    """The decoder is followed and its blocks, which have outputs too, are not."""
    model = gf.build("gpt2", n_decoder_layers=2, d_model=16, n_heads=2, d_ff=32, vocab_size=11, seed=0).eval()
    tokens = torch.zeros(1, 4, dtype=torch.long)
    with record(model, "decoder.output") as trace:
        if within:
            with record(model, "*.blocks.1.output") as inner:
                model(tokens)
            assert inner.names() == ["decoder.blocks.1.output"]
        else:
            model(tokens)
    assert trace.names() == ["decoder.output"]


def test_a_module_from_elsewhere_may_tap_anything() -> None:
    class Own(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return tap("anything", x)

    model = gf.build("gpt2", n_decoder_layers=2, d_model=16, n_heads=2, d_ff=32, vocab_size=11, seed=0).eval()
    model.get_submodule("decoder.blocks")[1].feed_forward = Own()
    with record(model, "*.anything") as trace:
        model(torch.zeros(1, 4, dtype=torch.long))
    assert trace.names() == ["decoder.blocks.1.feed_forward.anything"]
