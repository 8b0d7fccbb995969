"""Two measurements on every attention of a translator: what rows and masked entries sum to, how far heads are apart."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.data.batch import PairBatch, pair
from glassformer.data.grammar.pair import GrammarPair
from glassformer.data.store import Store
from glassformer.layers.attention.mask import causal
from glassformer.loading.loaded import Loaded
from glassformer.losses import IGNORE
from glassformer.trace.record import record

DROPOUT = 0.1  # the paper's rate, to show what it does to the sums


def read(loaded: Loaded, model: nn.Module, chosen: Sequence[GrammarPair]) -> tuple[PairBatch, dict[str, Tensor]]:
    """The sentences as one padded batch, and the weights of every attention, b h t s, by a short name."""
    tokenizers = loaded.vocabularies
    special = tokenizers.target.specials
    sides = Store.of(
        {
            "source": tokenizers.source.encode_batch([one.source_ko for one in chosen]),
            "target": tokenizers.target.encode_batch([one.target_en for one in chosen]),
        }
    )
    batch = pair(
        [sides[i][0] for i in range(len(chosen))],
        [sides[i][1] for i in range(len(chosen))],
        padding=special.need("pad"),
        begin=loaded.start,
        end=special.need("eos"),
        frame=loaded.frame,
    )
    return batch, weights_of(model, batch)


@torch.no_grad()
def weights_of(model: nn.Module, batch: PairBatch) -> dict[str, Tensor]:
    """The weights of every attention, b h t s, by a short name."""
    with record(model, "*.weights") as trace:
        model(batch.source, batch.target_in, batch.source_mask)
    return {short(name): trace[name] for name in trace.names()}


def short(name: str) -> str:
    """encoder.blocks.0.self_attention.weights → encoder-1; a decoder's two are decoder-1 and cross-1."""
    stack, _, layer, attention, _ = name.split(".")
    return f"{'cross' if attention == 'cross_attention' else stack}-{int(layer) + 1}"


def allowed(name: str, weights: Tensor, source_mask: Tensor | None) -> Tensor:
    """Who may look at whom, b 1 t s, from the batch and not from the model: padding, or the future."""
    b, _, t, s = weights.shape
    if name.startswith("decoder"):
        return causal(t).expand(b, 1, t, t)
    seen = torch.ones(b, s, dtype=torch.bool) if source_mask is None else source_mask
    return seen[:, None, None, :].expand(b, 1, t, s)


def rows_and_blocks(loaded: Loaded, chosen: Sequence[GrammarPair], seed: int) -> dict[str, float]:
    """How far any row is from 1, how far any masked entry from 0, over all attentions; and the rows under dropout."""
    batch, found = read(loaded, loaded.model, chosen)
    torch.manual_seed(seed)
    result = {"rows": 0.0, "blocked": 0.0, "error": 0.0, "leak": 0.0, "longest": 0.0, "attentions": 0.0}
    low, high = 1.0, 1.0
    for name, weights in found.items():
        may = allowed(name, weights, batch.source_mask).expand_as(weights)
        sums = weights.double().sum(-1)  # b h t
        blocked = weights[~may]
        result["rows"] += sums.numel()
        result["blocked"] += blocked.numel()
        result["attentions"] += weights.shape[1]
        result["error"] = max(result["error"], float((sums - 1).abs().max()))
        result["leak"] = max(result["leak"], float(blocked.abs().max()) if blocked.numel() else 0.0)
        result["longest"] = max(result["longest"], float(weights.shape[-1]))
        dropped = F.dropout(weights, DROPOUT).double().sum(-1)
        low, high = min(low, float(dropped.min())), max(high, float(dropped.max()))
    whole = {key: int(result[key]) for key in ("rows", "blocked", "longest", "attentions")}
    return {**result, **whole, "dropped_low": low, "dropped_high": high}


def heads_apart(model: nn.Module, batch: PairBatch) -> dict[str, float]:
    """The mean Jensen-Shannon divergence between two heads, in bits, over all pairs of heads and all real queries."""
    found = weights_of(model, batch)
    target_real = batch.target_out != IGNORE  # b t
    source_real = torch.ones_like(batch.source, dtype=torch.bool) if batch.source_mask is None else batch.source_mask
    result = {}
    for name, weights in found.items():
        real = source_real if name.startswith("encoder") else target_real  # b t
        choice = allowed(name, weights, batch.source_mask).sum(-1)[:, 0] > 1  # b t: one key alone is no choice
        apart = divergence(weights.double())  # b t
        result[name] = float(apart[real & choice].mean())
    return result


def divergence(weights: Tensor) -> Tensor:
    r"""Jensen-Shannon, in bits, of every two of h heads, then the mean: 0 = the same, 1 = nothing in common.

    JSD(p, q) = H((p + q) / 2) − (H(p) + H(q)) / 2
    """
    h = weights.shape[1]
    own = entropy(weights)  # b h t
    total, count = torch.zeros_like(own[:, 0]), 0
    for i in range(h):
        for j in range(i + 1, h):
            between = entropy((weights[:, i] + weights[:, j]) / 2)  # b t
            total = total + between - (own[:, i] + own[:, j]) / 2
            count += 1
    return total / max(count, 1)  # b t


def entropy(weights: Tensor) -> Tensor:
    """H = − Σ_s w_s log₂ w_s."""
    return -torch.xlogy(weights, weights).sum(-1) / torch.log(torch.tensor(2.0, dtype=weights.dtype))
