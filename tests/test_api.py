from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from rich.console import Console
from torch import Tensor, nn

import glassformer as gf
from glassformer.errors import ConfigError, InputError
from glassformer.layers.norm import NORMS
from small_forecaster import hours, written
from small_forecaster import trained as forecaster
from small_models import saved, small
from small_translator import trained, write_recipe

HANGUL = re.compile(r"[가-힣]")


def refused(kind: type[Exception], call: Any, *arguments: Any) -> str:
    with pytest.raises(kind) as caught:
        call(*arguments)
    assert HANGUL.search(caught.value.in_language("ko"))
    return str(caught.value)


def parameters(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


# --- the names ---


def test_every_public_name_is_there() -> None:
    for name in gf.__all__:
        assert getattr(gf, name) is not None
    assert len(set(gf.__all__)) == len(gf.__all__)
    assert set(dir(gf)) == set(gf.__all__)


def test_the_examples_need_only_public_names() -> None:
    assert {"count", "build", "record", "forecast", "SinusoidalPositions", "EncoderBlock", "Encoder"} <= set(gf.__all__)


def test_losses_schedules_masks_tokenizers_and_metrics_have_public_names() -> None:
    assert float(gf.losses.cross_entropy(torch.zeros(1, 4), torch.tensor([2])).mean) == pytest.approx(math.log(4))
    assert gf.schedules.noam(1, gf.schedules.Span(warmup=4, steps=9, d_model=16)) == pytest.approx(16**-0.5 * 4**-1.5)
    assert gf.masks.causal(2).tolist() == [[True, False], [True, True]]
    assert gf.tokenizers.Characters.__doc__
    assert gf.metrics.accuracy.__doc__ and gf.metrics.bleu.__doc__ and gf.metrics.perplexity.__doc__


def test_presets_are_a_value_that_shows_itself() -> None:
    found = gf.presets()
    assert "mini-classifier" in found.names and len(found.names) == len(found.to_json())
    assert "1,009,057" in repr(found) and "63,082,496" in repr(found) and "<table" in found._repr_html_()


def test_models_are_a_value_that_shows_itself() -> None:
    found = gf.trained_models()
    assert "digits" in found.names and isinstance(found["digits"], gf.ModelCard)
    assert "digits" in repr(found) and "<table" in found._repr_html_()


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'glassformer' has no attribute 'Transformer'"):
        _ = gf.Transformer


def test_type_hints_ship_with_the_package() -> None:
    assert (Path(gf.__file__).parent / "py.typed").is_file()


# --- count ---


def test_count_by_name_and_by_layers() -> None:
    assert gf.count("mini-classifier", layers=1).total.trained == 983_201
    assert gf.count("mini-classifier").total.trained == 1_009_057
    assert gf.count("lesson-encoder").total.parameters == 4_739_072


def test_count_takes_any_model_and_any_key(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[model]\npreset = "mini-classifier"\nn_encoder_layers = 1\n')
    table = {"preset": "mini-classifier", "n_encoder_layers": 1}
    for model in (path, str(path), table):
        assert gf.count(model).total.trained == 983_201
    config = gf.ModelConfig(family="encoder", vocab_size=10, d_model=8, n_heads=2, d_ff=16)
    assert gf.count(config, layers=1, d_ff=8).total.parameters == 80 + 4 * 72 + 2 * 72 + 2 * 16
    assert gf.count("mini-classifier", **{"head.classes": 3}).total.trained == 1_009_057 + 2 * 33


def test_a_part_of_the_count() -> None:
    ledger = gf.count("mini-classifier", layers=1)
    assert ledger.part("encoder.blocks.0.self_attention").parameters == 4_224
    assert ledger.part("encoder.blocks.0").parameters == 6_464
    assert ledger.part("encoder").buffers == 12_800
    assert ledger.part("encoder.blocks.0.self").parameters == 0


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ("token embedding", "multi-head self-attention", "formula", "total", "encoder, one of 5 layers")),
        ("ko", ("토큰 임베딩", "멀티헤드 셀프 어텐션", "계산식", "합계", "인코더, 층 5개 중 1개")),
    ],
)
def test_the_ledger_shows_itself_in_either_language(
    lang: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", lang)
    ledger = gf.count("mini-classifier")
    console = Console(width=160)
    with console.capture() as drawn:
        console.print(ledger)
    html = ledger._repr_html_()
    for shown in (drawn.get(), html):
        for word in (*words, "976,704", "1,009,057", "12,800", "96.8 %", "3×(d_model×d_model+d_model) = 3×(32×32+32)"):
            assert word in shown
    assert bool(HANGUL.search(html)) is (lang == "ko")
    assert html.startswith("<table>")
    assert html.endswith("</table>")
    for tag in ("tr", "td", "th", "thead", "tbody", "tfoot"):
        assert len(re.findall(f"<{tag}[ >]", html)) == html.count(f"</{tag}>") > 0


def test_a_name_in_html_is_text(tmp_path: Path) -> None:
    path = tmp_path / "<script>.toml"
    path.write_text('[model]\npreset = "mini-classifier"\n')
    html = gf.count(path)._repr_html_()
    assert "&lt;script&gt;.toml" in html
    assert "<script>" not in html


# --- build and check ---


def test_build_the_base_model_of_the_paper() -> None:
    model = gf.build("paper-base", device="meta")
    assert isinstance(model, nn.Module)
    assert parameters(model) == gf.count("paper-base").total.parameters


def test_build_takes_a_preset_a_configuration_a_file_and_a_table(tmp_path: Path) -> None:
    table = {"family": "encoder", "vocab_size": 10, "d_model": 8, "n_heads": 2, "d_ff": 16, "n_encoder_layers": 1}
    path = tmp_path / "mine.toml"
    path.write_text("[model]\n" + "\n".join(f"{key} = {value!r}" for key, value in table.items()))
    models = [gf.build(model, seed=3) for model in (table, path, str(path), gf.ModelConfig(**table))]
    for model in models[1:]:
        for name, weight in model.state_dict().items():
            torch.testing.assert_close(weight, models[0].state_dict()[name], rtol=0, atol=0)
    assert (
        parameters(gf.build("small-encoder", layers=1, d_ff=8))
        == gf.count("small-encoder", layers=1, d_ff=8).total.parameters
    )


def test_build_in_another_type_and_with_either_kernel() -> None:
    tokens = torch.tensor([[1, 2, 3]])
    results = []
    for kernel in ("fused", "reference"):
        model = gf.build("mini-classifier", seed=0, dtype=torch.float64, kernel=kernel).eval()
        results.append(model(tokens))
    assert results[0].dtype == torch.float64
    torch.testing.assert_close(*results, rtol=0, atol=1e-12)
    assert refused(ConfigError, lambda: gf.build("gpt2", kernel="flash", device="meta")) == (
        "kernel='flash' is unknown; use one of: reference, fused"
    )


@pytest.mark.parametrize("name", ["float64", "float32", "bfloat16", "float16"])
def test_a_type_may_be_a_word(name: str) -> None:
    for dtype in (name, f"torch.{name}", getattr(torch, name)):
        model = gf.build("small-encoder", layers=1, device="meta", dtype=dtype)
        assert {weight.dtype for weight in model.parameters()} == {getattr(torch, name)}


@pytest.mark.parametrize("dtype", ["float23", "int64", torch.int64, torch.complex64, 32, []])
def test_a_type_that_no_model_can_have(dtype: Any) -> None:
    name = str(dtype).removeprefix("torch.")
    assert refused(ConfigError, lambda: gf.build("small-encoder", dtype=dtype)) == (
        f"dtype={name!r} is unknown; use one of: float64, float32, bfloat16, float16"
    )


@pytest.mark.parametrize("device", ["cudaa", "cuda:99", "hpu", "", torch.device("cuda:99"), -1, [], 10**400])
def test_a_device_that_is_not_here(device: Any) -> None:
    line = refused(ConfigError, lambda: gf.build("small-encoder", device=device))
    assert re.fullmatch(r"device='.*' is not a device of this machine; use one of: auto, cpu, meta(, \w+:\d+)*", line)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_cuda_where_there_is_none() -> None:
    assert refused(ConfigError, lambda: gf.build("small-encoder", device="cuda")) == (
        "device='cuda' is not a device of this machine; use one of: auto, cpu, meta"
    )


def test_a_device_may_be_a_word_or_a_device() -> None:
    for device in ("cpu", torch.device("cpu")):
        assert next(gf.build("small-encoder", layers=1, device=device).parameters()).device.type == "cpu"


@pytest.mark.parametrize("seed", ["a", 1.5, True, []])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    assert refused(ConfigError, lambda: gf.build("small-encoder", seed=seed)) == (
        f"seed={seed!r} is of the wrong type; use a whole number, such as 512"
    )


def test_a_seed_out_of_range() -> None:
    assert refused(ConfigError, lambda: gf.build("small-encoder", layers=1, seed=-1)).startswith("seed=-1 is out of")


def test_what_is_no_model_at_all() -> None:
    for verb in (gf.count, gf.build, gf.check):
        assert refused(ConfigError, verb, None).startswith("None is not a model; use the name of a preset or of a")


def test_weights_loaded_into_a_model_without_memory() -> None:
    whole = gf.build("small-encoder", layers=1, seed=0).eval()
    empty = gf.build("small-encoder", layers=1, device="meta").eval().to_empty(device="cpu")
    empty.load_state_dict(whole.state_dict())
    tokens = torch.tensor([[1, 2, 3]])
    assert torch.equal(empty(tokens), whole(tokens))


def test_check_says_why_not() -> None:
    gf.check("paper-base")
    assert refused(ConfigError, lambda: gf.check("paper-base", n_heads=7)) == (
        "n_heads=7 does not divide d_model=512; use 4, 8, or set d_k"
    )


# --- the boxes at a prompt ---


def test_positions_at_a_prompt() -> None:
    positions = gf.SinusoidalPositions(d_model=128, max_len=5000)
    x = torch.zeros(1, 100, 128)
    encoding = positions(x)[0]
    assert encoding.shape == (100, 128)
    torch.testing.assert_close(encoding[:, 0], torch.arange(100).double().sin().float())
    torch.testing.assert_close(encoding[0, 1::2], torch.ones(64))
    assert parameters(positions) == 0


def test_a_block_at_a_prompt() -> None:
    block = gf.EncoderBlock(d_model=512, n_heads=8, d_ff=2048, dropout=0.1, norm_order="pre", activation="gelu").eval()
    x = torch.randn(2, 16, 512)
    with gf.record(block) as trace:
        assert block(x).shape == (2, 16, 512)
    assert parameters(block) == 3_152_384
    (weights,) = trace.attention()
    assert weights.shape == (2, 8, 16, 16)
    assert weights.mean(1).shape == (2, 16, 16)


@pytest.fixture(name="encoder")
def _encoder() -> nn.Module:
    torch.manual_seed(0)
    return gf.Encoder(
        d_model=256,
        n_heads=8,
        d_ff=1024,
        n_layers=6,
        max_len=5000,
        dropout=0.1,
        norm_order="pre",
        activation="gelu",
    )


@pytest.fixture(name="x")
def _x() -> Tensor:
    return torch.randn(2, 16, 256)


def test_an_encoder_at_a_prompt(encoder: nn.Module, x: Tensor) -> None:
    assert parameters(encoder) == 4_739_072
    assert encoder(x, mask=None).shape == (2, 16, 256)


def test_recording_gives_one_map_for_each_layer_and_changes_nothing(encoder: nn.Module, x: Tensor) -> None:
    encoder.eval()
    expected = encoder(x)
    with gf.record(encoder) as trace:
        recorded = encoder(x)
    assert torch.equal(recorded, expected)
    maps = trace.attention()
    assert [tuple(each.shape) for each in maps] == [(2, 8, 16, 16)] * 6
    torch.testing.assert_close(maps[5].sum(-1), torch.ones(2, 8, 16))
    scores = trace["blocks.0.self_attention.scores"]
    torch.testing.assert_close(scores.softmax(-1), maps[0])


def test_a_name_that_was_not_recorded_is_answered_with_the_nearest(encoder: nn.Module, x: Tensor) -> None:
    with gf.record(encoder) as trace:
        encoder(x)
    assert refused(InputError, lambda: trace["blocks.0.self_atention.scores"]) == (
        "nothing was recorded under 'blocks.0.self_atention.scores'; did you mean blocks.0.self_attention.scores?"
    )


# --- what a model cannot take ---


def test_token_ids_out_of_range() -> None:
    model = gf.build("mini-classifier", layers=1)
    assert refused(InputError, model, torch.tensor([[1, 30_522]])) == (
        "token 30522 is not in the vocabulary, whose ids are 0 to 30521; was the text encoded for another model?"
    )
    assert refused(InputError, model, torch.tensor([[-1, 5]])).startswith("token -1 is not in the vocabulary")


def test_texts_of_an_impossible_length_or_shape() -> None:
    model = gf.build("mini-classifier", layers=1)
    assert refused(InputError, model, torch.zeros(1, 401, dtype=torch.long)) == (
        "the text has 401 positions, and max_len=400; shorten it, or set a larger max_len"
    )
    assert refused(InputError, model, torch.zeros(1, 0, dtype=torch.long)) == (
        "the text is empty: there is no token in it; give at least one"
    )
    assert refused(InputError, model, torch.zeros(4, dtype=torch.long)) == (
        "tokens have shape (4,) and type int64; a model takes whole numbers of shape batch × length"
    )
    assert refused(InputError, model, torch.zeros(1, 4)).startswith("tokens have shape (1, 4) and type float32")


def test_nan_in_a_patch() -> None:
    series = torch.zeros(1, 1, 30)
    series[0, 0, 7] = torch.nan
    model = gf.build("stock-patches")
    assert model(torch.zeros(1, 1, 30)).shape == (1, 5)
    assert refused(InputError, model, series) == (
        "the input holds NaN or infinity (1 of 30 values); mend or leave out those values"
    )
    images = torch.zeros(1, 3, 224, 224)
    images[0, 0, 0, :2] = torch.inf
    assert refused(InputError, gf.build("deit-tiny", layers=1), images) == (
        "the input holds NaN or infinity (2 of 150528 values); mend or leave out those values"
    )
    assert refused(InputError, model, torch.zeros(1, 30)) == (
        "series have shape (1, 30); this model takes batch × (1, 30); cut or choose them so"
    )


def test_masks_of_the_wrong_kind(encoder: nn.Module, x: Tensor) -> None:
    assert refused(InputError, encoder, x, torch.ones(2, 16)) == (
        "mask has type float32; use booleans: mask True = may look, real True = a token, not padding"
    )
    line = refused(InputError, encoder, x, torch.ones(16, dtype=torch.bool))
    assert line.startswith("a mask has shape (16,)")
    assert "; use queries × keys, batch × queries × keys, or batch × heads × queries × keys" in line


def test_a_model_larger_than_the_machine() -> None:
    line = refused(ConfigError, gf.build, "llama3-405b")
    assert re.fullmatch(
        r"the model needs 1,511\.9 GiB, and [\d.,]+ GiB are free; count it instead, .*build it with device=\"meta\"",
        line,
    )


def test_a_norm_of_ones_own_is_built() -> None:
    class Doubled(torch.nn.Module):
        def __init__(self, d_model: int, *, eps: float, bias: bool) -> None:
            super().__init__()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * x

    model = gf.build("mini-classifier", layers=1, norm="mine", vocab_size=9, norms={**NORMS, "mine": Doubled})
    assert model(torch.tensor([[1, 2]])).shape == (1, 1)
    assert isinstance(model.encoder.blocks[0].feed_forward_norm, Doubled)
    with pytest.raises(ConfigError, match=r"norms=5.*\*\*NORMS"):
        gf.build("mini-classifier", norms=5, device="meta")  # type: ignore[arg-type]


def test_a_seed_leaves_the_dice_of_others_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first = gf.build("mini-classifier", seed=3, vocab_size=9)
    assert torch.equal(torch.rand(1), expected)
    second = gf.build("mini-classifier", seed=3, vocab_size=9)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


# --- training, translating, evaluating ---


def test_the_verbs_stay_verbs_when_folders_of_their_names_are_imported() -> None:
    import glassformer.decoding.beam
    import glassformer.tasks.translation.translate
    import glassformer.training.loop  # noqa: F401

    assert all(callable(verb) for verb in (gf.train, gf.evaluate, gf.generate, gf.translate, gf.load))
    from glassformer.decoding import greedy  # the folder is still there

    assert callable(greedy)


@pytest.mark.slow
def test_from_a_recipe_to_a_translation(tmp_path: Path) -> None:
    seen: list[Any] = []
    recipe = write_recipe(tmp_path, steps=4)
    run = gf.train(recipe, out=tmp_path / "run", overrides={"train.steps": 2}, watch=seen.append)
    assert type(seen[-1]).__name__ == "Stopped" and seen[-1].step == 2
    assert [line["step"] for line in run.log if line["kind"] == "train"] == [1, 2]
    assert run.best is not None and run.best.parent.parent == run.folder == tmp_path / "run"
    assert isinstance(run.load(), gf.Loaded)
    assert gf.evaluate(run, beam=1).total.sentences == 20
    again = gf.train(recipe, out=tmp_path / "run", resume=True)
    assert again.log[-1]["step"] == 2  # it is finished
    with pytest.raises(gf.FileError, match="holds a run already"):
        gf.train(recipe, out=tmp_path / "run")


def test_a_sentence_gives_a_sentence_and_a_list_a_list(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    loaded = gf.load(folder)
    assert (
        gf.translate(loaded, "나는 학교에 간다") == gf.translate(folder, "나는 학교에 간다", beam=1) == "I go to school"
    )
    assert gf.translate(str(folder), ["나는 학교에 간다"], beam=4) == ["I go to school"]
    with gf.edit(loaded.model, {"decoder.blocks.0.cross_attention.heads": gf.zero()}):
        assert gf.translate(loaded, ["나는 학교에 간다"]) != ["I go to school"]
    assert gf.evaluate(loaded, "test", beam=1).total.exact.hits == 20


def test_a_device_that_is_not_there(tmp_path: Path) -> None:
    line = refused(ConfigError, lambda: gf.load(trained(tmp_path), device="abacus"))
    assert "abacus" in line and "cpu" in line


# --- the other everyday verbs ---


def test_one_gives_one_and_a_list_a_list(tmp_path: Path) -> None:
    loaded = small("classification")
    folder = saved(loaded, tmp_path)
    one, several = gf.classify(folder, "he"), gf.classify(loaded, ["he", "we"])
    assert isinstance(one, gf.Classified) and one.label == several[0].label and len(several) == 2
    image = tmp_path / "red.png"
    Image.new("RGB", (9, 9), "red").save(image)
    seer = small("image_classification")
    assert gf.recognise(seer, image) == gf.recognise(seer, [str(image)])[0]
    reader = small("features")
    assert gf.embed(reader, "he").shape == (16,) and gf.embed(reader, ["he"], pool="cls").shape == (1, 16)


def test_two_texts_in_a_tuple_are_a_pair_and_three_are_three() -> None:
    loaded = small("classification")
    assert isinstance(gf.classify(loaded, ("he", "we")), gf.Classified)
    three, one = ("he", "we", "he"), ("he",)
    assert gf.classify(loaded, three) == gf.classify(loaded, list(three))
    assert gf.classify(loaded, one) == gf.classify(loaded, ["he"])


def test_what_begins_a_conversation_needs_one() -> None:
    with pytest.raises(InputError, match=r"system='be kind' says how a conversation begins; give chat=True"):
        gf.generate(small("language_model"), "he", system="be kind")


TEXT_VERBS = {"classification": "classify", "masked_language_model": "fill", "features": "embed"}


@pytest.mark.parametrize(("kind", "verb"), [*TEXT_VERBS.items(), ("language_model", "generate")])
def test_whether_to_truncate_is_true_or_false(kind: str, verb: str) -> None:
    with pytest.raises(ConfigError, match="truncate=3"):
        getattr(gf, verb)(small(kind), "I ___", truncate=3)


def test_gaps_and_continuations() -> None:
    (gap,) = gf.fill(small("masked_language_model"), "I ___ home", top=2)
    assert isinstance(gap, gf.Filled) and len(gap.candidates) == 2
    writer = small("language_model")
    assert gf.generate(writer, "he", tokens=5) == gf.generate(writer, "he", tokens=5, temperature=0)
    drawn = [gf.generate(writer, "he", tokens=9, seed=seed) for seed in (1, 1, 2)]
    assert isinstance(drawn[0], gf.Written) and drawn[0] == drawn[1] != drawn[2]
    text = gf.generate(writer, "he", tokens=9, beam=2).text
    assert gf.generate(writer, "he", tokens=9, beam=2, stop=text[1:3]).text == text[: text.index(text[1:3])]
    assert gf.generate(writer).prompt == ""


@pytest.mark.parametrize(("lang", "word"), [("en", "probability"), ("ko", "확률")])
def test_answers_show_themselves(lang: str, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", lang)
    loaded = small("classification")
    found = [gf.classify(loaded, "he"), gf.classify(loaded, ["he"]), gf.fill(small("masked_language_model"), "I ___")]
    for one in found:
        console = Console(width=100)
        with console.capture() as drawn:
            console.print(one)
        assert word in drawn.get() and word in one._repr_html_()


def test_forecast_goes_on_with_a_file(tmp_path: Path) -> None:
    loaded = forecaster(tmp_path / "run")
    path, picture = written(tmp_path, hours(30)), tmp_path / "next.svg"
    by_name, by_model = gf.forecast(tmp_path / "run", path), gf.forecast(loaded, path, column="load", picture=picture)
    assert isinstance(by_name, gf.Forecast) and len(by_name.moments) == 4 and picture.is_file()
    assert by_model.to_json()["column"] == "load"
    with pytest.raises(gf.InputError, match=r"next.gif: a picture is .png or .svg"):
        gf.forecast(loaded, path, picture="next.gif")


def test_one_box_is_counted_as_it_is_built() -> None:
    sizes: dict[str, Any] = {"d_model": 16, "n_heads": 4, "n_kv_heads": 2, "bias": ("q",)}
    rows = gf.count_box(gf.MultiHeadAttention, **sizes)
    built = {name: tuple(x.shape) for name, x in gf.MultiHeadAttention(**sizes).named_parameters()}
    assert {name: shape for row in rows for name, shape in row.shapes().items()} == built
    assert rows[0].formula == "d_model×d_model+d_model+d_model×n_kv_heads×d_k+d_model×n_kv_heads×d_v"
