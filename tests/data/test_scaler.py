from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from glassformer.data.panel import Panel
from glassformer.data.scaler import Scale, Scaler
from glassformer.errors import FileError, InputError
from small_forecaster import channel


def test_a_scale_is_that_of_the_training_part() -> None:
    values = np.array([1.0, 2.0, 3.0, 100.0, 200.0])
    scaler = Scaler.fit(Panel((channel("a", values),), (3, 1, 1)), log=False)
    scale = scaler.scales["a"]
    assert (scale.mean, scale.deviation) == (2.0, pytest.approx(np.sqrt(2 / 3)))
    changed = Scaler.fit(Panel((channel("a", np.r_[values[:3], -7.0, 9.0]),), (3, 1, 1)), log=False)
    assert changed == scaler
    np.testing.assert_allclose(scale.restored(scale.scaled(values)), values)


def test_logarithms_make_a_percent_a_percent() -> None:
    scale = Scale(0.0, 1.0, log=True)
    low, high = scale.scaled(np.array([5.0, 5.05])), scale.scaled(np.array([700.0, 707.0]))
    np.testing.assert_allclose(np.diff(low), np.diff(high))
    np.testing.assert_allclose(scale.restored(low), [5.0, 5.05])
    with pytest.raises(InputError, match=r"a holds -1.0, which has no logarithm; set task.log=false"):
        Scale.fit(channel("a", np.array([2.0, -1.0])), 2, log=True)


def test_a_series_that_never_changes_is_refused() -> None:
    with pytest.raises(FileError, match=r"a is 3.0 in all of 4 rows; a series that never changes cannot be scaled"):
        Scale.fit(channel("a", np.array([3.0, 3.0, 3.0, 3.0, 5.0])), 4, log=False)


def test_scales_are_kept(tmp_path: Path) -> None:
    scaler = Scaler({"a": Scale(0.1, 3.0, True), "b": Scale(1 / 3, 2e-9)})
    scaler.save(tmp_path)
    assert Scaler.open(tmp_path) == scaler


@pytest.mark.parametrize("text", ["{}", "[]", '{"channels": {"a": {"mean": 1}}}', '{"channels": 3}'])
def test_a_broken_file_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "scaler.json").write_text(text)
    with pytest.raises(FileError, match=r"scaler.json is not a file of scales; train again"):
        Scaler.open(tmp_path)
