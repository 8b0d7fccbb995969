from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
import torch

from glassformer.tasks.embed import embed, similarities
from small_models import saved, small
from typed import typed

TEXTS = ["나는 학교에 간다.", "he", "[bold]he"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(small("features"), tmp_path_factory.mktemp("run"))


run = typed("embed")


@pytest.mark.parametrize("pool", ["mean", "cls"])
def test_the_json_of_the_contract(pool: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, folder, *TEXTS, "--pool", pool, "--json")
    found = json.loads(out)
    assert (code, err, list(found)) == (0, "", ["embeddings", "unseen", "longer_than"])
    torch.testing.assert_close(torch.tensor(found["embeddings"]), embed(small("features"), TEXTS, pool))


def test_lines_of_the_input_and_none(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for texts in (TEXTS, []):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(texts).encode())))
        code, out, _ = run(capsys, folder, "--json")
        found = torch.tensor(json.loads(out)["embeddings"]).view(-1, 16)
        assert code == 0
        torch.testing.assert_close(found, embed(small("features"), texts))


def test_how_alike_they_are(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, folder, *TEXTS)
    cosine = similarities(embed(small("features"), TEXTS))[0, 1].item()
    assert code == 0 and f"{cosine:.3f}" in out and "1.000" in out and "[bold]he" in out
    assert "Cosine of the angle" in out


def test_many_sentences_are_shown_with_their_nearest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [f"the number {number}" for number in range(11)] + ["the number 3"]
    code, out, _ = run(capsys, folder, *texts, "--lang", "ko")
    assert code == 0 and "가장 가까운 문장" in out and "12 the number 3" in out and "1.000" in out


def test_what_cannot_be_done(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, folder, "he", "--pool", "middle")
    assert (code, out, err) == (
        1,
        "",
        "pool='middle' is unknown; use one of: mean, cls, max, last, weighted, mean_sqrt\n",
    )
    code, out, err = run(capsys, saved(small("image_classification"), tmp_path), "he")
    assert (code, out) == (1, "") and err.startswith("small-image-classification takes 'image' as input, not text")
    code, out, err = run(capsys, folder, "he", "he " * 60)
    assert code == 1 and err.startswith("line 2: the text has ") and "1.000" in out
