"""A real pretrained BERT, imported: compared with the numbers its authors publish, and asked to fill in tokens.

It reads chemical reactions, and comes with the package rxnfp 0.1.0 (Schwaller et al. 2021, MIT): 12 layers, 256 wide.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.bench.references import quiet
from glassformer.errors import ConfigError
from glassformer.hub.open import open_foreign
from glassformer.kernels.linear import plain_products
from glassformer.words import say

PACKAGE = "rxnfp==0.1.0"
MODELS = Path("models/transformers")
REACTION = (  # from its README, with the beginning of its fingerprint: [CLS] of the last layer
    "Nc1cccc2cnccc12.O=C(O)c1cc([N+](=O)[O-])c(Sc2c(Cl)cncc2Cl)s1"
    ">>O=C(Nc1cccc2cnccc12)c1cc([N+](=O)[O-])c(Sc2c(Cl)cncc2Cl)s1"
)
PUBLISHED = (-2.0174953937530518, 1.7602033615112305, -1.3323537111282349, -1.1095019578933716, 1.2254549264907837)
PIECES = re.compile(  # from its tokenization.py
    r"(\%\([0-9]{3}\)|\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\||\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>>?|\*|\$"
    r"|\%[0-9]{2}|[0-9])"
)


def run() -> dict[str, Any]:
    """The fingerprint of the README's reaction; then each of its tokens is masked in turn and filled in.

    Both sides multiply by the same library: another order of a sum changes the last digits of a logit.
    """
    source = installed()
    with tempfile.TemporaryDirectory() as place, plain_products():
        features, masked = (
            convert(source / MODELS / name, Path(place) / name) for name in ("bert_ft", "bert_pretrained")
        )
        ids = encoded(features / "vocab.txt", REACTION)
        fingerprint = _fingerprint(features, ids)
        gaps = [abs(float(mine) - theirs) for mine, theirs in zip(fingerprint, PUBLISHED, strict=False)]
        logits, right = _filled(masked, ids)
        return {
            "size": len(fingerprint),
            "fingerprint": [float(number) for number in fingerprint[: len(PUBLISHED)]],
            "published": list(PUBLISHED),
            "largest": max(gaps),
            "masked": ids.shape[1] - 2,
            "filled": int(right.sum()),
            "reference": _against_transformers(features, masked, ids, fingerprint, logits),
        }


def installed() -> Path:
    """The folder of its files. The package itself is never imported: it would need RDKit."""
    spec = importlib.util.find_spec("rxnfp")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError("needs_files", what="bench pretrained", package=PACKAGE)
    return Path(next(iter(spec.submodule_search_locations)))


def convert(source: Path, folder: Path) -> Path:
    """Converts pickled weights to safetensors. Only here is a pickle opened (tensors only); the import never does."""
    from safetensors.torch import save_file

    folder.mkdir()
    weights = torch.load(source / "pytorch_model.bin", map_location="cpu", weights_only=True)
    apart = {name: weight.clone(memory_format=torch.contiguous_format) for name, weight in weights.items()}
    save_file(apart, folder / "model.safetensors", {"format": "pt"})
    for name in ("config.json", "vocab.txt"):
        shutil.copyfile(source / name, folder / name)
    return folder


def encoded(vocabulary: Path, reaction: str) -> Tensor:
    """The ids of [CLS], the pieces of a reaction, and [SEP], 1 t."""
    ids = {piece: i for i, piece in enumerate(vocabulary.read_text(encoding="utf-8").splitlines())}
    pieces = ["[CLS]", *PIECES.findall(reaction), "[SEP]"]
    return torch.tensor([[ids.get(piece, ids["[UNK]"]) for piece in pieces]])


@torch.no_grad()
def _fingerprint(folder: Path, ids: Tensor) -> Tensor:
    model: Any = open_foreign(folder, family="bert").model
    hidden: Tensor = model.encoder(model.embedding(ids))  # 1 t 256
    return hidden[0, 0]


@torch.no_grad()
def _filled(folder: Path, ids: Tensor) -> tuple[Tensor, Tensor]:
    """The logits at each masked token, t v, and whether the most probable token is the right one, t."""
    found = _hidden_logits(open_foreign(folder, family="bert").model, ids, folder)
    return found, found.argmax(1) == ids[0, 1:-1]


def _hidden_logits(model: nn.Module, ids: Tensor, folder: Path) -> Tensor:
    mask = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines().index("[MASK]")
    n = ids.shape[1] - 2
    hidden = ids.expand(n, -1).clone()  # n t
    at = torch.arange(n)
    hidden[at, at + 1] = mask
    answer: Any = model(hidden)
    logits: Tensor = answer if isinstance(answer, Tensor) else answer.logits  # n t v
    return logits[at, at + 1]


@torch.no_grad()
def _against_transformers(
    features: Path, masked: Path, ids: Tensor, fingerprint: Tensor, logits: Tensor
) -> dict[str, float] | None:
    """The largest differences from the same weights in `transformers`; None if it is not installed."""
    if importlib.util.find_spec("transformers") is None:
        return None
    from transformers import BertForMaskedLM, BertModel

    with quiet():
        body: Any = BertModel.from_pretrained(features).eval()
        whole: Any = BertForMaskedLM.from_pretrained(masked).eval()
    theirs = body(ids).last_hidden_state[0, 0]
    return {
        "fingerprint": float((fingerprint - theirs).abs().max()),
        "logits": float((logits - _hidden_logits(whole, ids, masked)).abs().max()),
    }


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """What was compared, how many numbers, and the largest difference."""
    lines = [[say(f"columns.pretrained.{key}", lang) for key in ("what", "result")]]
    published = say("bench.pretrained.published", lang, count=len(numbers["published"]))
    lines.append([published, f"{numbers['largest']:.0e}"])
    if numbers["reference"] is not None:
        for key, gap in numbers["reference"].items():
            lines.append([say(f"bench.pretrained.{key}", lang, size=numbers["size"]), f"{gap:.0e}" if gap else "0"])
    share = f"{numbers['filled']} / {numbers['masked']}"
    return [*lines, [say("bench.pretrained.filled", lang), share]]
