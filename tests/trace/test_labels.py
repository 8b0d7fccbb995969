"""Every formula of a trace, worked out again from the model's parameters and the rows before it, in float64.

The formulas are read, not believed: `Reading` takes the text of each apart and computes what it says. Print the table
with `PYTHONPATH=tests python tests/trace/test_labels.py`.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import reference
import small_classifier
import small_translator
from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.layers.position.rotary import rotate
from glassformer.loading import load
from glassformer.models.build import build
from glassformer.trace.sentence import Reader, Story, TokenizedText, follow

TEXT, TARGET = "가 나 다 라 나", "a b c"
SIZES: dict[str, Any] = {"vocab_size": 31, "max_len": 16, "d_model": 16, "n_heads": 4, "d_ff": 18, "dropout": 0.0}
ENCODER = {"family": "encoder", "n_encoder_layers": 3, "head": Choice("classifier", {"classes": 3})}
DECODER = {"family": "decoder", "n_decoder_layers": 3, "head": Choice("language_model")}
BOTH = {"n_encoder_layers": 2, "n_decoder_layers": 3, "head": Choice("language_model"), "tie_embeddings": "all"}
MODELS: dict[str, dict[str, Any]] = {
    "post": ENCODER | {"norm_order": "post"},
    "pre": ENCODER | {"norm_order": "pre", "activation": "gelu"},
    "parallel": DECODER | {"norm_order": "parallel", "activation": "gelu_tanh"},
    "gated": ENCODER | {"norm_order": "pre", "feed_forward": "gated", "activation": "silu"},
    "rotary": DECODER | {"norm_order": "pre", "position": "rotary", "bias": False},
    "RMSNorm": DECODER | {"norm_order": "pre", "norm": "rms", "position": "rotary", "embedding_scale": False},
    "ALiBi": DECODER | {"norm_order": "post", "position": "alibi"},
    "relative": ENCODER | {"norm_order": "pre", "position": "relative", "attention_scale": 1.0},
    "grouped heads": DECODER | {"norm_order": "pre", "n_kv_heads": 2, "position": "rotary", "qk_norm": True},
    "no positions": ENCODER | {"position": "none", "head": Choice("classifier", {"classes": 1, "pool": "mean"})},
    "window": DECODER | {"norm_order": "pre", "window": 2, "position": "learned"},
    "embedding norm": ENCODER | {"embedding_norm": True, "position": "learned", "segments": 2},
    "masked words": ENCODER | {"head": Choice("language_model", {"transform": True, "bias": True})},
    "encoder-decoder post": BOTH | {"norm_order": "post"},
    "encoder-decoder pre": BOTH | {"norm_order": "pre", "activation": "gelu"},
    "encoder-decoder parallel": BOTH | {"norm_order": "parallel"},
    "encoder-decoder relative": BOTH
    | {"norm_order": "pre", "norm": "rms", "position": "relative", "head": Choice("language_model", {"scale": True})},
}
IMPORTED = ("bert", "bert classifier", "roberta", "gpt2", "gpt2 untied", "llama", "mistral", "qwen2")
RUNS: dict[str, Callable[[Path], Path]] = {
    "trained translator": small_translator.trained,
    "trained classifier": small_classifier.trained,
}
BOUND = 1e-12  # relative, in float64


# --- the stories ---


def read(text: str) -> TokenizedText:
    """Words, numbered."""
    words = text.split()
    return TokenizedText(words, torch.tensor([[3 + sorted(set(words)).index(word) for word in words]]))


def reader(model: nn.Module) -> Reader:
    """In float64; no norm is 1 and no bias 0."""
    return Reader(reference.lively(model).double().eval(), read, read, lambda token: f"#{token}")


@cache
def of_config(name: str, layer: int = 0, head: int = 3) -> Story:
    config = ModelConfig(**SIZES | MODELS[name])
    target = TARGET if config.family == "encoder-decoder" else None
    return follow(name, config, TEXT, target=target, layer=layer, head=head, trained=reader(build(config, seed=3)))


def of_folder(name: str, folder: Path, head: int = 1) -> Story:
    loaded = load(folder)
    config = loaded.config.model
    if loaded.tokenizers is None or name in IMPORTED:
        return follow(name, config, TEXT, layer=1, head=head, trained=reader(loaded.model))
    target = TARGET if config.family == "encoder-decoder" else None
    loaded.model.double()
    return follow(name, config, "나는 학교에 간다", target=target, head=head, trained=loaded.reader())


# --- reading a formula ---

TOKEN = re.compile(r"\s*(softmax|sigmoid|concat|rotate|tanh|mean|max|flatten|GELU_tanh|GELU|SiLU|LayerNorm|RMSNorm"
                   r"|logits|memory|d_model|d_k|[A-Za-z][A-Za-z0-9_]*|\d[\d.e+-]*|[()\[\],+·⊙/√ᵀ])")  # fmt: skip


@dataclass
class Work:
    """One formula: what its names stand for, and which module its norm is."""

    rows: dict[str, Tensor]
    names: dict[str, Any]
    norm: Any
    heads: int
    positions: Any
    left: list[str] = field(default_factory=list)

    def out(self, formula: str) -> Tensor:
        self.left = TOKEN.findall(formula)
        assert "".join(self.left) == formula.replace(" ", ""), formula
        value = self.sum()
        assert not self.left, f"{formula}: {self.left} was not understood"
        return value

    def take(self, wanted: str = "") -> str:
        token = self.left.pop(0)
        assert not wanted or token == wanted
        return token

    def sum(self) -> Any:
        value = self.product()
        while self.left and self.left[0] == "+":
            self.take()
            value = value + self.product()
        return value

    def product(self) -> Any:
        value = self.factor()
        while self.left and self.left[0] not in "+),]":
            match self.left[0]:
                case "·":
                    self.take()
                    value = value * self.factor()
                case "⊙":
                    self.take()
                    value = value * self.factor()
                case "/":
                    self.take()
                    value = value / self.factor()
                case _:
                    value = value @ self.factor()
        return value

    def factor(self) -> Any:
        token = self.take()
        if token == "(":
            value = self.sum()
            self.take(")")
        elif token == "√":
            value = math.sqrt(self.names[self.take()])
        elif token[0].isdigit():
            value = float(token)
        elif self.left and self.left[0] == "(" and token not in self.rows:
            value = self.call(token)
        elif self.left and self.left[0] == "[":
            self.take()
            value = self.look_up(token, self.take())
            self.take("]")
        else:
            value = self.rows[token] if token in self.rows else self.names[token]
            value = shared(value, self.heads) if token in ("K", "V") else value
        if self.left and self.left[0] == "ᵀ":
            self.take()
            value = value.transpose(-2, -1)
        return value

    def look_up(self, what: str, which: str) -> Tensor:
        if which in ("first", "last"):
            return self.rows[what][0 if which == "first" else -1]
        table: Tensor = self.names[what]
        return table[self.names[which]]

    def call(self, name: str) -> Tensor:
        self.take("(")
        if name == "max" and self.left[0] == "0":
            self.take()
            self.take(",")
            name = "relu"
        x: Tensor = self.sum()
        self.take(")")
        match name:
            case "softmax":
                return x.softmax(-1)
            case "LayerNorm" | "RMSNorm":
                return self.normed(name, x)
            case "rotate":
                x = self.by_head(x)
                return rotate(x, self.positions.rotation(torch.arange(x.shape[1]), x.dtype))
            case "concat":
                return x.transpose(0, 1).flatten(1)
            case "mean":
                return x.mean(0)
            case "max":
                return x.amax(0)
            case "GELU_tanh":
                return F.gelu(x, approximate="tanh")
        simple = {"relu": F.relu, "GELU": F.gelu, "SiLU": F.silu, "tanh": torch.tanh, "sigmoid": torch.sigmoid}
        return simple[name](x)

    def normed(self, name: str, x: Tensor) -> Tensor:
        norm = self.norm
        if x.shape[-1] != norm.weight.shape[0]:
            x = x.unflatten(-1, (-1, norm.weight.shape[0])).transpose(0, 1)
        if name == "LayerNorm":
            x = x - x.mean(-1, keepdim=True)
        x = x / (x.square().mean(-1, keepdim=True) + norm.eps).sqrt() * norm.weight
        return x if getattr(norm, "bias", None) is None else x + norm.bias

    def by_head(self, x: Tensor) -> Tensor:
        return x if x.dim() == 3 else x.unflatten(-1, (-1, self.names["d_k"])).transpose(0, 1)


def shared(x: Tensor, heads: int) -> Tensor:
    return x if x.shape[0] == heads else x.repeat_interleave(heads // x.shape[0], 0)


# --- what the names stand for ---


def names_of(story: Story, tap: str) -> dict[str, Any]:
    """Parameters by the names that the formulas give them, for the box that a tap belongs to."""
    model: Any = story.network
    box = model.get_submodule(tap.rpartition(".")[0].partition("#")[0])
    stack = model.get_submodule(tap.partition(".")[0]) if tap.startswith(("encoder", "decoder")) else None
    found: dict[str, Any] = {"E": embedding_of(model, tap).weight}
    found["d_model"] = found["E"].shape[1]
    for letter, name in (("Q", "w_q"), ("K", "w_k"), ("V", "w_v"), ("O", "w_o"), ("1", "w_1"), ("2", "w_2"),
                         ("gate", "w_gate"), ("t", "transform"), ("p", "pooler")):  # fmt: skip
        part = getattr(box, name, None)
        if part is not None:
            found |= {f"W_{letter}": part.weight.T, f"b_{letter}": part.bias}
    output = getattr(box, "output", None)
    if output is not None:
        found |= {"W": output.weight.T, "b": output.bias}
    elif tap == "head.logits":
        found |= {"W": box.weight, "b": box.bias, "c": box.offset}
    found |= {"d_k": box.d_k} if "attention" in tap and hasattr(box, "d_k") else {}
    if stack is not None and tap.endswith(".weights"):
        t, s = story.trace[tap].shape[-2:]
        if stack.positions.acts_on == "scores":
            found["B"] = stack.positions(t, s, story.trace[tap])
        far = torch.arange(t)[:, None] - torch.arange(s)[None]
        hidden = (far < 0) if stack.causal else torch.zeros_like(far).bool()
        hidden = hidden if stack.window is None else hidden | (far.abs() >= stack.window)
        found["M"] = torch.zeros(t, s).double().masked_fill(hidden, -math.inf)
    if stack is not None and tap.endswith(".input") and stack.positions.acts_on == "stream":
        table = stack.positions.table if hasattr(stack.positions, "table") else stack.positions.weight
        first = getattr(stack.positions, "offset", 0)
        found["P"] = table[first : first + story.trace[tap].shape[1]]
    return found


def embedding_of(model: Any, tap: str) -> Any:
    separate = getattr(model, "target_embedding", None)
    return separate if separate is not None and not tap.startswith(("embedding", "encoder")) else model.embedding


def norm_of(model: nn.Module, tap: str) -> Any:
    """The norm that a row speaks of."""
    path, _, name = tap.rpartition(".")
    here = {
        "input": "embedding_norm",
        "after_self_attention": "self_attention_norm",
        "after_cross_attention": "cross_attention_norm",
        "q": "q_norm",
        "k": "k_norm",
        "logits": "norm",
    }
    if name == "output" and ".blocks." in tap:
        return model.get_submodule(path if path.endswith("norm") else f"{path}.feed_forward_norm")
    return model.get_submodule(path + "." + ("final_norm" if name == "output" else here[name]))


@dataclass(frozen=True)
class Checked:
    """A row: its formula and how far it is from what was recorded, relative to the largest number."""

    step: str
    formula: str
    shape: str
    difference: float


def checked(story: Story, ids: Tensor, target_ids: Tensor | None) -> list[Checked]:
    """Each row from the rows before it."""
    rows: dict[str, Tensor] = {}
    found = []
    for step in story.steps():
        symbol, formula = step.label.formula.split(" = ")
        tap = step.label.tap
        recorded = story.trace[tap][0]
        if symbol == "p":
            recorded = step.numbers if recorded.dim() == 2 else step.numbers[0]
        if " of layer " in formula:
            rows[symbol] = recorded  # nothing is computed; that layer is followed by another story
            continue
        names = names_of(story, tap)
        decoding = target_ids is not None and not tap.startswith(("encoder", "embedding.output"))
        decoding = decoding or tap == "embedding.output#2"
        names |= {"token": (target_ids if decoding and target_ids is not None else ids)[0], "segment": 0}
        if " S[" in f" {formula}":
            names["S"] = story.network.get_submodule("embedding").segments
        has_norm = "Norm(" in formula
        stack: Any = story.network.get_submodule(tap.partition(".")[0]) if ".blocks." in tap else None
        work = Work(
            rows,
            names,
            norm_of(story.network, tap) if has_norm else None,
            recorded.shape[0],
            stack.positions if stack is not None else None,
        )
        with torch.no_grad():
            value = work.out(formula)
        if recorded.dim() == 3 and value.dim() == 2:
            value = value.unflatten(-1, (recorded.shape[0], -1)).transpose(0, 1)
        assert value.shape == recorded.shape, (step.label, value.shape, recorded.shape)
        size = float(recorded.abs().max())
        found.append(Checked(step.key, step.label.formula, step.shape, float((value - recorded).abs().max()) / size))
        rows[symbol] = recorded
    return found


def told(name: str, layer: int = 0) -> list[Checked]:
    story = of_config(name, layer)
    return checked(story, read(TEXT).ids, None if story.target is None else read(TARGET).ids)


@pytest.mark.many
@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("name", MODELS)
def test_every_formula_gives_the_numbers_of_its_row(name: str, layer: int) -> None:
    rows = told(name, layer)
    assert len(rows) > 12
    worst = max(rows, key=lambda row: row.difference)
    assert worst.difference <= BOUND, worst


@pytest.mark.parametrize("name", IMPORTED)
def test_of_imported_models(name: str) -> None:
    story = of_folder(name, reference.reference(name)[1])
    rows = checked(story, read(TEXT).ids, None)
    worst = max(rows, key=lambda row: row.difference)
    assert worst.difference <= BOUND, worst


@pytest.mark.parametrize("name", RUNS)
def test_of_trained_runs(name: str, tmp_path: Path) -> None:
    folder = RUNS[name](tmp_path)
    story = of_folder(name, folder)
    loaded = load(folder).reader()
    target = None if story.target is None else loaded.target(TARGET).ids
    rows = checked(story, loaded.source("나는 학교에 간다").ids, target)
    worst = max(rows, key=lambda row: row.difference)
    assert worst.difference <= BOUND, worst


# --- what the labels say of each form ---


def formulas(name: str) -> list[str]:
    return [step.label.formula for step in of_config(name).steps()]


def test_pre_norm_shows_its_norm_and_sums_plainly() -> None:
    said = formulas("pre")
    assert said[2:4] == ["n = LayerNorm(x)", "Q = n W_Q + b_Q"]
    assert "u = x + O" in said and "z = u + f" in said
    assert "h = GELU(n W_1 + b_1)" in said


def test_post_norm_normalises_the_sum() -> None:
    said = formulas("post")
    assert "Q = x W_Q + b_Q" in said
    assert "u = LayerNorm(x + O)" in said and "z = LayerNorm(u + f)" in said
    assert not [formula for formula in said if formula.startswith("n = ")]


def test_the_other_forms() -> None:
    assert "z = x + O + f" in formulas("parallel")
    assert "h = g ⊙ (n W_1 + b_1)" in formulas("gated")
    assert "Q = rotate(n W_Q)" in formulas("rotary")
    assert "n = RMSNorm(x)" in formulas("RMSNorm") and "e = E[token]" in formulas("RMSNorm")
    assert "A = softmax(S + B + M)" in formulas("ALiBi")
    assert "S = Q Kᵀ" in formulas("relative")
    assert "Q = rotate(LayerNorm(n W_Q + b_Q))" in formulas("grouped heads")
    assert "x = LayerNorm(e + P)" in formulas("embedding norm")


def test_with_a_target_the_decoder_is_followed_to_the_next_token() -> None:
    story = of_config("encoder-decoder pre")
    said = [step.label.formula for step in story.steps()]
    assert said.index("memory = LayerNorm(z)") < said.index("A = softmax(S + M)") < said.index("K = memory W_K + b_K")
    assert said[-3:] == ["y = LayerNorm(z)", "logits = y Eᵀ", "p = softmax(logits)"]
    last = list(story.steps())[-1]
    assert last.tokens == TARGET.split()
    assert last.top is not None
    whole = story.trace["head.logits"][0].softmax(-1)
    assert [row[0][0] for row in last.top] == [f"#{token}" for token in whole.argmax(-1).tolist()]


def test_a_decoder_alone_ends_with_the_next_token_and_a_classifier_with_its_classes() -> None:
    assert formulas("rotary")[-1] == "p = softmax(logits)"
    assert formulas("pre")[-3:] == ["q = y[first]", "logits = q W + b", "p = softmax(logits)"]
    assert formulas("no positions")[-3:] == ["q = mean(y)", "logits = q W + b", "p = sigmoid(logits)"]


def table() -> str:
    """The evidence: for each form every label, and how far its formula is from the row."""
    from glassformer.show import Column, Sheet, Table, as_text

    parts = []
    for name in MODELS:
        made = Table(Column("step", "name"), Column("formula", "name"), Column("shape", "name"),
                     Column("largest relative difference", "number"), title=name)  # fmt: skip
        for row in told(name):
            made.add(row.step, row.formula, row.shape, f"{row.difference:.1e}")
        parts.append(made)
    return as_text(Sheet(*parts))


if __name__ == "__main__":
    sys.stdout.write(table())
