"""The built-in Korean-English corpus: a grammar of the possible sentences, which writes each in both languages."""

from glassformer.data.grammar.labels import LABELS, LabelledSentence, labelled
from glassformer.data.grammar.pair import GrammarPair, Tags
from glassformer.data.grammar.sample import every_pair, pairs, sentence, stream
from glassformer.data.grammar.splits import KINDS, SPLITS

__all__ = [
    "KINDS",
    "LABELS",
    "SPLITS",
    "GrammarPair",
    "LabelledSentence",
    "Tags",
    "every_pair",
    "labelled",
    "pairs",
    "sentence",
    "stream",
]
