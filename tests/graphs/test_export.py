from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

import foreign_models
import glassformer as gf
import small_translator
from exported_graphs import ask, empty_cache, grown, largest, need_onnx, run_and_graphs, run_readme
from glassformer.errors import FileError, InputError
from glassformer.graphs import export_onnx
from glassformer.loading import Loaded
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.tasks.forecasting.task import Forecasting
from once import once
from small_forecaster import hours, written
from tiny_runs import trained

need_onnx()
pytestmark = pytest.mark.slow

SIZES = [(1, 1), (1, 7), (4, 5), (3, 12)]
TEXTS = {"gpt2": "we often laugh", "marian": "I see a house", "t5": "나는 학교에 간다"}


def described(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "graphs.json").read_text(encoding="utf-8"))
    return found


def batch(loaded: Loaded, b: int, t: int, *, left: bool = False) -> tuple[Tensor, Tensor]:
    """Random tokens; the first row of a batch is padded, at its end or at its start."""
    generator = torch.Generator().manual_seed(10 * b + t)
    real = torch.ones(b, t, dtype=torch.bool)
    if b > 1:
        real[0, slice(0, t // 2) if left else slice(t - t // 2, t)] = False
    return torch.randint(loaded.config.model.vocab_size or 0, (b, t), generator=generator), real


@torch.inference_mode()
def say(loaded: Loaded, *inputs: Tensor) -> Tensor:
    """What our own model answers, as it is: with the fused kernel."""
    answer: Tensor = loaded.model(*inputs)
    return answer


def foreign(name: str) -> tuple[Path, Path]:
    """A small published model, and its graphs."""

    def make(folder: Path) -> None:
        (folder / "model").mkdir(parents=True)
        foreign_models.MODELS[name](folder / "model")
        export_onnx(folder / "model", folder / "onnx")

    folder = once(f"graphs-of-{name.replace(' ', '-')}", make)
    return folder / "model", folder / "onnx"


@pytest.mark.parametrize("kind", ["classification", "masked_language_model"])
def test_an_encoder_answers_the_same_in_every_batch_and_length(kind: str) -> None:
    run, folder = run_and_graphs(kind)
    loaded = gf.load(run)
    for b, t in SIZES:
        tokens, real = batch(loaded, b, t)
        ours = say(loaded, tokens, real)
        theirs = ask(folder, "model", tokens=tokens, real=real)["logits"]
        rows = slice(None) if kind == "classification" else real  # of padding nobody reads the answer
        assert theirs.shape == ours.shape
        assert largest(ours[rows], theirs[rows]) <= 1e-5


@pytest.mark.parametrize("name", ["bert", "bert body"])
def test_segments_are_an_input_of_bert(name: str) -> None:
    model, folder = foreign(name)
    loaded = gf.load(model)
    for b, t in SIZES:
        tokens, real = batch(loaded, b, t)
        segments = torch.arange(t).expand(b, t) % 2
        ours = say(loaded, tokens, real, segments)
        *_, theirs = ask(folder, "model", tokens=tokens, real=real, segments=segments).values()  # of a body: the pooled
        rows = real if name == "bert" else slice(None)
        assert largest(ours[rows], theirs[rows]) <= 1e-5


def both(kind: str) -> tuple[Path, Path]:
    return foreign(kind) if kind in foreign_models.MODELS else run_and_graphs(kind)


@pytest.mark.parametrize("kind", ["language_model", "gpt2"])
def test_a_decoder_step_by_step_is_the_full_pass(kind: str) -> None:
    model, folder = both(kind)
    loaded, table = gf.load(model), described(folder)
    for b, t in SIZES:
        tokens, real = batch(loaded, b, t, left=True)
        full = say(loaded, tokens, real)  # b t v
        whole = ask(folder, "decoder", tokens=tokens, real=real, **empty_cache(table, b))
        assert largest(full[real], whole["logits"][real]) <= 1e-5
        cache, at, said = empty_cache(table, b), 0, []
        for more in [t // 2, *[1] * (t - t // 2)]:  # half of it at once, then token by token
            if more:
                new = tokens[:, at : at + more]
                found = ask(folder, "decoder", tokens=new, real=real[:, : at + more], **cache)
                cache, at = grown(found), at + more
                said.append(found["logits"])
        assert largest(full[real], torch.cat(said, 1)[real]) <= 1e-5
        assert all(x.shape[2] == t for x in cache.values())


@pytest.mark.parametrize("kind", ["translation", "marian", "t5"])
def test_a_translator_step_by_step_is_the_full_pass(kind: str) -> None:
    model, folder = both(kind)
    loaded, table = gf.load(model), described(folder)
    assert isinstance(loaded.model, EncoderDecoder)
    for b, s in SIZES:
        source, real = batch(loaded, b, s)
        target, _ = batch(loaded, b, 6)
        full = say(loaded, source, target, real)  # b t v
        memory = ask(folder, "encoder", source=source, source_real=real)
        cache, said = empty_cache(table, b), []
        for new in (target[:, :3], *target[:, 3:].split(1, 1)):
            found = ask(folder, "decoder", tokens=new, source_real=real, **memory, **cache)
            cache = grown(found)
            said.append(found["logits"])
        assert largest(full, torch.cat(said, 1)) <= 1e-5


@pytest.mark.parametrize("kind", ["image_classification", "vit", "object_queries"])
def test_pictures(kind: str) -> None:
    model, folder = both(kind)
    loaded = gf.load(model)
    (axes,) = described(folder)["graphs"]["model"]["inputs"].values()
    options = loaded.config.task.options
    mean, std = (
        torch.tensor(options.get(key, usual)).view(-1, 1, 1) for key, usual in (("mean", [0.0]), ("std", [1.0]))
    )
    for b in (1, 2, 5):
        pixels = torch.rand(b, *axes[1:], generator=torch.Generator().manual_seed(b))
        ours = say(loaded, (pixels - mean) / std)
        theirs = torch.cat([*ask(folder, "model", pixels=pixels).values()], -1)  # of objects: logits, then boxes
        assert largest(ours, theirs) <= 1e-5


def test_a_prompt_about_a_picture() -> None:
    run, folder = run_and_graphs("prompted_objects")
    loaded = gf.load(run)
    assert described(folder)["graphs"]["model"]["inputs"]["prompt"] == ["batch", "length"]
    for b, t in ((1, 1), (3, 2)):
        chance = torch.Generator().manual_seed(b)
        pixels, prompt = torch.rand(b, 1, 24, 24, generator=chance), torch.randint(69, (b, t), generator=chance)
        theirs = torch.cat([*ask(folder, "model", pixels=pixels, prompt=prompt).values()], -1)  # logits, then boxes
        assert largest(say(loaded, pixels, prompt), theirs) <= 1e-5


def test_a_forecast() -> None:
    run, folder = run_and_graphs("forecasting")
    loaded = gf.load(run)
    for b in (1, 3):
        past = torch.randn(b, 24, generator=torch.Generator().manual_seed(b)) * 3 + 1
        with torch.inference_mode():
            ours = Forecasting.make(loaded.config).predict(loaded.model, past)
        assert largest(ours, ask(folder, "model", past=past)["future"]) <= 1e-5


# --- from text to text, by the lines of the README ---


def copied(folder: Path, place: Path) -> Path:
    place.mkdir()
    for path in folder.iterdir():
        (place / path.name).symlink_to(path)
    return place


@pytest.mark.parametrize("kind", ["language_model", "gpt2"])
def test_the_readme_continues_a_text_as_we_do(kind: str) -> None:
    model, folder = both(kind)
    loaded, text = gf.load(model), TEXTS.get(kind, "the")
    answer, printed = run_readme(folder, "README.md", text)
    ours = gf.generate(loaded, text, tokens=20, temperature=0)
    begun = [*loaded.frame.front, *loaded.encode(text)]
    assert printed == loaded.tokenizer.decode([*begun, *answer])
    assert printed.removeprefix(loaded.tokenizer.decode(begun)) == ours.text
    assert len(answer) == ours.tokens > 0


@pytest.mark.parametrize("kind", ["translation", "marian", "t5"])
def test_the_readme_translates_as_we_do(kind: str) -> None:
    model, folder = both(kind)
    text = TEXTS.get(kind, "우리는 자주 웃는다")
    _, printed = run_readme(folder, "README.md", text)
    assert printed == gf.translate(model, text, beam=1)
    assert printed


def test_a_translator_that_knows_its_sentences_says_them(tmp_path: Path) -> None:
    export_onnx(small_translator.trained(tmp_path), tmp_path / "onnx")
    said = [run_readme(tmp_path / "onnx", "README.md", text)[1] for text in small_translator.KOREAN[::5]]
    assert said == small_translator.ENGLISH[::5]


def test_the_readme_classifies_as_we_do() -> None:
    model, folder = run_and_graphs("classification")
    text = "우리는 자주 웃는다"
    assert run_readme(folder, "README.md", text)[0] == gf.classify(model, text).label


@pytest.mark.parametrize("kind", ["masked_language_model", "bert"])
def test_the_readme_fills_as_we_do(kind: str) -> None:
    model, folder = both(kind)
    loaded, text = gf.load(model), "우리는 자주"
    answer, _ = run_readme(folder, "README.md", text)
    tokens = [*loaded.frame.front, *loaded.encode(text), loaded.tokenizer.specials.need("mask"), *loaded.frame.back]
    logits = say(loaded, torch.tensor([tokens]))[0, -1 - len(loaded.frame.back)]
    assert answer == logits.topk(5).indices.tolist()


def test_the_readme_gives_the_vectors_that_embed_gives() -> None:
    model, folder = foreign("bert body")
    answer, _ = run_readme(folder, "README.md", "we often laugh")
    assert largest(gf.embed(model, "we often laugh"), answer) <= 1e-5


@pytest.mark.parametrize("kind", ["image_classification", "vit"])
def test_the_readme_recognises_as_we_do(kind: str, tmp_path: Path) -> None:
    model, folder = both(kind)
    folder = copied(folder, tmp_path / "here")
    channels = np.random.default_rng(0).integers(0, 255, (23, 31, 3), dtype=np.uint8)
    Image.fromarray(channels).convert("L" if kind == "image_classification" else "RGB").save(folder / "picture.png")
    assert run_readme(folder, "README.md")[0] == gf.recognise(model, folder / "picture.png").label


def test_the_readme_finds_objects(tmp_path: Path) -> None:
    folder = copied(run_and_graphs("object_queries")[1], tmp_path / "here")
    Image.new("L", (16, 16), 128).save(folder / "picture.png")
    answer, _ = run_readme(folder, "README.md")
    assert all(box.shape == (4,) and 0 <= label < 10 for label, box in answer)


def test_the_readme_answers_a_prompt(tmp_path: Path) -> None:
    folder = copied(run_and_graphs("prompted_objects")[1], tmp_path / "here")
    assert re.search(
        r"prompt = np.array\(\[\[\d+, \d+\]\]\)  # \(\d+, \d+\)$", (folder / "README.md").read_text("utf-8"), re.M
    )
    Image.new("L", (24, 24), 128).save(folder / "picture.png")
    (label, box), _ = run_readme(folder, "README.md")
    assert 0 <= label < 10 and box.shape == (4,)


def test_the_readme_forecasts_as_we_do(tmp_path: Path) -> None:
    run, folder = run_and_graphs("forecasting")
    ours = gf.forecast(run, written(tmp_path, hours(60).replace("load", "waves")))  # the series that it was trained on
    text = (folder / "README.md").read_text(encoding="utf-8")
    past = text.replace("2 + np.sin(np.arange(24) / 4)", f"np.array({ours.past.values.tolist()})")
    assert past != text
    here = copied(folder, tmp_path / "here")
    (here / "README.md").unlink()
    (here / "README.md").write_text(past, encoding="utf-8")
    answer, _ = run_readme(here, "README.md")
    assert np.abs(answer - ours.said["model"]).max() <= 1e-5 * np.abs(ours.said["model"]).max()


# --- the folder ---


def test_only_a_folder_of_ours_is_written_over(tmp_path: Path) -> None:
    run = trained("forecasting", tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(FileError, match="out"):
        export_onnx(run, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
    with pytest.raises(FileError):
        export_onnx(run, run)
    seen: list[tuple[int, int]] = []
    found = export_onnx(gf.load(run), tmp_path / "out", force=True, progress=lambda *at: seen.append(at))
    assert (found.graphs, found.tokenizer, seen) == (("model.onnx",), None, [(0, 1)])
    assert 0 < found.difference <= 1e-5
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {".glassformer-export", "README.ko.md", "README.md", "graphs.json", "mine.txt", "model.onnx"}


def test_the_model_is_as_it_was(tmp_path: Path) -> None:
    run = trained("forecasting", tmp_path)
    half = gf.load(run, dtype="bfloat16")
    half.model.train()
    export_onnx(half, tmp_path / "half")
    assert half.model.training and {x.dtype for x in half.model.parameters()} == {torch.bfloat16}
    loaded = gf.load(run)
    kernels = [module.kernel for module in loaded.model.modules() if isinstance(module, gf.MultiHeadAttention)]
    export_onnx(loaded, tmp_path / "onnx")
    assert kernels == [m.kernel for m in loaded.model.modules() if isinstance(m, gf.MultiHeadAttention)] != []
    assert set(kernels) == {"fused"}


def test_nothing_of_this_machine_is_in_a_graph() -> None:
    for kind in ("translation", "language_model"):
        for path in run_and_graphs(kind)[1].glob("*.onnx"):
            content = path.read_bytes()
            assert b"stack_trace" not in content and b".py" not in content


def test_a_folder_of_graphs_is_no_model_here() -> None:
    with pytest.raises(FileError, match="ONNX graph"):
        gf.load(run_and_graphs("forecasting")[1])


def test_a_model_in_int8_is_not_exported(tmp_path: Path) -> None:
    loaded = gf.load(trained("forecasting", tmp_path), dtype="int8")
    with pytest.raises(InputError, match="a model in int8 is for use only and cannot be saved or exported; load it"):
        export_onnx(loaded, tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()
