from __future__ import annotations

from typing import Any

import pytest

import glassformer as gf
from explorer_client import INPUTS, foreign, tiny_run
from glassformer.explorer import greedy
from glassformer.explorer.inputs import read


@pytest.mark.parametrize("model", ["translation", "bart"])
def test_a_sentence_is_translated_once_and_its_ids_are_kept(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = gf.load(foreign("bart") if model == "bart" else tiny_run("translation"))
    given, searched, search = {"text": "the cat sees"} if model == "bart" else INPUTS["translation"], [], greedy.greedy

    def watched(*given: Any, **more: Any) -> Any:
        searched.append(given[1].tolist())
        return search(*given, **more)

    monkeypatch.setattr(greedy, "greedy", watched)
    monkeypatch.setattr(greedy, "KEPT", 2)
    first, again = (read(loaded, given) for _ in range(2))
    assert first.inputs[1].tolist() == again.inputs[1].tolist() and len(searched) == 1
    for words in ("a", "b"):  # two others, and the first is no longer known
        read(loaded, {"text": words})
    assert read(loaded, given).inputs[1].tolist() == first.inputs[1].tolist() and len(searched) == 4
    greedy.greedy_target(loaded, first.inputs[0][0].tolist()).append(7)  # what is returned is the asker's own
    assert read(loaded, given).inputs[1].tolist() == first.inputs[1].tolist()
