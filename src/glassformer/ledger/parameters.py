"""The parameter ledger: every parameter and buffer of a model, by formula, from the configuration alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.ledger import show
from glassformer.ledger.costs import Cost, Pass, costs, steps
from glassformer.ledger.memory import MemoryUse, memory
from glassformer.ledger.row import ParameterRow
from glassformer.ledger.rows import rows as rows_of
from glassformer.ledger.show_costs import cost_sums, costs_table
from glassformer.ledger.show_memory import memory_table
from glassformer.show import Sheet, as_html, as_text
from glassformer.symbols.run import Step


@dataclass(frozen=True)
class Total:
    """A sum over rows."""

    parameters: int  # values of nn.Parameter, tied ones once
    trained: int  # those that require a gradient
    buffers: int  # registered tensors that are not trained

    @classmethod
    def of(cls, rows: Iterable[ParameterRow]) -> Total:
        parameters = trained = buffers = 0
        for row in rows:
            parameters, trained, buffers = parameters + row.parameters, trained + row.trained, buffers + row.buffers
        return cls(parameters, trained, buffers)


@dataclass(frozen=True, repr=False)
class Ledger:
    """What a model holds. Prints as a table, in a notebook too; `to_json()` is what `--json` prints."""

    model: str
    config: ModelConfig
    parts: tuple[ParameterRow, ...]
    run: Pass | None = None  # with a pass: its FLOPs and bytes, too

    @cached_property
    def total(self) -> Total:
        return Total.of(self.parts)

    @cached_property
    def costs(self) -> dict[str, Cost]:
        """FLOPs and kept bytes of the pass, by part; empty without one."""
        return {} if self.run is None else costs(self.config, self.run)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """What the pass does, function by function, in symbols; empty without one."""
        return () if self.run is None else steps(self.config, self.run)

    @cached_property
    def memory(self) -> MemoryUse | None:
        """Weights, gradients, optimiser state, KV cache and the peak of the pass."""
        return None if self.run is None else memory(self.config, self.run)

    def part(self, name: str) -> Total:
        """The sum of everything at or below a path: "encoder", "encoder.blocks.0.self_attention"."""
        return Total.of(row for row in self.parts if row.name == name or row.name.startswith(f"{name}."))

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "parts": [
                {
                    "name": row.name,
                    "formula": row.formula,
                    "numbers": row.numbers,
                    "values": {symbol: row.values[symbol] for symbol in row.symbols},
                    "parameters": row.parameters,
                    "trained": row.trained,
                    "buffers": row.buffers,
                    "share": show.share(row.parameters, self.total.parameters),
                    **({"tied": row.tied} if row.tied else {}),
                }
                for row in self.parts
            ],
            "sums": [
                {**each, "share": show.share(each["parameters"], self.total.parameters)}
                for each in show.sums(self.parts)
            ],
            "total": vars(self.total),
            **self._costs_json(),
        }

    def _costs_json(self) -> dict[str, Any]:
        if self.run is None:
            return {}
        every = self.costs.values()
        return {
            "pass": vars(self.run),
            "costs": [{"name": cost.part, **cost.to_json()} for cost in every],
            "cost_sums": cost_sums(self.costs),
            "cost_total": {
                "flops_forward": sum(cost.forward for cost in every),
                "flops_backward": sum(cost.backward for cost in every),
                "saved_bytes": sum(cost.saved for cost in every),
            },
            "memory": self.memory.to_json() if self.memory else None,
        }

    def shown(self) -> Sheet:
        """Parameters; with a pass its costs and its memory too."""
        parameters = show.table(self.model, self.parts, None)
        if self.run is None or self.memory is None:
            return Sheet(parameters)
        return Sheet(parameters, costs_table(self.costs, self.run, None), memory_table(self.memory, self.run, None))

    def __rich__(self) -> Sheet:
        return self.shown()

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self.shown())


def count(model: str, config: ModelConfig, run: Pass | None = None) -> Ledger:
    """The ledger of a configuration under a name; with a pass, its costs as well."""
    return Ledger(model, config, rows_of(config), run)
