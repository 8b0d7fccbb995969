"""A training job on one or many devices, and the fullest micro-batch of a recipe as such a job."""

from __future__ import annotations

from dataclasses import dataclass

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice, one_of, size, truth
from glassformer.errors import ConfigError
from glassformer.ledger.costs import CONVENTIONS, LOSS_FORMS, OPTIMIZER_STATES
from glassformer.ledger.devices import DEVICE_DTYPES
from glassformer.models.check import input_positions

PARALLELS = ("ddp", "fsdp")
PRECISIONS = ("mixed", "pure")
CHECKPOINTINGS = ("none", "selective", "full")
MOST_DEVICES = 1_000_000
DEFAULT_LENGTH = 2048  # if max_len is longer


@dataclass(frozen=True, kw_only=True)
class Job:
    """One way to train. `batch` is the micro-batch of one device; an optimiser step takes `accumulate` of them.

    precision: mixed computes in 16 bits and keeps weights, gradients and optimiser state in float32; pure keeps all in
    `dtype`. checkpointing: full keeps the input of each block and recomputes the rest; selective also keeps the results
    of attention and of every second product. `no_sync`: FSDP reduces gradients once a step, unsharded until then.
    loss: a chunk of logits at a time, as our training computes that of a wide head, or the whole at once.
    """

    devices: int = 1
    parallel: str = "fsdp"
    batch: int = 1
    length: int | None = None  # default: max_len, at most 2048
    target_length: int | None = None  # default: length
    accumulate: int = 1
    dtype: str | None = None  # default: bfloat16 where the device has it
    precision: str = "mixed"
    optimizer: str = "adamw"
    checkpointing: str = "none"
    no_sync: bool = False
    causal: str = "square"
    loss: str = "chunks"

    def __post_init__(self) -> None:
        size("devices", self.devices, high=MOST_DEVICES)
        for key in ("batch", "accumulate"):
            size(key, getattr(self, key))
        for key in ("length", "target_length"):
            if getattr(self, key) is not None:
                size(key, getattr(self, key))
        one_of("parallel", self.parallel, PARALLELS)
        one_of("precision", self.precision, PRECISIONS)
        one_of("optimizer", self.optimizer, tuple(OPTIMIZER_STATES))
        one_of("checkpointing", self.checkpointing, CHECKPOINTINGS)
        one_of("causal", self.causal, tuple(CONVENTIONS))
        one_of("loss", self.loss, LOSS_FORMS)
        if self.dtype is not None:
            one_of("dtype", self.dtype, tuple(DEVICE_DTYPES))
        truth("no_sync", self.no_sync)

    @property
    def shards(self) -> int:
        """The number of devices over which weights, gradients and optimiser state are spread."""
        return self.devices if self.parallel == "fsdp" else 1

    @property
    def width(self) -> int:
        """Bytes of one number of weights and activations during computation."""
        return DEVICE_DTYPES[self.dtype or "bfloat16"]

    @property
    def is_mixed(self) -> bool:
        return self.precision == "mixed" and self.width < 4

    @property
    def state_width(self) -> int:
        """Bytes of one number that the optimiser works on."""
        return 4 if self.precision == "mixed" else self.width


def sample_lengths(config: ModelConfig, job: Job) -> tuple[int, int]:
    """Source and target positions of one sample; images and series have their own length."""
    source = input_positions(config) or job.length or min(config.max_len, DEFAULT_LENGTH)
    target = config.queries or job.target_length or source
    longest = max(source, target if config.family == "encoder-decoder" else 0)
    if longest > config.max_len:
        raise ConfigError("too_long", length=longest, max_len=config.max_len)
    return source, target


TYPES = {"float32": "float32", "bf16": "bfloat16", "fp16": "float16"}  # a recipe's name for a type → the ledger's


def optimizer_name(chosen: Choice) -> str:
    """A recipe's optimiser by its name in `OPTIMIZER_STATES`: with momentum, sgd keeps a number for each parameter."""
    return "momentum" if chosen.options.get("momentum") else chosen.kind


def full_batch(config: RunConfig, row: int | None = None) -> Job:
    """The micro-batch that needs most memory: `batch_tokens` on either side, in the longest examples.

    `row`: it is one row of so many tokens without padding, in examples that fill it.
    """
    train, model = config.train, config.model
    given = config.data.max_length or model.max_len
    length = input_positions(model) or min(model.max_len, given, train.batch_tokens)
    if row is not None:
        length = next(each for each in range(min(length, row), 0, -1) if row % each == 0)
    sentences = max(1, (row or train.batch_tokens) // length)
    return Job(
        batch=min(sentences, train.max_sentences or sentences) if row is None else sentences,
        length=None if input_positions(model) else length,
        accumulate=train.accumulate,
        dtype=TYPES[train.precision],
        optimizer=optimizer_name(train.optimizer),
        devices=train.ranks or 1,
        parallel=train.parallel or "ddp",
        checkpointing="full" if train.recompute else "none",
    )
