"""The costs of a pass, read off its steps: products and kept bytes by row, each storage counted once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from glassformer.formula import evaluate_formula
from glassformer.ledger.groups import Boxes
from glassformer.models.in_symbols import InSymbols
from glassformer.symbols.run import Product, Step
from glassformer.symbols.size import Dim, product_text, values
from glassformer.symbols.tensor import Storage


@dataclass(frozen=True)
class CostEntry:
    """A product (FLOPs of the forward pass) or a kept tensor (bytes): its name and its formula."""

    name: str
    formula: str
    values: dict[str, int]
    backward: int = 0  # products that the backward pass computes for this one: gradients of two factors, or of one
    recomputed: bool = False  # in a recomputed block: kept only while the backward pass is in it
    takes: str = ""  # of a product with a matrix: the bytes of its input,
    gives: str = ""  # and of its output

    @cached_property
    def amount(self) -> int:
        return evaluate_formula(self.formula, self.values)


@dataclass
class Account:
    """One row: its products and what it keeps, in the order of the pass."""

    products: list[CostEntry] = field(default_factory=list)
    kept: list[CostEntry] = field(default_factory=list)


def read_rows(in_symbols: InSymbols, steps: Iterable[Step], *, recompute: bool, triangle: bool) -> dict[str, Account]:
    """The rows in order of their first step; a layer represents all that are identical to it."""
    reader = _RowReader(in_symbols, recompute, triangle)
    for step in steps:
        reader.step(step)
    return reader.accounts


class _RowReader:
    def __init__(self, in_symbols: InSymbols, recompute: bool, triangle: bool) -> None:
        self.boxes, self.recompute, self.triangle = Boxes(in_symbols.model), recompute, triangle
        self.accounts: dict[str, Account] = {}
        self._charged: set[int] = set()
        self._storages: list[Storage] = []  # kept alive, so that their ids are not reused
        self._recomputing = False
        self._since: list[tuple[Account, int]] = []  # products after the last tensor that was kept

    def step(self, step: Step) -> None:
        match step.function:
            case "enter":
                self._enter(step)
            case "leave":
                self._leave()
            case _ if step.kept or step.products:
                part = self.boxes.part(step.path, step.function)
                for name, storage in step.kept:
                    self._keep(part, name, storage)
                for product in step.products:
                    self._product(part, step, product)

    def _enter(self, step: Step) -> None:
        """A recomputed block keeps its inputs; everything inside is kept only for a while."""
        if self.recompute:
            for x in step.operands:
                self._keep(f"{step.path}.input", "block.input", x.storage_)
            self._recomputing = True

    def _leave(self) -> None:
        """Recomputing stops as soon as all kept tensors are restored: later products are not repeated."""
        if self.recompute:
            for account, number in self._since:
                account.products[number] = replace(account.products[number], recomputed=False)
        self._recomputing = False

    def _keep(self, part: str, name: str, storage: Storage) -> None:
        self._since.clear()
        if storage.given or id(storage) in self._charged:
            return
        self._charged.add(id(storage))
        self._storages.append(storage)
        entry = CostEntry(name, product_text(storage.size), values(storage.size), recomputed=self._recomputing)
        self.accounts.setdefault(part, Account()).kept.append(entry)

    def _product(self, part: str, step: Step, product: Product) -> None:
        account = self.accounts.setdefault(part, Account())
        self._since.append((account, len(account.products)))
        formula, sizes = product.formula, values(product.factors)
        if self.triangle and self._looks_back(step):
            pairs = Dim("(t×(s-t)+t×(t+1)÷2)", 1)
            rest = [factor for factor in product.factors if not (isinstance(factor, Dim) and factor.written in "ts")]
            formula = product_text([*rest[:-1], pairs, rest[-1]])
        name, x, y = product.name or step.tap, step.operands[0], step.result
        takes, gives = (*x.shape, x.storage_.size[-1]) if x.storage_.size else (), y.storage_.size
        sizes |= values((*takes, *gives))
        account.products.append(
            CostEntry(
                name, formula, sizes, product.gradients, self._recomputing, product_text(takes), product_text(gives)
            )
        )

    def _looks_back(self, step: Step) -> bool:
        """Is it a product under a look-ahead mask? The mask comes after it, so the stack must tell."""
        stack, _, inside = step.path.partition(".blocks.")
        return inside.endswith(".self_attention") and bool(getattr(self.boxes.modules[stack], "causal", False))
