from __future__ import annotations

import ast
import inspect
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from glassformer.config import options, values
from glassformer.config.model import FAMILIES, TIES, ModelConfig
from glassformer.errors import ConfigError
from glassformer.layers import patch
from glassformer.layers.attention import mask, multi_head
from glassformer.layers.feed_forward import ACTIVATIONS, FEED_FORWARDS
from glassformer.layers.head import HEADS, POOLS
from glassformer.layers.norm import NORMS
from glassformer.layers.position import POSITIONS, relative, rotary
from glassformer.layers.residual import NORM_ORDERS
from glassformer.ledger.rows import ledger_rows
from glassformer.models import check as check_module
from glassformer.models.build import build
from glassformer.models.check import INPUTS, check, input_positions
from glassformer.models.initialize import INIT_RULES
from glassformer.models.presets import PRESETS

HANGUL = re.compile(r"[가-힣]")
ENCODER = {"family": "encoder", "vocab_size": 100, "d_model": 32, "n_heads": 4}
DECODER = {**ENCODER, "family": "decoder"}
BOTH = {**ENCODER, "family": "encoder-decoder"}
IMAGE = {"kind": "image", "size": 8, "patch": 4}
SERIES = {"kind": "series", "context": 30, "length": 6, "stride": 3}

REFUSED: list[tuple[str, dict[str, Any], str]] = [  # key of the error, the table, the line
    (
        "not_one_of",
        {**ENCODER, "position": "rotry"},
        "position='rotry' is unknown; use one of: sinusoidal, learned, rotary, alibi, relative, none",
    ),
    ("not_one_of", {**ENCODER, "norm": "batch"}, "norm='batch' is unknown; use one of: layer, rms"),
    (
        "not_one_of",
        {**ENCODER, "norm_order": "mid"},
        "norm_order='mid' is unknown; use one of: " + ", ".join(NORM_ORDERS),
    ),
    ("not_one_of", {**ENCODER, "feed_forward": "x"}, "feed_forward='x' is unknown; use one of: mlp, gated"),
    ("not_one_of", {**ENCODER, "activation": "x"}, "activation='x' is unknown; use one of: " + ", ".join(ACTIVATIONS)),
    ("not_one_of", {**ENCODER, "input": "x"}, "input='x' is unknown; use one of: tokens, vectors, image, series"),
    (
        "not_one_of",
        {**ENCODER, "head": "x"},
        "head='x' is unknown; use one of: none, language_model, classifier, regression, distilled",
    ),
    ("not_one_of", {**ENCODER, "init": "x"}, "init='x' is unknown; use one of: " + ", ".join(INIT_RULES)),
    (
        "not_one_of",
        {**ENCODER, "head": {"kind": "classifier", "classes": 2, "pool": "x"}},
        "head.pool='x' is unknown; use one of: cls, sep, mean, max, flatten, each",
    ),
    (
        "not_one_of",
        {**ENCODER, "head": {"kind": "regression", "outputs": 2, "pool": "each"}},
        "head.pool='each' is unknown; use one of: cls, sep, mean, max, flatten",
    ),
    (
        "not_one_of",
        {**ENCODER, "head": {"kind": "language_model", "activation": "x"}},
        "head.activation='x' is unknown; use one of: relu, gelu, gelu_tanh, silu",
    ),
    (
        "wrong_type",
        {**ENCODER, "head": {"kind": "language_model", "offset": 2}},
        "head.offset=2 is of the wrong type; use true or false",
    ),
    (
        "out_of_range",
        {**ENCODER, "input": {**IMAGE, "class_tokens": 2}, "head": {"kind": "distilled", "classes": 0}},
        "head.classes=0 is out of range; use 1 to 2147483647",
    ),
    (
        "distilled_tokens",
        {**ENCODER, "input": IMAGE, "head": {"kind": "distilled", "classes": 2}},
        "head=distilled needs family=encoder and an image with two class tokens, here family=encoder, input=image, "
        "class_tokens=1; set input.class_tokens=2, or use head=classifier",
    ),
    (
        "distilled_tokens",
        {**ENCODER, "head": {"kind": "distilled", "classes": 2}},
        "head=distilled needs family=encoder and an image with two class tokens, here family=encoder, input=tokens, ",
    ),
    (
        "distilled_tokens",
        {**BOTH, "input": {**IMAGE, "class_tokens": 2}, "head": {"kind": "distilled", "classes": 2}},
        "head=distilled needs family=encoder and an image with two class tokens, here family=encoder-decoder, ",
    ),
    (
        "window_from",
        {**DECODER, "window_from": 2},
        "window_from=2 without a window changes nothing; set window, or leave window_from out",
    ),
    (
        "not_one_of",
        {**ENCODER, "position": {"kind": "rotary", "scaling": "x"}},
        "position.scaling='x' is unknown; use one of: none, linear, ntk, dynamic, yarn, llama3",
    ),
    (
        "unknown_option",
        {**ENCODER, "position": {"kind": "rotary", "bases": 5}},
        "position.bases: 'rotary' has no such option; did you mean base?",
    ),
    (
        "unknown_option",
        {**ENCODER, "head": {"kind": "classifier", "classes": 2, "d_model": 5}},
        "head.d_model: 'classifier' has no such option; there are: bias, classes, pool, pooler",
    ),
    (
        "no_option",
        {**ENCODER, "position": {"kind": "none", "base": 5}},
        "position.base: 'none' has no options; write position = \"none\"",
    ),
    (
        "no_option",
        {**ENCODER, "norm": {"kind": "rms", "eps": 1e-6}},
        "norm.eps: 'rms' has no options; write norm = \"rms\"",
    ),
    (
        "no_option",
        {**ENCODER, "feed_forward": {"kind": "mlp", "d_ff": 5}},
        "feed_forward.d_ff: 'mlp' has no options; write feed_forward = \"mlp\"",
    ),
    (
        "option_missing",
        {**ENCODER, "head": "regression"},
        "head='regression' needs the option outputs; write head = { kind = \"regression\", outputs = … }",
    ),
    (
        "option_missing",
        {**ENCODER, "input": {"kind": "image", "size": 8}},
        "input='image' needs the option patch; write input = { kind = \"image\", patch = … }",
    ),
    (
        "wrong_type",
        {**ENCODER, "head": {"kind": "regression", "outputs": 1.5}},
        "head.outputs=1.5 is of the wrong type; use a whole number",
    ),
    (
        "wrong_type",
        {**ENCODER, "head": {"kind": "regression", "outputs": True}},
        "head.outputs=True is of the wrong type; use a whole number",
    ),
    (
        "out_of_range",
        {**ENCODER, "head": {"kind": "regression", "outputs": 16**9_000}},
        "head.outputs=a number of over 15 digits is out of range; use 1 to 2147483647",
    ),
    (
        "wrong_type",
        {**ENCODER, "head": {"kind": "regression", "outputs": 2, "bias": 1}},
        "head.bias=1 is of the wrong type; use true or false",
    ),
    (
        "wrong_type",
        {**ENCODER, "head": {"kind": "regression", "outputs": 2, "pool": 16**9_000}},
        "head.pool=a number of over 15 digits is of the wrong type; use a word in quotes",
    ),
    (
        "wrong_type",
        {**ENCODER, "position": {"kind": "rotary", "base": "x"}},
        "position.base='x' is of the wrong type; use a number",
    ),
    (
        "rate",
        {**ENCODER, "head": {"kind": "regression", "outputs": 2, "dropout": 1}},
        "head.dropout=1 is not a rate; use 0 or more, and less than 1",
    ),
    (
        "out_of_range",
        {**ENCODER, "head": {"kind": "regression", "outputs": 0}},
        "head.outputs=0 is out of range; use 1 to 2147483647",
    ),
    (
        "out_of_range",
        {**ENCODER, "head": {"kind": "classifier", "classes": -1}},
        "head.classes=-1 is out of range; use 0 to 2147483647",
    ),
    (
        "not_positive",
        {**ENCODER, "position": {"kind": "rotary", "base": 0}},
        "position.base=0 is not positive and finite; use a number above 0",
    ),
    (
        "not_positive",
        {**ENCODER, "position": {"kind": "rotary", "base": 10**400}},
        "position.base=a number of over 15 digits is not positive and finite; use a number above 0",
    ),
    (
        "not_positive",
        {**ENCODER, "position": {"kind": "rotary", "factor": float("nan")}},
        "position.factor=nan is not positive and finite; use a number above 0",
    ),
    (
        "heads_do_not_divide",
        {**ENCODER, "d_model": 512, "n_heads": 6},
        "n_heads=6 does not divide d_model=512; use 4, 8, or set d_k",
    ),
    ("heads_do_not_divide", {**ENCODER, "d_model": 1}, "n_heads=4 does not divide d_model=1; use 1, or set d_k"),
    (
        "kv_heads_do_not_divide",
        {**ENCODER, "n_kv_heads": 3},
        "n_kv_heads=3 does not divide n_heads=4; use a divisor of n_heads",
    ),
    (
        "rotary_odd",
        {**ENCODER, "position": "rotary", "n_heads": 32},
        "position=rotary needs an even d_k, and d_k=1; set d_k to an even number",
    ),
    (
        "not_one_of",
        {**ENCODER, "position": {"kind": "rotary", "layout": "half"}},
        "position.layout='half' is unknown; use one of: interleaved, halves",
    ),
    (
        "not_one_of",
        {**ENCODER, "position": {"kind": "sinusoidal", "layout": "foo"}},
        "position.layout='foo' is unknown; use one of: interleaved, halves",
    ),
    (
        "rotary_factor",
        {**ENCODER, "position": {"kind": "rotary", "factor": 2}},
        "position.scaling=none with position.factor=2 changes nothing; set both, scaling and a factor other than 1, ",
    ),
    (
        "rotary_factor",
        {**ENCODER, "position": {"kind": "rotary", "scaling": "llama3"}},
        "position.scaling=llama3 with position.factor=1.0 changes nothing; set both, ",
    ),
    (
        "rotary_factors",
        {**ENCODER, "position": {"kind": "rotary", "low_frequency_factor": 4}},
        "position.high_frequency_factor=4.0 is not above low_frequency_factor=4; use 4 and 1, as Llama 3",
    ),
    (
        "rotary_betas",
        {**ENCODER, "position": {"kind": "rotary", "scaling": "yarn", "factor": 2, "beta_slow": 32}},
        "position.beta_fast=32.0 is not above beta_slow=32; use 32 and 1, as YaRN",
    ),
    (
        "rotary_base",
        {**ENCODER, "position": {"kind": "rotary", "scaling": "yarn", "factor": 2, "base": 1}},
        "position.scaling=yarn needs a base above 1, and position.base=1; use 10000, or what the model was trained ",
    ),
    (
        "rotary_mscale",
        {**ENCODER, "position": {"kind": "rotary", "scaling": "yarn", "factor": 2, "mscale": 1.0}},
        "position.mscale stands alone; give mscale and mscale_all_dim together, or neither",
    ),
    (
        "rotary_mscale",
        {**ENCODER, "position": {"kind": "rotary", "scaling": "yarn", "factor": 2, "mscale_all_dim": 1.0}},
        "position.mscale_all_dim stands alone; give mscale and mscale_all_dim together, or neither",
    ),
    (
        "not_positive",
        {**ENCODER, "position": {"kind": "rotary", "scaling": "yarn", "factor": 2, "attention_factor": 0}},
        "position.attention_factor=0 is not positive and finite; use a number above 0",
    ),
    (
        "relative_buckets",
        {**ENCODER, "position": {"kind": "relative", "buckets": 6}},
        "position.buckets=6 with max_distance=128 makes no buckets; use a multiple of 4, and ",
    ),
    (
        "relative_buckets",
        {**ENCODER, "position": {"kind": "relative", "max_distance": 16}},
        "position.buckets=32 with max_distance=16 makes no buckets; use a multiple of 4, and ",
    ),
    (
        "no_layers",
        {**ENCODER, "n_encoder_layers": 0},
        "n_encoder_layers=0, but family=encoder has that side; use at least 1",
    ),
    (
        "no_such_side",
        {**ENCODER, "n_decoder_layers": 2},
        "n_decoder_layers=2, but family=encoder has no such side; leave it out or change the family",
    ),
    ("vocab_size_missing", {"family": "decoder"}, "vocab_size is missing, and tokens needs it; set vocab_size"),
    (
        "vocab_size_missing",
        {"family": "encoder", "input": "vectors", "head": "language_model"},
        "vocab_size is missing, and language_model needs it; set vocab_size",
    ),
    (
        "special_tokens",
        {**ENCODER, "special_tokens": 101},
        "special_tokens=101 is more than vocab_size=100; use fewer, or a larger vocabulary",
    ),
    (
        "special_tokens",
        {**BOTH, "special_tokens": 5, "target_vocab_size": 4},
        "special_tokens=5 is more than vocab_size=4; use fewer, or a larger vocabulary",
    ),
    (
        "segments",
        {**DECODER, "segments": 2},
        "segments=2 needs family=encoder and input=tokens, here decoder and tokens; set segments=0",
    ),
    (
        "decoder_input",
        {**DECODER, "input": IMAGE},
        "input=image needs an encoder, and family=decoder has none; use family=encoder",
    ),
    (
        "image_patch",
        {**ENCODER, "input": {**IMAGE, "patch": 3}},
        "input.patch=3 does not divide input.size=8; use a divisor",
    ),
    (
        "image_stride",
        {**ENCODER, "input": {**IMAGE, "stride": 3}},
        "input.stride=3 does not divide input.size=8; use a divisor",
    ),
    (
        "image_overlap",
        {**ENCODER, "input": {**IMAGE, "patch": 5, "stride": 2}},
        "input.patch=5 must exceed input.stride=2 by 0 or an even number, half of it on each side; use 6",
    ),
    (
        "series_patch",
        {**ENCODER, "input": {**SERIES, "length": 31}},
        "input.length=31 is longer than input.context=30; use a shorter patch",
    ),
    (
        "too_many_patches",
        {**ENCODER, "input": SERIES, "max_len": 8},
        "the input gives 9 positions, and max_len=8; set max_len=9 or more",
    ),
    (
        "flatten_needs_patches",
        {**ENCODER, "head": {"kind": "regression", "outputs": 2, "pool": "flatten"}},
        "head.pool=flatten needs ",
    ),
    (
        "classes_missing",
        {**ENCODER, "head": {"kind": "classifier", "classes": 0}},
        "head=classifier without classes; set head.classes, or head.pooler=true for BERT's pooler alone",
    ),
    (
        "target_vocab_size",
        {**ENCODER, "target_vocab_size": 5},
        "target_vocab_size=5 needs family=encoder-decoder, here encoder; leave it out",
    ),
    (
        "tie_needs_tokens",
        {**ENCODER, "input": "vectors", "tie_embeddings": "all"},
        "tie_embeddings=all needs tokens, here input=vectors; use tie_embeddings=none",
    ),
    (
        "tie_needs_language_model",
        {**ENCODER, "tie_embeddings": "all"},
        "tie_embeddings=all needs head=language_model, here none; use tie_embeddings=none",
    ),
    (
        "tie_needs_two_sides",
        {**ENCODER, "tie_embeddings": "inputs"},
        "tie_embeddings=inputs needs family=encoder-decoder, here encoder; use output or none",
    ),
    (
        "tie_vocabularies",
        {**BOTH, "target_vocab_size": 50, "tie_embeddings": "inputs"},
        "tie_embeddings needs one vocabulary, here vocab_size=100 and target_vocab_size=50; use tie_embeddings=output",
    ),
    (
        "queries_family",
        {**ENCODER, "queries": 3},
        "queries=3 needs family=encoder-decoder, here encoder; leave it out or change the family",
    ),
    (
        "queries_family",
        {**DECODER, "causal": False},
        "causal=false needs family=encoder-decoder, here decoder; leave it out or change the family",
    ),
    (
        "queries_head",
        {**BOTH, "queries": 3, "causal": False, "head": "language_model"},
        "queries=3 leaves no order in which to say words, and head=language_model says words; use another head",
    ),
    (
        "queries_head",
        {**BOTH, "causal": False, "head": "language_model"},
        "causal=false leaves no order in which to say words, and head=language_model says words; use another head",
    ),
    (
        "queries_vocabulary",
        {**BOTH, "queries": 3, "target_vocab_size": 7},
        "queries=3 stand in the place of target tokens; leave out target_vocab_size and tie_embeddings",
    ),
    (
        "queries_vocabulary",
        {**BOTH, "queries": 3, "tie_embeddings": "inputs"},
        "queries=3 stand in the place of target tokens; leave out target_vocab_size and tie_embeddings",
    ),
    (
        "too_many_queries",
        {**BOTH, "queries": 9, "max_len": 8},
        "queries=9 is more than max_len=8; use fewer, or set max_len=9 or more",
    ),
    ("out_of_range", {**BOTH, "head": {"kind": "objects", "classes": 0}}, "head.classes=0 is out of range; use 1 to"),
]


@pytest.mark.parametrize(("key", "table", "line"), REFUSED, ids=[f"{i}-{key}" for i, (key, *_) in enumerate(REFUSED)])
def test_what_no_model_can_have_is_refused_with_its_rule(key: str, table: dict[str, Any], line: str) -> None:
    config = ModelConfig.from_dict(table)
    for refuse in (check, ledger_rows):
        with pytest.raises(ConfigError) as caught:
            refuse(config)
        assert caught.value.key == key
        assert str(caught.value).startswith(line)
    assert HANGUL.search(caught.value.in_language("ko"))


def test_every_error_of_the_check_is_tested_here() -> None:
    raised = {
        node.args[0].value
        for module in (check_module, mask, multi_head, patch, relative, rotary, options, values)
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "ConfigError"
        and isinstance(node.args[0], ast.Constant)
    }
    assert len(raised) > 20
    earlier = {"kind_missing", "unknown_key"}  # no table comes of these: tests/config/test_table.py
    assert raised - earlier <= {key for key, *_ in REFUSED}


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_passes(name: str) -> None:
    check(PRESETS[name]())


@pytest.mark.parametrize(
    "table",
    [
        {**ENCODER, "d_model": 33, "d_k": 8},
        {**ENCODER, "n_kv_heads": 1, "d_v": 5},
        {**ENCODER, "head": {"kind": "classifier", "classes": 0, "pooler": True}},
        {**ENCODER, "input": SERIES, "max_len": 9, "head": {"kind": "regression", "outputs": 2, "pool": "flatten"}},
        {**ENCODER, "input": IMAGE, "max_len": 1, "position": "none"},
        {**BOTH, "input": IMAGE, "vocab_size": None, "target_vocab_size": 9, "special_tokens": 2},
        {**ENCODER, "n_decoder_layers": 0},
        {**DECODER, "window": 4, "window_from": 99},
        {**DECODER, "position": {"kind": "rotary", "scaling": "dynamic"}},
        {**DECODER, "position": {"kind": "rotary", "scaling": "yarn", "factor": 4, "mscale": 1, "mscale_all_dim": 0.7}},
        {**ENCODER, "input": {**IMAGE, "class_tokens": 2}, "head": {"kind": "distilled", "classes": 2}},
        {**DECODER, "head": {"kind": "classifier", "classes": 2, "pool": "each"}},
        {**BOTH, "queries": 9, "max_len": 8, "position": "none"},
        {**BOTH, "queries": 3, "causal": False, "head": {"kind": "objects", "classes": 2}},
        {**ENCODER, "head": {"kind": "objects", "classes": 2}},
        {**ENCODER, "position": {"kind": "sinusoidal", "base": 10**30}},
        {**DECODER, "position": {"kind": "rotary", "base": 500_000, "scaling": "llama3", "factor": 8}},
    ],
)
def test_what_is_unusual_but_possible_passes_and_is_built(table: dict[str, Any]) -> None:
    config = ModelConfig.from_dict(table)
    check(config)
    assert build(config, device="meta") is not None


def test_a_norm_of_ones_own_is_allowed_where_it_is_brought_along() -> None:
    config = ModelConfig.from_dict({**ENCODER, "norm": "batch"})
    check(config, norms=("layer", "batch"))
    with pytest.raises(ConfigError, match="norm='batch' is unknown"):
        check(config)


def test_positions_of_patches() -> None:
    assert input_positions(ModelConfig.from_dict({**ENCODER, "input": SERIES})) == 9
    assert input_positions(ModelConfig.from_dict({**ENCODER, "input": {**SERIES, "pad_end": True}})) == 10
    assert input_positions(ModelConfig.from_dict({**ENCODER, "input": IMAGE})) == 5
    assert input_positions(ModelConfig.from_dict(ENCODER)) is None


# --- anything at all: a model, or a ConfigError ---

numbers = st.one_of(
    st.integers(0, 4),
    st.sampled_from([-1, 8, 16, 2**31 - 1, 2**31, 10**400, -(10**400)]),
    st.floats(),
    st.sampled_from([0.1, 1e-5, 1e308]),
)
anything = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=4) | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=2),
    max_leaves=3,
)


def choices(kinds: dict[str, Any], options: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """A word, or a table of a kind with options of that kind, or with options of any kind."""
    tables = [st.fixed_dictionaries({"kind": st.sampled_from(list(kinds))}, optional=options)]
    for kind, box in kinds.items():
        own = {name: options[name] for name in inspect.signature(box).parameters if name in options}
        tables.append(st.fixed_dictionaries({"kind": st.just(kind), **own}))
    return st.one_of(st.sampled_from(list(kinds)), *tables)


sizes = st.sampled_from([1, 2, 4, 8, 16])
truths = st.booleans()
plausible: dict[str, st.SearchStrategy[Any]] = {
    "family": st.sampled_from(FAMILIES),
    "input": choices(
        INPUTS,
        dict.fromkeys(("size", "patch", "channels", "class_tokens", "context", "length", "stride"), sizes)
        | {"pad_end": truths, "bias": truths},
    ),
    "vocab_size": st.none() | sizes,
    "target_vocab_size": st.none() | sizes,
    "queries": st.integers(0, 2),
    "causal": truths,
    "max_len": sizes,
    "d_model": sizes,
    "n_heads": sizes,
    "n_kv_heads": st.none() | sizes,
    "d_k": st.none() | sizes,
    "d_v": st.none() | sizes,
    "d_ff": sizes,
    "n_encoder_layers": st.none() | st.integers(0, 2),
    "n_decoder_layers": st.none() | st.integers(0, 2),
    "position": choices(
        POSITIONS,
        {
            "base": numbers,
            "buckets": sizes,
            "max_distance": sizes,
            "scaling": st.sampled_from(rotary.SCALINGS),
            "factor": numbers,
            **dict.fromkeys(("beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim"), numbers),
            "truncate": truths,
        },
    ),
    "norm": st.sampled_from(list(NORMS)),
    "norm_order": st.sampled_from(list(NORM_ORDERS)),
    "final_norm": st.none() | truths,
    "embedding_norm": truths,
    "eps": numbers,
    "feed_forward": st.sampled_from(list(FEED_FORWARDS)),
    "activation": st.sampled_from(list(ACTIVATIONS)),
    "bias": truths | st.lists(st.sampled_from(["q", "k", "v", "o", "feed_forward", "norm"])),
    "qk_norm": truths,
    "window": st.none() | sizes,
    "window_from": st.integers(0, 2),
    "dropout": st.sampled_from([0, 0.1]),
    "special_tokens": st.integers(0, 3),
    "segments": st.integers(0, 2),
    "tie_embeddings": truths | st.sampled_from(TIES),
    "init": st.sampled_from(list(INIT_RULES)),
    "head": choices(
        HEADS,
        {
            "classes": st.integers(0, 3),
            "outputs": sizes,
            "pool": st.sampled_from(POOLS),
            "pooler": truths,
            "bias": truths,
            "scale": truths,
            "transform": truths,
            "activation": st.sampled_from(list(ACTIVATIONS)),
            "offset": truths,
            "dropout": st.sampled_from([0, 0.5, 1]),
        },
    ),
}


@st.composite
def tables(draw: st.DrawFn) -> dict[Any, Any]:
    """A model, a few of its keys changed, sometimes to nonsense; or nonsense from the start."""
    if draw(st.integers(0, 4)) == 0:
        fields = st.sampled_from(list(ModelConfig.__dataclass_fields__))
        return draw(st.dictionaries(fields | st.text(max_size=4) | st.integers(), anything, max_size=4))
    table: dict[Any, Any] = dict(draw(st.sampled_from([ENCODER, DECODER, BOTH])))
    for key in draw(st.lists(st.sampled_from(list(plausible)), max_size=6)):
        table[key] = draw(plausible[key])
    if draw(st.integers(0, 4)) == 0:
        table[draw(st.sampled_from(list(plausible)))] = draw(anything)
    return table


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables())
def test_any_table_is_a_model_or_a_line_that_says_why_not(table: dict[Any, Any]) -> None:
    try:
        config = ModelConfig.from_dict(table)
        check(config)
    except ConfigError as error:
        event(f"refused: {error.key}")
        for lang in ("en", "ko"):
            assert 0 < len(error.in_language(lang)) < 2_000
        return
    event("a model")
    parameters = sum(row.parameters for row in ledger_rows(config))
    if parameters < 10**8:
        model = build(config, device="meta")
        assert sum(parameter.numel() for parameter in model.parameters()) == parameters
