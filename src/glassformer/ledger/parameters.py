"""The parameter ledger: every parameter and buffer of a model, by formula, from the configuration alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.ledger import show
from glassformer.ledger.costs import Cost, Pass, Passed, distinct_costs, passed
from glassformer.ledger.memory import MemoryUse, memory_of
from glassformer.ledger.rows import ParameterRow, Total, distinct_rows
from glassformer.ledger.show import cost_sums, costs_table, memory_table
from glassformer.models.in_symbols import InSymbols
from glassformer.show import Sheet, as_html, as_text
from glassformer.symbols.run import Step


@dataclass(frozen=True, repr=False)
class Ledger:
    """What a model holds. Prints as a table, in a notebook too; `to_json()` is what `--json` prints.

    With a pass, also `costs`, `memory` and `steps`: every torch function that the real `forward` calls, see `Step`.
    """

    model: str
    config: ModelConfig
    in_symbols: InSymbols  # the model, with its distinct layers
    rows: Mapping[str, ParameterRow]  # of these layers
    run: Pass | None = None  # if given, its FLOPs and bytes are counted too

    @cached_property
    def parts(self) -> tuple[ParameterRow, ...]:
        """Every row of the whole model, in the order of the data."""
        return tuple(self.rows[like].like(name) for name, like in self.in_symbols.everywhere(self.rows))

    @cached_property
    def total(self) -> Total:
        return Total.of(self.rows.values(), self.in_symbols.times)

    @cached_property
    def _passed(self) -> Passed | None:
        return None if self.run is None else passed(self.config, self.run)

    @cached_property
    def _costs(self) -> dict[str, Cost]:
        """The costs of the distinct layers."""
        return {} if self.run is None or self._passed is None else distinct_costs(self._passed, self.run)

    @cached_property
    def costs(self) -> dict[str, Cost]:
        """FLOPs and kept bytes of the pass, by part; empty without a pass."""
        return {part: self._costs[like].like(part) for part, like in self.in_symbols.everywhere(self._costs)}

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Every torch function that the pass calls, in symbols, as `Step`s; empty without a pass."""
        return () if self._passed is None else self._passed.steps

    @cached_property
    def memory(self) -> MemoryUse | None:
        """Weights, gradients, optimiser state, KV cache and the peak of the pass."""
        if self.run is None or self._passed is None:
            return None
        return memory_of(self.config, self.run, self.in_symbols, self.rows, self._passed, self._costs)

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
                for each in show.sums(self.in_symbols, self.rows)
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
            "cost_sums": cost_sums(self.in_symbols, self._costs),
            "cost_total": {
                "flops_forward": sum(cost.forward for cost in every),
                "flops_backward": sum(cost.backward for cost in every),
                "saved_bytes": sum(cost.saved for cost in every),
            },
            "memory": self.memory.to_json() if self.memory else None,
        }

    def shown(self) -> Sheet:
        """The table of parameters; with a pass, also of its costs and its memory."""
        parameters = show.table(self.model, self.in_symbols, self.rows, None)
        if self.run is None or self.memory is None:
            return Sheet(parameters)
        spent = costs_table(self.in_symbols, self._costs, self.run, None)
        return Sheet(parameters, spent, memory_table(self.memory, self.run, None))

    def __rich__(self) -> Sheet:
        return self.shown()

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self.shown())


def count(model: str, config: ModelConfig, run: Pass | None = None) -> Ledger:
    """The ledger of a configuration, under a name; with a pass, its costs too."""
    return Ledger(model, config, *distinct_rows(config), run)
