from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from glassformer.decoding import Beams, Limits, Sampling, beam_search, greedy, sample
from glassformer.errors import ConfigError, InputError
from glassformer.loading import Loaded
from glassformer.tasks.language_model.write import Pen, Writing, Written, beginning, drawn, write
from glassformer.text.tokenizer import Specials
from small_models import small
from texts import trained

FORBIDDEN = (0, 1, 3, 4, 5, 6)
PROMPT = "나는 학교에"


def writer(**keys: Any) -> Loaded:
    return small("language_model", **keys)


def ids_of(loaded: Loaded, prompt: str) -> torch.Tensor:
    return torch.tensor([loaded.tokenizer.encode(prompt)])


@pytest.mark.parametrize(
    ("writing", "way"),
    [
        (Writing(tokens=12), greedy),
        (Writing(tokens=12, sampling=Sampling(temperature=0.7, top_k=40, top_p=0.9), seed=3), sample),
        (Writing(tokens=12, beam=3), beam_search),
    ],
)
def test_the_text_is_that_of_the_search(writing: Writing, way: Any) -> None:
    loaded = writer()
    options: dict[str, Any] = {"beams": Beams(width=3)} if way is beam_search else {}
    options |= {"sampling": Sampling(temperature=0.7, top_k=40, top_p=0.9), "seed": 3} if way is sample else {}
    limits = Limits(eos=2, forbidden=FORBIDDEN, max_len=12)
    (best,) = way(loaded.model, ids_of(loaded, PROMPT), limits=limits, **options)[0]
    found = write(loaded, PROMPT, writing)
    assert found.prompt == PROMPT and found.tokens == len(best.tokens)
    assert found.text == loaded.tokenizer.decode(best.tokens)
    assert found.ended == ("eos" if best.finished else "length")
    assert found.text


def test_it_comes_piece_by_piece() -> None:
    loaded = writer(tokenizer=trained("words"))
    pen = Pen(loaded, "I go", Writing(tokens=6))
    assert pen.written == Written("I go", "", 0, "interrupted")
    pieces = iter(pen)
    first = next(pieces)
    assert (pen.text, pen.tokens) == (first, 1)
    assert first + "".join(pieces) == write(loaded, "I go", Writing(tokens=6)).text
    assert first.startswith(" ")


def test_the_end_of_a_text_ends_it() -> None:
    loaded = writer(head={"kind": "language_model", "bias": True})
    with torch.no_grad():
        loaded.model.head.bias[2] = 1e4
    assert write(loaded, PROMPT) == Written(PROMPT, "", 0, "eos")


def test_a_stop_text_ends_it() -> None:
    loaded = writer(tokenizer=trained("words"))
    whole = write(loaded, "I go", Writing(tokens=20))
    stop = whole.text[4:8]
    for beam in (1, 2):
        text = write(loaded, "I go", Writing(tokens=20, beam=beam)).text
        stop = text[4:8]
        found = write(loaded, "I go", Writing(tokens=20, stop=("never said", stop), beam=beam))
        assert (found.text, found.ended) == (text[: text.index(stop)], "stop")
    assert write(loaded, "I go", Writing(tokens=20, stop=(whole.text[-3:] + "x",))).text == whole.text


def test_the_same_seed_draws_the_same_text() -> None:
    loaded = writer()
    drawing = Writing(tokens=20, sampling=Sampling(), seed=1)
    assert write(loaded, PROMPT, drawing) == write(loaded, PROMPT, drawing)
    assert write(loaded, PROMPT, drawing) != write(loaded, PROMPT, replace(drawing, seed=2))


@pytest.mark.parametrize(
    ("frame", "prompt", "expected"),
    [
        (("bos", "none"), "he", [1, "he"]),
        (("bos", "eos"), "he", [1, "he"]),
        (("bos", "none"), "", [1]),
        (("none", "none"), "he", ["he"]),
        (("none", "none"), "", [1]),
    ],
)
def test_what_it_goes_on_from(frame: tuple[str, str], prompt: str, expected: list[Any]) -> None:
    loaded = writer(frame=frame)
    ids = [token for part in expected for token in (loaded.tokenizer.encode(part) if part == "he" else [part])]
    assert beginning(loaded, prompt) == ids


def with_specials(loaded: Loaded, specials: Specials) -> Loaded:
    tokenizer = trained("words").__class__(loaded.tokenizer.library, specials, own=True)  # type: ignore[attr-defined]
    return replace(loaded, tokenizers=type(loaded.vocabularies)(tokenizer, tokenizer))


def test_an_empty_prompt_where_nothing_begins_a_text() -> None:
    loaded = writer(tokenizer=trained("words"))
    none = dict.fromkeys(("pad", "bos", "cls", "sep", "mask"))
    assert beginning(with_specials(loaded, Specials(**none)), "") == [2]
    bare = with_specials(loaded, Specials(**none, eos=None))
    assert write(bare, "I go", Writing(tokens=3)).ended == "length"
    with pytest.raises(InputError, match="has no token that begins or ends a text; give a prompt"):
        write(bare, "")


@pytest.mark.parametrize("prompt", ["", "he"])
def test_by_default_as_many_as_fit(prompt: str) -> None:
    loaded = writer()
    length = len(beginning(loaded, prompt))
    assert Pen(loaded, prompt, Writing()).most == 48 - length + 1
    assert Pen(writer(position="rotary"), prompt, Writing()).most == 100
    assert Pen(writer(position="rotary"), prompt, Writing(tokens=9)).most == 9
    assert write(loaded, prompt, Writing(tokens=48 - length + 1)).tokens


def test_what_does_not_fit() -> None:
    loaded = writer()
    with pytest.raises(InputError, match="60 tokens do not fit after a prompt of 1: the model has room for 48"):
        write(loaded, "", Writing(tokens=60))
    with pytest.raises(InputError, match="the text has 49 positions, and max_len=48"):
        write(loaded, "\0" * 49)
    assert write(loaded, "\0" * 48).tokens == 1


def test_a_task_may_forbid_less() -> None:
    loaded = writer(options={"forbidden": []}, head={"kind": "language_model", "bias": True})
    with torch.no_grad():
        loaded.model.head.bias[3] = 1e4  # <unk> and nothing else
    assert write(loaded, "he", Writing(tokens=2)).text == "<unk><unk>"


def test_bad_ways_to_write() -> None:
    with pytest.raises(ConfigError, match="tokens=0 is out of range"):
        Writing(tokens=0)
    with pytest.raises(ConfigError, match="beam=2 searches for the best text, and temperature, top_k, top_p and seed"):
        Writing(beam=2, sampling=Sampling())
    with pytest.raises(InputError, match="and cannot generate; use glassformer fill"):
        write(small("masked_language_model"), "he")


def test_as_people_say_it() -> None:
    assert drawn() is None and drawn(temperature=0, top_k=3) is None
    assert drawn(seed=1) == Sampling() and drawn(top_p=0.5) == Sampling(top_p=0.5)
    assert drawn(0.5, 3) == Sampling(temperature=0.5, top_k=3)
    with pytest.raises(ConfigError, match="temperature=-1"):
        drawn(-1)


def test_it_shows_itself() -> None:
    written = Written("I [go", "] home", 2, "eos")
    assert str(written) == written.__rich__().plain == "I [go] home"


def test_a_text_may_end_in_several_ways() -> None:
    loaded = writer()
    (best,) = greedy(loaded.model, ids_of(loaded, PROMPT), limits=Limits(eos=2, forbidden=FORBIDDEN, max_len=12))[0]
    ended = write(writer(options={"ends": [2, best.tokens[3]]}), PROMPT, Writing(tokens=12))
    assert ended.ended != "length" and ended.tokens < len(best.tokens)
