from __future__ import annotations

import pytest
import torch

from glassformer.bench import ragged
from glassformer.bench.gpt_step import LIMIT
from glassformer.bench.ragged import difference, examples, measured, ours, padded, recipe, run, table
from glassformer.config.recipe import RunConfig
from glassformer.errors import ConfigError
from glassformer.tasks import Material, kind_of
from shared_data import need
from tiny_tasks import TINY


@pytest.fixture(scope="module")
def material() -> Material:
    tables = TINY["translation"]
    train = tables["train"] | {"accumulate": 1, "loss": {"kind": "cross_entropy", "smoothing": 0.1}}
    config = RunConfig.from_dict(tables | {"train": train})
    return kind_of(config).task.begin(config)


def test_both_sides_learn_from_the_same_sentences(material: Material) -> None:
    numbers = measured(material, "cpu", batches=2, rounds=2)
    assert numbers["batches"] == 2
    assert numbers["tokens"] == sum(len(target) + 1 for batch in examples(material, 2) for _, target in batch)
    assert numbers["seconds"].keys() == {"glassformer", "torch"}


def test_both_sides_compute_the_same_loss_with_the_same_weights(material: Material) -> None:
    for some in examples(material, 3):
        assert difference(material, some, "cpu") <= 2e-6


def test_a_difference_is_noticed(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of torch's matrices in the wrong places are enough."""
    right = ragged.from_torch

    def swapped(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        found = right(tensors)
        q, k = (f"decoder.blocks.0.cross_attention.w_{each}.weight" for each in "qk")
        return found | {q: found[k], k: found[q]}

    monkeypatch.setattr(ragged, "from_torch", swapped)
    assert difference(material, examples(material, 1)[0], "cpu") > LIMIT


def test_padding_is_what_no_sentence_fills(material: Material) -> None:
    taken = examples(material, 2)
    for batch, some in zip(padded(material, taken), taken, strict=True):
        assert batch.count == sum(len(target) + 1 for _, target in some)
        assert batch.target_out.shape == (len(some), max(len(target) + 1 for _, target in some))


def test_where_the_set_is_absent_the_grammar_serves(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path))
    config, source = recipe("cpu")
    assert (source, config.data.source.kind, config.model.d_model) == ("grammar", "grammar", 128)


def test_where_the_set_is_at_hand_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "multi30k")
    config, source = recipe("cpu")
    assert (source, config.data.source.kind) == ("multi30k", "catalogue")


@pytest.mark.parametrize(
    ("lang", "sentences"),
    [("en", "the built-in grammar (Multi30k is not at hand)"), ("ko", "내장 문법(Multi30k가 없음)")],
)
def test_the_table_says_whose_sentences(lang: str, sentences: str) -> None:
    seconds = {side: {"median": m, "low": m, "high": m} for side, m in (("glassformer", 0.5), ("torch", 1.0))}
    numbers = {"source": "grammar", "tokens": 100, "padding": 0.25, "seconds": seconds, "peak": {}}
    rows = table(numbers, lang)
    assert rows[1] == [sentences, "Glassformer", "1.00", "1.00 – 1.00", "200", "–", "–"]
    assert rows[2] == [sentences, "nn.Transformer", "2.00", "2.00 – 2.00", "100", "25.0 %", "–"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an accelerator")
def test_without_an_accelerator_it_says_so() -> None:
    with pytest.raises(ConfigError, match="ragged is measured on an accelerator, and there is none here"):
        run()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
@pytest.mark.filterwarnings("ignore")  # torch's own compiler warns about itself
def test_captured_steps_without_padding(material: Material) -> None:
    assert difference(material, examples(material, 1)[0], "cuda") <= LIMIT
    steps = ours(material, examples(material, 6), "cuda")
    steps()
    steps()
