"""The configuration of a run: model, data, text, training; frozen and read from TOML like the model's. No torch here.

Options of a Choice are checked here, against one table of kinds; what a kind does is known by `losses` and `train`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from glassformer.config.model import Choice, ModelConfig, _choice, _key, literal, to_toml
from glassformer.config.values import one_of, positive, rate, size, truth, word, wrong_type
from glassformer.errors import ConfigError, shown, suggest

T = TypeVar("T", bound="_Table")
Options = Mapping[str, Mapping[str, Any]]  # of each choice, by key: name of the option → its default

PRECISIONS = ("float32", "bf16", "fp16")
MODES = ("triangular", "triangular2")
LONGEST_NAME = 120  # bytes: a file system takes 255, and other names are made of it
FRAMES = ("none", "bos", "eos", "cls", "sep")  # roles of special tokens: see text/tokenizer.py


def _count(key: str, value: object) -> int:
    return size(key, value, low=0)


def _not_negative(key: str, value: object) -> float:
    return 0.0 if value == 0 and not isinstance(value, bool) else positive(key, value)


Option = tuple[Any, Callable[[str, Any], Any]]  # its default, and what it must be
ADAM: dict[str, Option] = {  # §5.3
    "beta1": (0.9, rate),
    "beta2": (0.98, rate),
    "eps": (1e-9, positive),
    "weight_decay": (0.0, _not_negative),
}
KINDS: dict[str, dict[str, dict[str, Option]]] = {
    "optimizer": {
        "adam": ADAM,
        "adamw": ADAM | {"weight_decay": (0.01, _not_negative)},
        "sgd": {"momentum": (0.9, rate), "weight_decay": (0.0, _not_negative)},
    },
    "schedule": {
        "noam": {"factor": (1.0, positive)},
        "inverse_sqrt": {},
        "linear": {"floor": (0.0, rate)},
        "cosine": {"floor": (0.0, rate)},
        "one_cycle": {"start": (25.0, positive), "final": (1e4, positive)},
        "cyclic": {"low": (0.1, rate), "mode": ("triangular", partial(one_of, known=MODES))},
        "constant": {},
    },
    "loss": {
        "cross_entropy": {"smoothing": (0.0, rate)},
        "focal": {"gamma": (2.0, _not_negative)},
        "binary_cross_entropy": {"smoothing": (0.0, rate)},
        "mse": {},
        "mae": {},
        "huber": {"delta": (1.0, positive)},
    },
}


def options(key: str, choice: Choice) -> dict[str, Any]:
    """All options of a choice, those that are not given by default; an unknown one is answered with the nearest."""
    one_of(key, choice.kind, KINDS[key])
    known = KINDS[key][choice.kind]
    for option in choice.options:
        if not known:
            raise ConfigError("no_option", key=key, option=option, kind=choice.kind)
        if option not in known:
            hint = suggest(option, known)
            raise ConfigError("unknown_option", key=key, option=option, kind=choice.kind, hint=hint)
    given = {
        name: check(f"{key}.{name}", choice.options[name])
        for name, (_, check) in known.items()
        if name in choice.options
    }
    return {name: default for name, (default, _) in known.items()} | given


def _known(key: str, value: object) -> Choice:
    """With all of its options, so that what is not said now means the same in a later version."""
    choice = _choice(key, value)
    return Choice(choice.kind, options(key, choice))


def _folder_name(key: str, value: object) -> str:
    """A name that can be that of a folder, and of no other place than where it is put."""
    name = word(key, value)
    if not name.strip() or name.startswith(".") or not name.isprintable() or {"/", "\\"} & {*name}:
        raise ConfigError("not_a_name", key=key, value=shown(name))
    if len(name.encode()) > LONGEST_NAME:
        raise ConfigError("name_too_long", key=key, value=shown(name), limit=LONGEST_NAME)
    return name


@dataclass(frozen=True, kw_only=True)
class _Table:
    """One table of a recipe: every key checked when it is made, unknown keys refused, only what differs written."""

    def __post_init__(self) -> None:
        for key in fields(self):
            value = getattr(self, key.name)
            if value is not None or not key.metadata["optional"]:
                object.__setattr__(self, key.name, key.metadata["check"](key.name, value))

    @classmethod
    def from_dict(cls: type[T], table: Mapping[str, Any]) -> T:
        known = {key.name for key in fields(cls)}
        for key in table:
            if word("key", key) not in known:
                raise ConfigError("unknown_key", key=key, hint=suggest(key, known))
        return cls(**table)

    def to_dict(self) -> dict[str, Any]:
        """What differs from the defaults, as it stands in TOML."""
        table = {key.name: getattr(self, key.name) for key in fields(self)}
        return {key.name: _short(key.name, table[key.name]) for key in fields(self) if table[key.name] != key.default}


def _short(key: str, value: Any) -> Any:
    """As `plain`, without the options of a choice that are its defaults."""
    if key not in KINDS:
        return plain(value)
    known = KINDS[key][value.kind]
    return plain(Choice(value.kind, {name: one for name, one in value.options.items() if one != known[name][0]}))


def plain(value: Any) -> Any:
    match value:
        case Choice():
            return {"kind": value.kind, **value.options} if value.options else value.kind
        case tuple():
            return list(value)
    return value


@dataclass(frozen=True, kw_only=True)
class DataConfig(_Table):
    """Where the examples come from, and which of them are used."""

    source: Choice = _key(Choice("grammar"), _choice)  # grammar, files, catalogue: known by data/
    source_language: str = _key("ko", word)
    target_language: str = _key("en", word)
    prepare: str = _key("none", word)  # none, lowercase, moses, moses-lowercase: known by data/
    max_length: int = _key(256, size)  # tokens; a longer example is left out, a text to be classified is cut
    validation: int = _key(1000, _count)  # examples kept apart, where the source brings no validation set
    seed: int = _key(0, _count)


@dataclass(frozen=True, kw_only=True)
class TextConfig(_Table):
    """How text becomes tokens."""

    tokenizer: Choice = _key(Choice("bpe"), _choice)  # known by text/
    vocab_size: int = _key(8000, _count)  # 0: all there are, where the tokenizer is of characters or of words
    joint: bool = _key(True, truth)  # one vocabulary for both sides
    begin: str = _key("none", partial(one_of, known=FRAMES))  # the special token that stands before a text
    end: str = _key("none", partial(one_of, known=FRAMES))  # and the one behind it


@dataclass(frozen=True, kw_only=True)
class TrainConfig(_Table):
    """How the numbers are learned; the defaults are §5 of the paper, but for the size of a batch and clipping."""

    steps: int = _key(100_000, size)  # optimiser steps
    start: str | None = _key(None, word, optional=True)  # a run or model whose weights and tokenizer it starts from
    batch_tokens: int = _key(4096, size)  # of either side, padding counted, in one micro-batch
    max_sentences: int | None = _key(None, size, optional=True)
    accumulate: int = _key(1, size)  # micro-batches in an optimiser step
    pool: int = _key(0, _count)  # batches that are sorted by length together; 0: all, as in the paper; 1: none
    pad_to: int = _key(1, size)  # lengths are padded to a multiple of it: fewer shapes to compile
    optimizer: Choice = _key(_known("optimizer", "adam"), _known)
    learning_rate: float | None = _key(None, positive, optional=True)  # the highest; noam has none: see `peak`
    schedule: Choice = _key(_known("schedule", "noam"), _known)
    warmup: int = _key(4000, _count)
    clip: float = _key(1.0, _not_negative)  # largest norm of the whole gradient; 0: any
    loss: Choice = _key(Choice("cross_entropy", {"smoothing": 0.1}), _known)
    chunk: int = _key(0, _count)  # tokens whose logits are held at a time; 0: all
    precision: str = _key("float32", partial(one_of, known=PRECISIONS))
    ema: float = _key(0.0, rate)  # decay of the moving average of the weights; 0: none
    average: int = _key(0, _count)  # mean of the last n checkpoints at the end; 0: none
    evaluate_every: int = _key(1000, _count)
    save_every: int = _key(1000, size)
    log_every: int = _key(50, size)
    keep: int = _key(3, size)  # checkpoints; the best one stays too
    best: str = _key("loss", word)  # the metric that decides which one that is
    patience: int = _key(0, _count)  # evaluations without a better one before stopping; 0: never
    skip_limit: int = _key(10, size)  # steps in a row without a finite gradient before stopping
    seed: int = _key(0, _count)
    deterministic: bool = _key(False, truth)
    compile: bool = _key(False, truth)
    device: str = _key("auto", word)
    threads: int | None = _key(None, size, optional=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.average > self.keep:
            raise ConfigError("average_keep", average=self.average, keep=self.keep)
        if self.patience and not self.evaluate_every:
            raise ConfigError("patience_without_evaluation", patience=self.patience)

    @property
    def peak(self) -> float:
        """What the schedule is multiplied by: the highest rate. Eq. (3) sets its own height, and its `factor`."""
        if self.schedule.kind == "noam":
            return 1.0
        return 5e-4 if self.learning_rate is None else self.learning_rate


TABLES: dict[str, type[ModelConfig] | type[_Table]] = {
    "model": ModelConfig,
    "data": DataConfig,
    "text": TextConfig,
    "train": TrainConfig,
}


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """One complete experiment: what stands in a recipe, and in the config.toml of its run."""

    name: str = "run"
    task: Choice = Choice("translation")
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    text: TextConfig = field(default_factory=TextConfig)
    train: TrainConfig = field(default_factory=TrainConfig)

    def __post_init__(self) -> None:
        _folder_name("name", self.name)
        object.__setattr__(self, "task", _choice("task", self.task))

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any]) -> RunConfig:
        """The tables [run] (name, task), [model], [data], [text], [train]; each may be missing."""
        for name, table in tables.items():
            if name not in ("run", *TABLES):
                raise ConfigError("unknown_key", key=name, hint=suggest(name, ("run", *TABLES)))
            if not isinstance(table, Mapping):
                raise wrong_type(name, table, "table")
        about = tables.get("run", {})
        for key in about:
            if key not in ("name", "task"):
                raise ConfigError("unknown_key", key=key, hint=suggest(key, ("name", "task")))
        made = {name: kind.from_dict(tables.get(name, {})) for name, kind in TABLES.items()}
        return cls(**about, **made)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, dict[str, Any]]:
        tables: dict[str, dict[str, Any]] = {"run": {"name": self.name, "task": plain(self.task)}}
        return tables | {name: getattr(self, name).to_dict() for name in TABLES}

    def to_toml(self, defaults: Options = MappingProxyType({})) -> str:
        """Every key with its value, so that it means the same in a later version; what is not set as a comment.

        `defaults`: of each choice, "data.source" for example, all options that its kind has: see `tasks/defaults.py`.
        """
        lines = [to_toml({"run": {"name": self.name, "task": plain(self.task)}})]
        lines[0] += "".join(f"{line}\n" for line in _left("task", self.task, defaults.get("run.task", {})))
        for name in TABLES:
            table = getattr(self, name)
            values = {key.name: getattr(table, key.name) for key in fields(table)}
            unset = [f"# {key} =" for key, value in values.items() if value is None]
            given = {key: plain(value) for key, value in values.items() if value is not None}
            chosen = {key: value for key, value in values.items() if isinstance(value, Choice)}
            for key, choice in chosen.items():
                unset += _left(key, choice, defaults.get(f"{name}.{key}", {}))
            lines += [to_toml({name: given}) + "\n".join([*unset, ""])]
        return "\n".join(lines)

    def with_vocabulary(self, source: int, target: int | None = None) -> RunConfig:
        """The same run with the sizes that the tokenizers turned out to have; `target` where it has one of its own."""
        sizes = {"vocab_size": source, "target_vocab_size": None if target == source else target}
        return replace(self, model=replace(self.model, **sizes))  # type: ignore[arg-type]


def _left(key: str, choice: Choice, known: Mapping[str, Any]) -> list[str]:
    """The options that a choice leaves as they are, as comments: `# source.count = 10000`."""
    left = {name: default for name, default in known.items() if name not in choice.options}
    return [f"# {key}.{name} = {'' if each is None else literal(each)}".rstrip() for name, each in left.items()]


def _with_table(key: str) -> str:
    """`d_ff` → `model.d_ff`; one that stands in two tables, `seed`, is not guessed."""
    first = key.partition(".")[0]
    if first in ("run", *TABLES):
        return key
    homes = [name for name, kind in TABLES.items() if first in {each.name for each in fields(kind)}]
    if len(homes) > 1:
        raise ConfigError("key_in_tables", key=key, known=" or ".join(f"{name}.{key}" for name in homes))
    return f"{homes[0]}.{key}" if homes else key


def override(tables: Mapping[str, Any], key: str, value: object) -> dict[str, Any]:
    """The tables with one key set: `train.steps`, inside a choice `train.optimizer.beta2`; `task.x` is `run.task.x`.

    A key without its table, `d_ff`, is that of the only table that has it.
    """
    key = f"run.{key}" if key.startswith("task.") else _with_table(key)
    name, _, rest = key.partition(".")
    if name not in ("run", *TABLES) or not rest:
        raise ConfigError("unknown_key", key=key, hint=suggest(name, ("run", *TABLES)))
    table = dict(tables.get(name, {}))
    outer, dot, inner = rest.partition(".")
    if not dot:
        table[outer] = value
        return {**tables, name: table}
    choice = table.get(outer, getattr(RunConfig if name == "run" else TABLES[name], outer, None))
    if isinstance(choice, Choice | str):
        choice = {"kind": choice} if isinstance(choice, str) else {"kind": choice.kind, **choice.options}
    if not isinstance(choice, Mapping):
        raise ConfigError("unknown_key", key=key, hint=suggest(outer, (f.name for f in fields(TABLES["train"]))))
    table[outer] = {**choice, inner: value}
    return {**tables, name: table}
