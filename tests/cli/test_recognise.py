from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from glassformer.tasks.image_classification.recognise import recognise
from small_models import LABELS, saved, small
from typed import typed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(small("image_classification"), tmp_path_factory.mktemp("run"))


@pytest.fixture
def images(tmp_path: Path) -> list[Path]:
    for name, colour in (("red", "red"), ("grün", "green")):
        Image.new("RGB", (5, 9), colour).save(tmp_path / f"{name}.png")
    return [tmp_path / "red.png", tmp_path / "grün.png"]


run = typed("recognise")


def test_a_line_for_each_image(folder: Path, images: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    found = recognise(small("image_classification"), images)
    expected = "".join(f"{one.input}\t{one.label}\t{one.probability:.4f}\n" for one in found)
    assert run(capsys, folder, *images) == (0, expected, "")
    assert len(run(capsys, folder, images[0], "--top", 2)[1].split("\t")) == 5


def test_json(folder: Path, images: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    first, second = json.loads(run(capsys, folder, *images, "--json")[1])
    assert [first["input"], second["input"]] == [str(path) for path in images]
    assert sorted(first["probabilities"]) == LABELS
    assert set(first) == {"input", "label", "probability", "probabilities"}


def test_a_bad_file_is_named_and_the_others_are_answered(
    folder: Path, images: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.png").write_text("no image")
    code, out, err = run(capsys, folder, images[0], tmp_path / "text.png", images[1], "--lang", "ko")
    assert (code, [line.split("\t")[0] for line in out.splitlines()]) == (1, [str(path) for path in images])
    assert err.count("\n") == 1 and err.startswith(f"{tmp_path / 'text.png'}: 읽을 수 있는 이미지가 아닙니다")
    code, out, _ = run(capsys, folder, images[0], tmp_path / "none.png", images[1], "--json")
    first, second, third = json.loads(out)
    assert code == 1 and second == {"input": str(tmp_path / "none.png"), "label": None}
    assert (first["input"], third["input"]) == (str(images[0]), str(images[1]))


def test_bad_use(folder: Path, images: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, folder)[0] == 2
    code, out, err = run(capsys, folder, images[0], "--top", 0)
    assert (code, out) == (1, "") and "top=0 is out of range" in err
    code, out, err = run(capsys, saved(small("features"), tmp_path), images[0])
    assert (code, out) == (1, "") and err.endswith("and cannot recognise; use glassformer embed\n")


def test_where_it_looked(folder: Path, images: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, folder, images[0], "--rollout", tmp_path / "heat.png")
    assert (code, out.count("\n"), err) == (0, 1, "") and (tmp_path / "heat.png").read_bytes()[1:4] == b"PNG"
    code, out, err = run(capsys, folder, *images, "--rollout", tmp_path / "both.png")
    assert (code, out) == (2, "") and "--rollout draws one image, here 2; name one" in err
