"""A model of ours as a folder that CTranslate2 opens: model.bin, config.json, the vocabularies, our tokenizer.

Written by CTranslate2's own package, so its format is its own affair. It takes and gives tokens as text.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.errors import ConfigError, choose
from glassformer.hub.ctranslate2_spec import check_expressible, specify
from glassformer.hub.empty_model import parameter_count
from glassformer.hub.export import EXPORT_FOLDER, Exported, Source, run_source
from glassformer.runs.output import drafted
from glassformer.runs.weights import AUTO
from glassformer.text import SentencePiece, Tokenizer
from glassformer.text.frame import roles
from glassformer.text.pipeline import Pipeline

CTRANSLATE2 = "ctranslate2"
DTYPES = ("float32", "int8")
TASKS = ("translation", "language_model")


@dataclass(frozen=True)
class TokenNames:
    """The tokens of both sides by id, and those with a role: what the decoder starts with, what ends a text.

    `begin`, `end`: whether CTranslate2 puts `bos` before a source and `eos` after it.
    """

    source: list[str]
    target: list[str]
    unk: str
    bos: str
    eos: str
    start: str
    begin: bool = False
    end: bool = False

    @classmethod
    def numbered(cls, vocab_size: int, *, bos: int, eos: int) -> TokenNames:
        """For a model without a tokenizer: a token is its number. It takes and gives them as they are."""
        every = [str(token) for token in range(vocab_size)]
        return cls(every, every, unk=every[eos], bos=every[bos], eos=every[eos], start=every[bos])


def need_ctranslate2() -> None:
    """Raises if the package is not installed."""
    if importlib.util.find_spec(CTRANSLATE2) is None:
        raise ConfigError("ctranslate2_missing")


def export_ctranslate2(
    run: str | Path, out: str | Path, *, dtype: str = "float32", checkpoint: str = AUTO, force: bool = False
) -> Exported:
    """The weights of a run, in float32 or with 8-bit matrices."""
    need_ctranslate2()
    choose("dtype", dtype, dict.fromkeys(DTYPES, None))
    source, out = run_source(run, out, checkpoint=checkpoint, force=force), Path(out)
    config = source.config
    if config.task.kind not in TASKS:
        raise ConfigError("ctranslate2_task", task=config.task.kind, known=", ".join(TASKS))
    check_expressible(config.model)
    words = _words(source)
    with drafted(out, EXPORT_FOLDER, force=force) as draft:
        name = write_model(specify(config.model, source.give), words, draft, dtype=dtype)
        if source.tokenizers is not None:
            source.tokenizers.save(draft)
    return Exported(
        folder=out,
        family=CTRANSLATE2,
        architecture=name,
        parameters=parameter_count(config.model),
        tokenizer=None if source.tokenizers is None else True,
        another_norm=config.task.kind == "translation",
    )


def write_model(spec: Any, words: TokenNames, folder: Path, *, dtype: str = "float32") -> str:
    """Register the vocabularies, check, and write; returns the name of the specification."""
    config = spec.config
    config.unk_token, config.bos_token, config.eos_token = words.unk, words.bos, words.eos
    if spec.name == "TransformerSpec":
        spec.register_source_vocabulary(words.source)
        spec.register_target_vocabulary(words.target)
        config.decoder_start_token = words.start
        config.add_source_bos, config.add_source_eos = words.begin, words.end
    else:
        spec.register_vocabulary(words.target)
    spec.validate()
    spec.optimize(quantization="int8_float32" if dtype == "int8" else dtype)
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))
    return str(spec.name)


def _words(source: Source) -> TokenNames:
    """The vocabularies of a run. A vocabulary that is shorter than the model's matrix is filled up."""
    config, tokenizers = source.config, source.tokenizers
    model = config.model
    if tokenizers is None:
        raise ConfigError("ctranslate2_no_tokenizer")
    assert model.vocab_size is not None and model.output_vocab_size is not None
    begin, end = roles(config)
    if begin not in ("none", "bos") or end not in ("none", "eos"):
        raise ConfigError("ctranslate2_inexpressible", keys=f"text.begin={begin}, text.end={end} (bos, eos)")
    special, target = tokenizers.target.specials, _pieces(tokenizers.target, model.output_vocab_size)
    eos = special.need("eos")
    return TokenNames(
        source=_pieces(tokenizers.source, model.vocab_size),
        target=target,
        unk=target[eos if special.unk is None else special.unk],
        bos=target[eos if special.bos is None else special.bos],
        eos=target[eos],
        start=target[special.need(str(config.task.options.get("start", "bos")))],
        begin=begin == "bos",
        end=end == "eos",
    )


def _pieces(tokenizer: Tokenizer, size: int) -> list[str]:
    """Token by id, as its own library writes it, each a different one."""
    pieces = [_piece(tokenizer, token) for token in range(min(size, tokenizer.vocab_size))]
    if len(set(pieces)) < len(pieces):
        twice = next(piece for piece in pieces if pieces.count(piece) > 1)
        raise ConfigError("ctranslate2_twice", piece=twice)
    return pieces + [f"<unused {token}>" for token in range(len(pieces), size)]


def _piece(tokenizer: Tokenizer, token: int) -> str:
    """`Tokenizer.piece` is for reading, and two pieces of bytes may read the same."""
    match tokenizer:
        case Pipeline():
            return str(tokenizer.library.id_to_token(token))
        case SentencePiece() if token < tokenizer.library.get_piece_size():
            return str(tokenizer.library.id_to_piece(token))
    return tokenizer.piece(token)
