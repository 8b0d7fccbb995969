"""Checkpoints of several ranks: each writes its share of every tensor, as safetensors, by torch.distributed.checkpoint.

A folder of shards can be read on any number of ranks, and by a single process; it is `format` 2, which versions without
this file refuse. One file for each rank and kind: shard-00001-model-00003-of-00004.safetensors is the third kind of
rank 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.errors import FileError
from glassformer.files import read_json, write_json
from glassformer.ranks import of_network

if TYPE_CHECKING:
    from torch import Tensor

SHARDED = "shards.json"
KINDS = ("model", "ema", "optimizer", "random")  # the prefix of a tensor's name in the shards: "model:head.weight"

Tensors = Mapping[str, "Tensor"]


def is_sharded(folder: Path) -> bool:
    return (folder / SHARDED).is_file()


def write_shards(folder: Path, tensors: Mapping[str, Tensors]) -> None:
    """Write this rank's share of the tensors of each kind; every rank calls this, with the same names."""
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter
    from torch.distributed.checkpoint.state_dict_saver import save

    flat = {f"{kind}:{name}": _with_rows(tensor) for kind, some in tensors.items() for name, tensor in some.items()}
    files = {name: KINDS.index(name.partition(":")[0]) + 1 for name in flat}
    writer = HuggingFaceStorageWriter(str(folder), fqn_to_index_mapping=files, save_distributed=True)
    with _one_line(folder):
        save(flat, storage_writer=writer)


def describe_shards(folder: Path, tensors: Mapping[str, Tensors], ranks: int) -> None:
    """What rank 0 writes beside the shards: that they are some, and which tensors are a single number."""
    single = [f"{kind}:{name}" for kind, some in tensors.items() for name, x in some.items() if not x.dim()]
    write_json(folder / SHARDED, {"ranks": ranks, "ema": "ema" in tensors, "single": single})


def shard_files(folder: Path, kind: str) -> list[str]:
    """The names of the files that hold a kind."""
    return sorted(path.name for path in folder.glob(f"shard-*-model-{KINDS.index(kind) + 1:05d}-of-*.safetensors"))


def has_average(folder: Path) -> bool:
    """Whether training kept a moving average of the weights."""
    return bool(_about(folder)["ema"])


def _about(folder: Path) -> dict[str, Any]:
    about = read_json(folder / SHARDED)
    if not isinstance(about, dict) or not {"ema", "single"} <= about.keys():
        raise FileError("checkpoint_incomplete", path=folder, file=SHARDED)
    return about


def shapes_in(folder: Path, kind: str) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Shape and type of every tensor of a kind, put together."""
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader

    with _one_line(folder):
        known: dict[str, Any] = dict(HuggingFaceStorageReader(str(folder)).read_metadata().state_dict_metadata)
    begin, single = f"{kind}:", set(_about(folder)["single"])
    return {
        name.removeprefix(begin): (() if name in single else tuple(each.size), each.properties.dtype)
        for name, each in known.items()
        if name.startswith(begin)
    }


def fill_from_shards(folder: Path, kind: str, tensors: Tensors) -> None:
    """Read into these tensors, whole ones or shares as they lie on this rank; it needs no other rank for that."""
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader
    from torch.distributed.checkpoint.state_dict_loader import load

    flat = {f"{kind}:{name}": _with_rows(tensor) for name, tensor in tensors.items()}
    with _one_line(folder), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="torch.distributed is disabled, unavailable or uninitialized")
        load(flat, storage_reader=HuggingFaceStorageReader(str(folder)), no_dist=True)


def read_shards(folder: Path, kind: str) -> dict[str, Tensor]:
    """All tensors of a kind, put together on the processor."""
    import torch

    tensors = {name: torch.empty(shape, dtype=dtype) for name, (shape, dtype) in shapes_in(folder, kind).items()}
    fill_from_shards(folder, kind, tensors)
    return tensors


def _with_rows(tensor: Tensor) -> Tensor:
    """A single number as a row of one, which is what a slice of a file can be; it shares its memory."""
    return tensor.detach() if tensor.dim() else tensor.detach().reshape(1)


@contextmanager
def _one_line(folder: Path) -> Iterator[None]:
    """torch tells the errors of all ranks with their tracebacks. A rank that is gone is no matter of the disk."""
    from torch.distributed.checkpoint.api import CheckpointException

    try:
        yield
    except CheckpointException as error:
        (rank, (first, _)), *_ = error.failures.items()
        raise FileError("shards", path=folder, rank=rank, why=str(first).splitlines()[0]) from error
    except (OSError, RuntimeError, AssertionError, KeyError, ValueError) as error:
        if isinstance(error, RuntimeError) and of_network(error):
            raise
        raise FileError("shards", path=folder, rank="–", why=str(error).splitlines()[0]) from error
