"""Conversations in a model's own template, typed special tokens, several prompts at once: as in `transformers`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import transformers

import foreign_texts
import glassformer as gf
from foreign_models import BODY, beside
from glassformer.cli.app import main
from glassformer.errors import FileError, GlassformerError, InputError
from glassformer.hub.store import store
from glassformer.tasks.language_model.chat import chat_prompt, read_messages, rendered
from glassformer.text import open_tokenizer
from glassformer.text.frame import encode_typed

CHATML = (
    "{% for message in messages %}"
    "{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
LLAMA_2 = (
    "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}"
    "{% set system = '<<SYS>>\\n' + messages[0]['content'] + '\\n<</SYS>>\\n\\n' %}"
    "{% else %}{% set loop_messages = messages %}{% set system = '' %}{% endif %}"
    "{% for message in loop_messages %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant') }}{% endif %}"
    "{% if message['role'] == 'user' %}"
    "{{ bos_token + '[INST] ' + (system if loop.first else '') + message['content'].strip() + ' [/INST]' }}"
    "{% elif message['role'] == 'assistant' %}"
    "{% generation %}{{ ' ' + message['content'] + ' ' + eos_token }}{% endgeneration %}"
    "{% endif %}{% endfor %}"
)
TOOLS = (
    "{%- if tools is not none %}{{ tools | tojson }}{% endif %}\n"
    "{%- for message in messages %}\n"
    "    {%- if message.role == 'skip' %}{% continue %}{% endif %}\n"
    "    {{- message.role }}: {{ message.content | tojson }}{{ eos_token }}\n"
    "{%- endfor %}\n"
)
CONVERSATIONS: list[list[dict[str, str]]] = [
    [{"role": "user", "content": "I go home <b>&</b>!"}],
    [{"role": "system", "content": "Be short."}, {"role": "user", "content": " 나는 학교에 간다. "}],
    [
        {"role": "user", "content": "I go"},
        {"role": "assistant", "content": "you go"},
        {"role": "user", "content": "we </s> go"},
    ],
]


def told(folder: Path, template: str, *, file: bool = False) -> Path:
    if file:
        (folder / "chat_template.jinja").write_text(template)
        return folder
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"chat_template": template}))
    return folder


def qwen(folder: Path, template: str = CHATML, *, file: bool = False) -> tuple[Any, Any]:
    told(foreign_texts.qwen_json(folder), template, file=file)
    return beside(folder, "Qwen2ForCausalLM", **BODY, num_key_value_heads=2)


def llama(folder: Path, template: str = LLAMA_2, *, file: bool = False) -> tuple[Any, Any]:
    told(foreign_texts.llama(folder), template, file=file)
    return beside(folder, "LlamaForCausalLM", **BODY)


@pytest.mark.parametrize("file", [False, True])
@pytest.mark.parametrize("template", [CHATML, LLAMA_2, TOOLS])
@pytest.mark.parametrize("make", [qwen, llama])
def test_a_conversation_becomes_the_ids_of_transformers(make: Any, template: str, file: bool, tmp_path: Path) -> None:
    make(tmp_path / "hf", template, file=file)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "hf")
    store(tmp_path / "hf", tmp_path / "run")
    for folder in (tmp_path / "hf", tmp_path / "run"):
        loaded = gf.load(folder)
        for messages in CONVERSATIONS:
            if template == LLAMA_2 and tokenizer.bos_token is None:
                continue
            expected = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            assert rendered(loaded, messages) == expected
            ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True)["input_ids"]
            assert chat_prompt(loaded, messages).ids == ids


def test_an_answer_is_that_of_transformers(tmp_path: Path) -> None:
    model, tokenizer = qwen(tmp_path)
    loaded = gf.load(tmp_path, dtype="float64")
    for messages in CONVERSATIONS[:2]:
        given = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        (ids,) = model.double().generate(**given, max_new_tokens=9, do_sample=False).tolist()
        found = gf.generate(loaded, messages, tokens=9)
        assert found.text == loaded.tokenizer.decode(ids[given["input_ids"].shape[1] :])
    alone = gf.generate(loaded, CONVERSATIONS[0][0]["content"], chat=True, tokens=9)
    assert alone == gf.generate(loaded, CONVERSATIONS[0], tokens=9)
    told_too = gf.generate(loaded, CONVERSATIONS[1][1]["content"], chat=True, system="Be short.", tokens=9)
    assert told_too == gf.generate(loaded, CONVERSATIONS[1], tokens=9)


def test_at_the_prompt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qwen(tmp_path / "hf")
    hf = str(tmp_path / "hf")
    expected = gf.generate(hf, "I go", chat=True, system="Be short.", tokens=6)
    assert run("generate", hf, "I go", "--chat", "--system", "Be short.", "--tokens", "6") == 0
    assert capsys.readouterr().out == expected.text + "\n"
    (tmp_path / "said.json").write_text(json.dumps(CONVERSATIONS[1]))
    assert run("generate", hf, "--messages", str(tmp_path / "said.json"), "--show-prompt", "--tokens", "4") == 0
    assert capsys.readouterr().out.startswith("<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\n 나는")
    assert run("generate", hf, "I go", "--system", "x", "--lang", "en") == 2
    assert "give --chat or --messages with it" in capsys.readouterr().err


def test_what_is_wrong_with_a_conversation_is_one_line(tmp_path: Path) -> None:
    llama(tmp_path / "hf")
    loaded = gf.load(tmp_path / "hf")
    with pytest.raises(InputError, match="refuses these messages: Conversation roles must alternate"):
        gf.generate(loaded, [{"role": "assistant", "content": "I"}])
    for wrong in ({"role": "user"}, {"content": "a"}, {"role": "user", "content": 3}, {"role": 1, "content": ""}):
        with pytest.raises(InputError, match=r"message 1 is .*; each message needs a role and a content"):
            gf.generate(loaded, [wrong])
    foreign_texts.gpt2(tmp_path / "plain")
    beside(tmp_path / "plain", "GPT2LMHeadModel", n_embd=16, n_layer=1, n_head=2, n_positions=32)
    with pytest.raises(InputError, match="plain has no chat template"):
        gf.generate(tmp_path / "plain", "I go", chat=True)
    for content in ("{", "3", "[3]"):
        (tmp_path / "said.json").write_text(content)
        with pytest.raises(GlassformerError, match=r"list of messages|message 1 is 3"):
            read_messages(tmp_path / "said.json")
    with pytest.raises(FileError, match="cannot be read"):
        read_messages(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(3) }}",
        "{{ cycler.__init__.__globals__ }}",
        "{% for i in range(10**9) %}x{% endfor %}",
        "{{ 1 / 0 }}",
        "{{ messages[9].content }}",
        "{% broken",
        "{{ raise_exception() }}",
    ],
)
def test_a_template_that_does_harm_is_one_line(template: str, tmp_path: Path) -> None:
    llama(tmp_path, template)
    with pytest.raises(InputError, match=r"the chat template of .* refuses these messages"):
        gf.generate(tmp_path, "I go", chat=True, tokens=1)


TYPED = (
    "I go</s>",
    "<s>I go </s> home",
    "</s></s>",
    "a <unk> b",
    "<s> [INST] I go [/INST]",
    "나는</s>\n학교에",
    "I go",
)


@pytest.mark.parametrize("layout", [name for name in foreign_texts.LAYOUTS if not name.startswith(("marian", "t5"))])
def test_typed_special_tokens_are_those_of_transformers(layout: str, tmp_path: Path) -> None:
    folder = foreign_texts.LAYOUTS[layout][0](tmp_path)
    reference, tokenizer = transformers.AutoTokenizer.from_pretrained(folder), open_tokenizer(folder)
    for text in (*TYPED, *(f"I {name} go" for name in reference.all_special_tokens)):
        plain = tokenizer.encode(text)
        assert encode_typed(tokenizer, text) == reference.encode(text, add_special_tokens=False), text
        assert tokenizer.encode(text) == plain


def test_typed_special_tokens_are_an_option(tmp_path: Path) -> None:
    llama(tmp_path)
    loaded = gf.load(tmp_path)
    one, other = (gf.generate(loaded, "I go</s>나는", tokens=4, special_tokens=way) for way in (False, True))
    assert one.prompt == other.prompt and one.text != other.text


PROMPTS = ["I go", "나는 학교에 간다. I go to school!", "you", "the student walked home!"]


@pytest.mark.many
@pytest.mark.parametrize("options", [{}, {"beam": 3}, {"temperature": 1.5, "seed": 3}, {"stop": "a"}, {"tokens": 5}])
@pytest.mark.parametrize("make", [qwen, llama])
def test_several_prompts_are_written_as_each_alone(make: Any, options: dict[str, Any], tmp_path: Path) -> None:
    make(tmp_path)
    loaded = gf.load(tmp_path, dtype="float64")
    told: dict[str, Any] = {"tokens": 12, **options}
    assert gf.generate(loaded, PROMPTS, **told) == [gf.generate(loaded, one, **told) for one in PROMPTS]
    assert gf.generate(loaded, [], **told) == []
    with pytest.raises(InputError, match=r"is not a text|is neither"):
        gf.generate(loaded, ["I", 5], **told)  # type: ignore[list-item]
    for wrong in (5, None, {"a": "b"}):
        with pytest.raises(GlassformerError):
            gf.generate(loaded, wrong, **told)  # type: ignore[call-overload]


def test_several_prompts_where_places_are_few(tmp_path: Path) -> None:
    foreign_texts.gpt2(tmp_path)
    beside(tmp_path, "GPT2LMHeadModel", n_embd=16, n_layer=2, n_head=2, n_positions=24)
    loaded = gf.load(tmp_path, dtype="float64")
    some = ["I go", "you go to", "나는 간다"]
    assert gf.generate(loaded, some) == [gf.generate(loaded, one) for one in some]
    with pytest.raises(InputError, match=r"the text has .* positions|places for"):
        gf.generate(loaded, "I go to school " * 9)
    cut = gf.generate(loaded, "I go to school " * 9, truncate=True, tokens=5)
    assert cut.tokens == 5 and cut.prompt == "I go to school " * 9


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    return int(stop.value.code or 0)
