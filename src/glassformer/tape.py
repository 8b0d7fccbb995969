"""A training pass in symbols: which matrix products it computes and which tensors autograd keeps. No tensor is made.

Every box has, beside its mathematics, a `shadow`: its forward pass written once more on a tape, line for line. The
rules of autograd stand here, one method for each operation; `ledger/` evaluates the formulas.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

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

    def view(self, *shape: str) -> Shadow:
        return Shadow(shape, self.storage, self.grad)


@dataclass(frozen=True)
class Entry:
    """A product (FLOPs of the forward pass) or a kept tensor (bytes): where, what, and its formula."""

    part: str
    name: str
    formula: str
    values: dict[str, int]
    backward: int = 0  # products that the backward pass computes for this one: gradients of both sides, or of one

    @property
    def amount(self) -> int:
        return evaluate(self.formula, self.values)


@dataclass
class Tape:
    """What a pass leaves behind. `w` is the number of bytes of one number: 4 in float32, 2 in bfloat16."""

    w: int = 4
    training: bool = True
    past: int = 0  # positions that are in the KV cache already
    triangle: bool = False  # count only the pairs that a look-ahead mask lets through, not the full square
    products: list[Entry] = field(default_factory=list)
    kept: list[Entry] = field(default_factory=list)
    parts: dict[str, None] = field(default_factory=dict)  # in the order in which they first did something
    _path: list[str] = field(default_factory=list)
    _values: list[dict[str, int]] = field(default_factory=lambda: [{}])

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
        return Shadow(shape, Storage(formula, self.values), grad)

    def given(self, *shape: str) -> Shadow:
        """An input of the model: never charged, and no gradient goes into it."""
        return Shadow(shape, Storage("0", {}, kept=True), grad=False)

    def keep(self, x: Shadow, name: str) -> None:
        if not x.storage.kept:
            x.storage.kept = True
            self.parts.setdefault(self.part)
            self.kept.append(Entry(self.part, name, x.storage.formula, x.storage.values))

    # --- operations: what autograd keeps of each ---

    def linear(self, x: Shadow, d_out: str, name: str) -> Shadow:
        """x W: the gradient of W needs x; the gradient of x is computed where x requires one."""
        *rows, d_in = x.shape
        self._product("×".join(["2", *rows, d_in, d_out]), name, backward=2 if x.grad else 1)
        self.keep(x, f"{name}.input")
        return self.new(*rows, d_out)

    def matmul(self, formula: str, name: str, *shape: str) -> Shadow:
        """A product of two tensors that both require a gradient; its operands are kept by the caller."""
        self._product(f"2×{formula}", name, backward=2)
        return self.new(*shape)

    def _product(self, formula: str, name: str, backward: int) -> None:
        self.parts.setdefault(self.part)
        self.products.append(Entry(self.part, name, formula, self.values, backward))

    def activation(self, x: Shadow, kind: str) -> Shadow:
        """ReLU keeps what comes out (0 or not), GELU and SiLU keep what goes in."""
        y = self.new(*x.shape)
        self.keep(y if kind == "relu" else x, kind)
        return y

    def dropout(self, x: Shadow, rate: float) -> Shadow:
        """On the CPU the mask is kept as numbers, already divided by 1 − rate."""
        if rate == 0.0 or not self.training:
            return x
        if x.grad:
            self.keep(self.new(*x.shape), "dropout.mask")
        return self.new(*x.shape, grad=x.grad)

    def softmax(self, x: Shadow) -> Shadow:
        y = self.new(*x.shape)
        self.keep(y, "softmax")
        return y
