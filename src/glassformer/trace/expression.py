"""A tensor as a formula in terms of earlier rows, in the usual notation. Views are not shown."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from glassformer.layers.attention import MultiHeadAttention
from glassformer.layers.position import POSITIONS
from glassformer.symbols.run import Step
from glassformer.trace.steps import Steps

SILENT = ("dropout", "masked_fill", "transpose", "unflatten", "contiguous", "reshape", "view", "repeat_interleave",
          "expand", "to", "float", "double", "detach", "permute")  # fmt: skip
OF_ONE = dict.fromkeys(SILENT, "{}") | {
    "relu": "max(0, {})",
    "silu": "SiLU({})",
    "sigmoid": "σ({})",
    "tanh": "tanh({})",
    "softmax": "softmax({})",
    "mean": "mean({})",
    "amax": "max({})",
}
MATRICES = {"w_q": "_Q", "w_k": "_K", "w_v": "_V", "w_o": "_O", "w_1": "_1", "w_2": "_2", "w_gate": "_gate",
            "transform": "_t", "pooler": "_p", "output": ""}  # fmt: skip


ON_SCORES = tuple(kind for kind in POSITIONS.values() if kind.acts_on == "scores")


class Expressions:
    """Writes tensors as formulas; `names` has those with a symbol already, by the id of the tensor."""

    def __init__(self, model: nn.Module, steps: Steps) -> None:
        self.model, self.steps = model, steps
        self.names: dict[int, str] = {}
        self._held = {id(x): path for path, x in (*model.named_parameters(), *model.named_buffers())}
        self._writers: dict[str, Callable[[Step], str]] = {
            "linear": self._linear,
            "matmul": self._product,
            "scaled_dot_product_attention": self._fused,
            "add": self._sum,
            "mul": self._times,
            "rmul": self._times,
            "where": self._masked,
            "gelu": self._gelu,
            "embedding": self._row,
            "getitem": self._position,
            "cat": self._turned,
            "stack": self._turned,
            "flatten": self._flat,
        }

    def __call__(self, x: Any) -> str:
        if id(x) in self.names:
            return self.names[id(x)]
        path, given = self.steps.through.get(id(x), ("", ()))
        if path.endswith("norm"):
            return f"{type(self.model.get_submodule(path)).__name__}({self(given[0])})"
        if path.endswith(".positions") and isinstance(self.model.get_submodule(path), ON_SCORES):
            return "B"
        step = self.steps.of(x) if isinstance(x, Tensor) else None
        if step is None:
            return self._held[id(x)].rpartition(".")[2] if id(x) in self._held else f"{x:g}"
        return self._function(step)

    def _function(self, step: Step) -> str:
        operands = step.operands
        if step.function in OF_ONE:
            return OF_ONE[step.function].format(self(operands[0]))
        if step.function in self._writers:
            return self._writers[step.function](step)
        return f"{step.function}({', '.join(self(x) for x in operands if isinstance(x, Tensor))})"

    def _sum(self, step: Step) -> str:
        """An offset of the logits that is never trained is written c."""
        a, b = step.operands[:2]
        is_offset = self._held.get(id(b), "").endswith("offset")
        return f"{self(a)} + {'c' if is_offset else self(b)}"

    def _masked(self, step: Step) -> str:
        return f"{self(step.operands[2])} + M"

    def _gelu(self, step: Step) -> str:
        return f"{'GELU_tanh' if 'tanh' in step.operands else 'GELU'}({self(step.operands[0])})"

    def _row(self, step: Step) -> str:
        return "S[segment]" if self._held[id(step.operands[1])].endswith("segments") else "E[token]"

    def _position(self, step: Step) -> str:
        x, index = step.operands[:2]
        return f"{self(x)}[{'first' if index == (slice(None), 0) else 'last'}]"

    def _fused(self, step: Step) -> str:
        """The weights times V; the weights were computed separately for the trace."""
        return f"A {self(step.operands[2])}"

    def _linear(self, step: Step) -> str:
        """x W + b, the matrix under the name of its module; a tied head uses the embedding's."""
        x, weight = step.operands[:2]
        bias = step.operands[2] if len(step.operands) > 2 else None
        owner, _, _ = self._held[id(weight)].rpartition(".")
        name = owner.rpartition(".")[2]
        if name in MATRICES:
            matrix, end = f"W{MATRICES[name]}", MATRICES[name]
        else:
            matrix, end = "Eᵀ" if name.endswith("embedding") else "Wᵀ", ""
        number = self._factor(x)
        entry = self(x) if number is None else f"({self(x)})"
        return f"{entry} {matrix}" + ("" if bias is None else f" + b{end}")

    def _product(self, step: Step) -> str:
        """A B; a factor of A is written after the product."""
        a, b = step.operands[:2]
        behind, inner = "", self._factor(a)
        if inner is not None:
            a, number = inner
            behind = self._scaled("", number, "d_k", a.shape[-1])
        made = self.steps.of(b)
        turned = made is not None and made.function == "transpose" and made.operands[1:] == (-2, -1)
        return f"{self(a)} {self(b)}{'ᵀ' if turned else ''}{behind}"

    def _factor(self, x: Tensor) -> tuple[Tensor, float] | None:
        """x as a tensor times a number, if it is one and has no symbol of its own."""
        step = None if id(x) in self.names else self.steps.of(x)
        if step is None or step.function not in ("mul", "rmul") or isinstance(step.operands[1], Tensor):
            return None
        return step.operands[0], float(step.operands[1])

    def _times(self, step: Step) -> str:
        a, b = step.operands[:2]
        if isinstance(b, Tensor):
            return f"{self(a)} ⊙ ({self(b)})"
        return self._scaled(self(a), float(b), "d_model", a.shape[-1])

    @staticmethod
    def _scaled(text: str, number: float, name: str, size: int) -> str:
        """√d_model and 1/√d_k by name; 1 is omitted."""
        if number == 1.0:
            return text
        if math.isclose(number, math.sqrt(size)):
            return f"√{name} · {text}"
        return f"{text} / √{name}" if math.isclose(number, size**-0.5) else f"{text} · {number:g}"

    def _turned(self, step: Step) -> str:
        """A rotation of pairs of dimensions; its operand is found by tracing the first half back."""
        x = step
        while x.function not in ("chunk", "getitem"):
            inner = x.operands[0]
            found = self.steps.of(inner[0] if isinstance(inner, list | tuple) else inner)
            if found is None:
                return f"{step.function}(…)"
            x = found
        return f"rotate({self(x.operands[0])})"

    def _flat(self, step: Step) -> str:
        x = step.operands[0]
        made = self.steps.of(x)
        if made is not None and made.function == "stack":
            return self(x)
        inside = self.model.get_submodule(step.path)
        return f"{'concat' if isinstance(inside, MultiHeadAttention) else 'flatten'}({self(x)})"
