"""WordPiece, the tokenizer of BERT: the longest known piece first; a piece inside of a word is marked with ##.

If trained here it is exact; a vocab.txt of BERT is used as BERT does, which loses white space and may lose more.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Self

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from glassformer.config.values import size
from glassformer.errors import FileError
from glassformer.text.alphabet import spell_continued, visible_bytes
from glassformer.text.files import Declared, read_text
from glassformer.text.learn import TokenizerCorpus, reached, wanted
from glassformer.text.normalisation import CONTINUED, LONGEST_WORD, split_words
from glassformer.text.pipeline import TOKENIZER_FILE, Pipeline, add_tokens, built
from glassformer.text.tokenizer import NAMES, Specials

VOCABULARY = "vocab.txt"
MAKERS = ("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer")


class WordPiece(Pipeline):
    """WordPiece (Schuster 2012, Devlin 2018): greedy, longest match first.

    Trained here: on bytes, so that nothing is unknown, and with the blank kept as the first byte of its word.
    Round trip: exact. Opened from BERT's vocab.txt: words are cut at white space and around signs, so the
    round trip holds up to white space only, for known characters, and without case and accents if it is uncased.
    Differs from BERT: the vocabulary is learned as byte pairs are, which is how `tokenizers` trains it.
    """

    kind = "wordpiece"
    model = "WordPiece"

    @staticmethod
    def spell(piece: str) -> bytes:
        return spell_continued(piece)

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int | None, *, min_frequency: int = 2) -> Self:
        letters = sorted(visible_bytes())
        alphabet = [*NAMES, *letters, *(f"##{letter}" for letter in letters)]
        asked = wanted(cls.kind, vocab_size, least=len(alphabet))
        corpus = TokenizerCorpus(texts)
        learner = on_bytes(models.WordPiece(unk_token="<unk>"))
        # The whole alphabet is given as special tokens, because the trainer numbers these in order. Other letters are
        # numbered in the order of its hash table, and numbers decide ties between merges.
        trainer = trainers.WordPieceTrainer(
            vocab_size=asked,
            min_frequency=size("min_frequency", min_frequency),
            special_tokens=alphabet,
            show_progress=False,
        )
        learner.train_from_iterator(corpus, trainer)
        corpus.check()
        vocabulary = learner.get_vocab()
        reached(cls.kind, asked, len(vocabulary))
        library = on_bytes(
            models.WordPiece(vocab=vocabulary, unk_token="<unk>", max_input_chars_per_word=LONGEST_WORD * 4 + 1)
        )
        return cls(library, Specials(), own=True)

    def piece(self, token: int) -> str:
        name = self.library.id_to_token(token) if self.own and 0 <= token < self.vocab_size else None
        inside = name is not None and name.startswith("##")
        return f"##{super().piece(token)}" if inside else super().piece(token)

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """tokenizer.json, or BERT's vocab.txt: lower-cased if the folder says so or the list has no capitals."""
        folder = Path(folder)
        path = folder / VOCABULARY
        if (folder / TOKENIZER_FILE).exists() or not path.is_file():
            return super().open(folder)
        declared = Declared.read(folder)
        declared.made_by(MAKERS, path)
        words = read_text(path).removesuffix("\n").split("\n")
        vocabulary = {word.removesuffix("\r"): token for token, word in enumerate(words)}
        unknown = declared.specials.get("unk", "[UNK]")
        if unknown not in vocabulary:
            raise FileError("no_piece", path=path, piece=unknown)
        library = built(path, lambda: as_bert(vocabulary, unknown, declared))
        return cls.of(add_tokens(library, declared, path), path, declared)


def on_bytes(model: models.WordPiece) -> tokenizers.Tokenizer:
    library = tokenizers.Tokenizer(model)
    visible = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    library.pre_tokenizer = pre_tokenizers.Sequence([split_words(), visible])
    unmark = decoders.Replace(tokenizers.Regex(CONTINUED), "")
    library.decoder = decoders.Sequence([unmark, decoders.ByteLevel()])
    return library


def as_bert(vocabulary: dict[str, int], unknown: str, declared: Declared) -> tokenizers.Tokenizer:
    """BERT's tokenizer. `strip_accents`, if not set, follows the case, as in BERT's own code."""
    capitals = any(word != word.lower() for word in vocabulary if not word.startswith("["))
    lower = declared.truth("do_lower_case", not capitals)
    library = tokenizers.Tokenizer(models.WordPiece(vocab=vocabulary, unk_token=unknown))
    library.normalizer = normalizers.BertNormalizer(
        lowercase=lower,
        strip_accents=declared.truth("strip_accents", lower),
        handle_chinese_chars=declared.truth("tokenize_chinese_chars", True),
    )
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    return library
