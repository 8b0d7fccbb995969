from __future__ import annotations

import numpy as np

from glassformer.lessons.training.curves_picture import draw_curves
from glassformer.show.theme import LIGHT


def test_a_gap_is_drawn_as_a_gap() -> None:
    axes = LIGHT.figure().subplots()
    shown = {"steps": [1, 2, 3], "mean": [1.0, None, 2.0], "low": [0.9, None, 1.9], "high": [1.1, None, 2.1]}
    draw_curves(axes, LIGHT, {"one": shown})
    line = np.asarray(axes.lines[0].get_ydata(), dtype=float)
    assert line[[0, 2]].tolist() == [1.0, 2.0] and np.isnan(line[1])
