"""A training pass in symbols: which matrix products it computes and which tensors autograd keeps. No tensor is made.

Every box has, beside its mathematics, a `shadow`: its forward pass written once more on a tape, line for line. The
rules of autograd stand here, one method for each operation; `ledger/` evaluates the formulas.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

from glassformer.formula import evaluate


@dataclass(eq=False)
class Storage:
    """A piece of memory. Views share it; it is charged once, to the first part that keeps it."""

    formula: str  # bytes, in symbols
    values: dict[str, int]  # what the symbols meant where it was made
    kept: bool = False  # what is given (inputs, parameters) counts as kept from the start


@dataclass(eq=False)
class Shadow:
    """A tensor of which only the shape is known, in symbols."""

    shape: tuple[str, ...]
    storage: Storage
    grad: bool = True  # does it require a gradient?
    width: str = "w"  # bytes of one number
    swapped: bool = False  # heads before positions in shape, behind them in memory

    def view(self, *shape: str) -> Shadow:
        return Shadow(shape, self.storage, self.grad, self.width)

    def heads(self, *shape: str) -> Shadow:
        """b t h·d → b h t d, without moving a number."""
        return Shadow(shape, self.storage, self.grad, self.width, swapped=True)


@dataclass(frozen=True)
class Entry:
    """A product (FLOPs of the forward pass) or a kept tensor (bytes): where, what, and its formula."""

    part: str
    name: str
    formula: str
    values: dict[str, int]
    backward: int = 0  # products that the backward pass computes for this one: gradients of both sides, or of one
    again: bool = False  # in a block that is computed a second time: kept only while the backward pass is in it

    @cached_property
    def amount(self) -> int:
        return evaluate(self.formula, self.values)


@dataclass
class Tape:
    """What a pass leaves behind. `w` is the number of bytes of one number: 4 in float32, 2 in bfloat16."""

    w: int = 4
    training: bool = True
    past: int = 0  # positions that are in the KV cache already
    kernel: str = "reference"
    accelerator: bool = False  # keep what a CUDA device keeps, not what the CPU does
    autocast: bool = False  # products in two bytes, norms and softmax in four, the stream as it is
    recompute: bool = False  # blocks keep what enters them, and compute the rest again in the backward pass
    triangle: bool = False  # count only the pairs that a look-ahead mask lets through, not the full square
    products: list[Entry] = field(default_factory=list)
    kept: list[Entry] = field(default_factory=list)
    cached: list[Entry] = field(default_factory=list)  # keys and values that decoding keeps
    parts: dict[str, None] = field(default_factory=dict)  # in the order in which they first did something
    _path: list[str] = field(default_factory=list)
    _values: list[dict[str, int]] = field(default_factory=lambda: [{}])
    _again: bool = False
    _since: list[int] = field(default_factory=list)  # products after the last tensor that was kept

    # --- where we are, and what the symbols mean there ---

    @contextmanager
    def at(self, part: str, **values: int) -> Iterator[None]:
        """Inside: entries belong to this part, and these symbols have these values."""
        self._path.append(part)
        self._values.append({**self._values[-1], **values})
        try:
            yield
        finally:
            self._path.pop()
            self._values.pop()

    def value(self, formula: str) -> int:
        return evaluate(formula, self.values)

    @property
    def values(self) -> dict[str, int]:
        return {**self._values[-1], "w": self.w}

    @property
    def part(self) -> str:
        return ".".join(name for name in self._path if name)

    # --- tensors ---

    def new(self, *shape: str, width: str = "w", grad: bool = True) -> Shadow:
        """A fresh tensor; `width` is the number of bytes of one entry."""
        formula = "×".join(shape if width == "1" else (*shape, width))
        return Shadow(shape, Storage(formula, self.values), grad, width)

    def given(self, *shape: str) -> Shadow:
        """An input of the model: never charged, and no gradient goes into it."""
        return Shadow(shape, Storage("0", {}, kept=True), grad=False)

    def keep(self, x: Shadow, name: str) -> None:
        self._since.clear()
        if not x.storage.kept:
            x.storage.kept = True
            self.parts.setdefault(self.part)
            self.kept.append(Entry(self.part, name, x.storage.formula, x.storage.values, again=self._again))

    def remember(self, formula: str, name: str) -> None:
        """The KV cache of one attention."""
        self.cached.append(Entry(self.part, name, formula, self.values))

    @contextmanager
    def block(self, *inputs: Shadow | None) -> Iterator[None]:
        """Inside: one block. If it is computed again, what enters is kept and what happens inside is not.

        The second time torch stops as soon as it has all that was kept: the products behind that are not repeated.
        """
        if not self.recompute:
            yield
            return
        with self.at("input"):
            for x in inputs:
                if x is not None:
                    self.keep(x, "block.input")
        self._again = True
        try:
            yield
        finally:
            self._again = False
            for last in self._since:
                self.products[last] = replace(self.products[last], again=False)

    # --- operations: what autograd keeps of each ---

    def linear(self, x: Shadow, d_out: str, name: str) -> Shadow:
        """x W: the gradient of W needs x; the gradient of x is computed where x requires one."""
        *rows, d_in = x.shape
        self.keep(self.cast(x), f"{name}.input")
        if self.autocast:
            self.keep(self.new(d_in, d_out, width="2"), f"{name}.weight")
        self._product("×".join(["2", *rows, d_in, d_out]), name, backward=2 if x.grad else 1)
        return self.new(*rows, d_out, width=self._narrow)

    def matmul(self, formula: str, name: str, *shape: str) -> Shadow:
        """A product of two tensors that both require a gradient; its operands are kept by the caller."""
        self._product(f"2×{formula}", name, backward=2)
        return self.new(*shape, width=self._narrow)

    def _product(self, formula: str, name: str, backward: int) -> None:
        self.parts.setdefault(self.part)
        self._since.append(len(self.products))
        self.products.append(Entry(self.part, name, formula, self.values, backward, self._again))

    def activation(self, x: Shadow, kind: str) -> Shadow:
        """ReLU (0 or not) and the sigmoid (y (1 − y)) keep what comes out, GELU and SiLU what goes in."""
        y = self.new(*x.shape, width=x.width)
        self.keep(y if kind in ("relu", "sigmoid") else x, kind)
        return y

    def dropout(self, x: Shadow, rate: float) -> Shadow:
        """On the CPU the mask is kept as numbers, already divided by 1 − rate; on an accelerator as truth values."""
        if rate == 0.0 or not self.training:
            return x
        if x.grad:
            self.keep(self.new(*x.shape, width="1" if self.accelerator else x.width), "dropout.mask")
        return self.new(*x.shape, grad=x.grad, width=x.width)

    def softmax(self, x: Shadow) -> Shadow:
        y = self.new(*x.shape, width="w" if self.autocast else x.width)
        self.keep(y, "softmax")
        return y

    # --- mixed precision ---

    def cast(self, x: Shadow) -> Shadow:
        """What a product takes: under autocast a copy in two bytes, made anew at every call."""
        return self.new(*x.shape, grad=x.grad, width="2") if self.autocast and x.width == "w" else x

    def widen(self, x: Shadow) -> Shadow:
        """What a norm takes: under autocast a copy in four bytes, unless it has four already."""
        return self.new(*x.shape, grad=x.grad) if self.autocast and x.width == "2" else x

    @property
    def _narrow(self) -> str:
        return "2" if self.autocast else "w"
