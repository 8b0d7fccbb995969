"""The files next to the weights of an export, so that `transformers` reads and answers as we do.

The frame of a text goes into the tokenizer, the way to decode into generation_config.json, and the preparation of
images into preprocessor_config.json. Which of them the format has depends on the task.
"""

from __future__ import annotations

import json
from pathlib import Path

import tokenizers
from tokenizers.processors import TemplateProcessing

from glassformer.config.recipe import RunConfig
from glassformer.files import write_json
from glassformer.hub.generation import GENERATION_FILE, describe_generation
from glassformer.hub.pixels import PREPROCESSOR_FILE, describe_pixels
from glassformer.text import Frame, Vocabularies, framing
from glassformer.text.files import TOKENIZER_CONFIG_FILE, read_table, to_json, write_files
from glassformer.text.frame import roles
from glassformer.text.pipeline import TOKENIZER_FILE, Pipeline
from glassformer.text.tokenizer import holds_blanks

THEIRS = ("tokenizer.json", "source.spm", "spiece.model", "tokenizer.model", "vocab.json", "vocab.txt")


def write_beside(config: RunConfig, vocabularies: Vocabularies | None, folder: Path) -> bool | None:
    """Write all but weights and config.json; return whether `transformers` can read the tokenizer, None without one."""
    if config.task.kind == "image_classification":
        write_json(folder / PREPROCESSOR_FILE, describe_pixels(config))
    if vocabularies is None:
        return None
    if config.task.kind in ("translation", "language_model"):
        write_json(folder / GENERATION_FILE, describe_generation(config, vocabularies.target.specials))
    return write_tokenizers(config, vocabularies, folder)


def write_tokenizers(config: RunConfig, vocabularies: Vocabularies, folder: Path) -> bool:
    """Write them where `transformers` looks, with our frame; return whether it can read them."""
    if not save_tokenizers(vocabularies, folder):
        return False
    tokenizer, wanted = vocabularies.source, frame_roles(config)
    if isinstance(tokenizer, Pipeline) and tokenizer.own:
        _frame(tokenizer, config, Frame.named(*wanted, tokenizer.specials), folder)
        return True
    return framing(folder) in (None, wanted)


def save_tokenizers(vocabularies: Vocabularies, folder: Path) -> bool:
    """Save them unchanged; return whether `transformers` knows the files."""
    if not (vocabularies.joint or vocabularies.source.kind == "marian"):
        vocabularies.save(folder)
        return False
    vocabularies.source.save(folder)
    return any((folder / name).is_file() for name in THEIRS)


def frame_roles(config: RunConfig) -> tuple[str, str]:
    """The roles of the tokens around a text; a text to be continued has a beginning but no end."""
    begin, end = roles(config)
    return begin, "none" if config.task.kind == "language_model" else end


def _frame(tokenizer: Pipeline, config: RunConfig, frame: Frame, folder: Path) -> None:
    """Write our tokenizer.json with the frame in its post-processor, and the keys that `transformers` expects."""
    library = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    names = {token: str(library.id_to_token(token)) for token in (*frame.front, *frame.back)}
    before, behind = ([names[token] for token in ids] for ids in (frame.front, frame.back))
    one = [*before, "$A", *behind]
    library.post_processor = TemplateProcessing(
        single=" ".join(one),
        pair=" ".join([*one, "$B", *behind]),
        special_tokens=[(name, token) for token, name in names.items()],
    )
    table = json.loads(library.to_str())
    said = read_table(folder / TOKENIZER_CONFIG_FILE) | {
        "model_max_length": config.model.max_len,
        "model_input_names": ["input_ids", "attention_mask"],
    }
    if config.task.kind == "language_model":
        said["padding_side"] = "left"  # continuations follow the end of a row
    if config.task.kind == "masked_language_model":  # a gap is typed as <mask>, which includes its blank
        said["split_special_tokens"] = False
        for token in table["added_tokens"]:
            token["lstrip"] = token["id"] == tokenizer.specials.mask and holds_blanks(tokenizer)
    write_files(folder, {TOKENIZER_FILE: to_json(table), TOKENIZER_CONFIG_FILE: to_json(said)})
