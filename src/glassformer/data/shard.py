"""A part of large texts as tokens: what one of several processes encodes, `python -m glassformer.data.shard FOLDER`.

It reads numbers of shards from its input, a line each, and answers each with a line of JSON: {} when the shard is on
the disk, or the key and the values of an error. It ends with its input.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from glassformer.data.cut import Cut
from glassformer.data.store import Store
from glassformer.data.stored_texts import StoredTexts
from glassformer.errors import GlassformerError
from glassformer.files import disk, read_json
from glassformer.text import Tokenizer, open_tokenizer

SHARDS = "shards"  # the folder in a draft
JOB = "job.json"
AT_ONCE = 2**10  # texts that are encoded together: a list of ids takes ten times its array


@dataclass(frozen=True)
class ShardJob:
    """What is encoded, and how; the same for every shard."""

    draft: Path
    sides: dict[str, tuple[StoredTexts, Tokenizer]]
    cut: Cut
    size: int

    @classmethod
    def open(cls, draft: Path) -> ShardJob:
        found = read_json(draft / SHARDS / JOB)
        sides = {}
        for name, folder, column, rows, prepare in found["columns"]:
            kept = None if rows is None else np.memmap(draft / rows, np.int64, "r")
            texts = StoredTexts(Path(folder), column, kept, None if prepare is None else tuple(prepare))
            sides[name] = texts, open_tokenizer(draft / SHARDS / name)
        cut = found["cut"]
        return cls(draft, sides, Cut(cut["how"], cut["room"], tuple(cut["tokens"])), found["size"])


def shard_path(draft: Path, number: int) -> Path:
    return draft / SHARDS / f"{number:06d}.safetensors"


def write_shard(job: ShardJob, number: int) -> None:
    """Encode one shard, and give it its name when it is whole.

    Until then it has one of this process alone: a process whose parent was killed may still write the same shard.
    """
    examples = []
    count = len(next(iter(job.sides.values()))[0])
    for first in range(number * job.size, min((number + 1) * job.size, count), AT_ONCE):
        end = min(first + AT_ONCE, (number + 1) * job.size)
        coded = [
            [np.array(ids, dtype=np.int32) for ids in tokenizer.encode_batch(list(texts[first:end]))]
            for texts, tokenizer in job.sides.values()
        ]
        examples += list(job.cut(list(zip(*coded, strict=True))))
    fields = zip(*examples, strict=True) if examples else [[] for _ in job.sides]
    path = shard_path(job.draft, number)
    own = path.with_name(f"{os.getpid()}-{path.name}")
    Store.of(dict(zip(job.sides, fields, strict=True))).save(own)
    with disk(path):
        own.replace(path)


def serve(draft: Path, asked: IO[str], answers: IO[str]) -> None:
    """One shard after another, until nobody asks."""
    job = ShardJob.open(draft)
    for line in asked:
        said: dict[str, object] = {}
        try:
            write_shard(job, int(line))
        except GlassformerError as error:
            said = {"key": error.key, "values": {name: str(value) for name, value in error.values.items()}}
        answers.write(json.dumps(said) + "\n")
        answers.flush()


def main() -> None:
    try:
        serve(Path(sys.argv[1]), sys.stdin, sys.stdout)
    except BrokenPipeError:  # whoever asked was killed: nobody is left to answer, nor to complain to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
