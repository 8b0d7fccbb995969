"""The everyday verbs on imported models give what `transformers` gives on the same folders."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from glassformer.loading import Loaded, load
from glassformer.tasks.classification.classify import classify
from glassformer.tasks.embed import embed
from glassformer.tasks.image_classification.recognise import recognise
from glassformer.tasks.language_model.write import Writing, write
from glassformer.tasks.masked_language_model.fill import fill
from glassformer.tasks.search import SearchOptions
from glassformer.tasks.translation.translate import Translated, as_trained, candidates
from marks import two_by_two
from once import place

transformers = pytest.importorskip("transformers")
pytest.importorskip("glassformer.hub.open")
foreign_texts = pytest.importorskip("foreign_texts")
pytestmark = pytest.mark.slow

ENGLISH = ["I go home!", "you will go to the library!", "he", "the student walked home!", "we are waiting to school!"]
KOREAN = ["나는 학교에 간다.", "학생은 집에 갔다."]
SENTENCES = foreign_texts.ENGLISH[:200]
STOPS: dict[str, Any] = {"first": True, "bound": False, "exhaustive": "never"}
MOST, STEPS = 12, 150


def lively(model: nn.Module, seed: int = 0) -> nn.Module:
    """Weights so large that the answers differ from text to text."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() >= 2 and "position" not in name:
                weight.normal_(std=0.25, generator=generator)
    return model.eval()


def taught(model: nn.Module, tokenizer: Any, rate: float) -> None:
    """Words backwards for some seconds: untrained models repeat one token for ever. It is far from sure at the end."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    batches = []
    for part in range(5):
        texts = foreign_texts.ENGLISH[part::5]
        given = tokenizer(texts, padding=True, return_tensors="pt")
        wanted = tokenizer([" ".join(reversed(text.split())) for text in texts], padding=True, return_tensors="pt")
        labels = wanted.input_ids.masked_fill(wanted.attention_mask == 0, -100)
        batches.append({"input_ids": given.input_ids, "attention_mask": given.attention_mask, "labels": labels})
    for step in range(STEPS):
        model(**batches[step % 5]).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def saved(folder: Path, name: str, **options: Any) -> tuple[Any, Any]:
    """A model of the class `name` beside the tokenizer of the folder; the vocabulary is the tokenizer's."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    kind = getattr(transformers, name)
    torch.manual_seed(0)
    model = kind(kind.config_class(vocab_size=len(tokenizer), **options)).eval()
    if name.startswith("T5"):
        taught(model, tokenizer, 1e-2)  # its own beginning is lively enough
    else:
        lively(model)
        if model.config.is_encoder_decoder:
            taught(model, tokenizer, 3e-3)
    model.save_pretrained(folder)
    return model, tokenizer


BODY = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2}
BODY |= {"decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "max_position_embeddings": 64}


def t5(folder: Path) -> tuple[Any, Any]:
    foreign_texts.t5(folder)
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0}
    return saved(folder, "T5ForConditionalGeneration", **sizes)


def bart(folder: Path) -> tuple[Any, Any]:
    foreign_texts.bart(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "decoder_start_token_id": tokenizer.eos_token_id,
        "forced_bos_token_id": tokenizer.bos_token_id,
        "forced_eos_token_id": tokenizer.eos_token_id,
    }
    return saved(folder, "BartForConditionalGeneration", **BODY, **ids)


def marian(folder: Path) -> tuple[Any, Any]:
    foreign_texts.marian(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = {
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "decoder_start_token_id": tokenizer.pad_token_id,
        "forced_eos_token_id": tokenizer.eos_token_id,
    }
    model, tokenizer = saved(folder, "MarianMTModel", **BODY, **ids)
    model.generation_config.bad_words_ids = [[tokenizer.pad_token_id]]
    model.save_pretrained(folder)
    return model, tokenizer


@cache
def translator(family: str) -> tuple[Any, Any, Loaded]:
    folder = Path(tempfile.mkdtemp(dir=place()))
    model, tokenizer = {"t5": t5, "bart": bart, "marian": marian}[family](folder)
    return model, tokenizer, load(folder, dtype=torch.float64)


def translations(family: str, **options: Any) -> tuple[list[str], list[float]]:
    """Those of `transformers`, with their scores, in float64."""
    model, tokenizer, _ = translator(family)
    given = tokenizer(SENTENCES, padding=True, return_tensors="pt")
    found = model.double().generate(
        input_ids=given.input_ids,
        attention_mask=given.attention_mask,
        max_new_tokens=MOST,
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=True,
        **options,
    )
    texts = tokenizer.batch_decode(found.sequences, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return [text.strip() for text in texts], getattr(found, "sequences_scores", torch.empty(0)).tolist()


def our_translations(family: str, search: SearchOptions) -> list[Translated]:
    loaded = translator(family)[2]
    search = as_trained(replace(search, length_norm="power", max_len=MOST), loaded.config)
    return [best for best, *_ in candidates(loaded.model, loaded.vocabularies, SENTENCES, search)]


@pytest.mark.parametrize("family", ["t5", "bart", "marian"])
def test_greedy_translations(family: str) -> None:
    expected, _ = translations(family, num_beams=1)
    assert [best.text.strip() for best in our_translations(family, SearchOptions(beam=1))] == expected
    assert len(set(expected)) > 60


@pytest.mark.parametrize(("beam", "stop", "alpha"), two_by_two((4, 5), tuple(STOPS), (0.0, 0.6, 1.0, 2.0)))
@pytest.mark.parametrize("family", ["t5", "bart", "marian"])
def test_translations_by_beam_search(family: str, beam: int, stop: str, alpha: float) -> None:
    expected, scores = translations(family, num_beams=beam, length_penalty=alpha, early_stopping=STOPS[stop])
    found = our_translations(family, SearchOptions(beam=beam, alpha=alpha, stop=stop))
    assert [best.text.strip() for best in found] == expected
    assert [best.score for best in found] == pytest.approx(scores, abs=1e-4)


LLAMA = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}


def gpt2(folder: Path) -> tuple[Any, Any]:
    foreign_texts.gpt2(folder)
    end = transformers.AutoTokenizer.from_pretrained(folder).eos_token_id
    ids = {"bos_token_id": end, "eos_token_id": end}
    return saved(folder, "GPT2LMHeadModel", n_embd=16, n_layer=2, n_head=2, n_positions=64, **ids)


def llama(folder: Path) -> tuple[Any, Any]:
    foreign_texts.llama(folder)
    return saved(folder, "LlamaForCausalLM", **LLAMA)


@pytest.mark.parametrize("family", [gpt2, llama])
def test_continuations(family: Any, tmp_path: Path) -> None:
    model, tokenizer = family(tmp_path)
    loaded = load(tmp_path)
    for prompt in [*ENGLISH, *KOREAN]:
        found = write(loaded, prompt, Writing(tokens=MOST))
        given = tokenizer([prompt], return_tensors="pt")
        (theirs,) = model.generate(
            input_ids=given.input_ids,
            attention_mask=given.attention_mask,
            max_new_tokens=MOST,
            do_sample=False,
            pad_token_id=0,
        ).tolist()
        before, whole = (loaded.tokenizer.decode(ids) for ids in (given.input_ids[0].tolist(), theirs))
        assert found.text == whole[len(before) :] and found.text


BERT = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}


def test_gaps(tmp_path: Path) -> None:
    for name, gap in (("bert", "[MASK]"), ("roberta", "<mask>")):
        folder = getattr(foreign_texts, name)(tmp_path / name)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        kind = "BertForMaskedLM" if name == "bert" else "RobertaForMaskedLM"
        model, tokenizer = saved(folder, kind, **BERT, pad_token_id=tokenizer.pad_token_id)
        loaded = load(folder)
        if name == "roberta":
            mask = transformers.AddedToken("<mask>", lstrip=True, special=True)
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, mask_token=mask)
        for text in (f"I {gap} home!", f"you go to {gap}"):
            given = tokenizer([text], return_tensors="pt")
            with torch.no_grad():
                logits = model(**given).logits[0]
            shares = logits[(given.input_ids[0] == tokenizer.mask_token_id).nonzero()[0, 0]].softmax(0)
            shares[tokenizer.all_special_ids] = -1.0
            (found,) = fill(loaded, text, top=6)
            best = shares.topk(6)
            assert [one.token for one in found.candidates] == best.indices.tolist()
            assert [one.probability for one in found.candidates] == pytest.approx(best.values.tolist(), abs=1e-5)


def test_classes_and_vectors(tmp_path: Path) -> None:
    labels = {0: "bad", 1: "good", 2: "neither"}
    folder = foreign_texts.bert(tmp_path / "classes")
    model, tokenizer = saved(folder, "BertForSequenceClassification", **BERT, num_labels=3, id2label=labels)
    given = tokenizer(ENGLISH, padding=True, return_tensors="pt")
    with torch.no_grad():
        expected = model(**given).logits.softmax(1)
        stream = model.bert(**given).last_hidden_state
    for one, row in zip(classify(load(folder), ENGLISH), expected.tolist(), strict=True):
        assert [one.probabilities[label] for label in labels.values()] == pytest.approx(row, abs=1e-5)
        assert one.label == labels[row.index(max(row))]
    real = given.attention_mask[..., None]
    torch.testing.assert_close(embed(load(folder), ENGLISH), (stream * real).sum(1) / real.sum(1), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(embed(load(folder), ENGLISH, "cls"), stream[:, 0], atol=1e-4, rtol=1e-4)


def test_images(tmp_path: Path) -> None:
    processors = pytest.importorskip("transformers.models.vit.image_processing_pil_vit")
    folder = tmp_path / "vit"
    labels = {0: "cat", 1: "dog"}
    config = transformers.ViTConfig(image_size=8, patch_size=4, num_labels=2, id2label=labels, **BERT)
    model = lively(transformers.ViTForImageClassification(config))
    model.save_pretrained(folder)
    processor = processors.ViTImageProcessorPil(size={"height": 8, "width": 8}, image_mean=[0.5, 0.4, 0.3])
    processor.save_pretrained(folder)
    paths = [tmp_path / f"{number}.png" for number in range(3)]
    for number, path in enumerate(paths):
        noise = np.random.default_rng(number).integers(0, 256, (20, 30, 3), dtype=np.uint8)
        Image.fromarray(noise).save(path)
    pixels = processor([Image.open(path) for path in paths], return_tensors="pt")["pixel_values"]
    with torch.no_grad():
        expected = model(pixels).logits.softmax(1)
    for one, row in zip(recognise(load(folder), paths), expected.tolist(), strict=True):
        assert [one.probabilities[label] for label in labels.values()] == pytest.approx(row, abs=1e-5)
