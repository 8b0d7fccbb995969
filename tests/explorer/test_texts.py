from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import glassformer as gf
from explorer_client import client, tiny_run
from glassformer.explorer.texts import lesson_text
from glassformer.lessons.catalogue import LESSONS


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_lesson_beside_a_step(lang: str) -> None:
    asked = client(tiny_run("translation"))
    found = asked.get("/api/lesson/layer_norm", params={"lang": lang}).json()
    assert found["name"] == "layer_norm" and found["title"]
    assert found["easy"].startswith("<p") and "<" in found["deep"]
    assert asked.get("/api/lesson/nothing").status_code == 404


def test_what_a_norm_has_learned() -> None:
    run = tiny_run("translation")
    norm = gf.load(run).model.get_submodule("encoder.final_norm")
    asked = client(run)
    found = asked.get("/api/norm", params={"model": run.name, "name": "encoder.final_norm"}).json()
    assert torch.equal(torch.tensor(found["scale"]), norm.weight.detach())
    assert asked.get("/api/norm", params={"model": run.name, "name": "encoder"}).status_code == 422


def test_many_lessons_are_read_at_once() -> None:
    names = [*LESSONS][:6]
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda name: lesson_text(name, "en")["name"], names * 4))
    assert found == names * 4
