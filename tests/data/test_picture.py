from __future__ import annotations

import io
import struct
import sys
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from glassformer.data.picture import read_picture
from glassformer.errors import ConfigError, FileError

RED, BLUE = (255, 0, 0), (0, 0, 255)
GRADIENT = np.arange(12 * 9, dtype=np.uint8).reshape(9, 12)


def save(path: Path, image: Image.Image, **options: Any) -> Path:
    image.save(path, **options)
    return path


def colours(path: Path, size: int = 2, **options: Any) -> list[list[float]]:
    """The channels of each pixel, row by row."""
    return read_picture(path, size=size, **options).permute(1, 2, 0).reshape(-1, 3).tolist()


@pytest.mark.parametrize("ending", ["png", "gif", "bmp", "tiff", "webp", "ppm"])
def test_colours_between_0_and_1_in_rows(ending: str, tmp_path: Path) -> None:
    image = Image.new("RGB", (2, 2), RED)
    image.putpixel((1, 0), BLUE)  # right, above
    path = save(tmp_path / f"a.{ending}", image, **({"lossless": True} if ending == "webp" else {}))
    assert colours(path) == [[1, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0]]


def test_jpeg(tmp_path: Path) -> None:
    path = save(tmp_path / "a.jpg", Image.new("RGB", (20, 10), (200, 100, 50)))
    expected = torch.tensor([200, 100, 50])[:, None, None] / 255
    torch.testing.assert_close(read_picture(path, size=4), expected.expand(3, 4, 4), atol=0.02, rtol=0)


@pytest.mark.parametrize(("resample", "way"), [("bilinear", 2), ("bicubic", 3)])
def test_it_is_squeezed_into_a_square(resample: str, way: int, tmp_path: Path) -> None:
    image = Image.fromarray(GRADIENT)
    found = read_picture(save(tmp_path / "a.png", image), size=5, channels=1, resample=resample)
    expected = np.asarray(image.resize((5, 5), way), dtype=np.float32) / 255
    assert found.shape == (1, 5, 5) and torch.equal(found[0], torch.from_numpy(expected))


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK", "YCbCr", "LA", "RGBA", "PA", "I;16", "I"])
@pytest.mark.parametrize("channels", [1, 3])
def test_every_mode_becomes_grey_or_colour(mode: str, channels: int, tmp_path: Path) -> None:
    deep = mode.startswith("I")
    grey = Image.fromarray(np.full((3, 3), 65535 if deep else 255, np.uint16 if deep else np.uint8))
    image = grey if mode == "I;16" else grey.convert(mode) if mode != "PA" else grey.convert("LA").convert("PA")
    ending = "jpg" if mode == "YCbCr" else "tiff"  # some versions of pillow cannot read their own TIFF in YCbCr
    path = save(tmp_path / f"a.{ending}", image)
    torch.testing.assert_close(read_picture(path, size=2, channels=channels), torch.ones(channels, 2, 2))


def test_16_bits_are_not_cut_off(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", Image.fromarray(np.full((4, 4), 32768, np.uint16)))
    torch.testing.assert_close(read_picture(path, size=2, channels=1), torch.full((1, 2, 2), 128 / 255))


@pytest.mark.parametrize("values", [-1, 65536])
def test_numbers_without_black_and_white_are_refused(values: int, tmp_path: Path) -> None:
    for image in (Image.fromarray(np.full((2, 2), values, np.int32)), Image.new("F", (2, 2))):
        path = save(tmp_path / "a.tiff", image)
        with pytest.raises(FileError, match=r"holds pixels of the mode '[IF]', whose black and white are unknown"):
            read_picture(path, size=2)


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    image = Image.new("RGBA", (2, 1), (0, 0, 0, 0))
    image.putpixel((0, 0), (*RED, 255))
    assert colours(save(tmp_path / "a.png", image))[:2] == [[1, 0, 0], [1, 1, 1]]
    palette = Image.new("P", (2, 1), 0)
    palette.putpalette([255, 0, 0, 0, 0, 255])
    palette.putpixel((1, 0), 1)
    assert colours(save(tmp_path / "b.gif", palette, transparency=1))[:2] == [[1, 0, 0], [1, 1, 1]]


def test_of_an_animation_the_first_frame(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in (RED, BLUE)]
    for ending in ("gif", "webp", "png", "tiff"):
        path = save(tmp_path / f"a.{ending}", frames[0], save_all=True, append_images=frames[1:])
        torch.testing.assert_close(torch.tensor(colours(path)), torch.tensor([[1.0, 0, 0]] * 4), atol=0.03, rtol=0)


def test_one_pixel(tmp_path: Path) -> None:
    assert colours(save(tmp_path / "a.png", Image.new("RGB", (1, 1), BLUE))) == [[0, 0, 1]] * 4


def test_a_camera_that_was_turned(tmp_path: Path) -> None:
    image = Image.new("RGB", (2, 2), RED)
    image.putpixel((0, 0), BLUE)
    exif = Image.Exif()
    exif[0x0112] = 6  # the top is at the right
    assert colours(save(tmp_path / "a.png", image, exif=exif)) == [[1, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0]]


# --- files that are no images, or bad ones ---


def png(width: int, height: int, data: bytes = b"") -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def photo() -> bytes:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    held = io.BytesIO()
    Image.fromarray(noise).save(held, "JPEG")
    return held.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not an image that can be read; use one of: PNG, JPEG"),
        (b"hello, I am a text", "is not an image that can be read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is not an image that can be read"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "is not an image that can be read"),
        (photo()[:900], "cannot be read as an image: "),
        (png(5, 5, b"\0" * 9), "cannot be read as an image: "),
        (png(20_000, 5_000), r"has more than 89,478,485 pixels; make it smaller first"),
        (png(60_000, 60_000), r"has more than 89,478,485 pixels; make it smaller first"),
        (b"\x89PNG\r\n\x1a\n" + b"\xff" * 40, "a.png"),
        (b"GIF89a" + b"\x01" * 10, "is not an image that can be read"),
        (b"BM" + b"\xff" * 60, "a.png"),
    ],
)
def test_a_bad_file_is_one_line(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(content)
    with pytest.raises(FileError, match=said) as caught:
        read_picture(path, size=4)
    assert "\n" not in str(caught.value) and "\n" not in caught.value.in_language("ko")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("form", ["png", "gif", "jpeg", "bmp", "tiff", "webp"])
def test_a_file_that_breaks_off(form: str, share: float, tmp_path: Path) -> None:
    held = io.BytesIO()
    Image.open(io.BytesIO(photo())).save(held, form)
    path = tmp_path / "cut"
    path.write_bytes(held.getvalue()[: int(share * len(held.getvalue()))])
    with pytest.raises(FileError, match=r"cannot be read as an image|is not an image"):
        read_picture(path, size=4)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.png", tmp_path):
        with pytest.raises(FileError, match=f"{path}"):
            read_picture(path, size=4)
    with pytest.raises(FileError, match="File name too long"):
        read_picture("a" * 5000, size=4)


def test_odd_files_warn_nobody(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", Image.new("P", (2, 2)), transparency=b"\x00\x10")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        read_picture(path, size=2)
    assert not seen


def test_options_that_do_not_exist(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", Image.new("RGB", (2, 2)))
    with pytest.raises(ConfigError, match=r"task\.resample='sharp' is unknown; use one of: nearest, lanczos"):
        read_picture(path, size=2, resample="sharp")
    with pytest.raises(ConfigError, match="the model takes 4 channels, and a file gives 1"):
        read_picture(path, size=2, channels=4)


def test_without_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ConfigError, match=r"needs a package .* pip install 'glassformer\[images\]'"):
        read_picture(tmp_path / "a.png", size=2)


def test_what_the_library_logs_about_a_damaged_file_is_not_printed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = save(tmp_path / "a.tiff", Image.new("RGB", (8, 8), RED))
    tag, short = (277).to_bytes(2, "little"), (3).to_bytes(2, "little")  # SamplesPerPixel
    content = path.read_bytes()
    at = content.index(tag + short) + 8
    path.write_bytes(content[:at] + b"\xff\x7f" + content[at + 2 :])
    with pytest.raises(FileError):
        read_picture(path, size=8)
    assert not caplog.records
