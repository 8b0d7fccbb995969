"""Images that are damaged, or not what they say they are."""

import io
import zlib
from functools import cache, partial
from random import Random

from PIL import Image

import glassformer as gf
from faults.fuzz.files import damaged
from faults.fuzz.world import HERE, Case, world


@cache
def _pictures() -> dict[str, bytes]:
    """Small images of every form, and some that say they are large."""
    found = {}
    for form in ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP"):
        for mode in ("L", "RGB"):
            written = io.BytesIO()
            Image.radial_gradient("L").resize((8, 8)).convert(mode).save(written, form)
            found[f"{form}-{mode}.{form.lower()}"] = written.getvalue()
    png = found["PNG-L.png"]
    for name, sides in {
        "none": (0, 0),
        "large": (2**31 - 1, 2**31 - 1),
        "wide": (200_000, 1),
        "bomb": (20_000, 20_000),
    }.items():
        header = b"IHDR" + sides[0].to_bytes(4) + sides[1].to_bytes(4) + png[24:29]
        found[f"{name}.png"] = png[:12] + header + zlib.crc32(header).to_bytes(4) + png[33:]
    return found


def images(chance: Random) -> Case:
    name = chance.choice(sorted(_pictures()))
    content = _pictures()[name]
    for _ in range(chance.randint(0, 2)):
        content = damaged(chance, content)
    if chance.randint(0, 9) == 0:
        return Case({name: content}, ("recognise", f"{HERE}/image_classification", f"{HERE}/{name}", "--json"))
    return Case({name: content}, partial(gf.recognise, world().loaded("image_classification"), world().here / name))
