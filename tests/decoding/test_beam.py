from __future__ import annotations

import copy
import re
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import glassformer as gf
from decoding import BOS, ENDS, EOS, FAMILIES, PAD, POSITIONS, lively, one_by_one, sources
from glassformer.decoding import LENGTH_NORMS, STOP_RULES, Beams, Hypothesis, beam_search, beam_trees, greedy
from glassformer.decoding.beam import BeamSearch, Finished
from glassformer.decoding.limits import Limits
from glassformer.decoding.step import as_decodable
from glassformer.errors import ConfigError

MOST = 9
NEVER = float("-inf")


def close(one: Hypothesis, other: Hypothesis) -> bool:
    near = abs(one.score - other.score) <= 1e-10 and abs(one.log_probability - other.log_probability) <= 1e-10
    return (one.tokens, one.finished) == (other.tokens, other.finished) and near


@pytest.mark.many
@pytest.mark.parametrize(
    ("stop", "norm"), [("first", "gnmt"), ("bound", "gnmt"), ("bound", "power"), ("exhaustive", "none")]
)
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_one_beam_is_greedy(family: str, position: str, stop: str, norm: str) -> None:
    model, (source, mask) = lively(family, position), sources()
    expected = greedy(model, source, mask, limits=Limits(max_len=MOST, **ENDS))
    found = beam_search(
        model, source, mask, limits=Limits(max_len=MOST, **ENDS), beams=Beams(width=1, length_norm=norm, stop=stop)
    )
    assert [one.tokens for (one,) in found] == [one.tokens for (one,) in expected]
    sums = [[one.log_probability for (one,) in each] for each in (found, expected)]
    assert sums[0] == pytest.approx(sums[1], abs=1e-10)


def test_one_beam_that_hopes_for_length_goes_on_where_greedy_ends() -> None:
    model, (source, mask) = lively("encoder-decoder"), sources(40)
    expected = greedy(model, source, mask, limits=Limits(max_len=MOST, **ENDS))
    beams = Beams(width=1, length_norm="power", alpha=2.0, stop="exhaustive")
    found = beam_search(model, source, mask, limits=Limits(max_len=MOST, **ENDS), beams=beams)
    lengths = [(len(one.tokens), len(other.tokens)) for (one,), (other,) in zip(found, expected, strict=True)]
    assert all(one >= other for one, other in lengths)
    assert any(one > other for one, other in lengths)


@pytest.mark.many
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_batch_gives_what_sentences_one_by_one_give(family: str, position: str) -> None:
    model, (source, mask) = lively(family, position), sources()
    options: dict[str, Any] = {"beams": Beams(width=4), "n_best": 4, "limits": Limits(max_len=MOST, **ENDS)}
    found = beam_search(model, source, mask, **options)
    alone = [beam_search(model, one, **options)[0] for one in one_by_one(source, mask)]
    assert [len(best) for best in found] == [len(best) for best in alone]
    assert all(close(*pair) for best, other in zip(found, alone, strict=True) for pair in zip(best, other, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("stop", STOP_RULES)
def test_by_default_too_a_batch_gives_what_sentences_one_by_one_give(stop: str) -> None:
    model, (source, mask) = lively("encoder-decoder"), sources(6)
    found = beam_search(model, source, mask, limits=Limits(**ENDS), beams=Beams(stop=stop))
    alone = [
        beam_search(model, one, limits=Limits(**ENDS), beams=Beams(stop=stop))[0] for one in one_by_one(source, mask)
    ]
    assert all(close(one, other) for (one,), (other,) in zip(found, alone, strict=True))


def log_probability(model: nn.Module, family: str, source: Tensor, tokens: list[int]) -> float:
    """Σ log p, by one full pass without a cache."""
    given = torch.tensor([tokens])
    with torch.no_grad():
        if family == "decoder":
            logits = model(torch.cat([source, given[:, :-1]], 1))[0, source.shape[1] - 1 :]
        else:
            logits = model(source, torch.cat([torch.tensor([[BOS]]), given[:, :-1]], 1))[0]
    return logits.log_softmax(1).gather(1, given[0][:, None]).sum().item()


@pytest.mark.many
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_log_probabilities_are_those_of_a_full_pass(family: str, position: str) -> None:
    model, (source, mask) = lively(family, position), sources()
    found = beam_search(
        model,
        source,
        mask,
        limits=Limits(max_len=MOST, **ENDS),
        beams=Beams(width=3, length_norm="power", alpha=1.0),
        n_best=3,
    )
    for best, alone in zip(found, one_by_one(source, mask), strict=True):
        assert [one.score for one in best] == sorted((one.score for one in best), reverse=True)
        assert len({(tuple(one.tokens), one.finished) for one in best}) == len(best) == 3
        for one in best:
            tokens = [*one.tokens, EOS] if one.finished else one.tokens
            assert one.log_probability == pytest.approx(log_probability(model, family, alone, tokens), abs=1e-10)
            assert one.score == pytest.approx(one.log_probability / len(tokens), abs=1e-10)
            assert one.finished or len(tokens) == MOST


TINY = {
    "vocab_size": 5,
    "max_len": 16,
    "d_model": 8,
    "n_heads": 2,
    "d_ff": 8,
    "n_decoder_layers": 1,
    "norm_order": "pre",
    "head": "language_model",
}


def all_hypotheses(most: int) -> list[list[int]]:
    """Everything that can be written with tokens 1, 3, 4 (0 is forbidden), ended by 2 or by the length."""
    ended = [[*prefix, EOS] for n in range(most) for prefix in product((1, 3, 4), repeat=n)]
    return ended + [list(whole) for whole in product((1, 3, 4), repeat=most)]


@pytest.mark.many
@pytest.mark.parametrize("norm", LENGTH_NORMS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_beam_that_holds_everything_finds_the_true_best(family: str, norm: str) -> None:
    most, source = 4, torch.tensor([[3, 1, 4]])
    for seed in range(6):
        model = gf.build({"family": family, **TINY}, seed=seed, dtype=torch.float64)
        rules = Beams(width=5**3, length_norm=norm, alpha=0.6, stop="exhaustive")
        decodable = as_decodable(model, BOS)
        checked = Limits(eos=EOS, forbidden=(PAD,), max_len=most).checked(5, torch.device("cpu"))
        with torch.inference_mode():
            found = BeamSearch(decodable, decodable.start(source, None), checked, rules).run().best(5)[0]
        scored = [
            (log_probability(model, family, source, tokens) / LENGTH_NORMS[norm](len(tokens), 0.6), tokens)
            for tokens in all_hypotheses(most)
        ]
        assert len(scored) == 1 + 3 + 9 + 27 + 81
        best = sorted(scored, reverse=True)[:5]
        assert [[*one.tokens, EOS] if one.finished else one.tokens for one in found] == [tokens for _, tokens in best]
        assert [one.score for one in found] == pytest.approx([score for score, _ in best], abs=1e-10)


def test_a_narrow_beam_can_miss_the_best_and_a_wider_one_finds_it() -> None:
    """So a wider beam need not be better than greedy at every sentence, but on this toy it is for some."""
    better = 0
    for seed in range(20):
        model = gf.build({"family": "decoder", **TINY}, seed=seed, dtype=torch.float64)
        limits = Limits(eos=EOS, forbidden=(PAD,), max_len=4)
        (narrow,), (wide,) = (
            beam_search(model, torch.tensor([[3, 1]]), limits=limits, beams=Beams(width=b, length_norm="none"))[0]
            for b in (1, 4)
        )
        better += wide.log_probability > narrow.log_probability + 1e-9
    assert better > 0


@pytest.mark.parametrize("family", FAMILIES)
def test_finished_sentences_leave_and_nothing_is_copied_for_beams(family: str) -> None:
    model, (source, mask) = lively(family), sources(8)
    decodable, rows = as_decodable(model, BOS), []
    step = type(decodable).step
    checked = Limits(eos=EOS, forbidden=(PAD, BOS), max_len=MOST).checked(decodable.vocab_size, torch.device("cpu"))

    class Watched:
        vocab_size, start = decodable.vocab_size, decodable.start

        def step(self, tokens: Tensor, state: Any) -> Tensor:
            rows.append(tuple(tokens.shape))
            logits = step(decodable, tokens, state)  # type: ignore[arg-type]
            known = state.cache.layers[0]
            assert {x.k.shape[0] for x in (known.past, known.memory) if x.k is not None} == {len(tokens)}
            return logits

    rules = Beams(width=3, length_norm="gnmt", alpha=0.6, stop="first")
    with torch.inference_mode():
        BeamSearch(Watched(), decodable.start(source, mask), checked, rules).run()
    assert rows[:2] == [(8, 1), (8, 3)]  # the first step has one hypothesis a sentence
    assert rows[1:] == sorted(rows[1:], reverse=True) and rows[-1][0] < 8


def test_what_has_finished_is_merged_by_score() -> None:
    none = Finished.none(1, 2, torch.zeros(1))
    assert none.scores.tolist() == [[NEVER, NEVER]]
    some = none.merged(torch.tensor([[-3.0, NEVER]]), torch.tensor([[7, 8]]))
    assert (some.scores.tolist(), some.nodes[0, 0].item()) == ([[-3.0, NEVER]], 7)
    more = some.merged(torch.tensor([[-1.0, -5.0]]), torch.tensor([[9, 10]]))
    assert (more.scores.tolist(), more.nodes.tolist()) == ([[-1.0, -3.0]], [[9, 7]])


def test_several_ends() -> None:
    model, (source, mask) = lively("decoder"), sources()
    ends = (EOS, 9, 14)
    found = beam_search(model, source, mask, limits=Limits(eos=ends, max_len=MOST), beams=Beams(width=3), n_best=3)
    assert all(not set(ends) & set(one.tokens) for best in found for one in best)
    assert all(len(best) == 3 for best in found)


def test_fewer_hypotheses_than_asked_for_where_there_are_no_more() -> None:
    forbidden = tuple(set(range(40)) - {EOS, 7})  # ε, 7, 77 …: two of length 2 at most
    found = beam_search(
        lively("decoder"),
        *sources(2),
        limits=Limits(eos=EOS, forbidden=forbidden, max_len=1),
        beams=Beams(width=4),
        n_best=4,
    )
    assert [sorted(one.tokens for one in best) for best in found] == [[[], [7]]] * 2


def test_a_source_of_padding_alone_gives_no_nan() -> None:
    source, mask = sources(4)
    mask[2] = False
    found = beam_search(lively("encoder-decoder"), source, mask, limits=Limits(max_len=MOST, **ENDS), n_best=4)
    assert torch.tensor([one.score for best in found for one in best]).isfinite().all()
    assert all(len(best) == 4 for best in found)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("family", FAMILIES)
def test_small_types(family: str, dtype: torch.dtype) -> None:
    found = beam_search(lively(family, "sinusoidal", dtype), *sources(4), limits=Limits(max_len=6, **ENDS), n_best=2)
    assert all(len(best) == 2 and best[0].score >= best[1].score for best in found)


def test_watching_changes_nothing_and_beams_are_queries_of_one_memory() -> None:
    model, (source, mask) = lively("encoder-decoder"), sources()
    options: dict[str, Any] = {"limits": Limits(max_len=MOST, **{**ENDS, "eos": None}), "beams": Beams(width=3)}
    plain = beam_search(model, source, mask, **options)
    with gf.record(model) as trace:
        assert beam_search(model, source, mask, **options) == plain
    assert trace["decoder.blocks.0.cross_attention.weights"].shape == (12, 2, 3, 7)
    assert trace["head.logits"].isfinite().all()


def test_no_sentence_gives_no_hypothesis() -> None:
    nobody = torch.zeros(0, 3, dtype=torch.long)
    assert beam_search(lively("decoder"), nobody, limits=Limits(eos=EOS)) == []
    assert beam_trees(lively("decoder"), nobody, limits=Limits(eos=EOS)) == ([], [])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"width": 0}, "beam=0 is out of range; use 1 to 40"),
        ({"width": 41}, "beam=41 is out of range; use 1 to 40"),
        ({"width": 2, "n_best": 3}, "n_best=3 is out of range; use 1 to 2"),
        ({"n_best": 0}, "n_best=0 is out of range; use 1 to 4"),
        ({"length_norm": "gmnt"}, "length_norm='gmnt' is unknown; use one of: gnmt, power, none"),
        ({"stop": "never"}, "stop='never' is unknown; use one of: first, bound, exhaustive"),
        ({"alpha": float("inf")}, "the length penalty (alpha) is inf, which is no finite number; use one such as 0.6"),
        ({"alpha": "1"}, "the length penalty (alpha) is '1', which is no finite number; use one such as 0.6"),
        ({"max_len": 0}, "max_len=0 is out of range; use 1 to"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], said: str) -> None:
    limits, n_best = {name: options.pop(name) for name in ("max_len",) if name in options}, options.pop("n_best", 1)
    with pytest.raises(ConfigError, match=re.escape(said)):
        beams = Beams(**options)
        beam_search(lively("decoder"), *sources(2), limits=Limits(**limits, **ENDS), beams=beams, n_best=n_best)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
@pytest.mark.parametrize("family", FAMILIES)
def test_an_accelerator_finds_the_same(family: str) -> None:
    source, mask = sources()
    expected = beam_search(lively(family), source, mask, limits=Limits(max_len=MOST, **ENDS), n_best=4)
    model = copy.deepcopy(lively(family)).to("cuda")
    found = beam_search(model, source.cuda(), mask.cuda(), limits=Limits(max_len=MOST, **ENDS), n_best=4)
    assert [[one.tokens for one in best] for best in found] == [[one.tokens for one in best] for best in expected]


@pytest.mark.parametrize("family", FAMILIES)
def test_one_beam_is_greedy_where_tokens_are_forced(family: str) -> None:
    model, (source, mask) = lively(family), sources()
    limits = Limits(max_len=MOST, first=PAD, last=EOS, **ENDS)
    expected = greedy(model, source, mask, limits=limits)
    found = beam_search(model, source, mask, beams=Beams(width=1, length_norm="none"), limits=limits)
    assert [one.tokens for (one,) in found] == [one.tokens for (one,) in expected]
    sums = [[one.log_probability for (one,) in each] for each in (found, expected)]
    assert sums[0] == pytest.approx(sums[1], abs=1e-10)


@pytest.mark.parametrize("family", FAMILIES)
def test_after_a_forced_first_token_all_beams_start_from_it(family: str) -> None:
    model, (source, mask) = lively(family), sources()
    found, trees = beam_trees(
        model, source, mask, limits=Limits(max_len=MOST, first=PAD, **ENDS), beams=Beams(width=4), n_best=4
    )
    for best, tree in zip(found, trees, strict=True):
        assert len({tuple(one.tokens) for one in best}) == 4
        assert all(one.tokens[0] == PAD and PAD not in one.tokens[1:] for one in best)
        assert [(node.token, node.log_probability) for node in tree.nodes if node.step == 1] == [(PAD, 0.0)]
