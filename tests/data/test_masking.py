from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from glassformer.data.masking import Masking, begin_words, make_masking
from glassformer.losses import IGNORE
from glassformer.metrics.interval import wilson
from glassformer.text.kinds import open_tokenizer, train

TEXTS = ["the cat sat on the mat", "나는 학교에 갔다", "a cat went to school"] * 4
MASK, V = 6, 50


def masking(**options: object) -> Masking:
    """Tokens 0 to 6 are special; every fifth token begins a word."""
    ordinary, begins = np.arange(V) > MASK, np.arange(V) % 5 == 0
    return Masking(mask=MASK, ordinary=ordinary, begins=begins, **options)  # type: ignore[arg-type]


def sample(rule: Masking, texts: int, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tokens, what is read, what is asked for: of many texts, one behind the other."""
    random = np.random.default_rng(0)
    rows = random.integers(7, V, (texts, length)).astype(np.int32)
    both = [rule(row, random) for row in rows]
    return rows.ravel(), np.concatenate([read for read, _ in both]), np.concatenate([asked for _, asked in both])


@pytest.mark.many
@pytest.mark.parametrize("length", [7, 10, 64])
@pytest.mark.parametrize("whole_word", [False, True])
def test_the_rates_are_those_of_bert(length: int, whole_word: bool) -> None:
    """Claim mlm-rates: 15 %, of these 80/10/10, each within Wilson's interval of its count."""
    tokens, read, asked = sample(masking(whole_word=whole_word), 128_000 // length, length)
    chosen = asked != IGNORE
    hits = int(chosen.sum())
    masked = int((read[chosen] == MASK).sum())
    # A random token is the same one by chance once in V - 7 times: then it looks as if it had stayed.
    changed = int(((read != tokens) & chosen & (read != MASK)).sum())
    low_and_high = {
        "chosen": (wilson(hits, len(tokens)), 0.15),
        "masked": (wilson(masked, hits), 0.8),
        "random": (wilson(changed, hits), 0.1 * (1 - 1 / (V - 7))),
    }
    for name, (found, wanted) in low_and_high.items():
        if whole_word and length < 64 and name == "chosen":
            continue  # so few words that one is often more than 15 %
        assert found.low <= wanted <= found.high, (name, found)


def test_nothing_else_is_touched() -> None:
    tokens, read, asked = sample(masking(), 500, 12)
    chosen = asked != IGNORE
    assert (read[~chosen] == tokens[~chosen]).all()
    assert (asked[chosen] == tokens[chosen]).all()
    assert not np.isin(read, np.arange(MASK)).any()


def test_special_tokens_are_never_chosen_and_one_token_always_is() -> None:
    random, rule = np.random.default_rng(0), masking(rate=0.01)
    for _ in range(200):
        _, asked = rule(np.array([3, 9, 3, 3], dtype=np.int32), random)
        assert asked.tolist() == [IGNORE, 9, IGNORE, IGNORE]
    assert rule(np.array([3, 3], dtype=np.int32), random)[1].tolist() == [IGNORE, IGNORE]


def test_whole_words_are_chosen_with_all_their_pieces() -> None:
    random, rule = np.random.default_rng(0), masking(whole_word=True, rate=0.4)
    tokens = np.array([11, 12, 10, 13, 14, 15, 20, 21], dtype=np.int32)
    assert rule.words(tokens).tolist() == [0, 0, 1, 1, 1, 2, 3, 3]
    for _ in range(100):
        chosen = rule.choose(tokens, random)
        assert chosen.any()
        for word in range(4):
            assert len(set(chosen[rule.words(tokens) == word])) == 1


def test_the_shares_can_be_chosen() -> None:
    _, read, asked = sample(masking(rate=0.5, masked=1.0, random=0.0), 100, 20)
    chosen = asked != IGNORE
    assert (read[chosen] == MASK).all() and chosen.mean() == pytest.approx(0.5)


def test_the_same_generator_masks_the_same() -> None:
    tokens = np.arange(10, 40, dtype=np.int32)
    one, other, third = (masking()(tokens, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(one, other, strict=True))
    assert (one[1] != third[1]).any()


@pytest.mark.parametrize(("kind", "size"), [("words", None), ("bpe", 280), ("wordpiece", 530), ("characters", None)])
def test_words_are_found_by_blanks(kind: str, size: int | None) -> None:
    tokenizer = train(kind, TEXTS, size, {})
    rule = make_masking(tokenizer, whole_word=True)
    assert rule.mask == tokenizer.specials.mask and not rule.ordinary[:7].any() and rule.ordinary[7:].all()
    for text in TEXTS[:3]:
        tokens = np.array(tokenizer.encode(text), dtype=np.int32)
        words = rule.words(tokens)
        found = [tokenizer.decode(tokens[words == word].tolist()).strip() for word in range(words.max() + 1)]
        assert found == text.split()


def test_a_line_break_begins_a_word() -> None:
    tokenizer = train("characters", ["ab\ncd"], None, {})
    begins = begin_words(tokenizer)
    assert [bool(begins[token]) for token in tokenizer.encode("ab\ncd")] == [False, False, True, False, False]


def test_a_vocabulary_of_bert_marks_the_inside_of_words(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[MASK]", "play", "##ing", "he"]))
    tokenizer = open_tokenizer(tmp_path)
    assert begin_words(tokenizer)[tokenizer.encode("he playing")].tolist() == [True, True, False]
