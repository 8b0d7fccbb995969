from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from glassformer.config.recipe import DataConfig
from glassformer.data.canvases import CLASSES, DARKEST, SPLITS, CanvasPlan, cut_out, read_digits
from glassformer.errors import ConfigError

pytest.importorskip("sklearn")
PLAN = CanvasPlan(size=32, most=4, count=30, test=20, validation=10)


def plan(**options: Any) -> CanvasPlan:
    return CanvasPlan.of(DataConfig.from_dict({"source": {"kind": "canvases", **options}, "validation": 7, "seed": 3}))


def test_a_plan_is_what_a_recipe_says() -> None:
    assert plan(size=40, most=2, count=9) == CanvasPlan(size=40, most=2, count=9, validation=7, seed=3)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"sizes": 3}, r"data.source.sizes: 'canvases' has no such option; did you mean size\?"),
        ({"most": 0}, "data.source.most=0 is out of range; use 1 to"),
        ({"size": 31, "largest": 2}, "size=31 is too small for digits of up to 2 times 8 pixels; use 32 or more"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(options: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        plan(**options)


def test_other_sources_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"data.source='grammar' is unknown; use one of: canvases"):
        CanvasPlan.of(DataConfig())


def test_a_canvas_depends_on_seed_split_and_number_alone() -> None:
    few, many = PLAN.examples("train"), CanvasPlan(size=32, most=4, count=31).examples("train")
    assert all(np.array_equal(one, other) for i in range(30) for one, other in zip(few[i], many[i], strict=True))
    assert few.fingerprint == PLAN.examples("train").fingerprint
    others = (PLAN.examples("validation")[0], CanvasPlan(size=32, most=4, seed=1).examples("test")[0])
    assert not any(np.array_equal(few[0][0], other[0]) for other in others)


@pytest.mark.parametrize("largest", [1, 2])
def test_every_digit_fills_its_box_and_touches_no_other(largest: int) -> None:
    examples = CanvasPlan(size=32, most=4, largest=largest, count=40).examples("train")
    assert {int((labels >= 0).sum()) for _, labels, _ in (examples[i] for i in range(40))} == {1, 2, 3, 4}
    for i in range(40):
        image, labels, boxes = examples[i]
        assert image.max() <= DARKEST and set(labels.tolist()) <= set(range(-1, CLASSES))
        covered = np.zeros_like(image, dtype=int)
        for x, y, w, h in boxes[labels >= 0] * 32:
            left, top = round(x - w / 2), round(y - h / 2)
            part = slice(top, top + round(h)), slice(left, left + round(w))
            assert cut_out(image[part]).shape == (round(h), round(w))
            covered[part] += 1
        assert covered.max() == 1 and not image[covered == 0].any()


def test_no_digit_is_in_two_splits() -> None:
    parts = {name: read_digits(name) for name in SPLITS}
    assert sum(map(len, parts.values())) == 1797
    assert all(np.bincount(part.labels).min() >= 25 for part in parts.values())  # every class in every split
    drawn = {name: {(image.shape, image.tobytes()) for image in part.images} for name, part in parts.items()}
    assert not drawn["train"] & drawn["validation"] and not (drawn["train"] | drawn["validation"]) & drawn["test"]


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(ConfigError, match="split='dev' is unknown; use one of: train, validation, test"):
        PLAN.examples("dev")


def test_without_its_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    read_digits.cache_clear()
    with pytest.raises(ConfigError, match=r"canvases needs a package .* pip install 'glassformer\[images\]'"):
        read_digits("train")
