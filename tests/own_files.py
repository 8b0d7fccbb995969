"""Small files as people have them, one for each task: what the tests on data of one's own are made with."""

from __future__ import annotations

import math
from datetime import date, timedelta
from pathlib import Path

WHO = [("나는", "I"), ("너는", "you"), ("우리는", "we"), ("그들은", "they")]
DOES = [
    ("학교에 간다", "go to school"),
    ("책을 읽는다", "read a book"),
    ("물을 마신다", "drink water"),
    ("음악을 듣는다", "listen to music"),
    ("집에 있다", "stay at home"),
    ("길을 걷는다", "walk the road"),
]
PAIRS = [(f"{ko} {does}", f"{en} {do}") for ko, en in WHO for does, do in DOES]
GOOD, BAD = ("좋다", "멋지다", "훌륭하다"), ("나쁘다", "지루하다", "싫다")
THINGS = ("영화가", "배우가", "음악이", "결말이")
REVIEWS = [
    (f"{thing} 정말 {word}", label)
    for thing in THINGS
    for label, some in (("good", GOOD), ("bad", BAD))
    for word in some
]


def table(path: Path, rows: list[tuple[str, ...]], delimiter: str = "\t", header: str = "") -> Path:
    lines = ([header] if header else []) + [delimiter.join(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def sales(path: Path, rows: int = 120) -> Path:
    """As Excel saves it in Germany."""
    days = [date(2024, 1, 1) + timedelta(i) for i in range(rows)]
    values = [f"{1000 + 100 * math.sin(i * 2 * math.pi / 7):.1f}".replace(".", ",") for i in range(rows)]
    return table(
        path, [(f"{day:%d.%m.%Y}", value) for day, value in zip(days, values, strict=True)], ";", "Datum;Umsatz"
    )


def photos(folder: Path, each: int = 8) -> Path:
    """A sub-folder for each class, images of any size."""
    from PIL import Image

    for name, colour in (("red", (200, 30, 30)), ("blue", (30, 30, 200))):
        (folder / name).mkdir(parents=True)
        for i in range(each):
            Image.new("RGB", (20 + i, 24), tuple(c + i for c in colour)).save(folder / name / f"{i}.png")
    return folder
