"""The data sets that Glassformer knows: files, languages, licence, where they are published, checksums, rows.

The data themselves never enter the repository; a new set is a new row here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from glassformer.data.published import IWSLT14, WMT14, Build

# The formats that can be read, and how many lines of a file are not rows; None: not counted in lines.
FORMATS: dict[str, int | None] = {
    "parallel": 0,
    "tsv": 0,
    "tsv_hashed": 0,
    "tsv_labelled": 1,
    "csv_dialogue": 1,
    "series": 1,
    "prices": 1,
    "text": None,
    "images": None,
    "file": None,
}
GITHUB = "https://raw.githubusercontent.com"
EN_DE, DE_EN, EN_KO = ("en", "de"), ("de", "en"), ("en", "ko")


@dataclass(frozen=True)
class Split:
    """The files of one part (parallel text: one per language, in the order of `languages`) and how much is in it."""

    files: tuple[str, ...]
    rows: int  # pairs, reviews, days, images; of plain text: characters


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """One set. A file is found under its plain name, or with .gz or .xz after it."""

    task: str
    format: str  # a key of FORMATS
    languages: tuple[str, ...] = ()  # of parallel files and of the first columns of a TSV, in their order
    licence: str
    source: str  # a page about it
    address: str = ""  # where `get` finds a {file}, or the archive {stem}.tar.gz with it; "": not to be fetched so
    mirrors: tuple[str, ...] = ()  # further addresses, tried in this order
    build: Build | None = None  # instead of an address: made from archives
    slice_of: str = ""  # the set that a slice was drawn from
    folder: str = ""  # if it has another name than the set
    splits: dict[str, Split]
    sha256: dict[str, str] = field(default_factory=dict)  # of the unpacked content, however it is packed
    verified: bool = True  # fetched, counted and read by us; else as published

    @property
    def files(self) -> tuple[str, ...]:
        """Every file once."""
        return tuple(dict.fromkeys(file for split in self.splits.values() for file in split.files))


def parallel(stem: str, languages: tuple[str, ...], rows: int) -> Split:
    """A split of parallel text whose files are called stem.en, stem.de …"""
    return Split(tuple(f"{stem}.{language}" for language in languages), rows)


DATASETS: dict[str, Dataset] = {
    "multi30k": Dataset(
        task="translation",
        format="parallel",
        languages=EN_DE,
        licence="CC BY-NC-SA 4.0",
        source="https://github.com/multi30k/dataset",
        address=f"{GITHUB}/multi30k/dataset/master/data/task1/raw/{{file}}.gz",
        mirrors=("https://cdn.jsdelivr.net/gh/multi30k/dataset@master/data/task1/raw/{file}.gz",),
        splits={
            "train": parallel("train", EN_DE, 29_000),
            "val": parallel("val", EN_DE, 1_014),
            "test_2016_flickr": parallel("test_2016_flickr", EN_DE, 1_000),
            "test_2017_flickr": parallel("test_2017_flickr", EN_DE, 1_000),
            "test_2017_mscoco": parallel("test_2017_mscoco", EN_DE, 461),
        },
        sha256={
            "train.en": "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
            "train.de": "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
            "val.en": "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
            "val.de": "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
            "test_2016_flickr.en": "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
            "test_2016_flickr.de": "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
            "test_2017_flickr.en": "ce1450ddc5ab0834502579d77a170849952e15a2938b34cc503bdc25ebb4fb98",
            "test_2017_flickr.de": "c3078bc3b36808bf9d20eb2347ed6137016179ef59ec0d2b9b8ecc3fb2880081",
            "test_2017_mscoco.en": "43051fdfa86fd5395182e718a94ca67b1b227b9f7c79596ff0f6b813216981d2",
            "test_2017_mscoco.de": "58277df3c75f92f7145a11b910b553d1cf82c439249d4dc237c899609eafac22",
        },
    ),
    "tatoeba-kor-eng": Dataset(
        task="translation",
        format="tsv_hashed",
        languages=EN_KO,
        licence="CC BY 2.0 FR",
        source="https://www.manythings.org/anki",
        address=f"{GITHUB}/r0cd7b/nlp_with_rnns_and_attention/HEAD/kor-eng/{{file}}",
        splits={
            "train": Split(("kor.txt",), 5_181),
            "val": Split(("kor.txt",), 282),
            "test": Split(("kor.txt",), 286),
        },
        sha256={"kor.txt": "6c9d8de3e500306997e4083274fb0038ef521651ffb2b7923e4e607a59d09dbc"},
    ),
    "kor-eng-pydocs": Dataset(
        task="translation",
        format="tsv",
        languages=EN_KO,
        licence="PSF-2.0",
        source="https://github.com/python/python-docs-ko",
        splits={
            "train": Split(("train.tsv",), 34_497),
            "val": Split(("dev.tsv",), 1_090),
            "test": Split(("test.tsv",), 921),
        },
        sha256={
            "train.tsv": "44180eff701bb08e83afa3f26f6634c9bc569e55c8a94da3244fce40f793fb39",
            "dev.tsv": "89bbb9d6328c8ef38690ba3d89ce12965b28ac991a89feb12cafbd9f13ceabef",
            "test.tsv": "7bc04223d321f5f9f65bf3d4ae137ae1e187601e9828f25578b143c0a9c892aa",
        },
    ),
    "korean-english-news": Dataset(
        task="translation",
        format="parallel",
        languages=EN_KO,
        licence="CC BY-SA 3.0",
        source="https://github.com/jungyeul/korean-parallel-corpora",
        address=f"{GITHUB}/jungyeul/korean-parallel-corpora/master/korean-english-news-v1/{{stem}}.tar.gz",
        splits={
            "val": parallel("korean-english-park.dev", EN_KO, 1_000),
            "test": parallel("korean-english-park.test", EN_KO, 2_000),
        },
        sha256={
            "korean-english-park.dev.en": "98e0d1284685328701410f9656098d9939ca69ab262bf69a9e1a7f9d716ef1dc",
            "korean-english-park.dev.ko": "248e0dd8e560db90ea7b51e4959a33d67a7bba48872429bc90f416ea8acbac44",
            "korean-english-park.test.en": "76e43f2ed5ce5d20e4187fb7bb167f5771db8d06ec34c66410ea044c35eed77c",
            "korean-english-park.test.ko": "02d1445fcdcd26f99b29a7d5bf692688634571310c1f2d1093cfb2e2d1eb6be4",
        },
    ),
    "korean-english-school": Dataset(
        task="translation",
        format="parallel",
        languages=EN_KO,
        licence="CC BY-SA 3.0",
        source="https://github.com/jungyeul/korean-parallel-corpora",
        address=f"{GITHUB}/jungyeul/korean-parallel-corpora/master/korean-english-jhe/{{file}}",
        folder="korean-english-news",
        splits={"val": parallel("jhe-koen-dev", EN_KO, 720), "test": parallel("jhe-koen-eval", EN_KO, 720)},
        sha256={
            "jhe-koen-dev.en": "ccf0c0ca7601b5cae37891ecf89c72c951ac162a20738ac894e3faf804c4c4af",
            "jhe-koen-dev.ko": "2b02238c122aac40860aebfb191cfcdb46553e6b55b447f8188e04cabe00b828",
            "jhe-koen-eval.en": "dc4c0975092f3cfd5c60e3cea24e6b2a400e4373208cd9f3ed6b0cc44c01cc3b",
            "jhe-koen-eval.ko": "531b18d6640aaf63b86753c631c8ee6d7d23c10b9f9c56cb99c9da086417cb86",
        },
    ),
    "korean-english-news-train": Dataset(
        task="translation",
        format="parallel",
        languages=EN_KO,
        licence="CC BY-SA 3.0",
        source="https://github.com/jungyeul/korean-parallel-corpora",
        address=f"{GITHUB}/jungyeul/korean-parallel-corpora/master/korean-english-news-v1/{{stem}}.tar.gz",
        folder="korean-english-news",
        splits={"train": parallel("korean-english-park.train", EN_KO, 94_123)},
        verified=False,
    ),
    "newstest2014-ende": Dataset(
        task="translation",
        format="parallel",
        languages=EN_DE,
        licence="WMT, research use",
        source="https://www.statmt.org/wmt14/translation-task.html",
        address=f"{GITHUB}/tensorflow/models/ee6901ff35fa4a978f0e8e5483d00cd01e0497ff/official/transformer/test_data/{{file}}",
        splits={"test": parallel("newstest2014", EN_DE, 3_003)},
        sha256={
            "newstest2014.en": "7294bccf2879a97b3706b95c9595f1459617a8ee7130d5d8581c910e69736971",
            "newstest2014.de": "ae5d110486bc33d7175e9e28c7d0051eb3e5fcd2166dd93371089852c091a20e",
        },
    ),
    "wmt14-ende": Dataset(
        task="translation",
        format="parallel",
        languages=EN_DE,
        licence="WMT, research use",
        source="https://www.statmt.org/wmt14/translation-task.html",
        build=WMT14,
        splits={
            "train": parallel("train", EN_DE, 4_508_785),
            "val": parallel("newstest2013", EN_DE, 3_000),
            "test": parallel("newstest2014", EN_DE, 3_003),
        },
        verified=False,
    ),
    "iwslt14-deen": Dataset(
        task="translation",
        format="parallel",
        languages=DE_EN,
        licence="CC BY-NC-ND 4.0",
        source="https://wit3.fbk.eu/2014-01",
        build=IWSLT14,
        splits={
            "train": parallel("train", DE_EN, 160_239),
            "val": parallel("valid", DE_EN, 7_283),
            "test": parallel("test", DE_EN, 6_750),
        },
        verified=False,
    ),
    "nsmc": Dataset(
        task="classification",
        format="tsv_labelled",
        languages=("ko",),
        licence="CC0 1.0",
        source="https://github.com/e9t/nsmc",
        address=f"{GITHUB}/e9t/nsmc/master/{{file}}",
        splits={"train": Split(("ratings_train.txt",), 150_000), "test": Split(("ratings_test.txt",), 50_000)},
        sha256={
            "ratings_train.txt": "e03b7d14e9e41be8d464a28057cd25d7396c53e67aa7fd5f7e552c59b0ee2940",
            "ratings_test.txt": "8ac9f64052f11dbf6ae0acb5e038f03d90a76f0eda7820cfb3a92d02edfcebda",
        },
    ),
    "korean-chatbot": Dataset(
        task="dialogue",
        format="csv_dialogue",
        languages=("ko",),
        licence="MIT",
        source="https://github.com/songys/Chatbot_data",
        address=f"{GITHUB}/songys/Chatbot_data/master/{{file}}",
        splits={"all": Split(("ChatbotData.csv",), 11_823)},
        sha256={"ChatbotData.csv": "287eb129695b577321c80ad397bb3c2279164d4ca577874d129fd3db5b30afe2"},
    ),
    "tinyshakespeare": Dataset(
        task="language_model",
        format="text",
        languages=("en",),
        licence="MIT",
        source="https://github.com/karpathy/char-rnn",
        address=f"{GITHUB}/karpathy/char-rnn/master/data/tinyshakespeare/{{file}}",
        splits={"train": Split(("input.txt",), 1_003_854), "val": Split(("input.txt",), 111_540)},
        sha256={"input.txt": "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"},
    ),
    "ett": Dataset(
        task="forecasting",
        format="series",
        licence="CC BY-ND 4.0",
        source="https://github.com/zhouhaoyi/ETDataset",
        address=f"{GITHUB}/zhouhaoyi/ETDataset/main/ETT-small/{{file}}",
        splits={"ETTh1": Split(("ETTh1.csv",), 17_420)},
        sha256={"ETTh1.csv": "f18de3ad269cef59bb07b5438d79bb3042d3be49bdeecf01c1cd6d29695ee066"},
    ),
    "ett-more": Dataset(
        task="forecasting",
        format="series",
        licence="CC BY-ND 4.0",
        source="https://github.com/zhouhaoyi/ETDataset",
        address=f"{GITHUB}/zhouhaoyi/ETDataset/main/ETT-small/{{file}}",
        folder="ett",
        splits={
            "ETTh2": Split(("ETTh2.csv",), 17_420),
            "ETTm1": Split(("ETTm1.csv",), 69_680),
            "ETTm2": Split(("ETTm2.csv",), 69_680),
        },
        verified=False,
    ),
    "stocks-daily": Dataset(
        task="forecasting",
        format="prices",
        licence="public domain, MIT",
        source="https://github.com/bokeh/bokeh_sampledata",
        splits={
            "2000-2013": Split(("us_2000_2013.csv",), 12_154),
            "2015-2017": Split(("us_2015_2017.csv",), 3_634),
        },
        sha256={
            "us_2000_2013.csv": "7e6c954ce480595f573ddc6cb7a65564dbead788926ff44034084ead7c66879e",
            "us_2015_2017.csv": "0cb8f2f67d16716022a2d541cd772e5796435abeb4985085c3deda9a0b057249",
        },
    ),
    "fashion-mnist": Dataset(
        task="image_classification",
        format="images",
        licence="MIT",
        source="https://github.com/zalandoresearch/fashion-mnist",
        address=f"{GITHUB}/zalandoresearch/fashion-mnist/master/data/fashion/{{file}}.gz",
        mirrors=("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/{file}.gz",),
        splits={
            "train": Split(("train-images-idx3-ubyte", "train-labels-idx1-ubyte"), 60_000),
            "test": Split(("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"), 10_000),
        },
        sha256={
            "train-images-idx3-ubyte": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
            "train-labels-idx1-ubyte": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
            "t10k-images-idx3-ubyte": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
            "t10k-labels-idx1-ubyte": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        },
    ),
    "vocab-bert-base-uncased": Dataset(
        task="vocabulary",
        format="file",
        licence="Apache-2.0",
        source="https://github.com/google-research/bert",
        splits={"all": Split(("vocab.txt",), 30_522)},
        sha256={"vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"},
    ),
    "vocab-gpt2": Dataset(
        task="vocabulary",
        format="file",
        licence="modified MIT",
        source="https://github.com/openai/gpt-2",
        address="https://openaipublic.blob.core.windows.net/gpt-2/encodings/main/{file}",
        splits={"vocabulary": Split(("encoder.json",), 50_257), "merges": Split(("vocab.bpe",), 50_000)},
        sha256={
            "encoder.json": "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
            "vocab.bpe": "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
        },
    ),
}
