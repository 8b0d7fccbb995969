from __future__ import annotations

from matplotlib.patches import Rectangle

from glassformer.lessons.hover import MARK, hover


def test_a_mark_is_the_name_of_the_artist() -> None:
    patch = Rectangle((0, 0), 1, 1)
    hover(patch, "0.5")
    assert patch.get_gid() == f"{MARK}0.5"
