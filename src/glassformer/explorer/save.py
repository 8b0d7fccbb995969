"""`glassformer explore MODEL --export FILE.html`: a page as a file, without a server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glassformer.errors import InputError, UsageError
from glassformer.explorer.export import exported
from glassformer.explorer.shelf import Offered, Shelf
from glassformer.explorer.sizes import examples
from glassformer.files import disk, write_text
from glassformer.loading import Loaded
from glassformer.runs.output import claim


def save_page(
    models: Sequence[str | Path],
    path: Path,
    *,
    text: str | None = None,
    layers: list[int] | None = None,
    force: bool = False,
    lang: str | None = None,
) -> Path:
    """Write the page of one model, the first of the package if none is named; `text` or its first example is run."""
    if len(models) > 1:
        raise UsageError("explorer_export_one", count=len(models))
    claim(path, force=force, inputs=models)
    with disk(path):
        path.parent.stat()  # said before the work
    offered = next(iter(Shelf(models)))
    with offered.use() as loaded:
        request = {"input": given(offered, loaded, text)} | ({} if layers is None else {"layers": layers})
        page = exported(offered, loaded, request, lang)
    write_text(path, page)
    return path


def given(offered: Offered, loaded: Loaded, text: str | None) -> dict[str, Any]:
    """The input of the pass."""
    kind = loaded.config.model.input.kind
    if kind != "tokens":
        if text is not None:
            raise InputError("explorer_export_text", model=offered.name, input=kind)
        return {"example": 0}
    first = next(iter(examples(offered, loaded)), {"text": ""})  # none without a tokenizer, which is said later
    return {"text": first["text"] if text is None else text}
