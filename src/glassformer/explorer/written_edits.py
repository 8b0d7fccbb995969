"""The interference of a request as lines of Python: what `gf.edit` takes, with functions where it needs them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from torch import nn

from glassformer.explorer.fields import Fields
from glassformer.trace.catalogue import taps

READY = {
    "zero": ("zero", ""),
    "scale": ("scale", "factor"),
    "replace": ("replace", "value"),
}  # kind → of gf, its number
OF_A_CELL = {"zero": "0.0", "scale": "x{at} * {factor}", "replace": "{value}"}


@dataclass
class EditCode:
    """`entries` follow each other; several of one name need several contexts, one inside the other."""

    functions: list[list[str]] = field(default_factory=list)
    entries: list[tuple[str, str]] = field(default_factory=list)
    unobserved: bool = False

    @property
    def table(self) -> str:
        """The list of tables for `gf.edit`, one line for each entry; "" if nothing is edited."""
        if not self.entries:
            return ""
        tables = "".join(
            "    {\n" + "".join(f"        {_text(name)}: {change},\n" for name, change in table.items()) + "    },\n"
            for table in self._tables()
        )
        if len(self._tables()) == 1:
            lines = (f"    {_text(name)}: {change},\n" for name, change in self.entries)
            return "{\n" + "".join(lines) + "}"
        return "[\n" + tables + "]"

    @property
    def contexts(self) -> list[str]:
        """The inner one acts first."""
        count = len(self._tables())
        return ["gf.edit(model, edits)"] if count == 1 else [f"gf.edit(model, edits[{i}])" for i in range(count)][::-1]

    def _tables(self) -> list[dict[str, str]]:
        """Each name once in a table; from the second time on, a new table begins."""
        tables: list[dict[str, str]] = []
        for name, change in self.entries:
            if not tables or name in tables[-1]:
                tables.append({})
            tables[-1][name] = change
        return tables

    def define(self, name: str, lines: list[str]) -> str:
        """A function of one tensor; its name, which no other has."""
        own = f"{name}_{len(self.functions) + 1}"
        self.functions.append([f"def {own}(x):", *(f"    {line}" for line in lines)])
        return own


def written_edits(model: nn.Module, edits: list[Fields], asked: str | None) -> EditCode:
    """All edits. Scores that are `asked` for stay as they were before a cell was hidden, as on the page."""
    found, known = EditCode(), list(taps(model))
    hidden = False
    for edit in edits:
        for name in _names(edit, known, asked):
            hidden = hidden or (name == asked and edit["kind"] == "forbid")
            if not (hidden and name == asked):
                MAKERS[edit["kind"]](found, model, name, edit)
            elif edit["kind"] == "forbid":
                _forbid_weights(found, name, edit)
    return found


def _names(edit: Fields, known: list[str], asked: str | None) -> Iterator[str]:
    """The pattern of an edit as it is, or name by name where each needs its own function."""
    pattern = str(edit["name"])
    if edit["kind"] == "forbid":
        pattern = pattern.removesuffix(".scores").removesuffix(".weights") + ".scores"
    names = [name for name in known if fnmatchcase(name, pattern)]
    whole = edit["kind"] in READY and edit.get("column") is None and asked not in names
    yield from [pattern] if whole else names


def _change(found: EditCode, model: nn.Module, name: str, edit: Fields) -> None:
    function, key = READY[edit["kind"]]
    if edit.get("column") is not None:
        own = OF_A_CELL[edit["kind"]].format(at=_at(edit), **{key: _number(edit, key)} if key else {})
        lines = ["x = x.clone()", f"x{_at(edit)} = {own}", "return x"]
        found.entries.append((name, found.define(edit["kind"], lines)))
        return
    given = [_number(edit, key)] if key else []
    given += [f"{key}={edit[key]}" for key in ("head", "row") if edit.get(key) is not None]
    found.entries.append((name, f"gf.{function}({', '.join(given)})"))


def _forbid(found: EditCode, model: nn.Module, name: str, edit: Fields) -> None:
    lines = ["x = x.clone()", f"x{_at(edit)} = torch.finfo(x.dtype).min / 2  # e to this power is 0", "return x"]
    found.entries.append((name, found.define("hide", lines)))
    _forbid_weights(found, name, edit)


def _forbid_weights(found: EditCode, name: str, edit: Fields) -> None:
    lines = ["x = x.clone()", f"x{_at(edit)} = 0.0", "return x"]
    found.entries.append((name.removesuffix("scores") + "weights", found.define("forbid", lines)))


def _draw(found: EditCode, model: nn.Module, name: str, edit: Fields) -> None:
    value = _number(edit, "value")
    lines = [
        "chosen = torch.zeros_like(x, dtype=torch.bool)",
        f"chosen{_at(edit)} = True",
        "others = x.masked_fill(chosen, 0.0)",
        f"left = (1.0 - {value} * chosen.sum(-1, keepdim=True)).clamp(min=0.0)",
        "others = others * left / others.sum(-1, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)",
        f"drawn = torch.where(chosen, torch.full_like(x, {value}), others)",
        "return torch.where(chosen.any(-1, keepdim=True), drawn, x)",
    ]
    found.entries.append((name, found.define("draw", lines)))


def _skip(found: EditCode, model: nn.Module, name: str, edit: Fields) -> None:
    stack, _, number, _ = name.split(".")
    before = f"{stack}.input" if number == "0" else f"{stack}.blocks.{int(number) - 1}.output"
    found.entries.append((before, _kept(found)))
    found.entries.append((name, found.define("skip", [f"return {_last_kept(found)}[0]"])))


def _residual(found: EditCode, model: nn.Module, name: str, edit: Fields) -> None:
    path, _, tap = name.rpartition(".")
    part = tap.removeprefix("after_") if tap != "output" else "feed_forward"
    found.entries.append((f"{path}.{part}.output", _kept(found)))
    came = f"{_last_kept(found)}[0]"
    block: Any = model.get_submodule(path)
    if block.norm_order == "pre":
        lines = [f"return {came}"]
    else:
        found.unobserved = True
        norm = f"model.get_submodule({_text(f'{path}.{part}_norm')})"
        lines = ["with unobserved():", f"    return {norm}({came})"]
    found.entries.append((name, found.define("unshortened", lines)))


def _kept(found: EditCode) -> str:
    """A function that keeps what passes, for another to use."""
    number = len(found.functions) + 1
    lines = [f"kept_{number}[:] = [x]", "return x"]
    found.define("keep", lines)
    found.functions[-1][:0] = [f"kept_{number} = []", "", ""]
    return f"keep_{number}"


def _last_kept(found: EditCode) -> str:
    return f"kept_{len(found.functions)}"


def _at(edit: Fields) -> str:
    """Heads, rows and columns as an index of b h t s, or of b t d."""
    parts = [edit.get(key) for key in ("head", "row", "column")]
    shown = [":" if part is None else str(part) for part in parts]
    if edit.get("head") is None:
        return f"[..., {shown[1]}, {shown[2]}]"
    return f"[:, {', '.join(shown)}]"


def _number(edit: Fields, key: str) -> str:
    return repr(float(edit[key]))


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


MAKERS: Mapping[str, Callable[[EditCode, nn.Module, str, Fields], None]] = {
    "zero": _change,
    "scale": _change,
    "replace": _change,
    "forbid": _forbid,
    "draw": _draw,
    "skip": _skip,
    "residual": _residual,
}
