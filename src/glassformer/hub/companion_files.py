"""What stands beside the weights of a folder for `transformers`, so that it reads and answers there as it does here.

The frame of a text goes into the tokenizer, the way to decode into generation_config.json, and how an image is seen
into preprocessor_config.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers.processors import TemplateProcessing

from glassformer.config.recipe import RunConfig
from glassformer.files import write_json
from glassformer.hub.pixels import FILE as PREPROCESSOR
from glassformer.hub.pixels import RESAMPLING
from glassformer.text import Frame, Vocabularies, framing
from glassformer.text.files import CONFIG, read_table, to_json, write
from glassformer.text.frame import roles
from glassformer.text.pipeline import FILE, Pipeline
from glassformer.text.tokenizer import holds_blanks

GENERATION = "generation_config.json"
THEIRS = ("tokenizer.json", "source.spm", "spiece.model", "tokenizer.model", "vocab.json", "vocab.txt")
BEAM, LENGTH_PENALTY, NEW_TOKENS = 4, 0.6, 100  # as `translate` and `generate` have them where nobody says


def write_beside(config: RunConfig, vocabularies: Vocabularies | None, folder: Path) -> bool | None:
    """All but weights and config.json; whether `transformers` can read the tokenizer, None where there is none."""
    if config.task.kind == "image_classification":
        write_json(folder / PREPROCESSOR, _preprocessor(config))
    if vocabularies is None:
        return None
    if config.task.kind in ("translation", "language_model"):
        write_json(folder / GENERATION, _generation(config, vocabularies))
    return write_tokenizers(config, vocabularies, folder)


def write_tokenizers(config: RunConfig, vocabularies: Vocabularies, folder: Path) -> bool:
    """Beside the weights, where `transformers` looks, framing a text as we do; whether it finds what it knows there."""
    if not save_tokenizers(vocabularies, folder):
        return False
    tokenizer, wanted = vocabularies.source, frame_roles(config)
    if isinstance(tokenizer, Pipeline) and tokenizer.own:
        _frame(tokenizer, config, Frame.named(*wanted, tokenizer.specials), folder)
        return True
    return framing(folder) in (None, wanted)


def save_tokenizers(vocabularies: Vocabularies, folder: Path) -> bool:
    """As they are; whether `transformers` knows what it finds."""
    if not (vocabularies.joint or vocabularies.source.kind == "marian"):
        vocabularies.save(folder)
        return False
    vocabularies.source.save(folder)
    return any((folder / name).is_file() for name in THEIRS)


def frame_roles(config: RunConfig) -> tuple[str, str]:
    """What a program puts around a text that it is given; a text to be gone on with is begun, and not ended."""
    begin, end = roles(config)
    return begin, "none" if config.task.kind == "language_model" else end


def _frame(tokenizer: Pipeline, config: RunConfig, frame: Frame, folder: Path) -> None:
    """Our own tokenizer.json with the frame in its post-processor, and the few words of `transformers` about it."""
    library = tokenizers.Tokenizer.from_file(str(folder / FILE))
    names = {token: str(library.id_to_token(token)) for token in (*frame.front, *frame.back)}
    before, behind = ([names[token] for token in ids] for ids in (frame.front, frame.back))
    one = [*before, "$A", *behind]
    library.post_processor = TemplateProcessing(
        single=" ".join(one),
        pair=" ".join([*one, "$B", *behind]),
        special_tokens=[(name, token) for token, name in names.items()],
    )
    table = json.loads(library.to_str())
    said = read_table(folder / CONFIG) | {
        "model_max_length": config.model.max_len,
        "model_input_names": ["input_ids", "attention_mask"],
    }
    if config.task.kind == "language_model":
        said["padding_side"] = "left"  # what is gone on with stands at the end of a row
    if config.task.kind == "masked_language_model":  # a gap is typed as <mask>, with the blank that belongs to it
        said["split_special_tokens"] = False
        for token in table["added_tokens"]:
            token["lstrip"] = token["id"] == tokenizer.specials.mask and holds_blanks(tokenizer)
    write(folder, {FILE: to_json(table), CONFIG: to_json(said)})


def _generation(config: RunConfig, vocabularies: Vocabularies) -> dict[str, Any]:
    """How to decode, and what is never said: every special token but eos."""
    special, options = vocabularies.target.specials, config.task.options
    forbidden = options.get("forbidden")
    never = special.ids() if forbidden is None else {role: special.need(role) for role in forbidden}
    ends = options.get("ends", special.eos)
    table: dict[str, Any] = {
        **{f"{role}_token_id": getattr(special, role) for role in ("pad", "bos")},
        "eos_token_id": list(ends) if isinstance(ends, list | tuple) else ends,
        "bad_words_ids": [[token] for token in sorted({*never.values()} - {special.eos})] or None,
    }
    if config.task.kind == "language_model":
        return table | {"max_new_tokens": NEW_TOKENS}
    for key, ours in (("forced_bos_token_id", "first"), ("forced_eos_token_id", "last")):
        role = options.get(ours, "none")
        table[key] = None if role == "none" else special.need(str(role))
    return table | {
        "decoder_start_token_id": special.need(str(options.get("start", "bos"))),
        "num_beams": BEAM,
        "length_penalty": LENGTH_PENALTY,
        "max_length": config.model.max_len,
    }


def _preprocessor(config: RunConfig) -> dict[str, Any]:
    """Mean and spread of the pixels, and how images are made to fit; the inverse of what an import reads."""
    given, task = config.model.input.options, config.task.options
    size, channels = int(given["size"]), int(given.get("channels", 3))
    whole, shortest = int(task.get("enlarge", size)), bool(task.get("shortest", False))
    maker = "Bit" if shortest else "DeiT" if whole > size else "ViT"
    numbers = {name: number for number, name in RESAMPLING.items()}
    table = {
        "image_processor_type": f"{maker}ImageProcessor",
        "do_convert_rgb": channels == 3,
        "do_resize": True,
        "size": {"shortest_edge": whole} if shortest else {"height": whole, "width": whole},
        "resample": numbers[str(task.get("resample", "bilinear"))],
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": list(task.get("mean", [0.0] * channels)),
        "image_std": list(task.get("std", [1.0] * channels)),
    }
    if shortest or whole > size:
        table |= {"do_center_crop": True, "crop_size": {"height": size, "width": size}}
    return table
