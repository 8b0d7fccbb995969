"""The activation of a compiled feed-forward network: which form runs, with which results, and what it keeps."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.backends.common import aot_autograd

from glassformer import kernels
from glassformer.layers.feed_forward import FeedForward
from glassformer.trace.record import record
from glassformer.training.compile import keeping_less

pytestmark = pytest.mark.filterwarnings("ignore")  # torch's own compiler warns about itself

D, D_FF = 48, 80
RELU = "glassformer.linear_relu.default"
GELU = "triton_kernel_wrapper_functional"


@pytest.fixture
def as_on_an_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "runs_on", lambda x: True)


def network(d_ff: int = D_FF, **options: Any) -> FeedForward:
    """With weights that bfloat16 holds exactly: a unit that is on in one precision is on in the other."""
    torch.manual_seed(0)
    return FeedForward(d_model=D, d_ff=d_ff, **options).bfloat16().float()


def given(*shape: int) -> Tensor:
    return torch.randn(*shape).bfloat16().float()


def operations(module: nn.Module, *, autocast: bool = True, device: str = "cpu") -> set[str]:
    """Of the forward pass that a compiler is given."""
    found: set[str] = set()

    def compiler(graph: Any, _: Any) -> Any:
        found.update(str(node.target) for node in graph.graph.nodes)
        return graph

    torch.compiler.reset()
    backend = aot_autograd(fw_compiler=compiler, bw_compiler=lambda graph, _: graph)
    with torch.autocast(device, torch.bfloat16, enabled=autocast):
        torch.compile(module.to(device), backend=backend, fullgraph=True)(torch.randn(4, 8, D, device=device))
    return found


@pytest.mark.usefixtures("as_on_an_accelerator")
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_relu_is_a_part_of_its_product(dropout: float) -> None:
    assert RELU in operations(network(dropout=dropout))


@pytest.mark.usefixtures("as_on_an_accelerator")
@pytest.mark.parametrize("options", [{"bias": False}, {"activation": "silu"}, {"activation": "gelu", "dropout": 0.5}])
def test_whatever_has_no_form_of_its_own_goes_the_plain_way(options: dict[str, Any]) -> None:
    assert not {RELU, GELU} & operations(network(**options))


@pytest.mark.usefixtures("as_on_an_accelerator")
def test_in_float32_or_before_an_observer_it_goes_the_plain_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert RELU not in operations(network(), autocast=False)
    x, watched = torch.randn(4, 8, D), network(activation="gelu")
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    with torch.autocast("cpu", torch.bfloat16):
        assert kernels.compiled_in_bfloat16(x)
        with record(watched) as trace:
            watched(x)
    assert trace["hidden"].shape == (4, 8, D_FF)


def test_on_a_cpu_it_goes_the_plain_way() -> None:
    assert not {RELU, GELU} & (operations(network()) | operations(network(activation="gelu")))


@pytest.mark.usefixtures("as_on_an_accelerator")
def test_a_compiled_step_with_relu_is_that_of_the_plain_form() -> None:
    module, x = network(), given(4, 8, D).requires_grad_()
    torch.compiler.reset()
    with torch.autocast("cpu", torch.bfloat16):
        found = torch.compile(module, backend="aot_eager", fullgraph=True)(x)
    check(found, module, x)


def check(found: Tensor, module: nn.Module, x: Tensor) -> None:
    """Result and slopes against those in float32."""
    inputs, plain = (x, *module.parameters()), module(x)
    along = torch.randn_like(plain).bfloat16()
    slopes = torch.autograd.grad(found, inputs, along), torch.autograd.grad(plain, inputs, along.float())
    for one, other in zip((found, *slopes[0]), (plain, *slopes[1]), strict=True):
        assert one.dtype == (torch.bfloat16 if one is found else torch.float32)
        assert (one.float() - other).norm() <= 1e-2 * other.norm()


# --- on an accelerator ---

ROWS, WIDE = 8192, 1024
accelerator = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")


@pytest.mark.gpu
@accelerator
def test_there_each_has_its_form() -> None:
    assert RELU in operations(network(), device="cuda")
    assert GELU in operations(network(activation="gelu"), device="cuda")
    assert GELU in operations(network(activation="gelu", dropout=0.5).eval(), device="cuda")
    assert GELU not in operations(network(activation="gelu", dropout=0.5), device="cuda")


@pytest.mark.gpu
@accelerator
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_of_the_wide_tensors_one_is_kept(activation: str, bias: bool) -> None:
    """In bfloat16: before GELU, after ReLU. In a step of `keeping_less`, and the same step when it is captured."""
    module = network(WIDE, activation=activation, bias=bias).cuda()
    x = given(4, ROWS // 4, D).cuda().requires_grad_()
    torch.compiler.reset()
    step = torch.compile(module, backend=keeping_less, fullgraph=True)
    autocast = torch.autocast("cuda", torch.bfloat16, cache_enabled=False)  # compiled for this, and not again
    with autocast:
        first = step(x)
    check(first, module, x)
    del first
    with autocast:
        before = torch.cuda.memory_allocated()
        y = step(x)
    kept, wide = torch.cuda.memory_allocated() - before, ROWS * WIDE * 2
    assert wide <= kept < 1.5 * wide
    del y
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), autocast:
        y = step(x)
        (slope,) = torch.autograd.grad(y, x, torch.ones_like(y))
    graph.replay()
    torch.cuda.synchronize()
    (plain,) = torch.autograd.grad(module(x).sum(), x)
    assert (slope - plain).norm() <= 1e-2 * plain.norm()
