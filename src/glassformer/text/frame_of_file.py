"""The special tokens around a text, as a tokenizer's own files say: [CLS] … [SEP] of BERT, … </s> of T5.

Around a pair of texts they mark where one ends, and segments tell the two apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import tokenizers
from tokenizers import models

from glassformer.errors import FileError
from glassformer.text.corpus import LARGEST_VOCABULARY
from glassformer.text.declared import Declared
from glassformer.text.kinds import open_tokenizer
from glassformer.text.marian import Marian
from glassformer.text.pipeline import FILE, Pipeline, built
from glassformer.text.sentencepiece import T5
from glassformer.text.special import Specials
from glassformer.text.wordpiece import MAKERS as BERT

Frame = tuple[str, str]

PROBE = "a"
BEGIN, END = ("bos", "cls", "eos", "sep"), ("eos", "sep", "bos", "cls")  # where one id has two roles: the first


def framing(folder: Path | str) -> Frame | None:
    """The roles (none, bos, eos, cls, sep) of the special tokens before and behind a single text.

    `add_bos_token` and `add_eos_token` come first, as they do for `transformers`; then what the post-processor of
    tokenizer.json does to a text; then the class. None where nobody says.
    """
    folder = Path(folder)
    declared = Declared.read(folder)
    tokenizer = open_tokenizer(folder)
    specials = tokenizer.specials
    if declared.table.get("own") is True:  # framed when it was exported; in a run the configuration says it
        if isinstance(tokenizer, Pipeline) and tokenizer.library.post_processor is not None:
            return _processed(folder / FILE, tokenizer)
        return None
    if isinstance(tokenizer, Marian):
        return "none", "eos"
    if _says(declared, "add_bos_token") or _says(declared, "add_eos_token"):
        begins = declared.truth("add_bos_token", False) and specials.bos is not None
        ends = declared.truth("add_eos_token", False) and specials.eos is not None
        return "bos" if begins else "none", "eos" if ends else "none"
    if isinstance(tokenizer, Pipeline) and (folder / FILE).is_file():
        return _processed(folder / FILE, tokenizer)
    return _by_class(declared, folder, specials)


def pair(
    first: Iterable[int],
    second: Iterable[int],
    begin: Sequence[int],
    end: Sequence[int],
    between: Sequence[int] = (),
) -> tuple[list[int], list[int]]:
    """Two texts in one sequence, and the segment of each token.

        [CLS] first [SEP] second [SEP]
          0     0     0     1      1

    RoBERTa and BART put a second </s> `between` the two, and have no segments.
    """
    head = [*begin, *first, *end, *between]
    tail = [*second, *end]
    return head + tail, [0] * len(head) + [1] * len(tail)


def _says(declared: Declared, key: str) -> bool:
    return declared.table.get(key) is not None


def _processed(path: Path, tokenizer: Pipeline) -> Frame:
    """What the post-processor puts around the one token of a tokenizer that knows nothing else."""
    processor, specials = tokenizer.library.post_processor, tokenizer.specials
    if processor is None:
        return "none", "none"
    probe = tokenizers.Tokenizer(models.WordLevel({PROBE: LARGEST_VOCABULARY}, unk_token=PROBE))
    probe.post_processor = processor
    ids = built(path, lambda: probe.encode(PROBE).ids)
    if LARGEST_VOCABULARY not in ids:
        raise FileError("tokenizer_no_text", path=path)
    place = ids.index(LARGEST_VOCABULARY)
    begin, end = _role(ids[:place], specials, BEGIN), _role(ids[place + 1 :], specials, END)
    if begin is None or end is None:
        around = [token for token in ids if token != LARGEST_VOCABULARY]
        raise FileError("tokenizer_frame", path=path, count=len(around), ids=around)
    return begin, end


def _role(ids: Sequence[int], specials: Specials, roles: Iterable[str]) -> str | None:
    if not ids:
        return "none"
    found = specials.ids()
    return next((role for role in roles if len(ids) == 1 and found.get(role) == ids[0]), None)


def _by_class(declared: Declared, folder: Path, specials: Specials) -> Frame | None:
    if declared.maker == T5:
        return "none", "eos"
    if declared.maker in BERT or (not declared.maker and (folder / "vocab.txt").is_file()):
        return None if specials.cls is None or specials.sep is None else ("cls", "sep")
    if declared.maker in ("RobertaTokenizer", "BartTokenizer"):
        return None if specials.bos is None or specials.eos is None else ("bos", "eos")
    return ("none", "none") if declared.maker in ("GPT2Tokenizer", "Qwen2Tokenizer") else None
