from __future__ import annotations

import pytest

from glassformer.ledger.job import Job
from glassformer.ledger.parameters import count
from glassformer.ledger.work import work
from glassformer.models.presets import PRESETS


def test_llama_by_hand() -> None:
    """Matrix products see every parameter but the embedding and the norms; attention is 12·L·d·T."""
    done = work(PRESETS["llama3-8b"](), Job(batch=2, length=8192))
    norms = 65 * 4096
    assert done.tokens == 2 * 8192
    assert done.parameters == 8_030_261_248
    assert done.model == done.tokens * (6 * (8_030_261_248 - 128256 * 4096 - norms) + 12 * 32 * 4096 * 8192)
    assert done.model - done.triangle == done.tokens * 12 * 32 * 4096 * 8192 * 8191 // (2 * 8192)
    assert done.block == 4096 * 4096 * 2 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096
    assert done.inside == 32 * done.block
    assert done.outside == 2 * 128256 * 4096 + 4096
    assert done.blocks == 32


def test_checkpointing_by_hand() -> None:
    config, tokens = PRESETS["llama3-8b"](), 2 * 8192
    outside = tokens * (4096 * 2 + 4 + 4096 * 2)  # final norm: its input and scale; the slopes along the stream
    outside += 128256 * 4096 * 4  # and along the head's matrix
    full = work(config, Job(batch=2, length=8192, checkpointing="full"))
    assert sum(entry.amount * times for entry, times in full.kept) == outside + 32 * tokens * 4096 * 2
    assert full.recomputed == full.forward - tokens * 2 * 4096 * 128256
    selective = work(config, Job(batch=2, length=8192, checkpointing="selective"))
    # input, w_q, w_v, w_gate, w_2; attention's output and its logsumexp
    block = tokens * (2 * (4096 + 4096 + 1024 + 14336 + 4096 + 4096) + 4 * 32)
    assert sum(entry.amount * times for entry, times in selective.kept) == outside + 32 * block
    assert selective.recomputed == 32 * tokens * 2 * (4096 * 1024 + 4096 * 4096 + 4096 * 14336)  # w_k, w_o, w_1
    none = work(config, Job(batch=2, length=8192))
    assert none.recomputed == 0
    kept = [sum(entry.amount * times for entry, times in done.kept) for done in (full, selective, none)]
    assert kept == sorted(kept)


@pytest.mark.many
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("checkpointing", ["none", "selective", "full"])
def test_no_weights_of_attention_are_kept(preset: str, checkpointing: str) -> None:
    done = work(PRESETS[preset](), Job(checkpointing=checkpointing, length=16))
    assert done.model > done.forward > 0
    assert 0 <= done.recomputed <= done.forward
    assert [entry for entry, _ in done.kept if "b×n_heads×t×s" in entry.formula] == []
    assert done.parameters == count(preset, PRESETS[preset]()).total.parameters


def test_tokens_of_source_and_target_are_counted() -> None:
    assert work(PRESETS["paper-base"](), Job(batch=3, length=7, target_length=5)).tokens == 3 * (7 + 5)
