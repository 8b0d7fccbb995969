"""How a text is framed: which special tokens come before and after it, and how long it may be.

One object for training, use, samples, evaluation and export, so that inputs always look as in training. The files of
an imported tokenizer say how it frames a text or a pair: [CLS] … [SEP] for BERT, … </s> for T5.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import tokenizers
from tokenizers import models
from tokenizers.processors import PostProcessor

from glassformer.config.recipe import RunConfig
from glassformer.config.values import truth
from glassformer.errors import FileError, InputError
from glassformer.text.files import TOKENIZER_CONFIG_FILE, Declared
from glassformer.text.kinds import open_tokenizer
from glassformer.text.learn import LARGEST_VOCABULARY
from glassformer.text.marian import Marian
from glassformer.text.normalisation import normalise
from glassformer.text.panic import contained
from glassformer.text.pipeline import TOKENIZER_FILE, Pipeline, built
from glassformer.text.sentencepiece import T5_TOKENIZER, SentencePiece
from glassformer.text.tokenizer import Specials, Tokenizer
from glassformer.text.wordpiece import MAKERS as BERT

Roles = tuple[str, str]  # of the tokens before and after a text: none, bos, eos, cls, sep
BEGIN, END = ("bos", "cls", "eos", "sep"), ("eos", "sep", "bos", "cls")  # if one id has several roles, the first counts
FIRST, SECOND = LARGEST_VOCABULARY, LARGEST_VOCABULARY + 1  # ids that no tokenizer has
TWICE = ("RobertaTokenizer", "BartTokenizer")  # classes that end the first text twice and have no segments


def roles(config: RunConfig) -> Roles:
    """The roles of the two special tokens in [text]; "none" for no token.

    A translator ends its source with eos if [text] names no other end, as the paper's code does: a position to look at
    when no other fits. `task.source_end = false` leaves it out. The task is asked for by name: a recipe holds only the
    options that are set in it, and the tasks, which know the defaults, use frames themselves.
    """
    begin, end = config.text.begin, config.text.end
    if end == "none" and config.task.kind == "translation":
        end = "eos" if truth("task.source_end", config.task.options.get("source_end", True)) else "none"
    return begin, end


@dataclass(frozen=True)
class Frame:
    """The ids around a text, None for no token: begin x_1 … x_t end."""

    begin: int | None = None
    end: int | None = None

    @classmethod
    def of(cls, config: RunConfig, specials: Specials) -> Self:
        """The frame of a model's input; for a translator, of its source."""
        return cls.named(*roles(config), specials)

    @classmethod
    def of_target(cls, config: RunConfig, specials: Specials) -> Self:
        """The frame of a translator's output: bos, or as `task.start` says (T5, Marian: pad; BART: eos), … eos."""
        return cls(specials.need(str(config.task.options.get("start", "bos"))), specials.eos)

    @classmethod
    def named(cls, begin: str, end: str, specials: Specials) -> Self:
        return cls(*(None if role == "none" else specials.need(role) for role in (begin, end)))

    @property
    def opened(self) -> Frame:
        """Only the token before: what a decoder reads of its target."""
        return Frame(begin=self.begin)

    @property
    def closed(self) -> Frame:
        """Only the token after: what it should say."""
        return Frame(end=self.end)

    @property
    def extra(self) -> int:
        """The number of tokens that it adds."""
        return (self.begin is not None) + (self.end is not None)

    @property
    def front(self) -> list[int]:
        return [] if self.begin is None else [self.begin]

    @property
    def back(self) -> list[int]:
        return [] if self.end is None else [self.end]

    def around(self, ids: Sequence[int]) -> list[int]:
        return [*self.front, *ids, *self.back]

    def begun(self, ids: Sequence[int]) -> list[int]:
        """A text to be continued: with the beginning of the frame, but not the end."""
        return [*self.front, *ids]

    def fit(self, ids: Sequence[int], most: int | None, *, truncate: bool = False) -> list[int]:
        """Check that an unframed text has at most `most` tokens in its frame; None: no limit.

        Raises if it is longer, or with `truncate` cuts off its end.
        """
        length = len(ids) + self.extra
        if most is None or length <= most:
            return list(ids)
        if not truncate:
            raise InputError("text_too_long", length=length, most=most)
        return list(ids[: max(most - self.extra, 0)])

    def room(self, config: RunConfig) -> int:
        """The number of tokens of a text read in training: from the recipe, or what fits the table of positions."""
        return min(config.data.max_length, config.model.max_len - self.extra)


def framing(folder: Path | str) -> Roles | None:
    """The roles (none, bos, eos, cls, sep) of the special tokens before and after a single text.

    `add_bos_token` and `add_eos_token` come first, as in `transformers`; then the post-processor of tokenizer.json;
    then the class. None if nothing says it.
    """
    folder = Path(folder)
    declared = Declared.read(folder)
    tokenizer = open_tokenizer(folder)
    specials = tokenizer.specials
    if declared.table.get("own") is True:  # framed by an export; in a run the configuration says it
        if isinstance(tokenizer, Pipeline) and tokenizer.library.post_processor is not None:
            return _processed(folder / TOKENIZER_FILE, tokenizer)
        return None
    if isinstance(tokenizer, Marian):
        return "none", "eos"
    if _says(declared, "add_bos_token") or _says(declared, "add_eos_token"):
        begins = declared.truth("add_bos_token", False) and specials.bos is not None
        ends = declared.truth("add_eos_token", False) and specials.eos is not None
        return "bos" if begins else "none", "eos" if ends else "none"
    if isinstance(tokenizer, Pipeline) and (folder / TOKENIZER_FILE).is_file():
        return _processed(folder / TOKENIZER_FILE, tokenizer)
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


def _processed(path: Path, tokenizer: Pipeline) -> Roles:
    """The roles that the post-processor puts around a single token."""
    processor, specials = tokenizer.library.post_processor, tokenizer.specials
    if processor is None:
        return "none", "none"
    probe = _probe(processor)
    ids = built(path, lambda: probe.encode("a").ids)
    if FIRST not in ids:
        raise FileError("tokenizer_no_text", path=path)
    place = ids.index(FIRST)
    begin, end = _role(ids[:place], specials, BEGIN), _role(ids[place + 1 :], specials, END)
    if begin is None or end is None:
        around = [token for token in ids if token != FIRST]
        raise FileError("tokenizer_frame", path=path, count=len(around), ids=around)
    return begin, end


def _probe(processor: PostProcessor) -> tokenizers.Tokenizer:
    """A tokenizer that knows two words, "a" and "b", and this post-processor."""
    probe = tokenizers.Tokenizer(models.WordLevel({"a": FIRST, "b": SECOND}, unk_token="a"))
    probe.post_processor = processor
    return probe


def _role(ids: Sequence[int], specials: Specials, roles: Iterable[str]) -> str | None:
    if not ids:
        return "none"
    found = specials.ids()
    return next((role for role in roles if len(ids) == 1 and found.get(role) == ids[0]), None)


def _by_class(declared: Declared, folder: Path, specials: Specials) -> Roles | None:
    if declared.maker == T5_TOKENIZER:
        return "none", "eos"
    if declared.maker in BERT or (not declared.maker and (folder / "vocab.txt").is_file()):
        return None if specials.cls is None or specials.sep is None else ("cls", "sep")
    if declared.maker in ("RobertaTokenizer", "BartTokenizer"):
        return None if specials.bos is None or specials.eos is None else ("bos", "eos")
    return ("none", "none") if declared.maker in ("GPT2Tokenizer", "Qwen2Tokenizer") else None


def paired(
    tokenizer: Tokenizer, first: Sequence[int], second: Sequence[int], begin: Sequence[int], end: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Both texts in their frame, and the segment of each token; see `pair`."""
    if isinstance(tokenizer, Pipeline) and not tokenizer.own and tokenizer.library.post_processor is not None:
        return _by_processor(tokenizer.library.post_processor, first, second)
    twice = _maker(tokenizer) in TWICE
    tokens, segments = pair(first, second, begin, end, end if twice else ())
    return tokens, [0] * len(tokens) if twice else segments


def _by_processor(processor: PostProcessor, first: Sequence[int], second: Sequence[int]) -> tuple[list[int], list[int]]:
    """What the post-processor puts around two tokens."""
    probe = _probe(processor)
    found = contained(lambda: probe.encode("a", "b"))
    tokens: list[int] = []
    segments: list[int] = []
    for token, segment in zip(found.ids, found.type_ids, strict=True):
        some = list(first) if token == FIRST else list(second) if token == SECOND else [token]
        tokens += some
        segments += [segment] * len(some)
    return tokens, segments


def _maker(tokenizer: Tokenizer) -> str:
    if not isinstance(tokenizer, Pipeline) or TOKENIZER_CONFIG_FILE not in tokenizer.files:
        return ""
    named = json.loads(tokenizer.files[TOKENIZER_CONFIG_FILE]).get("tokenizer_class")
    return str(named).removesuffix("Fast")


def encode_typed(tokenizer: Tokenizer, text: str) -> list[int]:
    """The ids of a text in which the names of special tokens mean these tokens."""
    if isinstance(tokenizer, Pipeline):
        return tokenizer.encode_typed(text)
    special = tokenizer.special_ids() if isinstance(tokenizer, SentencePiece) else tokenizer.specials.ids().values()
    names = {tokenizer.piece(token): token for token in special}
    if not names:
        return tokenizer.encode(text)
    ids: list[int] = []
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    for number, part in enumerate(re.split(f"({pattern})", normalise(text))):
        if part in names:
            ids.append(names[part])
        elif part and number and isinstance(tokenizer, SentencePiece):
            ids += tokenizer.encode_inside(part)
        elif part:
            ids += tokenizer.encode(part)
    return ids
