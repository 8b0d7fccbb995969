from __future__ import annotations

from typing import Any

import pytest

from glassformer.errors import ConfigError
from glassformer.ledger.job import Job, lengths
from glassformer.models.presets import PRESETS


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"devices": 0}, "devices=0 is out of range; use 1 to 1000000"),
        ({"devices": 1.5}, "devices=1.5 is of the wrong type; use a whole number"),
        ({"batch": 0}, "batch=0 is out of range"),
        ({"accumulate": -1}, "accumulate=-1 is out of range"),
        ({"length": 0}, "length=0 is out of range"),
        ({"parallel": "zero"}, "parallel='zero' is unknown; use one of: ddp, fsdp"),
        ({"precision": "half"}, "precision='half' is unknown; use one of: mixed, pure"),
        ({"optimizer": "muon"}, "optimizer='muon' is unknown; use one of: adamw"),
        ({"checkpointing": "some"}, "checkpointing='some' is unknown; use one of: none, selective, full"),
        ({"dtype": "int4"}, "dtype='int4' is unknown; use one of: bfloat16"),
        ({"causal": "circle"}, "causal='circle' is unknown; use one of: square, triangle"),
        ({"no_sync": 1}, "no_sync=1 is of the wrong type; use true or false"),
    ],
)
def test_a_job_that_cannot_be_is_refused(keys: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        Job(**keys)


def test_lengths() -> None:
    assert lengths(PRESETS["gpt2"](), Job()) == (1024, 1024)
    assert lengths(PRESETS["llama3-405b"](), Job()) == (2048, 2048)
    assert lengths(PRESETS["paper-base"](), Job(length=7, target_length=5)) == (7, 5)
    assert lengths(PRESETS["vit-b16"](), Job())[0] == 197
    with pytest.raises(ConfigError, match="the text has 1025 positions, and max_len=1024"):
        lengths(PRESETS["gpt2"](), Job(length=1025))


def test_widths() -> None:
    assert (Job(dtype="bfloat16").width, Job(dtype="bfloat16").state_width) == (2, 4)
    assert (Job(dtype="bfloat16", precision="pure").state_width, Job(dtype="tf32").width) == (2, 4)
    assert not Job(dtype="float32").is_mixed
    assert (Job(devices=8).shards, Job(devices=8, parallel="ddp").shards) == (8, 1)
