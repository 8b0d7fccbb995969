"""preprocessor_config.json in all the forms that folders of ViT and DeiT have; pixels are those of transformers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

import glassformer as gf
from foreign_models import BODY, lively
from glassformer.errors import FileError
from glassformer.hub.store import store
from glassformer.tasks.image_classification.recognise import seen

SIZE = 16
STATISTICS = {"image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.3, 0.4]}
VIT = {"image_processor_type": "ViTImageProcessor", **STATISTICS}
OLD_VIT = {"feature_extractor_type": "ViTFeatureExtractor", **STATISTICS}
OLD_DEIT = {"feature_extractor_type": "DeiTFeatureExtractor", **STATISTICS, "do_center_crop": True}
SHAPES = ((40, 23), (23, 40), (16, 16), (9, 30), (64, 64))

FORMS: dict[str, dict[str, Any]] = {
    "today": {**VIT, "size": {"height": SIZE, "width": SIZE}, "resample": 2},
    "a number": {**OLD_VIT, "size": SIZE, "resample": 2, "do_resize": True, "do_normalize": True},
    "a pair": {**OLD_VIT, "size": [SIZE, SIZE], "resample": 3},
    "no type": {**STATISTICS, "size": SIZE},
    "no statistics": {"feature_extractor_type": "ViTFeatureExtractor", "size": SIZE},
    "not normalised": {**OLD_VIT, "size": SIZE, "do_normalize": False},
    "nearest": {**VIT, "size": SIZE, "resample": 0},
    "lanczos": {**VIT, "size": SIZE, "resample": 1},
    "a crop of a square": {**OLD_DEIT, "size": 40, "crop_size": SIZE, "resample": 3},
    "a crop, today": {
        "image_processor_type": "DeiTImageProcessor",
        **STATISTICS,
        "do_center_crop": True,
        "size": {"height": 20, "width": 20},
        "crop_size": {"height": SIZE, "width": SIZE},
    },
    "a crop of less": {**OLD_DEIT, "size": 11, "crop_size": SIZE},
    "the shortest edge": {
        "image_processor_type": "BitImageProcessor",
        **STATISTICS,
        "size": {"shortest_edge": 19},
        "crop_size": {"height": SIZE, "width": SIZE},
        "do_center_crop": True,
        "resample": 3,
    },
    "the shortest edge of ViT": {
        **VIT,
        "size": {"shortest_edge": 13},
        "crop_size": SIZE,
        "do_center_crop": True,
        "resample": 2,
    },
    "the shortest edge as a number": {
        "feature_extractor_type": "BitFeatureExtractor",
        **STATISTICS,
        "size": 19,
        "crop_size": SIZE,
        "do_center_crop": True,
    },
}


def folder_of(folder: Path, form: dict[str, Any], kind: str = "ViT") -> Path:
    config = getattr(transformers, f"{kind}Config")(image_size=SIZE, patch_size=4, num_labels=2, **BODY)
    lively(getattr(transformers, f"{kind}ForImageClassification")(config)).save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(form))
    return folder


def pictures(folder: Path) -> list[Path]:
    paths = []
    for number, (width, height) in enumerate(SHAPES):
        noise = np.random.default_rng(number).integers(0, 256, (height, width, 3), dtype=np.uint8)
        paths.append(folder / f"{number}.png")
        Image.fromarray(noise).save(paths[-1])
    return paths


@pytest.mark.many
@pytest.mark.parametrize("kind", ["ViT", "DeiT"])
@pytest.mark.parametrize("form", FORMS)
def test_every_pixel_is_that_of_transformers(form: str, kind: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "hf", FORMS[form], kind)
    processor = transformers.AutoImageProcessor.from_pretrained(folder, use_fast=False)
    paths = pictures(tmp_path)
    for each in (gf.load(folder), reimported(folder, tmp_path / "run")):
        for path in paths:
            if form == "no type" and kind == "DeiT":  # DeiT's own processor crops: 16 of 16
                expected = processor(Image.open(path), return_tensors="pt", crop_size=SIZE)["pixel_values"]
            else:
                expected = processor(Image.open(path), return_tensors="pt")["pixel_values"]
            torch.testing.assert_close(seen(each, [path]), expected, atol=1e-6, rtol=1e-6)


def reimported(folder: Path, out: Path) -> Any:
    store(folder, out)
    return gf.load(out)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({**VIT, "size": {"height": 8, "width": 9}}, r"size is .*; only"),
        ({**VIT, "size": "large"}, "size is 'large'"),
        ({**VIT, "size": {"longest_edge": 40}}, "size is .*longest_edge"),
        ({**VIT, "size": SIZE + 4}, rf"images of {SIZE + 4}×{SIZE + 4}.*model takes {SIZE}×{SIZE}"),
        ({**OLD_DEIT, "size": 40, "crop_size": 12}, rf"images of 12×12.*model takes {SIZE}×{SIZE}"),
        ({**VIT, "size": SIZE, "resample": 9}, r"resample is 9; only 0 \(nearest\), 1 \(lanczos\)"),
        ({**VIT, "size": SIZE, "do_resize": False}, "do_resize is False; only True"),
        ({**VIT, "size": {"shortest_edge": 20}}, r"size is .*shortest_edge.*; only .*do_center_crop"),
        ({"image_processor_type": "ConvNextImageProcessor", "size": SIZE}, "image_processor_type is ConvNextImage"),
    ],
)
def test_what_cannot_be_done_is_one_line(form: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=message):
        gf.load(folder_of(tmp_path, form))
