"""One rule for each torch function that the boxes use: what comes out, which products it costs, what autograd keeps.

A rule takes the run and the arguments of the function. Nothing is guessed: a function without a rule raises, and
so does a trained tensor where the rule covers only untrained ones (positions, masks).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F

from glassformer.errors import InputError
from glassformer.symbols.attention import scaled_dot_product_attention
from glassformer.symbols.cast import narrowed, widened
from glassformer.symbols.factories import FACTORIES
from glassformer.symbols.size import Dim
from glassformer.symbols.tensor import Symbolic
from glassformer.symbols.views import VIEWS, copied, promoted

if TYPE_CHECKING:
    from glassformer.symbols.run import SymbolicRun

Rule = Callable[..., Any]


def called(function: Any) -> str:
    """The name of a function without underscores of operators and in-place forms: `__mul__`, `mul_` → mul."""
    name = str(function.__name__).strip("_")
    if name == "get":  # an attribute that a symbolic tensor does not have
        return str(function.__self__.__name__)
    return f"F.{name}" if function in (F.unfold, F.pad) else name


# --- element by element: sums, products, comparisons ---


def _operands(*xs: Any) -> list[Symbolic]:
    return [x for x in xs if isinstance(x, Symbolic)]


def broadcast(*xs: Symbolic) -> tuple[int, ...]:
    """The broadcast shape; if a size has two names, that of the tensor with more axes is used."""
    xs = tuple(sorted(xs, key=lambda x: -x.dim()))

    def size(axis: int) -> int:
        sizes = [x.shape[axis] for x in xs if x.dim() >= -axis]
        return max(sizes, key=lambda size: (size != 1, isinstance(size, Dim)))

    return tuple(size(axis) for axis in range(-xs[0].dim(), 0))


def _promoted(*xs: Any) -> torch.dtype:
    dtype = promoted(*_operands(*xs))
    return torch.float32 if any(isinstance(x, float) for x in xs) and not dtype.is_floating_point else dtype


def like(run: SymbolicRun, *xs: Any, dtype: torch.dtype | None = None) -> Symbolic:
    """A new tensor of the broadcast shape, in the memory order of the first operand of full size."""
    tensors = _operands(*xs)
    shape = broadcast(*tensors)
    order = next((x.order for x in tensors if x.dim() == len(shape) and not _expanded(x, shape)), None)
    trained = any(x.trained for x in tensors)
    return run.new(shape, dtype or _promoted(*xs), trained=trained, order=order)


def _expanded(x: Symbolic, shape: tuple[int, ...]) -> bool:
    return any(int(a) != int(b) for a, b in zip(x.shape, shape, strict=True))


def add(run: SymbolicRun, a: Any, b: Any, **_: Any) -> Symbolic:
    """A sum or a difference: the incoming gradient is passed on to both, so nothing is kept."""
    return like(run, a, b)


def negative(run: SymbolicRun, x: Symbolic) -> Symbolic:
    return run.again(like(run, x), x)


def multiply(run: SymbolicRun, a: Any, b: Any) -> Symbolic:
    """Each factor is the other's gradient; a plain number is not kept."""
    if isinstance(a, Symbolic) and isinstance(b, Symbolic):
        for x, other in ((a, b), (b, a)):
            if x.trained:
                run.keep_origins(other, "factor")
    return run.again(like(run, a, b), *_operands(a, b))


def divide(run: SymbolicRun, a: Any, b: Any, **_: Any) -> Symbolic:
    if any(x.trained for x in _operands(b)):
        raise InputError("no_rule", function="div")
    if isinstance(a, Symbolic) and a.trained and isinstance(b, Symbolic):
        run.keep(b, "divisor")
    result = like(run, a, b)
    return result if result.dtype.is_floating_point else like(run, a, b, dtype=torch.float32)


def square(run: SymbolicRun, x: Symbolic) -> Symbolic:
    return _keeping_input(run, x, "input")


def untrained(name: str, dtype: torch.dtype | None = None) -> Rule:
    """Positions, masks and frequencies: computed, never trained."""

    def rule(run: SymbolicRun, *xs: Any, **_: Any) -> Symbolic:
        if any(x.trained for x in _operands(*xs)):
            raise InputError("no_rule", function=name)
        return like(run, *xs, dtype=dtype)

    return rule


# --- functions of one tensor: the result is kept, or the input ---


def _keeping_input(run: SymbolicRun, x: Symbolic, name: str) -> Symbolic:
    if x.trained:
        run.keep_origins(x, name)
    return run.again(like(run, x), x)


def _keeping_result(run: SymbolicRun, x: Symbolic, name: str) -> Symbolic:
    y = like(run, x)
    if x.trained:
        run.keep(y, name)
    return y


def relu(run: SymbolicRun, x: Symbolic, inplace: bool = False) -> Symbolic:
    """The derivative is 0 or 1, read off the result, which is kept; a compiler reads it off the input as well.

    As a part of the product before it (kernels/relu.py) the result is kept, and there is no input: as many bytes.
    """
    return _keeping_input(run, x, "relu") if run.compiled else _keeping_result(run, x, "relu")


def sigmoid(run: SymbolicRun, x: Symbolic) -> Symbolic:
    """Derivative: y (1 − y)."""
    return _keeping_result(run, x, "sigmoid")


def tanh(run: SymbolicRun, x: Symbolic) -> Symbolic:
    """Derivative: 1 − y²."""
    return _keeping_result(run, x, "tanh")


def rsqrt(run: SymbolicRun, x: Symbolic) -> Symbolic:
    """Derivative: −y³/2."""
    return _keeping_result(run, x, "scale")


def gelu(run: SymbolicRun, x: Symbolic, approximate: str = "none") -> Symbolic:
    return _keeping_input(run, x, "gelu")


def silu(run: SymbolicRun, x: Symbolic, inplace: bool = False) -> Symbolic:
    return _keeping_input(run, x, "silu")


def dropout(run: SymbolicRun, x: Symbolic, p: float = 0.5, training: bool = True, inplace: bool = False) -> Symbolic:
    """On the CPU the mask is kept as numbers, already divided by 1 − p; on an accelerator as booleans."""
    if p == 0.0 or not training:
        return x
    mask = run.new(x.shape, torch.bool if run.accelerator else x.dtype)
    if x.trained:
        run.keep(mask, "dropout.mask")
    return run.again(like(run, x), x, mask)


def softmax(run: SymbolicRun, x: Symbolic, dim: int, **_: Any) -> Symbolic:
    y = run.new(x.shape, torch.float32 if run.autocast and x.dtype.itemsize < 4 else x.dtype, trained=x.trained)
    if x.trained:
        run.keep(y, "softmax")
    return y


ROWS = ("mean", "rstd")


def layer_norm(
    run: SymbolicRun,
    x: Symbolic,
    shape: Sequence[int],
    weight: Symbolic,
    bias: Symbolic | None = None,
    eps: float = 1e-5,
) -> Symbolic:
    """Keeps the input, and a mean and a deviation for each row; an accelerator computes these in float32.

    The kernel of our own there, where it is not part of compiled code, reads and gives two-byte numbers as they are.
    """
    narrow = run.own_norm and run.autocast and not run.compiled
    wide = x if narrow else widened(run, x)
    run.keep_origins(wide, "input")
    statistics = {name: run.new(x.shape[:-1], wide.dtype, width=4 if run.accelerator else None) for name in ROWS}
    for name, each in statistics.items():
        run.keep(each, name)
    dtype = torch.bfloat16 if narrow else wide.dtype
    return run.again(run.new(x.shape, dtype, trained=True), wide, *statistics.values())


# --- sums and largest entries ---


def _reduced(x: Symbolic, dim: int | None, keepdim: bool) -> tuple[int, ...]:
    if dim is None:
        return ()
    axis = dim % x.dim()
    return (*x.shape[:axis], *((1,) if keepdim else ()), *x.shape[axis + 1 :])


def mean(run: SymbolicRun, x: Symbolic, dim: int, keepdim: bool = False) -> Symbolic:
    return run.new(_reduced(x, dim, keepdim), x.dtype, trained=x.trained)


def amax(run: SymbolicRun, x: Symbolic, dim: int, keepdim: bool = False) -> Symbolic:
    """Keeps input and result: together they show where the largest entry is."""
    y = run.new(_reduced(x, dim, keepdim), x.dtype, trained=x.trained)
    if x.trained:
        run.keep(x, "pool.input")
        run.keep(y, "pool.output")
    return y


def maximum(run: SymbolicRun, x: Symbolic) -> Symbolic:
    if x.trained:
        raise InputError("no_rule", function="max")
    return run.new((), x.dtype)


# --- products ---


def linear(run: SymbolicRun, x: Symbolic, weight: Symbolic, bias: Symbolic | None = None) -> Symbolic:
    """x Wᵀ + b: the gradient of W needs x as one matrix; the gradient of x is computed only if x is trained.

    That one needs W: a copy, if W was cast, which a compiler does again, or joined to others.
    """
    operand = narrowed(run, x)
    run.keep_origins(operand if operand.joins(range(x.dim() - 1)) else copied(run, operand), f"{run.here}.input")
    d_out, d_in = weight.shape
    if run.joint or (run.autocast and not run.compiled):
        run.keep(run.new((d_in, d_out), operand.dtype), f"{run.here}.weight")
    run.product(*x.shape[:-1], d_in, d_out, gradients=2 if x.trained else 1, name=run.here)
    return run.new((*x.shape[:-1], d_out), operand.dtype, trained=True)


def matmul(run: SymbolicRun, a: Symbolic, b: Symbolic) -> Symbolic:
    """A B, each a stack of matrices: the stacks are flattened, so operands in another memory order are copied."""
    operands = [narrowed(run, x) for x in (a, b)]
    *rows, t, inner = a.shape
    for x, other in zip(operands, (b, a), strict=True):
        if other.trained:
            run.keep(x if x.joins(range(len(rows))) else copied(run, x, (*rows, *x.shape[-2:])), "operand")
    run.product(*rows, t, b.shape[-1], inner, gradients=a.trained + b.trained)
    return run.new((*rows, t, b.shape[-1]), operands[0].dtype, trained=a.trained or b.trained)


# --- tables and masks ---


def embedding(run: SymbolicRun, tokens: Symbolic, weight: Symbolic, *_: Any, **__: Any) -> Symbolic:
    """Rows of a table; the gradient needs the tokens, to know which rows."""
    run.keep(tokens, "tokens")
    return run.new((*tokens.shape, weight.shape[1]), weight.dtype, trained=weight.trained)


def where(run: SymbolicRun, condition: Symbolic, a: Any, b: Any) -> Symbolic:
    if any(x.trained for x in _operands(a, b)):
        run.keep(condition, "blocked")
    chosen = _operands(a, b)
    return like(run, *chosen, condition, dtype=_promoted(*chosen))


def masked_fill(run: SymbolicRun, x: Symbolic, mask: Symbolic, value: float) -> Symbolic:
    if x.trained:
        run.keep(mask, "blocked")
    return like(run, x, mask, dtype=x.dtype)


UNTRAINED = ("cos", "sin", "pow", "rpow", "log", "abs", "clamp", "and", "or", "cumsum")
TRUTHS = ("lt", "le", "gt", "ge", "eq", "ne", "invert")

RULES: dict[str, Rule] = {
    **FACTORIES,
    **VIEWS,
    **{name: untrained(name) for name in UNTRAINED},
    **{name: untrained(name, torch.bool) for name in TRUTHS},
    **dict.fromkeys(("add", "radd", "iadd", "sub", "rsub"), add),
    **dict.fromkeys(("mul", "rmul"), multiply),
    **dict.fromkeys(("div", "truediv", "rtruediv", "rdiv"), divide),
    "neg": negative,
    "square": square,
    "relu": relu,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "rsqrt": rsqrt,
    "gelu": gelu,
    "silu": silu,
    "dropout": dropout,
    "softmax": softmax,
    "layer_norm": layer_norm,
    "mean": mean,
    "amax": amax,
    "max": maximum,
    "linear": linear,
    "matmul": matmul,
    "scaled_dot_product_attention": scaled_dot_product_attention,
    "embedding": embedding,
    "where": where,
    "masked_fill": masked_fill,
}
