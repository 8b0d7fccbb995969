"""What our recipes train leaves: exported, it gives the same outputs in `transformers`, from text to text.

Each recipe is trained in its own form for a few steps and opened there by the Auto classes, as anybody would.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import glassformer as gf
from glassformer.data.picture import read_picture
from glassformer.hub.export import export_run
from glassformer.loading import Loaded, open_recipe
from glassformer.tasks.image_classification.recognise import seen
from glassformer.tasks.language_model.write import Writing, beginning, write
from glassformer.tasks.masked_language_model.fill import fill
from glassformer.tasks.search import SearchOptions
from glassformer.tasks.translation.translate import as_trained, candidates
from glassformer.training.begin import begin
from glassformer.training.loop import train

pytestmark = pytest.mark.slow  # seven short trainings

KOREAN = [
    "민수는 학교에 갔다",
    "나는 어제 유나와 함께 사과를 먹었다",
    "그 학생은 책을 읽지 않았다",
    "비가 왔다",
    "우리는 행복하다",
]
ODD = ["Minsu went to school", " 앞의 빈칸", "둘  칸\t탭", "<eos> </s> <pad>", "뷁 😀 café", "각", "x"]
SHORT = {"train.device": "cpu", "train.threads": 1, "train.evaluate_every": 0, "train.ema": 0.0, "train.average": 0}
SIZES: dict[str, dict[str, Any]] = {
    "ko-en": {"data.source.count": 3000, "text.vocab_size": 1000, "train.steps": 20, "train.warmup": 10},
    "en-ko": {"data.source.count": 3000, "text.vocab_size": 1000, "train.steps": 20, "train.warmup": 10},
    "sentiment": {"data.source.count": 1500, "text.vocab_size": 800, "train.steps": 15, "train.warmup": 5},
    "fill": {"data.source.count": 1500, "text.vocab_size": 500, "train.steps": 15, "train.warmup": 5},
    "characters": {"data.source.count": 800, "train.steps": 15, "train.warmup": 5},
    "sentences-ko": {"data.source.count": 1500, "text.vocab_size": 700, "train.steps": 20, "train.warmup": 5},
    "digits": {"train.steps": 15, "train.warmup": 5},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("leaving")


@cache
def leaving(home: Path, recipe: str) -> tuple[Loaded, Path]:
    """The recipe in its own form, briefly trained; and the folder that it left for."""
    changes = SHORT | SIZES[recipe] | {"train.save_every": SIZES[recipe]["train.steps"], "data.validation": 20}
    for _ in train(begin(open_recipe(recipe, changes), home / recipe)):
        pass
    export_run(home / recipe, home / f"{recipe}-hf")
    return gf.load(home / recipe), home / f"{recipe}-hf"


def opened(kind: Any, folder: Path) -> Any:
    """Every tensor that it needs is there, and nothing else."""
    model, told = kind.from_pretrained(folder, output_loading_info=True)
    assert not any(told.values()), told
    return model.eval()


def close(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    """Equal to rounding: some hundreds of roundings of float32, relative to the largest number."""
    assert (ours - theirs).abs().max() <= 512 * torch.finfo(torch.float32).eps * ours.abs().max().clamp(min=1)


@pytest.mark.parametrize("recipe", ["ko-en", "en-ko", "sentiment", "fill", "characters", "sentences-ko"])
def test_the_tokenizer_gives_the_ids_that_the_model_was_trained_on(home: Path, recipe: str) -> None:
    loaded, folder = leaving(home, recipe)
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    named = [] if recipe == "fill" else [ODD[3]]  # there a typed <mask> must be one, so typed specials are special
    for text in [*KOREAN, *(odd for odd in ODD if odd not in [ODD[3], *named]), *named]:
        ours = beginning(loaded, text) if loaded.task == "language_model" else loaded.framed(text)
        assert theirs(text)["input_ids"] == ours, text
        if loaded.tokenizer.exact:
            assert theirs.decode(ours, skip_special_tokens=True) == loaded.tokenizer.decode(ours)
    assert set(theirs("x")) == {"input_ids", "attention_mask"}
    assert theirs.model_max_length == loaded.config.model.max_len


@pytest.mark.parametrize("recipe", ["ko-en", "en-ko"])
def test_a_translator_translates_the_same(home: Path, recipe: str) -> None:
    loaded, folder = leaving(home, recipe)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = opened(transformers.AutoModelForSeq2SeqLM, folder)
    assert type(model).__name__ == "PegasusForConditionalGeneration"
    texts = (
        KOREAN if recipe == "ko-en" else ["Minsu went to school", "I ate an apple", "we are happy", "it rained", "a"]
    )
    batch = tokenizer(texts, return_tensors="pt", padding=True)
    said = tokenizer(text_target=["Minsu"], return_tensors="pt")["input_ids"].expand(len(texts), -1)
    begun = torch.cat([torch.full((len(texts), 1), loaded.start), said[:, :-1]], 1)
    with torch.no_grad():
        ours = loaded.model(batch["input_ids"], begun, batch["attention_mask"].bool())
        close(ours, model(**batch, decoder_input_ids=begun).logits)
    for beam in (1, model.generation_config.num_beams):
        asked = SearchOptions(beam=beam, length_norm="power", alpha=model.generation_config.length_penalty, max_len=24)
        found = candidates(loaded.model, loaded.vocabularies, texts, as_trained(asked, loaded.config))
        ids = model.generate(**batch, num_beams=beam, max_new_tokens=24)
        assert tokenizer.batch_decode(ids, skip_special_tokens=True) == [best.text for best, *_ in found]


def test_generation_settings_go_along(home: Path) -> None:
    loaded, folder = leaving(home, "ko-en")
    said = transformers.GenerationConfig.from_pretrained(folder)
    special = loaded.vocabularies.target.specials
    assert (said.decoder_start_token_id, said.eos_token_id, said.pad_token_id) == (
        special.bos,
        special.eos,
        special.pad,
    )
    assert (said.num_beams, said.length_penalty, said.max_length) == (SearchOptions().beam, SearchOptions().alpha, 128)
    assert {one for (one,) in said.bad_words_ids} == set(special.ids().values()) - {special.eos}
    again = gf.load(folder)
    search = as_trained(SearchOptions(), again.config)
    assert (search.start, search.first, search.last) == ("bos", "none", "none")
    asked = as_trained(SearchOptions(beam=1, max_len=said.max_length - 1), loaded.config)  # it counts the start, too
    found = candidates(loaded.model, loaded.vocabularies, KOREAN, asked)
    assert gf.translate(again, KOREAN, beam=1) == [best.text for best, *_ in found]


def test_a_classifier_says_the_same(home: Path) -> None:
    loaded, folder = leaving(home, "sentiment")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = opened(transformers.AutoModelForSequenceClassification, folder)
    texts = [*KOREAN, *ODD]
    with torch.no_grad():
        logits = model(**tokenizer(texts, return_tensors="pt", padding=True)).logits  # b classes
    ours = gf.classify(loaded, texts)
    for one, row in zip(ours, logits.softmax(1), strict=True):
        assert model.config.id2label[int(row.argmax())] == one.label
        close(torch.tensor([one.probabilities[model.config.id2label[i]] for i in range(len(row))]), row)


def test_a_gap_is_filled_the_same(home: Path) -> None:
    loaded, folder = leaving(home, "fill")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = opened(transformers.AutoModelForMaskedLM, folder)
    for text in ("민수는 <mask> 갔다", "나는 사과를 먹었다 I <mask> an apple", "<mask>"):
        batch = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            row = model(**batch).logits[0][batch["input_ids"][0] == tokenizer.mask_token_id][0].softmax(0)
        (found,) = fill(loaded, text, top=5)
        close(torch.tensor([one.probability for one in found.candidates]), row[[one.token for one in found.candidates]])
        words = row.clone()
        words[tokenizer.all_special_ids] = 0
        assert words.topk(5).indices.tolist() == [one.token for one in found.candidates]


@pytest.mark.parametrize(
    ("recipe", "prompts"), [("characters", ["Minsu ", "the s", ""]), ("sentences-ko", ["민수는", ""])]
)
def test_a_text_goes_on_the_same(home: Path, recipe: str, prompts: list[str]) -> None:
    loaded, folder = leaving(home, recipe)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = opened(transformers.AutoModelForCausalLM, folder)
    for prompt in prompts:
        batch = tokenizer(prompt, return_tensors="pt")
        with torch.no_grad():
            close(loaded.model(batch["input_ids"]), model(**batch).logits)
        (ids,) = model.generate(**batch, max_new_tokens=20)
        assert tokenizer.decode(ids, skip_special_tokens=True) == str(write(loaded, prompt, Writing(tokens=20)))


def test_an_image_gets_the_same_label(home: Path, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    loaded, folder = leaving(home, "digits")
    processor = transformers.AutoImageProcessor.from_pretrained(folder, use_fast=False)  # torchvision rounds otherwise
    model = opened(transformers.ViTForImageClassification, folder)
    random = torch.Generator().manual_seed(0)
    for size in (8, 20):  # as it is, and to be made smaller
        pixels = torch.randint(0, 256, (size, size), generator=random, dtype=torch.uint8)
        path = tmp_path / f"{size}.png"
        image.fromarray(pixels.numpy()).save(path)
        given = processor(image.open(path), return_tensors="pt")["pixel_values"]
        close(seen(loaded, [path]), given)
        with torch.no_grad():
            row = model(given).logits[0].softmax(0)
        found = gf.recognise(loaded, path)
        assert model.config.id2label[int(row.argmax())] == found.label
        close(torch.tensor([found.probabilities[model.config.id2label[i]] for i in range(len(row))]), row)
    assert read_picture(path, size=8, channels=1).shape == (1, 8, 8)


@pytest.mark.parametrize("recipe", SIZES)
def test_it_comes_back_as_it_left(home: Path, recipe: str) -> None:
    """What was exported and opened here again reads a text as the run does."""
    loaded, folder = leaving(home, recipe)
    again = gf.load(folder)
    assert again.task == loaded.task
    if loaded.tokenizers is None:
        assert dict(again.config.task.options)["mean"] == pytest.approx(loaded.config.task.options["mean"])
        return
    for text in [*KOREAN, *ODD]:
        if loaded.task == "language_model":
            assert beginning(again, text) == beginning(loaded, text)
        else:
            assert again.framed(text) == loaded.framed(text)
