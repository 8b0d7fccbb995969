"""The configuration of a run: model, data, text, training; frozen and read from TOML like the model's. No torch here.

The kinds of optimiser, schedule and loss are listed here with their options; they are implemented in `losses` and
`training`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.options import REQUIRED, Kinds, Option, Schema, known_key
from glassformer.config.table import ConfigTable, checked
from glassformer.config.toml import literal, to_toml
from glassformer.config.values import (
    Choice,
    not_negative,
    one_of,
    plain,
    positive,
    rate,
    size_or_zero,
    word,
    wrong_type,
)
from glassformer.errors import ConfigError, shown

PRECISIONS = ("float32", "bf16", "fp16")
PARALLEL = ("ddp", "fsdp")
MODES = ("triangular", "triangular2")
LONGEST_NAME = 120  # bytes: file systems allow 255, and longer names are made from it
ACCELERATOR = "accelerator"  # `train.compile`: there, and not on a CPU
FRAMES = ("none", "bos", "eos", "cls", "sep")  # roles of special tokens: see text/tokenizer.py

ADAM: Schema = {  # §5.3
    "beta1": Option(0.9, rate),
    "beta2": Option(0.98, rate),
    "eps": Option(1e-9, positive),
    "weight_decay": Option(0.0, not_negative),
}
KINDS: dict[str, dict[str, Schema]] = {
    "optimizer": {
        "adam": ADAM,
        "adamw": {**ADAM, "weight_decay": Option(0.01, not_negative)},
        "sgd": {"momentum": Option(0.9, rate), "weight_decay": Option(0.0, not_negative)},
    },
    "schedule": {
        "noam": {"factor": Option(1.0, positive)},
        "inverse_sqrt": {},
        "linear": {"floor": Option(0.0, rate)},
        "cosine": {"floor": Option(0.0, rate)},
        "one_cycle": {"start": Option(25.0, positive), "final": Option(1e4, positive)},
        "cyclic": {"low": Option(0.1, rate), "mode": Option("triangular", partial(one_of, known=MODES))},
        "constant": {},
    },
    "loss": {
        "cross_entropy": {"smoothing": Option(0.0, rate)},
        "focal": {"gamma": Option(2.0, not_negative)},
        "binary_cross_entropy": {"smoothing": Option(0.0, rate)},
        "mse": {},
        "mae": {},
        "huber": {"delta": Option(1.0, positive)},
    },
}


def _kind(name: str, default: object) -> Any:
    """A key whose kinds and options are listed in `KINDS`."""
    rule = Kinds(KINDS[name])
    return checked(rule(name, default), rule)


def _compile(key: str, value: object) -> bool | str:
    if value != ACCELERATOR and not isinstance(value, bool):
        raise ConfigError("not_one_of", key=key, value=value, known=f"true, false, {ACCELERATOR}")
    return value


def _parallel(key: str, value: object) -> str | None:
    return None if value is None else one_of(key, value, known=PARALLEL)


def _folder_name(key: str, value: object) -> str:
    """A name for a folder that cannot lead anywhere else."""
    name = word(key, value)
    if not name.strip() or name.startswith(".") or not name.isprintable() or {"/", "\\"} & {*name}:
        raise ConfigError("not_a_name", key=key, value=shown(name))
    if len(name.encode()) > LONGEST_NAME:
        raise ConfigError("name_too_long", key=key, value=shown(name), limit=LONGEST_NAME)
    return name


@dataclass(frozen=True, kw_only=True)
class RunTable(ConfigTable):
    """[run]: the name of the run, which is also that of its folder, and its task."""

    name: str = checked("run", _folder_name)
    task: Choice = Choice("translation")


@dataclass(frozen=True, kw_only=True)
class DataConfig(ConfigTable):
    """Where the examples come from, and which of them are used."""

    source: Choice = Choice("grammar")  # grammar, files, catalogue …: see data/
    source_language: str = "ko"
    target_language: str = "en"
    prepare: str = "none"  # none, lowercase, moses, moses-lowercase: see data/
    max_length: int = 256  # tokens; longer examples are left out, texts to be classified are cut
    validation: int = checked(1000, size_or_zero)  # examples held out, if the source has no validation set
    limit: int = checked(0, size_or_zero)  # training examples, drawn by `seed`; 0: all
    seed: int = checked(0, size_or_zero)


@dataclass(frozen=True, kw_only=True)
class TextConfig(ConfigTable):
    """How text becomes tokens."""

    tokenizer: Choice = Choice("bpe")  # its kinds: see text/
    vocab_size: int = checked(8000, size_or_zero)  # 0: all that occur, for characters and words
    joint: bool = True  # one vocabulary for both sides
    sample: int = checked(1_000_000, size_or_zero)  # lines that it is learned from at most, drawn by the data's seed
    begin: str = checked("none", partial(one_of, known=FRAMES))  # the special token before a text
    end: str = checked("none", partial(one_of, known=FRAMES))  # and the one after it


@dataclass(frozen=True, kw_only=True)
class TrainConfig(ConfigTable):
    """How the model is trained; the defaults are §5 of the paper, except for the batch size and clipping."""

    steps: int = 100_000  # optimiser steps
    epochs: int | None = None  # passes over the training examples: sets `steps` when a run begins
    start: str | None = None  # a run or model whose weights and tokenizer it starts from
    batch_tokens: int = 4096  # on either side, including padding, in one micro-batch
    max_sentences: int | None = None
    accumulate: int = 1  # micro-batches of a rank in an optimiser step
    ranks: int | None = None  # for how many ranks `accumulate` is meant; default: those that begin the run
    parallel: str | None = checked(None, _parallel)  # on several ranks: ddp (default), fsdp; see training/parallel.py
    recompute: bool = False  # blocks keep only their input, and are computed again in the backward pass
    pool: int = checked(0, size_or_zero)  # batches that are sorted by length together; 0: all, as in the paper; 1: none
    pad_to: int = 1  # lengths are padded to a multiple of this: fewer shapes to compile
    optimizer: Choice = _kind("optimizer", "adam")
    learning_rate: float | None = None  # the highest; not used by noam: see `peak`
    schedule: Choice = _kind("schedule", "noam")
    warmup: int = checked(4000, size_or_zero)
    clip: float = checked(1.0, not_negative)  # largest norm of the whole gradient; 0: no limit
    loss: Choice = _kind("loss", Choice("cross_entropy", {"smoothing": 0.1}))
    chunk: int = checked(0, size_or_zero)  # tokens whose logits are in memory at a time; 0: all
    precision: str = checked("float32", partial(one_of, known=PRECISIONS))
    ema: float = checked(0.0, rate)  # decay of the moving average of the weights; 0: none
    average: int = checked(0, size_or_zero)  # mean of the last n checkpoints at the end; 0: none
    evaluate_every: int = checked(1000, size_or_zero)
    save_every: int = 1000
    log_every: int = 50
    keep: int = 3  # number of checkpoints; the best one is kept too
    best: str = "loss"  # the metric that decides which is best
    patience: int = checked(0, size_or_zero)  # evaluations without a better one before stopping; 0: never
    skip_limit: int = 10  # steps in a row without a finite gradient before stopping
    seed: int = checked(0, size_or_zero)
    deterministic: bool = False
    compile: bool | str | None = checked(None, _compile)  # default: on an accelerator if the job is long enough to pay
    device: str = "auto"
    threads: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.average > self.keep:
            raise ConfigError("average_keep", average=self.average, keep=self.keep)
        if self.patience and not self.evaluate_every:
            raise ConfigError("patience_without_evaluation", patience=self.patience)

    @property
    def micro_batches(self) -> int:
        """In an optimiser step, on all ranks together."""
        return self.accumulate * (self.ranks or 1)

    @property
    def peak(self) -> float:
        """The factor of the schedule: the highest rate; for Eq. (3), which has its own height and `factor`, 1."""
        if self.schedule.kind == "noam":
            return 1.0
        return 5e-4 if self.learning_rate is None else self.learning_rate


TABLES: dict[str, type[ConfigTable]] = {
    "model": ModelConfig,
    "data": DataConfig,
    "text": TextConfig,
    "train": TrainConfig,
}


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """One complete experiment: the content of a recipe, and of the config.toml of its run."""

    name: str = "run"
    task: Choice = Choice("translation")
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    text: TextConfig = field(default_factory=TextConfig)
    train: TrainConfig = field(default_factory=TrainConfig)

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", RunTable(name=self.name, task=self.task).task)

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any]) -> RunConfig:
        """The tables [run] (name, task), [model], [data], [text], [train]; each may be missing."""
        for name, table in tables.items():
            known_key(name, ("run", *TABLES))
            if not isinstance(table, Mapping):
                raise wrong_type(name, table, "table")
        about = RunTable.from_dict(tables.get("run", {}))
        made: dict[str, Any] = {name: table.from_dict(tables.get(name, {})) for name, table in TABLES.items()}
        return cls(name=about.name, task=about.task, **made)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        tables: dict[str, dict[str, Any]] = {"run": {"name": self.name, "task": plain(self.task)}}
        return tables | {name: getattr(self, name).to_dict() for name in TABLES}

    def to_toml(self, options: Mapping[str, Schema] = MappingProxyType({})) -> str:
        """Every key with its value, so that it means the same in a later version; keys without a value as comments.

        `options`: all options of each choice, "data.source" for example: see `tasks/schemas.py`.
        """
        lines = [to_toml({"run": {"name": self.name, "task": plain(self.task)}})]
        lines[0] += "".join(f"{line}\n" for line in left_out("task", self.task, options.get("run.task", {})))
        for name, kind in TABLES.items():
            values = {key: getattr(getattr(self, name), key) for key in kind.schema()}
            unset = [f"# {key} =" for key, value in values.items() if value is None]
            given = {key: plain(value) for key, value in values.items() if value is not None}
            for key, value in values.items():
                if isinstance(value, Choice):
                    unset += left_out(key, value, options.get(f"{name}.{key}", {}))
            lines += [to_toml({name: given}) + "\n".join([*unset, ""])]
        return "\n".join(lines)

    def with_vocabulary(self, source: int, target: int | None = None) -> RunConfig:
        """The same run with the sizes of its tokenizers; `target` if that side has its own."""
        sizes = {"vocab_size": source, "target_vocab_size": None if target == source else target}
        return replace(self, model=replace(self.model, **sizes))  # type: ignore[arg-type]


def left_out(key: str, choice: Choice, schema: Schema) -> list[str]:
    """The options that a choice leaves at their defaults, as comments: `# source.count = 10000`."""
    left = {name: each.default for name, each in schema.items() if name not in choice.options}
    return [
        f"# {key}.{name} = {'' if default in (None, REQUIRED) else literal(default)}".rstrip()
        for name, default in left.items()
    ]


LENGTHS = ("train.steps", "train.epochs")  # two ways to say how long a training is: the last one counts


def override(tables: Mapping[str, Any], key: str, value: object) -> dict[str, Any]:
    """The tables with one key set: `train.steps`, or inside a choice `train.optimizer.beta2`; `task.x` is `run.task.x`.

    A key may be written without its table, `d_ff`, if only one table has it.
    """
    key = f"run.{key}" if key.startswith("task.") else _with_table(key)
    known: dict[str, type[ConfigTable]] = {"run": RunTable, **TABLES}
    name, _, rest = key.partition(".")
    table, given = known[known_key(name, known, key)], tables.get(name, {})
    if not rest or not isinstance(given, Mapping):
        raise wrong_type(name, given if rest else value, "table")
    if key in LENGTHS:
        given = {each: old for each, old in given.items() if f"{name}.{each}" not in LENGTHS}
    return {**tables, name: table.override(given, rest, value, key)}


def _with_table(key: str) -> str:
    """`d_ff` → `model.d_ff`; a key of two tables, such as `seed`, is refused."""
    first = key.partition(".")[0]
    if first in ("run", *TABLES):
        return key
    homes = [name for name, table in TABLES.items() if first in table.schema()]
    if len(homes) > 1:
        raise ConfigError("key_in_tables", key=key, known=" or ".join(f"{name}.{key}" for name in homes))
    return f"{homes[0]}.{key}" if homes else key
