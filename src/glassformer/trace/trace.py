"""The record of one pass: tensors by name, their gradients, the tokens. It can be saved and opened again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torch import Tensor

from glassformer.config.values import word
from glassformer.errors import FileError, InputError, suggest
from glassformer.files import write_bytes
from glassformer.show import Column, Table, as_text
from glassformer.words import say

FORMAT = "1"
GRADIENT = "gradient:"  # in front of the name, in the file


class Trace:
    """`trace["encoder.blocks.0.self_attention.scores"]`; prints as a table of names and shapes."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.gradients: dict[str, Tensor] = {}
        self.tokens: list[str] = []

    def names(self) -> list[str]:
        """Every recorded name, in the order of the pass."""
        return list(self.tensors)

    def __getitem__(self, name: str) -> Tensor:
        return self._find(name, self.tensors)

    def gradient(self, name: str) -> Tensor:
        """The gradient of the same tensor, after `backward()`, if recorded with `gradients=True`."""
        return self._find(name, self.gradients)

    @staticmethod
    def _find(name: str, tensors: dict[str, Tensor]) -> Tensor:
        if word("name", name) not in tensors:
            raise InputError("no_such_tap", name=name, hint=suggest(name, tensors))
        return tensors[name]

    def __contains__(self, name: object) -> bool:
        return name in self.tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def attention(self, kind: str = "self_attention") -> list[Tensor]:
        """One map b h t s for each layer; `.mean(1)` averages the heads. `kind="cross_attention"`: over the memory."""
        wanted = (f"{kind}.weights", "weights")  # the second: an attention recorded by itself
        return [x for name, x in self.tensors.items() if ".".join(name.split(".")[-2:]) in wanted]

    # --- files ---

    def save(self, path: str | Path) -> None:
        """Write safetensors, with tokens and names; under another name first, so that no file is left half written."""
        from safetensors.torch import save

        path = Path(path)
        both = {**self.tensors, **{GRADIENT + name: x for name, x in self.gradients.items()}}
        whole = {name: x.detach().cpu().contiguous().clone() for name, x in both.items()}
        about = {
            "format": FORMAT,
            "tokens": json.dumps(self.tokens, ensure_ascii=False),
            "names": json.dumps(list(both)),
        }
        write_bytes(path, save(whole, metadata=about))

    @classmethod
    def open(cls, path: str | Path) -> Trace:
        """Read what `save` wrote."""
        from safetensors import SafetensorError, safe_open

        trace = cls()
        if not Path(path).is_file():
            raise FileError("no_such_file", path=path)
        try:
            with safe_open(str(path), framework="pt") as file:
                about = file.metadata() or {}
                if about.get("format") != FORMAT:
                    raise FileError("not_a_trace", path=path)
                trace.tokens = json.loads(about["tokens"])
                for name in json.loads(about["names"]):
                    into = trace.gradients if name.startswith(GRADIENT) else trace.tensors
                    into[name.removeprefix(GRADIENT)] = file.get_tensor(name)
        except (SafetensorError, KeyError, ValueError) as error:
            raise FileError("not_a_trace", path=path) from error
        except OSError as error:
            raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error
        return trace

    # --- display ---

    def shown(self) -> Table:
        """Every name with its shape and type."""
        table = Table(*(Column(say(f"trace.{column}"), "name") for column in ("step", "shape", "dtype")))
        for name, x in self.tensors.items():
            table.add(name, "×".join(map(str, x.shape)), str(x.dtype).removeprefix("torch."))
        return table

    def __rich__(self) -> Table:
        return self.shown()

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return self.shown().to_html()

    def to_json(self) -> list[dict[str, Any]]:
        return [{"name": name, "shape": list(x.shape)} for name, x in self.tensors.items()]
