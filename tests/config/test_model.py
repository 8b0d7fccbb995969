from __future__ import annotations

import copy
import pickle
import re
import tomllib
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from glassformer.config.model import ModelConfig
from glassformer.config.toml import to_toml
from glassformer.config.values import BIASES, Choice
from glassformer.errors import ConfigError
from glassformer.models.presets import PRESETS

HANGUL = re.compile(r"[가-힣]")


def refused(key: str, value: object) -> str:
    with pytest.raises(ConfigError) as caught:
        ModelConfig.from_dict({key: value})
    assert HANGUL.search(caught.value.in_language("ko"))
    return str(caught.value)


# --- what a configuration is ---


def test_the_defaults_are_the_base_model_of_the_paper() -> None:
    config = ModelConfig()
    assert (config.family, config.d_model, config.n_heads, config.d_ff) == ("encoder-decoder", 512, 8, 2048)
    assert (config.encoder_layers, config.decoder_layers, config.head_size) == (6, 6, 64)
    assert (config.position, config.norm_order, config.activation) == (Choice("sinusoidal"), "post", "relu")
    assert config.to_dict() == {}


def test_a_configuration_is_frozen_and_has_no_positions() -> None:
    with pytest.raises(FrozenInstanceError):
        ModelConfig().d_model = 3  # type: ignore[misc]
    with pytest.raises(TypeError, match="positional"):
        ModelConfig("encoder")  # type: ignore[misc]


def test_equal_configurations_are_equal_and_have_one_hash() -> None:
    one = ModelConfig.from_dict({"position": {"kind": "rotary", "base": 5e5}, "vocab_size": 9})
    two = ModelConfig(position=Choice("rotary", {"base": 5e5}), vocab_size=9)
    assert one == two
    assert hash(one) == hash(two)
    assert one != ModelConfig(vocab_size=9)


def test_the_options_of_a_choice_are_frozen_too() -> None:
    given_options = {"base": 5e5}
    config = ModelConfig(position=Choice("rotary", given_options))
    with pytest.raises(TypeError, match="does not support item assignment"):
        config.position.options["base"] = 7  # type: ignore[index]
    given_options["base"] = 7
    assert config.position.options == {"base": 5e5}


def test_a_configuration_can_be_pickled_copied_and_replaced() -> None:
    config = ModelConfig(position=Choice("rotary", {"base": 5e5}), vocab_size=9)
    for other in (pickle.loads(pickle.dumps(config)), copy.deepcopy(config), copy.copy(config), replace(config)):
        assert other == config
        assert hash(other) == hash(config)
        assert other.position.options["base"] == 5e5
    assert replace(config.position, kind="sinusoidal") == Choice("sinusoidal", {"base": 5e5})


def test_a_choice_with_a_list_among_its_options_has_a_hash() -> None:
    one, two = Choice("rotary", {"base": [1, 2]}), Choice("rotary", {"base": [1, 2]})
    assert {one, two} == {one}


@pytest.mark.parametrize(
    ("family", "layers", "expected"),
    [("encoder", {}, (6, 0)), ("decoder", {}, (0, 6)), ("encoder-decoder", {"n_decoder_layers": 2}, (6, 2))],
)
def test_each_side_has_six_layers_unless_given(family: str, layers: dict[str, int], expected: tuple[int, int]) -> None:
    config = ModelConfig(family=family, **layers)
    assert (config.encoder_layers, config.decoder_layers) == expected


def test_sizes_that_follow_from_others() -> None:
    assert ModelConfig(d_model=96, n_heads=4).head_size == 24
    assert ModelConfig(d_model=96, n_heads=4, d_k=7).head_size == 7
    assert ModelConfig(vocab_size=5).output_vocab_size == 5
    assert ModelConfig(vocab_size=5, target_vocab_size=8).output_vocab_size == 8
    assert ModelConfig().output_vocab_size is None


@pytest.mark.parametrize(
    ("given_value", "expected"), [(True, "all"), (False, "none"), ("output", "output"), ("inputs", "inputs")]
)
def test_ties_are_words_or_truths(given_value: object, expected: str) -> None:
    assert ModelConfig.from_dict({"tie_embeddings": given_value}).tie_embeddings == expected


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        (True, BIASES),
        (False, ()),
        (["v", "q"], ("q", "v")),
        (("norm",), ("norm",)),
        ("q,k", ("q", "k")),
        ([], ()),
    ],
)
def test_biases_are_truths_lists_or_words(given_value: object, expected: tuple[str, ...]) -> None:
    assert ModelConfig.from_dict({"bias": given_value}).bias == expected


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        ("rotary", Choice("rotary")),
        ({"kind": "rotary"}, Choice("rotary")),
        ({"kind": "rotary", "base": 5}, Choice("rotary", {"base": 5})),
        (Choice("rotary", {"base": 5}), Choice("rotary", {"base": 5})),
    ],
)
def test_a_choice_is_a_word_or_a_table(given_value: object, expected: Choice) -> None:
    assert ModelConfig.from_dict({"position": given_value}).position == expected


def test_numbers_get_their_final_form() -> None:
    config = ModelConfig.from_dict({"eps": 1, "dropout": 0})
    assert isinstance(config.eps, float)
    assert isinstance(config.dropout, float)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_the_same_after_a_trip_through_toml(name: str) -> None:
    config = PRESETS[name]()
    table = tomllib.loads(to_toml({"model": config.to_dict()}))["model"]
    assert ModelConfig.from_dict(table) == config


# --- what is refused ---


def test_an_unknown_key_is_answered_with_the_nearest() -> None:
    assert refused("d_modl", 3) == "d_modl: no such key; did you mean d_model?"
    assert refused("zzz", 3).startswith("zzz: no such key; there are: activation, attention_dropout, ")


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("d_model", 1.5, "d_model=1.5 is of the wrong type; use a whole number, such as 512"),
        ("d_model", True, "d_model=True is of the wrong type; use a whole number, such as 512"),
        ("d_model", "512", "d_model='512' is of the wrong type; use a whole number, such as 512"),
        ("d_model", None, "d_model=None is of the wrong type; use a whole number, such as 512"),
        ("dropout", "x", "dropout='x' is of the wrong type; use a number, such as 0.1"),
        ("dropout", True, "dropout=True is of the wrong type; use a number, such as 0.1"),
        ("eps", [], "eps=[] is of the wrong type; use a number, such as 1e-5"),
        ("final_norm", 1, "final_norm=1 is of the wrong type; use true or false"),
        ("norm_order", 1, "norm_order=1 is of the wrong type; use a word in quotes"),
        ("bias", 1, 'bias=1 is of the wrong type; use true, false, or a list such as ["q", "k", "v"]'),
        ("head", [1], "head=[1] is of the wrong type; use a word, or a table with kind and its options"),
        ("head", {"kind": 5}, "head.kind=5 is of the wrong type; use a word in quotes"),
        ("head", {"kind": "none", 5: 1}, "head=5 is of the wrong type; use a word in quotes"),
        (5, 1, "key=5 is of the wrong type; use a word in quotes"),
        ("d_ff", "x" * 99, f"d_ff='{'x' * 58}… is of the wrong type; use a whole number, such as 512"),
    ],
)
def test_a_wrong_type_names_the_right_one(key: Any, value: object, line: str) -> None:
    assert refused(key, value) == line


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("d_model", 0, "d_model=0 is out of range; use 1 to 2147483647"),
        ("n_heads", -4, "n_heads=-4 is out of range; use 1 to 2147483647"),
        ("vocab_size", 2**31, "vocab_size=2147483648 is out of range; use 1 to 2147483647"),
        ("d_ff", 10**40, "d_ff=a number of over 15 digits is out of range; use 1 to 2147483647"),
        ("special_tokens", -1, "special_tokens=-1 is out of range; use 0 to 2147483647"),
        ("n_encoder_layers", 10_001, "n_encoder_layers=10001 is out of range; use 0 to 10000"),
        ("dropout", 1.0, "dropout=1.0 is not a rate; use 0 or more, and less than 1"),
        ("dropout", -0.1, "dropout=-0.1 is not a rate; use 0 or more, and less than 1"),
        ("dropout", float("nan"), "dropout=nan is not a rate; use 0 or more, and less than 1"),
        (
            "stochastic_depth",
            10**40,
            "stochastic_depth=a number of over 15 digits is not a rate; use 0 or more, and less than 1",
        ),
        ("eps", 0, "eps=0 is not positive and finite; use a number above 0"),
        ("eps", float("inf"), "eps=inf is not positive and finite; use a number above 0"),
        ("eps", float("nan"), "eps=nan is not positive and finite; use a number above 0"),
        ("eps", 10**400, "eps=a number of over 15 digits is not positive and finite; use a number above 0"),
        ("attention_scale", -1, "attention_scale=-1 is not positive and finite; use a number above 0"),
        ("family", "both", "family='both' is unknown; use one of: encoder, decoder, encoder-decoder"),
        ("tie_embeddings", "some", "tie_embeddings='some' is unknown; use one of: none, output, inputs, all"),
        ("bias", ["z"], "bias='z' is unknown; use one of: q, k, v, o, feed_forward, norm"),
        ("bias", "", "bias='' is unknown; use one of: q, k, v, o, feed_forward, norm"),
        ("head", {"classes": 2}, 'head is a table without kind; add kind = "…"'),
    ],
)
def test_an_impossible_value_names_the_rule(key: str, value: object, line: str) -> None:
    assert refused(key, value) == line


@pytest.mark.parametrize("choice", [Choice(5), Choice("none", 5), Choice("none", {5: 5})])  # type: ignore[arg-type, dict-item]
def test_a_choice_made_by_hand_is_checked_too(choice: Choice) -> None:
    with pytest.raises(ConfigError, match="is of the wrong type"):
        ModelConfig(head=choice)


def test_a_number_that_python_will_not_write_is_refused_in_one_line() -> None:
    for key in ("norm_order", "head", "bias"):
        assert refused(key, 16**9_000).startswith(f"{key}=a number of over 15 digits is of the wrong type")


def test_the_choices_are_the_keys_that_take_a_kind() -> None:
    found = [key for key, each in ModelConfig.schema().items() if isinstance(each.default, Choice)]
    assert found == ["input", "position", "norm", "feed_forward", "head"]
