"""Folders as the world's tokenizers come in, trained here on the small corpus: there is no network in a test."""

from __future__ import annotations

import io
import json
import random
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import sentencepiece as spm
import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers

from texts import CORPUS

KOREAN = [text for text in CORPUS if not text.isascii()]
ENGLISH = [text for text in CORPUS if text.isascii()]
BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())

# Of the kinds that people paste: blanks of all sorts, signs, digits, marks, two scripts in one word.
UGLY = (
    *("", " ", "   ", "\t", "\n\n", " \t \n ", "나는 학교에 간다.", "I go to school!", "나는  학교에   간다."),
    *(" I go", "I go ", "  I  go  ", "\tI\tgo\t", "I go\nhome", "I go\r\nhome", "\nI go", "I\u00a0go", "I\u3000go"),
    *(" 나는", "  나는  간다", "\t나는", "\n 나는", " \n나는", "\u3000나는", "   a", " \t a", "    "),
    *("iPhone 15를 3,000원에!", "12345678901234567890", "3.14", "１２３", "²½", "don't", "DON'T", "it's 'string'"),
    *("😀", "👨‍👩‍👧‍👦 home", "🇰🇷", "🤦🏽‍♂️", "a\u200bb", "\ufeffhello", "\u202eabc", "a\u00adb"),
    *("a\x00b", "\x07", "a\x1bb", "\x7f", "café", "naïve Ünïcödé", "ﬁne", "Ａｂｃ", "ẞ", "İstanbul", "ǅ"),
    *("中文字符", "日本語テキスト", "漢字와 한글", "العربية", "ไทย", "हिन्दी", "ㅎㅏㄴ", "한\u0301", "…“quotes”—dash"),
    *("C++ / C#", "a_b__c", "▁", "▁a", "a▁b", "Ġa", "##a", "# ##", "http://x.y/z?q=1&r=2", "a" * 150, "가" * 80),
    *("go to school" * 20, "\U0010ffff", "\ue000", "\ud7ff"),
)
DECOMPOSED = tuple(unicodedata.normalize("NFD", text) for text in ("나는 학교에 간다.", "한글", "café", "Ünïcödé"))
LOOK_ALIKES = (
    *("<s>", "</s>", "<pad>", "<unk>", "<mask>", "[CLS]", "[SEP] a", "a [MASK] b", "<|endoftext|>", "<extra_id_0>"),
    *("a</s>b", "<|begin_of_text|>x", "<|im_start|>user", ">>fra<<", ">>fra<< I go", "I >>fra<< go", "<0x0A>"),
)


def random_texts(count: int) -> list[str]:
    """Composed, without the names of special tokens, and without marks of their own: see `SentencePiece`."""
    chance = random.Random(0)
    words = [word for text in CORPUS[::40] for word in text.split()]
    parts = [*words, *(text for text in UGLY if len(text) < 9), *" \t\n.,!?0123ABCxyzéß한글中", " ", " ", "  "]
    texts = []
    for _ in range(count):
        letters = [chr(chance.choice([chance.randrange(0x20, 0x2000), chance.randrange(0x3000, 0xD7FF)])) for _ in "ab"]
        text = "".join(chance.choice([*parts, *letters]) for _ in range(chance.randrange(9)))
        texts.append(unicodedata.normalize("NFC", "".join(c for c in text if not unicodedata.combining(c))))
    return texts


def written(folder: Path, files: dict[str, bytes | str | dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if isinstance(content, dict):
            content = json.dumps(content, ensure_ascii=False, indent=2)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def sentencepiece_model(texts: Sequence[str] = CORPUS, **options: object) -> bytes:
    model = io.BytesIO()
    chosen: dict[str, object] = {"vocab_size": 120, "model_type": "unigram", "num_threads": 1} | options
    spm.SentencePieceTrainer.train(sentence_iterator=iter(texts), model_writer=model, minloglevel=3, **chosen)
    return model.getvalue()


def marian(folder: Path, *, separate: bool = False, codes: Sequence[str] = (">>fra<<", ">>kor<<")) -> Path:
    """Two models, and one list of pieces for both, or one for each."""
    source, target = sentencepiece_model(ENGLISH, vocab_size=50), sentencepiece_model(KOREAN, vocab_size=70)
    sides = []
    for model in (source, target):
        library = spm.SentencePieceProcessor(model_proto=model)
        sides.append([library.id_to_piece(token) for token in range(3, library.get_piece_size())])
    config: dict[str, Any] = {
        "source_lang": "en",
        "target_lang": "ko",
        "tokenizer_class": "MarianTokenizer",
        "separate_vocabs": separate,
    }
    files: dict[str, Any] = {"source.spm": source, "target.spm": target, "tokenizer_config.json": config}

    def numbered(pieces: list[str]) -> dict[str, int]:
        listed = dict.fromkeys(["</s>", "<unk>", *reversed(pieces), *codes, "<pad>"])
        return {piece: number for number, piece in enumerate(listed)}

    if separate:
        files |= {"vocab.json": numbered(sides[0]), "target_vocab.json": numbered(sides[1])}
    else:
        files["vocab.json"] = numbered([*sides[0], *sides[1]])
    return written(folder, files | {"config.json": {"model_type": "marian"}})


def t5(folder: Path, *, extra_ids: int = 100) -> Path:
    config = {
        "tokenizer_class": "T5Tokenizer",
        "extra_ids": extra_ids,
        "additional_special_tokens": [f"<extra_id_{number}>" for number in range(extra_ids)],
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
    }
    model = sentencepiece_model(pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    return written(folder, {"spiece.model": model, "tokenizer_config.json": config, **of("t5")})


def t5_undeclared(folder: Path) -> Path:
    """The oldest folders: only the model's configuration tells that there are 100 more."""
    model = sentencepiece_model(pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    return written(folder, {"spiece.model": model, **of("t5")})


def t5_json(folder: Path) -> Path:
    model = spm.SentencePieceProcessor(model_proto=sentencepiece_model(pad_id=0, eos_id=1, unk_id=2, bos_id=-1))
    pieces = [(model.id_to_piece(token), model.get_score(token)) for token in range(model.get_piece_size())]
    extra = [f"<extra_id_{number}>" for number in reversed(range(100))]
    library = tokenizers.Tokenizer(models.Unigram([*pieces, *((name, 0.0) for name in extra)], unk_id=2))
    library.normalizer = normalizers.NFKC()
    blanks = pre_tokenizers.Metaspace("▁", "always", split=True)
    library.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), blanks])
    library.decoder = decoders.Metaspace("▁", "always", split=True)
    library.add_special_tokens(["<pad>", "</s>", "<unk>", *extra])
    library.post_processor = processors.TemplateProcessing(
        single=["$A", "</s>"], pair=["$A", "</s>", "$B", "</s>"], special_tokens=[("</s>", 1)]
    )
    config = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "tokenizer_class": "TokenizersBackend"}
    return written(folder, {"tokenizer.json": library.to_str(), "tokenizer_config.json": config})


LLAMA = {
    "tokenizer_class": "LlamaTokenizer",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "pad_token": None,
    "add_bos_token": True,
    "add_eos_token": False,
}


def llama_model() -> bytes:
    """Byte pairs over characters, bytes for the rest, a blank before every text, nothing changed."""
    return sentencepiece_model(
        model_type="bpe",
        vocab_size=420,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        split_digits=True,
        allow_whitespace_only_pieces=True,
    )


def llama(folder: Path, **config: object) -> Path:
    """Llama 1 and 2, Mistral."""
    files = {"tokenizer.model": llama_model(), "tokenizer_config.json": {**LLAMA, "legacy": False, **config}}
    return written(folder, {**files, **of("llama")})


def llama_json(folder: Path) -> Path:
    """The same, as their tokenizer.json was written before version 5 of `transformers`."""
    library = spm.SentencePieceProcessor(model_proto=llama_model())
    vocabulary = {library.id_to_piece(token): token for token in range(library.get_piece_size())}
    merges = [
        (vocabulary[piece], piece[:cut], piece[cut:])
        for piece in vocabulary
        for cut in range(1, len(piece))
        if piece[:cut] in vocabulary and piece[cut:] in vocabulary
    ]
    ordered = [(first, second) for _, first, second in sorted(merges)]
    made = tokenizers.Tokenizer(models.BPE(vocabulary, ordered, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    made.decoder = decoders.Sequence(steps)
    made.add_special_tokens(["<unk>", "<s>", "</s>"])
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)]
    )
    told = {key: value for key, value in LLAMA.items() if not key.startswith("add_")}
    return written(folder, {"tokenizer.json": made.to_str(), "tokenizer_config.json": told, **of("llama")})


def mistral_json(folder: Path) -> Path:
    """Llama's file and class, read by its own rules all the same: a text that begins with a blank gets a second one."""
    return written(llama_json(folder), {**of("mistral")})


def metaspace(folder: Path, scheme: str = "first", **config: object) -> Path:
    """The same pieces as newer files have them: blanks are marked while the text is split, not before."""
    library = tokenizers.Tokenizer.from_file(str(llama_json(folder) / "tokenizer.json"))
    library.normalizer = None
    library.pre_tokenizer = pre_tokenizers.Metaspace("▁", scheme, split=False)
    told = json.loads((folder / "tokenizer_config.json").read_text()) | config
    return written(folder, {"tokenizer.json": library.to_str(), "tokenizer_config.json": told})


def mistral_metaspace(folder: Path) -> Path:
    return written(metaspace(folder), {**of("mistral")})


def llama_without_prefix(folder: Path) -> Path:
    """`add_prefix_space` counts more than what the file says."""
    return metaspace(folder, legacy=False, add_prefix_space=False)


def llama_spm_without_prefix(folder: Path) -> Path:
    return llama(folder, add_prefix_space=False)


def gemma(folder: Path) -> Path:
    """Byte pairs over characters whose blanks are marked in the whole text; none is added before it."""
    library = tokenizers.Tokenizer.from_file(str(llama_json(folder) / "tokenizer.json"))
    library.normalizer = normalizers.Replace(" ", "▁")
    library.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    library.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    library.add_special_tokens(["<pad>", "<mask>"])
    told = {"tokenizer_class": "GemmaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    return written(folder, {"tokenizer.json": library.to_str(), "tokenizer_config.json": told, **of("gemma")})


def hostile_pattern(folder: Path, step: str = "pre_tokenizer", pattern: str = "(a+)+$") -> Path:
    """A rule that takes exponential time on some texts."""
    library = byte_pairs(["<s>", "</s>"])
    if step == "normalizer":
        library.normalizer = normalizers.Replace(Regex(pattern), "x")
    else:
        library.pre_tokenizer = by_pattern(pattern)
    told = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>"}
    return written(folder, {"tokenizer.json": library.to_str(), "tokenizer_config.json": told, **of("gpt2")})


def of(model_type: str) -> dict[str, Any]:
    """What lies beside a tokenizer of a model."""
    return {"config.json": {"model_type": model_type}}


def byte_pairs(specials: Sequence[str], split: pre_tokenizers.PreTokenizer | None = None) -> tokenizers.Tokenizer:
    library = tokenizers.Tokenizer(models.BPE())
    library.pre_tokenizer = split or pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=list(specials), initial_alphabet=BYTES, show_progress=False
    )
    library.train_from_iterator(CORPUS, trainer)
    return library


def listed(library: tokenizers.Tokenizer, leave_out: Sequence[str] = ()) -> dict[str, Any]:
    """vocab.json and merges.txt, as they were before tokenizer.json."""
    model = json.loads(library.to_str())["model"]
    merges = "\n".join(" ".join(pair) for pair in model["merges"])
    vocabulary = {piece: token for piece, token in model["vocab"].items() if piece not in leave_out}
    return {"vocab.json": vocabulary, "merges.txt": f"#version: 0.2\n{merges}\n"}


def gpt2(folder: Path, **config: object) -> Path:
    told = {"tokenizer_class": "GPT2Tokenizer", **config}
    files = listed(byte_pairs(["<|endoftext|>"]))
    return written(folder, {**files, "tokenizer_config.json": told, **of("gpt2")})


def roberta(folder: Path, maker: str = "RobertaTokenizer", **config: object) -> Path:
    files = listed(byte_pairs(["<s>", "<pad>", "</s>", "<unk>", "<mask>"]))
    model_type = "bart" if maker == "BartTokenizer" else "roberta"
    return written(folder, {**files, "tokenizer_config.json": {"tokenizer_class": maker, **config}, **of(model_type)})


def bart(folder: Path) -> Path:
    return roberta(folder, "BartTokenizer", bos_token="<s>", eos_token="</s>", add_prefix_space=True)


def roberta_json(folder: Path) -> Path:
    library = byte_pairs(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    library.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    told = {"tokenizer_class": "RobertaTokenizer", "cls_token": "<s>", "sep_token": "</s>", "bos_token": "<s>"}
    return written(folder, {"tokenizer.json": library.to_str(), "tokenizer_config.json": told, **of("roberta")})


QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA_3 = QWEN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
TURNS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def by_pattern(pattern: str) -> pre_tokenizers.PreTokenizer:
    visible = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), visible])


def qwen_json(folder: Path) -> Path:
    library = byte_pairs([], by_pattern(QWEN))
    library.normalizer = normalizers.NFC()
    library.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in TURNS])
    told = {
        "tokenizer_class": "Qwen2Tokenizer",
        "add_bos_token": False,
        "bos_token": None,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "unk_token": None,
    }
    return written(folder, {"tokenizer.json": library.to_str(), "tokenizer_config.json": told, **of("qwen2")})


def qwen(folder: Path) -> Path:
    """The two lists, with the special tokens behind them in the configuration."""
    library = byte_pairs([], by_pattern(QWEN))
    first = library.get_vocab_size()
    entries = {str(first + i): {"content": name, "special": True} for i, name in enumerate(TURNS)}
    told = {
        "tokenizer_class": "Qwen2Tokenizer",
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "added_tokens_decoder": entries,
        "additional_special_tokens": TURNS[1:],
    }
    return written(folder, {**listed(library), "tokenizer_config.json": told, **of("qwen2")})


def llama_3(folder: Path) -> Path:
    library = byte_pairs([], by_pattern(LLAMA_3))
    names = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"]
    library.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in names])
    first = names[0]
    template = processors.TemplateProcessing(
        single=f"{first} $A",
        pair=f"{first} $A {first}:1 $B:1",
        special_tokens=[(first, library.token_to_id(first))],
    )
    library.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    told = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": first, "eos_token": names[1]}
    return written(folder, {"tokenizer.json": library.to_str(), "tokenizer_config.json": told, **of("llama")})


# Before 5.22 `transformers` believes the name, and takes a file of bytes apart with the rules of Llama 2.
MISNAMED_IS_READ = tuple(map(int, metadata.version("transformers").split(".")[:2])) >= (5, 22)


def llama_3_misnamed(folder: Path) -> Path:
    """Its class in the file is that of Llama 2, whose rules would not fit pieces of bytes."""
    told = json.loads((llama_3(folder) / "tokenizer_config.json").read_text()) | {"tokenizer_class": "LlamaTokenizer"}
    return written(folder, {"tokenizer_config.json": told})


def bert(folder: Path, **config: object) -> Path:
    """Letters and syllables of the corpus and a few words; pieces inside of a word are marked."""
    letters = sorted({letter for text in CORPUS for letter in text.lower() if letter != " "} | set("étü中"))
    words = ["school", "go", "to", "학교", "나는", "##ing", "Go", "I"]
    lines = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters), *words]
    told = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, **config}
    return written(folder, {"vocab.txt": "\n".join(lines) + "\n", "tokenizer_config.json": told, **of("bert")})


def bert_cased(folder: Path) -> Path:
    return bert(folder, do_lower_case=False, strip_accents=True, tokenize_chinese_chars=False)


def bert_undeclared(folder: Path) -> Path:
    """As the first folders of BERT: the class follows from the model."""
    written(bert(folder), {"tokenizer_config.json": {"do_lower_case": True, "model_max_length": 512}})
    return folder


def marian_separate(folder: Path) -> Path:
    return marian(folder, separate=True)


CHANGED = ("bert-undeclared", "t5-undeclared", "mistral-json", "mistral-metaspace")  # the model's configuration decides
# Every layout in which the tokenizers of the families come, and the roles around a text.
LAYOUTS: Mapping[str, tuple[Callable[[Path], Path], tuple[str, str]]] = {
    "marian": (marian, ("none", "eos")),
    "marian-separate": (marian_separate, ("none", "eos")),
    "t5": (t5, ("none", "eos")),
    "t5-undeclared": (t5_undeclared, ("none", "eos")),
    "t5-json": (t5_json, ("none", "eos")),
    "llama": (llama, ("bos", "none")),
    "llama-json": (llama_json, ("bos", "none")),
    "llama-metaspace": (metaspace, ("bos", "none")),
    "llama-without-prefix": (llama_without_prefix, ("bos", "none")),
    "llama-spm-without-prefix": (llama_spm_without_prefix, ("bos", "none")),
    "mistral-json": (mistral_json, ("bos", "none")),
    "mistral-metaspace": (mistral_metaspace, ("bos", "none")),
    "gemma-json": (gemma, ("bos", "none")),
    "llama-3": (llama_3, ("bos", "none")),
    **({"llama-3-misnamed": (llama_3_misnamed, ("bos", "none"))} if MISNAMED_IS_READ else {}),
    "qwen": (qwen, ("none", "none")),
    "qwen-json": (qwen_json, ("none", "none")),
    "gpt2": (gpt2, ("none", "none")),
    "roberta": (roberta, ("bos", "eos")),
    "roberta-json": (roberta_json, ("bos", "eos")),
    "bart": (bart, ("bos", "eos")),
    "bert": (bert, ("cls", "sep")),
    "bert-cased": (bert_cased, ("cls", "sep")),
    "bert-undeclared": (bert_undeclared, ("cls", "sep")),
}
