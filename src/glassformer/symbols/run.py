"""A pass in symbols: the real `forward` is called, and each torch function that it uses becomes a step.

`SymbolicRun` intercepts every call of torch, factories and initialisation included, so that no kernel runs; `rules`
says what comes out of each function, which products it costs and what autograd keeps of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from glassformer.errors import InputError
from glassformer.symbols.rules import RULES, called
from glassformer.symbols.size import Dim, product_text, values
from glassformer.symbols.tensor import Storage, Symbolic
from glassformer.tap import Selection, observe

STACKS = ("encoder", "decoder")
NORMS = ("self_attention_norm", "cross_attention_norm", "feed_forward_norm")  # those around a sub-layer
RenameAxes = Callable[[str, Symbolic], Symbolic]  # path of a tap or a module, tensor → the same, axes named as there


@dataclass(frozen=True, slots=True)
class Product:
    """A matrix product: its FLOPs as a product of sizes, and how many products its backward pass computes."""

    name: str
    factors: tuple[int, ...]
    gradients: int

    @property
    def formula(self) -> str:
        return product_text(self.factors)


@dataclass(slots=True)
class Step:
    """One call of a torch function: its operands, its result, the calling module, what it costs and what it keeps."""

    function: str
    operands: tuple[Any, ...]
    result: Any
    path: str  # path of the calling module: "decoder.blocks.0.self_attention.w_q"
    tap: str = ""  # the name under which its result is shown
    products: list[Product] = field(default_factory=list)
    kept: list[tuple[str, Storage]] = field(default_factory=list)  # for the backward pass

    @property
    def formula(self) -> str:
        """The FLOPs of its products; "" if there are none."""
        return "+".join(product.formula for product in self.products)

    @property
    def values(self) -> dict[str, int]:
        return values(factor for product in self.products for factor in product.factors)


class SymbolicRun(TorchFunctionMode):
    """While active, torch computes in symbols. `dtype` is the model's; its width is written w.

    `compiling`: the stacks are compiled, and their backward pass keeps what the compiler lets it keep.
    """

    def __init__(
        self,
        dtype: torch.dtype = torch.float32,
        *,
        accelerator: bool = False,
        compiling: bool = False,
        autocast: bool = False,
        rename_axes: RenameAxes = lambda name, x: x,
    ) -> None:
        super().__init__()
        self.dtype, self.accelerator, self.autocast, self.rename_axes = dtype, accelerator, autocast, rename_axes
        self.compiling = compiling
        self.width = Dim("w", dtype.itemsize)
        self.steps: list[Step] = []
        self.copies: dict[object, tuple[Symbolic, Symbolic]] = {}  # compiled: a tensor and its two-byte copy
        self._path = [""]
        self._step = Step("", (), None, "")

    @property
    def compiled(self) -> bool:
        """Is this part of a compiled stack? Each is compiled by itself: training/compile.py."""
        return self.compiling and self._in_stack

    @property
    def _in_stack(self) -> bool:
        return self._path[-1].partition(".")[0] in STACKS

    @property
    def own_norm(self) -> bool:
        """Is this norm computed by a kernel of our own? See layers/residual.py."""
        return self.accelerator and self._in_stack and self.here in NORMS

    # --- every call of torch ---

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = called(function)
        rule = RULES.get(name)
        if rule is None:
            raise InputError("no_rule", function=name)
        self._step = step = Step(name, args, None, self._path[-1])
        step.result = result = rule(self, *args, **(kwargs or {}))
        if isinstance(result, Symbolic) and result.step < 0:
            result.step = len(self.steps)
        self.steps.append(step)
        return result

    # --- what rules do ---

    def new(
        self,
        shape: Sequence[int],
        dtype: torch.dtype | None = None,
        *,
        trained: bool = False,
        order: tuple[int, ...] | None = None,
        given: bool = False,
        width: int | None = None,
    ) -> Symbolic:
        """A new tensor. A square of positions is queries by keys: t×t is written t×s."""
        dtype, shape = self.dtype if dtype is None else dtype, _square(shape)
        size = (*shape, self.bytes(dtype) if width is None else width)
        return Symbolic(shape, dtype, Storage(size, given), trained, order)

    def bytes(self, dtype: torch.dtype) -> int:
        """The bytes of one number: w in the type of the model."""
        return self.width if dtype == self.dtype else dtype.itemsize

    def keep(self, x: Symbolic, name: str) -> None:
        """Record that the backward pass needs x."""
        self._step.kept.append((name, x.storage_))

    def keep_origins(self, x: Symbolic, name: str) -> None:
        """The same where a compiler may choose: it keeps what x can be computed from again, number by number."""
        for each in x.origins or (x,):
            self.keep(each, name)

    def again(self, y: Symbolic, *xs: Symbolic) -> Symbolic:
        """y, of which a compiler knows that it can be computed again from xs, number by number."""
        if self.compiled:
            y.origins = tuple(each for x in xs for each in (x.origins or (x,)))
        return y

    def product(self, *factors: int, gradients: int, name: str = "") -> None:
        """Count a product; one multiply-add is two FLOPs. Without a name, it gets that of its tap."""
        self._step.products.append(Product(name, (2, *factors), gradients))

    @property
    def here(self) -> str:
        """The name of the running module inside its box: w_q."""
        return self._path[-1].rpartition(".")[2]

    @property
    def joint(self) -> bool:
        """Is this product part of another? On an accelerator q, k and v of self-attention are one: joint_linear.py."""
        box, _, here = self._path[-1].rpartition(".")
        return self.accelerator and self._in_stack and here in ("w_q", "w_k", "w_v") and box.endswith("self_attention")

    # --- where we are, and the Observer of tap.py ---

    @contextmanager
    def watching(self, model: nn.Module) -> Iterator[None]:
        """While active, steps know the module that calls them, and taps are recorded."""
        handles = []
        for path, module in model.named_modules():
            handles.append(module.register_forward_pre_hook(lambda *_, path=path: self._path.append(path)))
            handles.append(module.register_forward_hook(lambda *found: self._leave(found[-1]), always_call=True))
        before = observe(self)
        try:
            with torch.enable_grad(), torch.autocast("cpu", torch.bfloat16, enabled=self.autocast), self:
                yield
        finally:
            observe(before)
            for handle in handles:
                handle.remove()

    def _leave(self, result: Any) -> Any:
        """Rename the axes of a module's result: it may have other letters outside the module."""
        path = self._path.pop()
        if not isinstance(result, Symbolic):
            return result
        if path in STACKS:  # what a compiled stack gives is there for all that follow
            result.origins = ()
        return self.rename_axes(path, result)

    def mark(self, function: str, path: str, operands: tuple[Any, ...]) -> None:
        """Record a step that is not a torch function: the beginning or the end of a block."""
        self.steps.append(Step(function, operands, None, path))

    def see(self, name: str, x: Tensor) -> Tensor:
        assert isinstance(x, Symbolic)
        if x.step >= 0:
            self.steps[x.step].tap = name
        return self.rename_axes(f"{self._path[-1]}.{name}", x)

    def wants(self, name: str) -> bool:
        return False

    def edits(self, name: str) -> bool:
        return False

    @property
    def selection(self) -> Selection | None:
        return None


def _square(shape: Sequence[int]) -> tuple[int, ...]:
    lengths = [axis for axis, size in enumerate(shape) if isinstance(size, Dim) and size.written == "t"]
    if len(lengths) < 2:
        return tuple(shape)
    return tuple(Dim("s", size) if axis == lengths[-1] else size for axis, size in enumerate(shape))
