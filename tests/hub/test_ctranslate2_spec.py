from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.decoding import Beams, Limits, beam_search
from glassformer.errors import ConfigError
from glassformer.hub.ctranslate2 import TokenNames, write_model
from glassformer.hub.ctranslate2_spec import check_expressible, specify
from glassformer.models.build import build

BOS, EOS, VOCABULARY = 1, 2, 43
TRANSLATOR = ModelConfig(
    vocab_size=VOCABULARY,
    max_len=40,
    d_model=24,
    n_heads=4,
    d_ff=40,
    n_encoder_layers=2,
    n_decoder_layers=3,
    tie_embeddings="all",
    head=Choice("language_model"),
)
WRITER = replace(TRANSLATOR, family="decoder", n_encoder_layers=None, n_decoder_layers=2, tie_embeddings="output")

TRANSLATORS: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "pre-norm": {"norm_order": "pre"},
    "pre-norm without the last norm": {"norm_order": "pre", "final_norm": False},
    "learned positions with an offset": {"position": Choice("learned", {"offset": 2})},
    "sines in halves": {"position": Choice("sinusoidal", {"layout": "halves", "base": 500.0})},
    "no positions": {"position": Choice("none")},
    "gelu": {"activation": "gelu"},
    "gelu_tanh": {"activation": "gelu_tanh"},
    "silu": {"activation": "silu"},
    "sigmoid, gated": {"activation": "sigmoid", "feed_forward": Choice("gated")},
    "rms": {"norm": Choice("rms"), "norm_order": "pre"},
    "two embeddings": {"tie_embeddings": "none"},
    "output tied": {"tie_embeddings": "output", "target_vocab_size": 31},
    "inputs tied": {"tie_embeddings": "inputs"},
    "no scale": {"embedding_scale": False},
    "scores not scaled": {"attention_scale": 1.0},
    "norm of the embedding": {"embedding_norm": True},
    "few biases": {"bias": ("q", "v")},
    "no bias": {"bias": ()},
    "bias, offset and scale in the head": {
        "head": Choice("language_model", {"bias": True, "offset": True, "scale": True})
    },
    "another eps": {"eps": 0.1},
}
WRITERS: dict[str, dict[str, Any]] = {
    "gpt2's": {"norm_order": "pre", "position": Choice("learned"), "activation": "gelu_tanh", "embedding_scale": False},
    "llama's": {
        "norm_order": "pre",
        "norm": Choice("rms"),
        "position": Choice("rotary", {"layout": "halves"}),
        "feed_forward": Choice("gated"),
        "activation": "silu",
        "bias": (),
        "n_kv_heads": 2,
        "embedding_scale": False,
    },
    "one head of keys": {"n_kv_heads": 1},
    "rotated in pairs, squeezed": {
        "position": Choice("rotary", {"layout": "interleaved", "scaling": "linear", "factor": 2.0})
    },
}
REFUSED: dict[str, tuple[ModelConfig, dict[str, Any]]] = {
    "position=alibi": (TRANSLATOR, {"position": Choice("alibi")}),
    "position=rotary": (TRANSLATOR, {"position": Choice("rotary")}),
    "position=relative": (WRITER, {"position": Choice("relative")}),
    "position.scaling=ntk": (WRITER, {"position": Choice("rotary", {"scaling": "ntk", "factor": 2.0})}),
    "norm_order=parallel": (TRANSLATOR, {"norm_order": "parallel"}),
    "final_norm=true": (TRANSLATOR, {"final_norm": True}),
    "d_v=4": (TRANSLATOR, {"d_v": 4}),
    "d_k=8": (TRANSLATOR, {"d_k": 8}),
    "n_kv_heads=2": (TRANSLATOR, {"n_kv_heads": 2}),
    "qk_norm=true": (TRANSLATOR, {"qk_norm": True}),
    "window=5": (WRITER, {"window": 5}),
    "segments=2": (WRITER, {"segments": 2}),
    "causal=false": (TRANSLATOR, {"causal": False}),
    "head.transform=true": (TRANSLATOR, {"head": Choice("language_model", {"transform": True})}),
    "head=none": (WRITER, {"head": Choice("none"), "tie_embeddings": "none"}),
    "family=encoder": (TRANSLATOR, {"family": "encoder", "tie_embeddings": "output", "n_decoder_layers": None}),
    "input=vectors": (WRITER, {"input": Choice("vectors"), "vocab_size": None, "tie_embeddings": "none"}),
}


def built(config: ModelConfig) -> Any:
    """Every vector drawn too: zeros as biases would hide a mistake."""
    model = build(config, seed=3)
    torch.manual_seed(4)
    with torch.no_grad():
        for x in [*model.parameters(), *model.buffers()]:
            if x.dim() == 1:
                x.add_(0.2 * torch.randn_like(x))
    return model.eval()


def written(model: Any, config: ModelConfig, folder: Path) -> None:
    words = TokenNames.numbered(VOCABULARY, bos=BOS, eos=EOS)
    words = replace(words, target=words.target[: config.output_vocab_size])
    write_model(specify(config, model.state_dict().__getitem__), words, folder)


@pytest.mark.many
@pytest.mark.parametrize("name", TRANSLATORS)
def test_a_translator_searches_as_here(tmp_path: Path, name: str) -> None:
    ctranslate2 = pytest.importorskip("ctranslate2", reason="ctranslate2 is not installed")
    config = replace(TRANSLATOR, **TRANSLATORS[name])
    model = built(config)
    written(model, config, tmp_path)
    theirs = ctranslate2.Translator(str(tmp_path), inter_threads=1, intra_threads=1)
    torch.manual_seed(0)
    sources = [torch.randint(3, 31, (n,)).tolist() for n in (3, 7, 12)]
    for width, alpha in ((1, 1.0), (4, 0.6)):
        results = theirs.translate_batch(
            [[*map(str, source)] for source in sources],
            beam_size=width,
            length_penalty=alpha,
            max_decoding_length=15,
            min_decoding_length=0,
            return_scores=True,
            num_hypotheses=width,
        )
        for source, result in zip(sources, results, strict=True):
            (ours,) = beam_search(
                model,
                torch.tensor([source]),
                limits=Limits(eos=EOS, bos=BOS, max_len=15),
                beams=Beams(width=width, length_norm="power", alpha=alpha, stop="first"),
                n_best=width,
            )
            assert [[*map(str, each.tokens)] for each in ours] == result.hypotheses
            assert [each.score for each in ours] == pytest.approx(result.scores, abs=1e-4)


@pytest.mark.many
@pytest.mark.parametrize("name", WRITERS)
def test_a_decoder_alone_has_the_same_logits(tmp_path: Path, name: str) -> None:
    ctranslate2 = pytest.importorskip("ctranslate2", reason="ctranslate2 is not installed")
    config = replace(WRITER, **WRITERS[name])
    model = built(config)
    written(model, config, tmp_path)
    theirs = ctranslate2.Generator(str(tmp_path), inter_threads=1, intra_threads=1)
    torch.manual_seed(0)
    tokens = torch.randint(3, VOCABULARY, (2, 11))
    found = np.asarray(theirs.forward_batch([[*map(str, row)] for row in tokens.tolist()]))
    assert torch.allclose(torch.from_numpy(found), model(tokens).detach(), atol=1e-4)


@pytest.mark.parametrize("key", REFUSED)
def test_what_it_cannot_compute_is_named(key: str) -> None:
    config, changes = REFUSED[key]
    with pytest.raises(ConfigError, match=f"CTranslate2 cannot compute this model: .*{key}"):
        check_expressible(replace(config, **changes))
