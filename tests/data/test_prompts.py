from __future__ import annotations

import numpy as np
import pytest

from glassformer.data.canvases import CanvasPlan
from glassformer.data.prompts import NAMES, PROMPT_KINDS, WORDS, PointPrompt, WordPrompt, ask, vocab_size, worth_asking

BOX = np.array([0.25, 0.5, 0.125, 0.25], dtype=np.float32)  # of 32 pixels: columns 6 … 9, rows 12 … 19
LABELS = np.array([[3, 5, 3, -1], [3, 3, -1, -1], [7, -1, -1, -1], [1, 2, 3, 4]])


def test_a_point_is_any_pixel_of_the_box_and_no_other() -> None:
    prompt, random = PointPrompt(32), np.random.default_rng(0)
    drawn = [prompt.tokens(3, BOX, random) for _ in range(500)]
    assert {x for x, _ in drawn} == {*range(6, 10)} and {y for _, y in drawn} == {*range(32 + 12, 32 + 20)}
    assert prompt.read((6, 32 + 12)) == "(6, 12)"


def test_a_word_names_the_digit_in_either_language() -> None:
    prompt, random = WordPrompt(32), np.random.default_rng(0)
    assert {prompt.read(prompt.tokens(3, BOX, random)) for _ in range(50)} == {"three", "셋"}
    assert (*NAMES["en"], *NAMES["ko"]) == WORDS and len({*WORDS}) == 20


def test_a_point_can_ask_for_every_digit_and_a_word_only_for_what_is_there_once() -> None:
    assert PointPrompt(32).can_ask(LABELS).tolist() == (LABELS >= 0).tolist()
    assert WordPrompt(32).can_ask(LABELS).tolist() == [
        [False, True, False, False],
        [False, False, False, False],
        [True, False, False, False],
        [True, True, True, True],
    ]


def test_where_nothing_is_left_to_choose_nobody_asks() -> None:
    point, word = PointPrompt(32), WordPrompt(32)
    assert worth_asking([point], LABELS).tolist() == [True, True, False, True]
    assert worth_asking([word], LABELS).tolist() == [True, False, False, True]
    assert worth_asking([point, word], LABELS).tolist() == [True, False, False, True]


def test_every_token_means_one_thing() -> None:
    point, word, random = PointPrompt(8), WordPrompt(8), np.random.default_rng(0)
    whole = np.array([0.5, 0.5, 1.0, 1.0])
    columns, rows = zip(*(point.tokens(0, whole, random) for _ in range(500)), strict=True)
    find, words = zip(*(word.tokens(label, whole, random) for label in [*range(10)] * 20), strict=True)
    kinds = [{*columns}, {*rows}, {*find}, {*words}]
    assert [len(kind) for kind in kinds] == [8, 8, 1, 20] and sorted(set.union(*kinds)) == [*range(vocab_size(8))]


@pytest.mark.parametrize("kind", PROMPT_KINDS)
def test_every_prompt_asks_for_a_digit_of_its_canvas(kind: str) -> None:
    pytest.importorskip("sklearn")
    prompt, random = PROMPT_KINDS[kind](32), np.random.default_rng(0)
    canvases = CanvasPlan(count=60).examples("train")
    for i in np.flatnonzero(worth_asking([prompt], canvases.fields["labels"])):
        image, labels, boxes = canvases[int(i)]
        tokens, digit = ask(prompt, canvases[int(i)], random)
        if kind == "word":
            assert (
                prompt.read(tokens) in {names[labels[digit]] for names in NAMES.values()}
                and (labels == labels[digit]).sum() == 1
            )
        else:
            point = np.array([tokens[0], tokens[1] - 32]) + 0.5
            inside = np.abs(point - 32 * boxes[:, :2]) < 16 * boxes[:, 2:]
            assert np.flatnonzero(inside.all(1) & (labels >= 0)).tolist() == [digit] and image.any()
