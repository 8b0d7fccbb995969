"""What a model is, for the list of models: its sizes, its parameters, its checkpoints and inputs to begin with."""

from __future__ import annotations

from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.errors import GlassformerError
from glassformer.explorer.pictures import example_images
from glassformer.explorer.series import example_series
from glassformer.explorer.shelf import Offered
from glassformer.hub.empty_model import parameter_count
from glassformer.loading import Loaded
from glassformer.tasks.samples import read_samples

TEXTS = {
    "ko": ["나는 학교에 간다", "우리 어머니께서는 매일 시장에서 꽃을 사신다", "너는 왜 이 책을 읽었니?"],
    "en": ["I go to school", "My mother buys flowers at the market every day", "Why did you read this book?"],
}
MOST_EXAMPLES = 6
LAST = 10**8  # steps


def sizes_of(config: ModelConfig) -> dict[str, Any]:
    """The sizes with the paper's names."""
    return {
        "d_model": config.d_model,
        "n_heads": config.n_heads,
        "n_kv_heads": config.n_kv_heads or config.n_heads,
        "d_k": config.head_size,
        "d_v": config.d_v or config.head_size,
        "d_ff": config.d_ff,
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        "vocab_size": config.vocab_size,
        "max_len": config.max_len,
        "norm_order": config.norm_order,
        "norm": config.norm.kind,
        "position": config.position.kind,
        "feed_forward": config.feed_forward.kind,
        "activation": config.activation,
        "head": config.head.kind,
    }


def model_entry(offered: Offered, loaded: Loaded) -> dict[str, Any]:
    """One line of the list of models."""
    config, kind = loaded.config, loaded.config.model.input.kind
    text = kind == "tokens"
    return {
        "name": offered.name,
        "task": loaded.task,
        "family": config.model.family,
        "input": kind,
        "sizes": sizes_of(config.model),
        "parameters": parameter_count(config.model),
        "checkpoint": loaded.checkpoint.name,
        "checkpoints": offered.checkpoints(),
        "labels": loaded.labels,
        "examples": examples(offered, loaded),
        "source_language": config.data.source_language if text else None,
        "target_language": config.data.target_language if loaded.task == "translation" else None,
        "config": dict(config.model.to_dict()),
    }


def examples(offered: Offered, loaded: Loaded) -> list[dict[str, Any]]:
    """Inputs to begin with: of the run's own samples, else sentences that anybody understands; or images, or series."""
    match loaded.config.model.input.kind:
        case "image":
            return [{"example": i, "pixels": image.tolist()} for i, image in enumerate(example_images(loaded))]
        case "series":
            return [
                {"example": i, "series": one.name, "values": one.values.tolist()}
                for i, one in enumerate(example_series(loaded))
            ]
    return [{"text": text} for text in _texts(offered, loaded)][:MOST_EXAMPLES]


def _texts(offered: Offered, loaded: Loaded) -> list[str]:
    usual = TEXTS.get(loaded.config.data.source_language, TEXTS["en"])
    if loaded.tokenizers is None:
        return []
    known = [text for text, unseen in zip(usual, loaded.unseen(usual), strict=True) if not unseen]
    return list(dict.fromkeys([*known, *_samples(offered)])) or usual[:1]


def _samples(offered: Offered) -> list[str]:
    """The sentences that a run was shown at its last evaluation."""
    run = offered.run
    if run is None or not run.samples.is_dir():
        return []
    steps = sorted(int(path.stem[5:]) for path in run.samples.glob("step-*.json") if path.stem[5:].isdecimal())
    try:
        return [next(iter(row.values())) for row in read_samples(run, steps[-1])] if steps else []
    except (GlassformerError, StopIteration):  # a run that is still writing
        return []
