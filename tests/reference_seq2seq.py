"""Small models of `transformers` with odd sizes and random weights: its encoder-decoders and its encoders of images.

`saved` writes one as its own file, `pair` opens that file as ours; the rest runs both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.mt5.modeling_mt5 import MT5LayerNorm
from transformers.models.pegasus.modeling_pegasus import PegasusSinusoidalPositionalEmbedding
from transformers.models.t5.modeling_t5 import T5LayerNorm

import glassformer as gf
from glassformer.config.model import ModelConfig
from glassformer.hub.export import export_run
from glassformer.hub.family import Family, Names
from glassformer.hub.foreign import Foreign
from glassformer.hub.open import inspect_folder, open_foreign
from glassformer.hub.store import store

VOCABULARY, TARGET_VOCABULARY = 31, 37
EXACT, UNPATCHED, SINGLE = 1e-10, 1e-6, 1e-5


SINUSOIDS = (MarianSinusoidalPositionalEmbedding, PegasusSinusoidalPositionalEmbedding)


class Variant(NamedTuple):
    """A class of theirs, the keys of its configuration, and what their published files say otherwise."""

    model: str
    keys: dict[str, Any]
    said: Mapping[str, Any] = MappingProxyType({})


def build(variant: Variant) -> Any:
    """Their model in float64, every number random: no norm is 1 and no bias 0."""
    made = getattr(transformers, variant.model)
    model = made(made.config_class(**variant.keys)).double().eval()
    generator = torch.Generator().manual_seed(7)
    if variant.said.get("tie_word_embeddings") is False and hasattr(model, "lm_head"):
        model.lm_head.weight = nn.Parameter(torch.empty_like(model.lm_head.weight))  # tied by force: see T5
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if "embed_positions" in name and not tensor.requires_grad:
            continue  # sinusoids
        noise = torch.randn(tensor.shape, generator=generator, dtype=torch.float64)
        vector = tensor.dim() == 1
        around = 1.0 if vector and name.endswith("weight") else 0.0
        with torch.no_grad():
            tensor.copy_(around + noise * (0.3 if vector else tensor.shape[-1] ** -0.5))
    return model


def saved(model: Any, folder: Path, said: Mapping[str, Any]) -> Path:
    """Their own file of it; `said` corrects the configuration to what published files say."""
    model.save_pretrained(folder)
    path = folder / "config.json"
    table = json.loads(path.read_text()) | dict(said)
    path.write_text(json.dumps({key: value for key, value in table.items() if value is not ...}))
    return folder


def move_back(names: Names, state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Ours → theirs."""
    stored = {}
    for ours, at in names.items():
        for key, part in zip((at.key, *at.more), state[ours].chunk(1 + len(at.more)), strict=True):
            stored[key] = part.reshape(at.shape or part.shape).clone()
    return stored


def sinusoids(rows: int, width: int) -> Tensor:
    """Their table by their formula, left in float64: all sines, then all cosines."""
    angles = [[pos / 10000 ** (2 * (j // 2) / width) for j in range(width)] for pos in range(rows)]
    table = torch.tensor(angles, dtype=torch.float64)
    return torch.cat([table[:, 0::2].sin(), table[:, 1::2].cos()], 1)


@contextmanager
def lifted(model: Any) -> Iterator[None]:
    """Their islands of float32 in the type of the model: the variance of T5's norm, the tables of sinusoids."""

    def forward(self: Any, x: Tensor) -> Tensor:
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon))

    before = {norm: norm.forward for norm in (T5LayerNorm, MT5LayerNorm)}
    tables = [module.weight for module in model.modules() if isinstance(module, SINUSOIDS)]
    kept = [table.detach().clone() for table in tables]
    try:
        for norm in before:
            norm.forward = forward
        for table in tables:
            table.data.copy_(sinusoids(*table.shape))
        yield
    finally:
        for norm, old in before.items():
            norm.forward = old
        for table, old in zip(tables, kept, strict=True):
            table.data.copy_(old)


class Batch(NamedTuple):
    """Sources and targets of odd lengths with padding behind them, and which tokens are real."""

    source: Tensor
    target: Tensor
    source_mask: Tensor
    target_mask: Tensor

    def in_front(self) -> Batch:
        """The same sentences with their padding before them."""
        moved = [
            torch.stack([torch.cat([row[~real], row[real]]) for row, real in zip(ids, mask, strict=True)])
            for mask in (self.source_mask, self.target_mask)
            for ids in ((self.source, mask) if mask is self.source_mask else (self.target, mask))
        ]
        return Batch(moved[0], moved[2], moved[1], moved[3])


def batch(s: int = 7, t: int = 5, *, target: int = VOCABULARY) -> Batch:
    generator = torch.Generator().manual_seed(s * 100 + t)
    lengths = torch.tensor([[s, t], [max(1, s - 3), max(1, t - 2)], [1, 1]])
    masks = [torch.arange(width)[None] < lengths[:, i, None] for i, width in enumerate((s, t))]
    tokens = [torch.randint(3, top, (3, n), generator=generator) for top, n in ((VOCABULARY, s), (target, t))]
    return Batch(*(torch.where(mask, ids, 1) for mask, ids in zip(masks, tokens, strict=True)), *masks)


def unpadded(data: Batch) -> list[Batch]:
    """Each sentence by itself."""
    masks = (data.source_mask, data.target_mask)
    rows = range(data.source.shape[0])
    real = [[ids[row][mask[row]][None] for ids, mask in zip(data[:2], masks, strict=True)] for row in rows]
    return [Batch(*pair, *(torch.ones_like(ids, dtype=torch.bool) for ids in pair)) for pair in real]


def output(answer: Any) -> Tensor:
    return answer.logits if "logits" in answer else answer.last_hidden_state


@torch.no_grad()
def theirs(model: Any, data: Batch) -> Tensor:
    return output(
        model(
            input_ids=data.source,
            attention_mask=data.source_mask.long(),
            decoder_input_ids=data.target,
            decoder_attention_mask=data.target_mask.long(),
        )
    )


@torch.no_grad()
def ours(model: nn.Module, data: Batch) -> Tensor:
    return model(data.source, data.target, data.source_mask, data.target_mask)


def difference(a: Tensor, b: Tensor, mask: Tensor | None = None) -> float:
    """The largest difference of real positions against the largest number."""
    a, b = (a, b) if mask is None else (a[mask], b[mask])
    return float((a - b).abs().max() / b.abs().max())


@torch.no_grad()
def steps(model: nn.Module, data: Batch) -> Tensor:
    """Ours, one token after the other with the cache."""
    memory, cache = model.encode(data.source, data.source_mask), model.decoder.empty_cache()
    made = [model.decode(column[:, None], memory, None, data.source_mask, cache=cache) for column in data.target.T]
    return torch.cat(made, 1)


@torch.no_grad()
def their_steps(model: Any, data: Batch) -> Tensor:
    """Theirs with their cache."""
    past, made = None, []
    encoded = model.get_encoder()(input_ids=data.source, attention_mask=data.source_mask.long())
    for column in data.target.T:
        answer = model(
            encoder_outputs=encoded,
            attention_mask=data.source_mask.long(),
            decoder_input_ids=column[:, None],
            past_key_values=past,
            use_cache=True,
        )
        past = answer.past_key_values
        made.append(output(answer))
    return torch.cat(made, 1)


def trainable(model: nn.Module) -> int:
    """Their own count: each parameter once. Tables of sinusoids are parameters there that are never trained."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def on_meta(name: str, keys: dict[str, Any]) -> nn.Module:
    made = getattr(transformers, name)
    with torch.device("meta"):
        return made(made.config_class(**keys))


def captured(model: nn.Module, modules: set[str], run: Callable[[], object]) -> dict[str, Tensor]:
    """The first output of each of these modules of theirs."""
    found: dict[str, Tensor] = {}

    def keep(name: str) -> Callable[..., None]:
        def hook(_: nn.Module, __: object, answer: Any) -> None:
            found.setdefault(name, answer if isinstance(answer, Tensor) else answer[0])

        return hook

    handles = [model.get_submodule(name).register_forward_hook(keep(name)) for name in modules]
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
    return found


def tap_differences(family: Family, model: nn.Module, reference: Any, run: Callable[[Any], object]) -> dict[str, float]:
    """Every tap of ours that the family has a module for → how far the two are apart."""
    with gf.record(model) as trace:
        run(model)
    count = max(len(getattr(model, side).blocks) for side in ("encoder", "decoder") if hasattr(model, side))
    pairs = {t.replace("{i}", str(i)): m.replace("{i}", str(i)) for t, m in family.taps.items() for i in range(count)}
    bare = not any(name.startswith(family.prefix) for name, _ in reference.named_modules())
    pairs = {tap: module.removeprefix(family.prefix) if bare else module for tap, module in pairs.items()}
    known = {name for name, _ in reference.named_modules()}
    pairs = {tap: module for tap, module in pairs.items() if tap in trace.tensors and module in known}
    found = captured(reference, set(pairs.values()), lambda: run(reference))

    def shaped(x: Tensor) -> Tensor:
        return x.transpose(1, 2).flatten(2) if x.dim() == 4 else x  # b h t d_k → b t h·d_k

    return {tap: difference(shaped(trace.tensors[tap]), found[module]) for tap, module in pairs.items()}


def pair(variant: Variant, folder: Path) -> tuple[nn.Module, Any]:
    """Ours and theirs in float64, with the same numbers by way of a file."""
    reference = build(variant)
    return open_foreign(saved(reference, folder, variant.said), dtype=torch.float64).model, reference


def check_keys(variant: Variant, folder: Path) -> None:
    """Every key of theirs is used, every key of ours is found, and the configuration comes back."""
    reference = build(variant)
    found = inspect_folder(saved(reference, folder, variant.said))
    family, config, task = found.family, found.config, found.task
    assert set(found.located.names) == set(gf.build(config, device="meta").state_dict())
    assert {key.removeprefix("model.") for key in found.located.aside} <= {"shared.weight"}
    assert family.configure(Foreign(family.describe(config, task), folder), task) == config
    assert gf.count(config).total.parameters == trainable(reference) - idle(config, reference)


def idle(config: ModelConfig, reference: nn.Module) -> int:
    """Numbers of theirs that no pass looks at: the shared matrix of a BART or Marian that shares nothing."""
    state, apart = reference.state_dict(), config.tie_embeddings in ("none", "output")
    found = [value for key, value in state.items() if apart and key.removeprefix("model.") == "shared.weight"]
    return sum(value.numel() for value in found if config.family == "encoder-decoder")


def check_written_back(variant: Variant, folder: Path) -> tuple[nn.Module, Any]:
    """In and out again every tensor is there bit by bit; and what we describe anew `transformers` builds and fills."""
    model, _ = pair(variant, folder)
    found = inspect_folder(folder)
    family, config = found.family, found.config
    described = family.describe(config, found.task)
    made = getattr(transformers, described["architectures"][0])
    stored = load_file(folder / "model.safetensors")
    back = move_back(found.located.names, model.state_dict())
    store(folder, folder / "run")
    exported = load_file(export_run(folder / "run", folder / "exported").folder / "model.safetensors")
    assert set(exported) == set(stored) and all(torch.equal(value, stored[key]) for key, value in exported.items())
    (folder / "again").mkdir()
    (folder / "again" / "config.json").write_text(json.dumps(described))
    save_file(back, folder / "again" / "model.safetensors", {"format": "pt"})
    return model, made.from_pretrained(folder / "again", dtype=torch.float64).eval()
