"""ViT and DeiT: the same numbers as `transformers`, from its own files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import glassformer as gf
from glassformer.errors import FileError
from glassformer.hub.families.vit import DEIT, VIT
from glassformer.hub.family import Family
from glassformer.hub.foreign import Foreign
from glassformer.loading import open_config
from reference_seq2seq import (
    EXACT,
    SINGLE,
    Variant,
    check_keys,
    check_written_back,
    difference,
    on_meta,
    pair,
    tap_differences,
    trainable,
)

SMALL: dict[str, Any] = {
    "image_size": 15,
    "patch_size": 5,
    "num_channels": 2,
    "hidden_size": 18,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "intermediate_size": 29,
    "layer_norm_eps": 3e-7,
    "hidden_dropout_prob": 0.1,
}
CLASSES = SMALL | {"num_labels": 7}
VARIANTS = {
    "vit": (VIT, Variant("ViTForImageClassification", CLASSES)),
    "vit, two classes": (VIT, Variant("ViTForImageClassification", SMALL)),
    "vit without bias": (VIT, Variant("ViTForImageClassification", CLASSES | {"qkv_bias": False})),
    "vit, one patch, tanh": (VIT, Variant("ViTModel", SMALL | {"patch_size": 15, "hidden_act": "gelu_new"})),
    "vit without head": (VIT, Variant("ViTModel", SMALL)),
    "vit, size twice": (VIT, Variant("ViTModel", SMALL, {"image_size": [15, 15], "patch_size": [5, 5]})),
    "deit": (DEIT, Variant("DeiTForImageClassification", CLASSES)),
    "deit with teacher": (DEIT, Variant("DeiTForImageClassificationWithTeacher", CLASSES)),
    "deit without head": (DEIT, Variant("DeiTModel", SMALL)),
}
ALL = pytest.mark.parametrize("name", VARIANTS)


def images() -> Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(3, 2, 15, 15, generator=generator, dtype=torch.float64)


@torch.no_grad()
def theirs(model: Any, pixels: Tensor) -> Tensor:
    answer = model(pixel_values=pixels)
    return answer.logits if "logits" in answer else answer.pooler_output


@torch.no_grad()
def ours(model: nn.Module, pixels: Tensor) -> Tensor:
    return model(pixels)


@ALL
def test_logits_are_theirs(name: str, tmp_path: Path) -> None:
    """Theirs is float64 throughout: nothing is lifted."""
    model, reference = pair(VARIANTS[name][1], tmp_path)
    assert difference(ours(model, images()), theirs(reference, images())) <= EXACT
    single = theirs(reference.float(), images().float())
    assert difference(ours(model.float(), images().float()), single) <= SINGLE


@pytest.mark.parametrize("name", ["vit without head", "deit without head"])
def test_every_position(name: str, tmp_path: Path) -> None:
    """Not only the first, which the pooler looks at."""
    model, reference = pair(VARIANTS[name][1], tmp_path)
    with torch.no_grad(), gf.record(model, "encoder.output") as trace:
        model(images())
        expected = reference(pixel_values=images()).last_hidden_state
    assert difference(trace.tensors["encoder.output"], expected) <= EXACT


@ALL
def test_keys(name: str, tmp_path: Path) -> None:
    check_keys(VARIANTS[name][1], tmp_path)


@pytest.mark.many
@ALL
def test_written_back(name: str, tmp_path: Path) -> None:
    model, reference = check_written_back(VARIANTS[name][1], tmp_path)
    assert difference(theirs(reference, images()), ours(model, images())) <= EXACT


@pytest.mark.parametrize("name", ["vit", "vit without head", "deit with teacher"])
def test_taps(name: str, tmp_path: Path) -> None:
    family, variant = VARIANTS[name]
    model, reference = pair(variant, tmp_path)
    run = {True: lambda m: ours(m, images()), False: lambda m: theirs(m, images())}
    found = tap_differences(family, model, reference, lambda m: run[m is model](m))
    assert max(found.values()) <= EXACT
    assert len(found) == 2 + 3 * 7 + {"vit": 1, "vit without head": 0, "deit with teacher": 2}[name]


def test_a_mask_token_is_put_aside(tmp_path: Path) -> None:
    """What was trained to fill in patches has one more token than it looks at here."""
    config = VIT.configure(Foreign(SMALL, tmp_path), "image_classification")
    assert "vit.embeddings.mask_token" in VIT.aside
    assert not any("mask_token" in at.key for at in VIT.names(config).values())


def test_without_pooler() -> None:
    """DINO publishes ViTs whose pooler is not there: whoever opens one leaves the head away, and names follow."""
    config = replace(VIT.configure(Foreign(SMALL, Path("config.json")), "features"), head="none")
    assert set(VIT.names(config)) == set(gf.build(config, device="meta").state_dict())


BASE: dict[str, Any] = {  # google/vit-base-patch16-224, facebook/deit-base-distilled-patch16-224
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "image_size": 224,
    "patch_size": 16,
    "id2label": {str(i): f"label {i}" for i in range(1000)},
}
TINY = BASE | {"hidden_size": 192, "num_attention_heads": 3, "intermediate_size": 768}
TEACHER = "DeiTForImageClassificationWithTeacher"
SIZES: dict[str, tuple[Family, str, dict[str, Any], int]] = {
    "vit-base-patch16-224": (VIT, "ViTForImageClassification", BASE, 86_567_656),
    "vit-base-patch16-224-in21k": (VIT, "ViTModel", BASE, 86_389_248),
    "deit-tiny-patch16-224": (VIT, "ViTForImageClassification", TINY, 5_717_416),
    "deit-tiny-distilled-patch16-224": (DEIT, TEACHER, TINY, 5_910_800),
    "deit-base-distilled-patch16-224": (DEIT, TEACHER, BASE, 87_338_192),
}


@pytest.mark.parametrize("name", SIZES)
def test_published_sizes(name: str) -> None:
    family, kind, table, expected = SIZES[name]
    config = family.configure(Foreign(table | {"architectures": [kind]}, Path("config.json")), family.tasks[kind])
    assert gf.count(config).total.parameters == expected
    table = table | {"id2label": {int(i): label for i, label in table["id2label"].items()}}
    assert trainable(on_meta(kind, table)) == expected


def test_preset_is_what_is_published() -> None:
    table = BASE | {"layer_norm_eps": 1e-6}
    config = VIT.configure(Foreign(table, Path("config.json")), "image_classification")
    assert config == open_config("vit-b16")


@pytest.mark.parametrize(
    ("task", "changed", "message"),
    [
        ("features", {"image_size": [224, 112]}, r"image_size is \[224, 112\]; only \[224, 224\] can be built here"),
        ("features", {"patch_size": ["a", "a"]}, "patch_size is 'a', which is not of the kind it should be"),
        ("features", {"pooler_act": "relu"}, "pooler_act is 'relu'; only 'tanh' can be built here"),
        ("features", {"pooler_output_size": 5}, "pooler_output_size is 5; only 768 can be built here"),
        ("image_classification", {"hidden_act": "tanh"}, "hidden_act is tanh; only relu"),
    ],
)
def test_what_our_boxes_cannot_be(task: str, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(FileError, match=message):
        VIT.configure(Foreign(BASE | changed, Path("config.json")), task)
