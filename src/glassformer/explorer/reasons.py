"""How each number of a pass was made, by the name of its tensor: products, shares, sums and norms.

The operands are those that the pass recorded and the parameters of the model, so their total can be compared with the
recorded number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.explorer.passes import ShownPass, masks, without_batch
from glassformer.explorer.terms import FILLED, Reason, Term, bracketed, number, short, signed, summed
from glassformer.layers.embedding import TokenEmbedding
from glassformer.layers.norm import LayerNorm, RMSNorm


class Reasons:
    """The reasons of the numbers of one pass."""

    def __init__(self, one: ShownPass) -> None:
        self.one = one
        self.model: Any = one.loaded.model
        self.modules: dict[str, nn.Module] = dict(one.loaded.model.named_modules())

    @cached_property
    def masks(self) -> dict[str, Tensor]:
        return dict(masks(self.one))

    @torch.no_grad()
    def of(self, name: str, index: Sequence[int]) -> Reason:
        """By the last part of the name; what nobody can explain has no terms."""
        path, _, tap = name.partition("#")[0].rpartition(".")
        module: Any = self.modules.get(path)
        ways: dict[str, Callable[[], Reason]] = {
            "q": lambda: self._projection(path, "q", index),
            "k": lambda: self._projection(path, "k", index),
            "v": lambda: self._projection(path, "v", index),
            "scores": lambda: self._score(path, index),
            "weights": lambda: self._weight(path, index),
            "heads": lambda: self._mixed(path, index),
            "gate": lambda: self._hidden(path, "w_gate", index),
            "hidden": lambda: self._hidden(path, "w_1", index),
            "input": lambda: self._input(path, index),
            "logits": lambda: self._logits(index),
        }
        if tap in ways:
            return ways[tap]()
        if tap == "output" and isinstance(module, LayerNorm | RMSNorm) and not path.startswith("head."):
            return self._norm(module, self._read_by(path), index)
        if tap == "output" and path.endswith("attention"):
            return self._concat(path, index)
        if tap == "output" and path.endswith("feed_forward"):
            hidden = f"{path}.hidden"
            return self._product(module.w_2.weight, module.w_2.bias, hidden, (index[0],), index[-1])
        if tap.startswith("after_") or (tap == "output" and ".blocks." in path):
            return self._sum(path, tap, index)
        if tap == "output" and path in ("encoder", "decoder"):
            last = f"{path}.blocks.{len(module.blocks) - 1}.output"
            return (
                self._norm(module.final_norm, [last], index)
                if module.final_norm is not None
                else self._added([last], index)
            )
        if tap == "output" and isinstance(module, TokenEmbedding):
            return self._embedded(module, name, index)
        return Reason([], number(self.one, name, index), "")

    # --- products ---

    def _x(self, name: str) -> Tensor:
        return without_batch(name, self.one.trace.tensors[name]).float()

    def _product(
        self, weight: Tensor, bias: Tensor | None, read: str, at: tuple[int, ...], column: int, scale: float = 1.0
    ) -> Reason:
        """Σᵢ xᵢ Wᵢⱼ + bⱼ, for the row `at` of what is read."""
        row, weights = self._x(read)[at], weight[column].detach().float() * scale
        terms = [
            Term(f"{i}", float(x * w), (float(x), float(w)), read, (*at, i))
            for i, (x, w) in enumerate(zip(row.tolist(), weights.tolist(), strict=True))
        ]
        if bias is not None:
            terms.append(Term("b", float(bias[column])))
        return summed(terms)

    def _projection(self, path: str, which: str, index: Sequence[int]) -> Reason:
        head, row, column = index
        attention: Any = self.modules[path]
        size = attention.d_v if which == "v" else attention.d_k
        memory = path.endswith("cross_attention") and which != "q"
        read = "encoder.output" if memory else self._read_by(path)[0]
        linear = getattr(attention, f"w_{which}")
        return self._product(linear.weight, linear.bias, read, (row,), head * size + column)

    def _score(self, path: str, index: Sequence[int]) -> Reason:
        head, row, column = index
        attention: Any = self.modules[path]
        own = head * attention.n_kv_heads // attention.n_heads
        q, k = self._x(f"{path}.q")[head, row], self._x(f"{path}.k")[own, column]
        terms = [
            Term(f"{i}", a * b * attention.scale, (a, b), f"{path}.q", (head, row, i))
            for i, (a, b) in enumerate(zip(q.tolist(), k.tolist(), strict=True))
        ]
        return summed(terms, before="(", after=f") · {bracketed(attention.scale)}")

    def _weight(self, path: str, index: Sequence[int]) -> Reason:
        """e^s over the sum of all that may be looked at."""
        head, row, column = index
        scores = self._x(f"{path}.scores")[head, row]
        hidden = self.masks.get(f"{path}.weights.mask")
        allowed = torch.ones_like(scores, dtype=torch.bool)
        if hidden is not None:
            allowed = (hidden[head] if hidden.dim() == 3 else hidden)[row]
        shares = torch.where(allowed, scores, -torch.inf).softmax(-1)
        pieces = self._pieces(path, len(scores))
        terms = [
            Term(pieces[j], float(shares[j]), (float(s),), f"{path}.scores", (head, row, j))
            for j, s in enumerate(scores.tolist())
            if allowed[j]
        ]
        below = " + ".join(f"e^{short(term.factors[0])}" for term in terms[:FILLED])
        more = " + …" if len(terms) > FILLED else ""
        over = f"e^{short(float(scores[column]))} / ({below}{more})" if allowed[column] else "0"
        return Reason(terms, float(shares[column].nan_to_num()), over)

    def _mixed(self, path: str, index: Sequence[int]) -> Reason:
        """Σⱼ Aⱼ Vⱼ: each token that is looked at, by its share."""
        head, row, column = index
        attention: Any = self.modules[path]
        own = head * attention.n_kv_heads // attention.n_heads
        shares, values = self._x(f"{path}.weights")[head, row], self._x(f"{path}.v")[own, :, column]
        pieces = self._pieces(path, len(shares))
        return summed(
            [
                Term(pieces[j], a * v, (a, v), f"{path}.v", (own, j, column))
                for j, (a, v) in enumerate(zip(shares.tolist(), values.tolist(), strict=True))
            ]
        )

    def _concat(self, path: str, index: Sequence[int]) -> Reason:
        row, column = index
        attention: Any = self.modules[path]
        heads = self._x(f"{path}.heads")[:, row]  # h d_v
        weights = attention.w_o.weight[column].detach().float().reshape(heads.shape)
        terms = [
            Term(f"H{h + 1}[{i}]", x * w, (x, w), f"{path}.heads", (h, row, i))
            for h, (xs, ws) in enumerate(zip(heads.tolist(), weights.tolist(), strict=True))
            for i, (x, w) in enumerate(zip(xs, ws, strict=True))
        ]
        if attention.w_o.bias is not None:
            terms.append(Term("b", float(attention.w_o.bias[column])))
        return summed(terms)

    def _hidden(self, path: str, which: str, index: Sequence[int]) -> Reason:
        network: Any = self.modules[path]
        row, column = index
        linear = getattr(network, which)
        inside = self._product(linear.weight, linear.bias, self._read_by(path)[0], (row,), column)
        if hasattr(network, "w_gate") and which == "w_1":
            gate = float(self._x(f"{path}.gate")[row, column])
            return Reason(inside.terms, gate * inside.result, f"{short(gate)} · ({inside.filled})")
        result = float(network.activation(torch.tensor(inside.result)))
        return Reason(inside.terms, result, f"φ({inside.filled})")

    def _logits(self, index: Sequence[int]) -> Reason:
        """y · E[token], or what a classifier makes of the pooled vector."""
        head: Any = self.modules["head"]
        known, linear = self.one.trace.tensors, getattr(head, "output", None)
        last = "decoder.output" if "decoder.output" in known else "encoder.output"
        if linear is not None:
            read = "head.pooled" if "head.pooled" in known else last
            return self._product(linear.weight, linear.bias, read, tuple(index[:-1]), index[-1])
        weight = getattr(head, "weight", None)
        weight = weight if weight is not None else getattr(self.modules.get("embedding"), "weight", None)
        if weight is None:
            return Reason([], number(self.one, "head.logits", index), "")
        read = "head.norm.output" if getattr(head, "transform", None) is not None else last
        scale = getattr(head, "scale", 1.0)
        return self._product(weight, getattr(head, "bias", None), read, (index[0],), index[-1], scale)

    # --- sums and norms ---

    def _added(self, names: list[str], index: Sequence[int]) -> Reason:
        return summed([Term(name, float(self._x(name)[tuple(index)]), (), name, tuple(index)) for name in names])

    def _sum(self, path: str, tap: str, index: Sequence[int]) -> Reason:
        block: Any = self.modules[path]
        part = tap.removeprefix("after_") if tap != "output" else "feed_forward"
        parts = [f"{path}.{part}.output"]
        if block.norm_order == "parallel":
            present = (f"{path}.{one}.output" for one in ("self_attention", "cross_attention", "feed_forward"))
            parts = [name for name in present if name in self.one.trace.tensors]
        names = [self._stream(path, part), *parts]
        if block.norm_order == "post":
            return self._norm(self.modules[f"{path}.{part}_norm"], names, index)
        return self._added(names, index)

    def _norm(self, norm: Any, read: list[str], index: Sequence[int]) -> Reason:
        """γ (x − μ) / σ + β, or without μ and β."""
        row = torch.stack([self._x(name)[tuple(index[:-1])] for name in read]).sum(0)
        terms = [Term(name, float(self._x(name)[tuple(index)]), (), name, tuple(index)) for name in read]
        return self._normed(norm, row, index[-1], terms)

    def _normed(self, norm: Any, row: Tensor, column: int, terms: list[Term]) -> Reason:
        """The number of a row after its norm; `terms` are those of the number before."""
        mean = float(row.mean()) if isinstance(norm, LayerNorm) else 0.0
        deviation = math.sqrt(float((row - mean).square().mean()) + norm.eps)
        scale = float(norm.weight[column])
        shift = getattr(norm, "bias", None)
        x = float(row[column])
        terms += [Term("μ", mean)] if isinstance(norm, LayerNorm) else []
        terms += [Term("σ", deviation), Term("γ", scale)]
        terms += [Term("β", float(shift[column]))] if shift is not None else []
        result = scale * (x - mean) / deviation + (0.0 if shift is None else float(shift[column]))
        centred = f"({short(x)}{signed(-mean)})" if isinstance(norm, LayerNorm) else bracketed(x)
        shifted = "" if shift is None else signed(float(shift[column]))
        return Reason(terms, result, f"{short(scale)} · {centred} / {short(deviation)}{shifted}")

    def _input(self, stack: str, index: Sequence[int]) -> Reason:
        """The vector of a token and its position, and what a norm makes of them."""
        e, *encoding = self._entering(stack)
        row, terms = self._x(e)[index[0]], [Term(e, float(self._x(e)[tuple(index)]), (), e, tuple(index))]
        for name in encoding:
            place = self._x(name).reshape(-1, len(row))[index[0]]
            row = row + place
            terms.append(Term("P", float(place[index[1]])))
        norm = getattr(self.modules[stack], "embedding_norm", None)
        return summed(terms) if norm is None else self._normed(norm, row, index[1], terms)

    def _embedded(self, module: TokenEmbedding, name: str, index: Sequence[int]) -> Reason:
        ids = self.one.given.inputs[-1 if "#2" in name or name.startswith("target") else 0]
        at, inputs = tuple(index), self.one.given.inputs
        row = float(module.weight[int(ids[0, at[0]]), at[1]])
        made = Reason(
            [Term("E", row), Term("√d", module.scale)], row * module.scale, f"{short(module.scale)} · {bracketed(row)}"
        )
        if module.segments is None:
            return made
        segment = float(module.segments[int(inputs[2][0, at[0]]) if len(inputs) > 2 else 0, at[1]])
        return Reason([*made.terms, Term("S", segment)], made.result + segment, f"{made.filled}{signed(segment)}")

    # --- what a box reads ---

    def _entering(self, stack: str) -> list[str]:
        """What enters a stack before its own norm: the vectors of the tokens, and its table of positions."""
        known, kinds = self.one.trace.tensors, ("embedding.output", "target_embedding.output")
        embeddings = [name for name in known if name.partition("#")[0] in kinds]
        encoding = f"{stack}.positions.encoding"
        return [embeddings[-1 if stack == "decoder" else 0], *([encoding] if encoding in known else [])]

    def _stream(self, block: str, part: str) -> str:
        """What a sum begins with: the sum before, or what entered the layer."""
        order = ["self_attention", "cross_attention", "feed_forward"]
        for before in reversed(order[: order.index(part)]):
            if f"{block}.after_{before}" in self.one.trace.tensors:
                return f"{block}.after_{before}"
        stack, _, layer = block.split(".")
        return f"{stack}.input" if layer == "0" else f"{stack}.blocks.{int(layer) - 1}.output"

    def _read_by(self, path: str) -> list[str]:
        """The tensors that a norm, an attention or a network reads, to be summed."""
        if path in ("encoder.final_norm", "decoder.final_norm"):
            stack: Any = self.modules[path.partition(".")[0]]
            return [f"{path.partition('.')[0]}.blocks.{len(stack.blocks) - 1}.output"]
        block, _, box = path.rpartition(".")
        if box == "embedding_norm":
            return self._entering(block)
        order = getattr(self.modules[block], "norm_order", "pre")
        if box.endswith("norm"):
            part = box.removesuffix("norm").removesuffix("_") or "self_attention"
            stream = self._stream(block, part)
            return [stream, f"{block}.{part}.output"] if order == "post" else [stream]
        if order == "post":
            return [self._stream(block, box)]
        return [f"{block}.norm.output" if order == "parallel" else f"{block}.{box}_norm.output"]

    def _pieces(self, path: str, count: int) -> list[str]:
        given = self.one.given
        own = given.target if path.startswith("decoder") and given.target and "cross" not in path else given.source
        names = [piece.piece for piece in own or []]
        return names if len(names) == count else [str(j) for j in range(count)]
