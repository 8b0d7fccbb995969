from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import glassformer as gf
from glassformer.decoding import Beams, Hypothesis, Limits, beam_search, greedy
from glassformer.errors import ConfigError
from glassformer.hub.ctranslate2 import TokenNames, export_ctranslate2
from glassformer.hub.store import store
from glassformer.text import Vocabularies
from glassformer.training.begin import begin
from glassformer.training.loop import train
from reference import reference
from small_classifier import trained as trained_classifier
from small_translator import KOREAN, trained
from tiny_tasks import tiny

needs_ctranslate2 = pytest.mark.skipif(
    importlib.util.find_spec("ctranslate2") is None, reason="ctranslate2 is not installed"
)


def searched(run: Path, beams: Beams, texts: list[str]) -> list[list[Hypothesis]]:
    """Our hypotheses; nothing is forbidden, as nothing is there."""
    loaded = gf.load(str(run))
    special, found = loaded.vocabularies.target.specials, []
    limits = Limits(eos=special.eos, bos=special.bos, max_len=12)
    for text in texts:
        source = torch.tensor([[*loaded.vocabularies.source.encode(text), special.need("eos")]])
        some = beam_search(loaded.model, source, limits=limits, beams=beams, n_best=beams.width)
        found += some if beams.width > 1 else greedy(loaded.model, source, limits=limits)
    return found


@needs_ctranslate2
@pytest.mark.parametrize(("width", "alpha"), [(1, 1.0), (4, 1.0), (4, 0.6), (4, 0.0)])
def test_a_trained_translator_gives_the_same_translations(tmp_path: Path, width: int, alpha: float) -> None:
    import ctranslate2

    run = trained(tmp_path)
    found = export_ctranslate2(run, tmp_path / "out")
    assert (found.family, found.architecture, found.tokenizer) == ("ctranslate2", "TransformerSpec", True)
    words = json.loads((tmp_path / "out" / "shared_vocabulary.json").read_text(encoding="utf-8"))
    tokenizer = Vocabularies.open(tmp_path / "out").source
    theirs: Any = ctranslate2.Translator(str(tmp_path / "out"), inter_threads=1, intra_threads=1)
    results = theirs.translate_batch(
        [[words[token] for token in tokenizer.encode(text)] for text in KOREAN],  # it adds the end of a source itself
        beam_size=width,
        length_penalty=alpha,
        min_decoding_length=0,
        max_decoding_length=12,
        return_scores=True,
        num_hypotheses=width,
    )
    # Without a penalty it stops when no running hypothesis can win; with one, when as many as beams have ended.
    stop = "first" if alpha else "bound"
    ours = searched(run, Beams(width=width, length_norm="power", alpha=alpha, stop=stop), KOREAN)
    for hypotheses, result in zip(ours, results, strict=True):
        norm = [(len(each.tokens) + each.finished) ** alpha for each in hypotheses]
        scores = [each.log_probability / length for each, length in zip(hypotheses, norm, strict=True)]
        best = len(hypotheses) if alpha else 1
        assert [[words[token] for token in each.tokens] for each in hypotheses][:best] == result.hypotheses[:best]
        assert scores[:best] == pytest.approx(result.scores[:best], abs=1e-4)


@needs_ctranslate2
def test_int8_is_smaller_and_still_knows_its_sentences(tmp_path: Path) -> None:
    import ctranslate2

    run = trained(tmp_path)
    sizes, texts = [], []
    for dtype in ("float32", "int8"):
        export_ctranslate2(run, tmp_path / dtype, dtype=dtype)
        sizes.append((tmp_path / dtype / "model.bin").stat().st_size)
        theirs: Any = ctranslate2.Translator(str(tmp_path / dtype), compute_type=dtype, intra_threads=1)
        words = json.loads((tmp_path / dtype / "shared_vocabulary.json").read_text(encoding="utf-8"))
        tokenizer = Vocabularies.open(tmp_path / dtype).source
        some = theirs.translate_batch([[words[token] for token in tokenizer.encode(text)] for text in KOREAN])
        texts.append([result.hypotheses[0] for result in some])
    assert sizes[1] < 0.45 * sizes[0]
    assert texts[0] == texts[1]


@needs_ctranslate2
def test_a_writer_leaves_too(tmp_path: Path) -> None:
    import ctranslate2

    form = {"position": {"kind": "learned"}, "norm_order": "pre"}
    list(train(begin(tiny("language_model", model=form, train={"steps": 2}), tmp_path / "run")))
    found = export_ctranslate2(tmp_path / "run", tmp_path / "out")
    assert (found.architecture, found.another_norm) == ("TransformerDecoderSpec", False)
    words = json.loads((tmp_path / "out" / "vocabulary.json").read_text(encoding="utf-8"))
    theirs: Any = ctranslate2.Generator(str(tmp_path / "out"), intra_threads=1)
    prompt = [9, 11, 10]
    (result,) = theirs.generate_batch(
        [[words[token] for token in prompt]], max_length=6, min_length=0, include_prompt_in_result=False
    )
    loaded = gf.load(str(tmp_path / "run"))
    limits = Limits(eos=loaded.vocabularies.target.specials.eos, max_len=6)
    ((ours,),) = greedy(loaded.model, torch.tensor([prompt]), limits=limits)
    assert [words[token] for token in ours.tokens] == result.sequences[0]


def test_without_the_package_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(ConfigError, match=r"needs a package .* 'glassformer\[ctranslate2\]'"):
        export_ctranslate2(tmp_path / "run", tmp_path / "out")


@needs_ctranslate2
def test_what_has_no_place_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="task=classification: CTranslate2 writes text"):
        export_ctranslate2(trained_classifier(tmp_path), tmp_path / "out")
    store(reference("gpt2")[1], tmp_path / "bare")
    with pytest.raises(ConfigError, match="the run has no tokenizer"):
        export_ctranslate2(tmp_path / "bare", tmp_path / "out")
    with pytest.raises(ConfigError, match="dtype='int4' is unknown"):
        export_ctranslate2(tmp_path / "bare", tmp_path / "out", dtype="int4")
    assert not (tmp_path / "out").exists()


def test_numbers_as_tokens() -> None:
    words = TokenNames.numbered(5, bos=1, eos=2)
    assert (words.source, words.start, words.eos, words.end) == (["0", "1", "2", "3", "4"], "1", "2", False)
