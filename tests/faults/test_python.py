"""Whatever is passed to the Python interface: a GlassformerError of one line, never a KeyError from somewhere inside.

A keyword that a signature does not have is Python's own TypeError, which names it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import glassformer as gf

SIZES: dict[str, Any] = {"d_model": 16, "n_heads": 4, "d_ff": 32, "n_layers": 2, "max_len": 20}
ENCODER = gf.Encoder(**SIZES)
X = torch.randn(2, 5, 16)
HEADS = "blocks.0.self_attention.heads"


def recorded(names: Any = None, **options: Any) -> gf.Trace:
    with gf.record(ENCODER, names, **options) as trace:
        ENCODER(X)
    return trace


def edited(edits: Any) -> torch.Tensor:
    with gf.edit(ENCODER, edits):
        return ENCODER(X)


CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "a keyword misspelt": (lambda: gf.Encoder(**SIZES, n_head=4), r"^n_head: no such key; did you mean n_heads\?$"),
    "a keyword forgotten": (lambda: gf.Decoder(n_layers=2), "^d_model, n_heads, d_ff: missing; a stack needs d_model"),
    "a size that is text": (lambda: gf.Encoder(**{**SIZES, "d_model": "16"}), "d_model='16'"),
    "vectors that are none": (lambda: ENCODER(None), "^None: this is not a tensor; pass torch.Tensor"),
    "a list of vectors": (lambda: ENCODER([1.0]), r"^\[1.0\]: this is not a tensor"),
    "a name that never passes": (lambda: recorded("nothing.*"), r"^'nothing.\*': nothing of this name was computed; "),
    "one of two names": (lambda: recorded(["*.weights", "weihgts"]), "^'weihgts': nothing of this name was computed"),
    "names that are numbers": (lambda: recorded(5), "^names=5: name what to record by a text or a list of texts"),
    "a layer too high": (lambda: recorded(layers=[0, 99]), "^layers=99: there are 0 to 1; name only these$"),
    "layers that are text": (lambda: recorded(layers="a"), "^layers='a': name them by a list of whole numbers"),
    "a head too high": (lambda: recorded(heads=[99]), "^heads=99: there are 0 to 3; name only these$"),
    "a row too high": (lambda: recorded(rows=[99]), "^rows=99: there are 0 to 4; name only these$"),
    "a row too high, weights alone": (lambda: recorded("*.weights", rows=[99]), "^rows=99: there are 0 to 4"),
    "a row below": (lambda: recorded(rows=[-1]), "^rows=-1: there are 0 to …"),
    "no model to record": (lambda: gf.record(None).__enter__(), "^None: this is not a model; pass a torch.nn.Module"),
    "no model with taps": (lambda: gf.taps(None), "^None: this is not a model"),
    "no model to recompute": (lambda: gf.recompute(None), "^None: this is not a model"),
    "an edit that is a number": (lambda: edited({HEADS: 5}), rf"^{HEADS}: 5 changes nothing; use gf.zero\(\)"),
    "edits that are none": (lambda: edited(None), "^edits=None: use a dict from names to changes"),
    "a replacement that is text": (lambda: edited({HEADS: gf.replace("a")}), "^gf.replace: 'a' changes nothing"),
    "a box that is made": (lambda: gf.count_box(gf.LayerNorm(4)), r"^box=LayerNorm.*gf\.MultiHeadAttention"),
    "a run that is a table": (lambda: gf.train({}), r"^recipe={} is of the wrong type; use a path or a name"),
    "a run that is none": (lambda: gf.train(None), "^recipe=None is of the wrong type; use a path"),
    "a model that is none": (lambda: gf.load(None), "^model=None is of the wrong type; use a path"),
    "a model that is a number": (lambda: gf.load(5), "^model=5 is of the wrong type; use a path"),
    "nothing to translate with": (lambda: gf.translate(None, "a"), "^model=None is of the wrong type; use a path"),
    "nothing to evaluate": (lambda: gf.evaluate(None), "=None is of the wrong type; use a path"),
    "nothing to report on": (lambda: gf.report(5), "^run=5 is of the wrong type; use a path"),
    "a lesson that is a number": (lambda: gf.lesson(5), "5"),
    "a claim that is a number": (lambda: gf.claims(5), "5"),
    "a claim that is a list": (lambda: gf.claims([]), r"^id=\[\] is of the wrong type; use a word in quotes$"),
    "a lesson that is a list": (lambda: gf.lesson([]), r"^name=\[\] is of the wrong type"),
    "a language that is a tensor": (lambda: gf.claims(lang=X), "^lang=.* is of the wrong type"),
    "a textbook's language that is a tensor": (lambda: gf.report(lang=X), "^lang=.* is of the wrong type"),
    "a textbook that goes nowhere": (lambda: gf.report(out=None), "^out=None is of the wrong type; use a path"),
    "a checkpoint that is none": (lambda: gf.load("x", checkpoint=None), "^checkpoint=None is of the wrong type"),
    "overrides that are a number": (
        lambda: gf.train("x", overrides=5),
        "^overrides=5 is of the wrong type; use a table",
    ),
    "a head that is text": (lambda: edited({HEADS: gf.zero(head="a")}), "^head='a' is of the wrong type; use a whole"),
    "a row that is no whole number": (lambda: edited({HEADS: gf.zero(row=1.5)}), "^row=1.5 is of the wrong type"),
    "a factor that is none": (lambda: gf.scale(None), "^gf.scale: None changes nothing; use"),
    "a patch from no trace": (lambda: gf.patch({}, HEADS), "^gf.patch: {} changes nothing; use"),
    "a name that is a list": (lambda: recorded()[[]], r"^name=\[\] is of the wrong type"),
    "a tolerance that is text": (
        lambda: gf.compare(ENCODER, ENCODER, tolerance="a"),
        "^tolerance='a' is not a tolerance; use 0 or more$",
    ),
    "inputs that are a number": (lambda: gf.compare(ENCODER, ENCODER, 5), "^inputs=5 is of the wrong type"),
    "a pass that is a number": (lambda: gf.count("gpt2", run=5), r"^run=5: use gf.Pass\(…\)$"),
    "a job that is a number": (lambda: gf.plan("gpt2", tokens=1, job=5, device="h200"), r"^job=5: use gf.Job\(…\)$"),
    "a batch that is text": (lambda: gf.Pass(batch="a"), "^batch='a'"),
}


@pytest.mark.parametrize("name", CALLS)
def test_one_line_that_says_what_to_do(name: str) -> None:
    call, said = CALLS[name]
    with pytest.raises(gf.GlassformerError, match=said) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_heads_that_share_keys_are_recorded_with_them() -> None:
    grouped = gf.Encoder(**SIZES, n_kv_heads=2)
    with gf.record(grouped, heads=[3]) as trace:
        grouped(X)
    assert trace["blocks.0.self_attention.q"].shape[1] == 1 and trace["blocks.0.self_attention.k"].shape[1] == 2


def test_after_an_error_nothing_is_left_in_the_model() -> None:
    for names, options in ((["nothing"], {}), (None, {"rows": [99]})):
        with pytest.raises(gf.InputError):
            recorded(names, **options)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in ENCODER.modules())


def test_a_box_of_ones_own_may_tap_names_that_no_catalogue_has() -> None:
    from glassformer.tap import tap

    class Own(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return tap("mine", x)

    own = Own()
    with gf.record(own, "mine") as trace:
        own(X)
    assert "mine" in trace
