from __future__ import annotations

import pytest

from glassformer.data.catalogue import DATASETS
from glassformer.data.cleaning import SENTENCES
from glassformer.data.published import IWSLT14, WMT14, Build
from glassformer.data.unpacking import is_archive


@pytest.mark.parametrize("name", [name for name, row in DATASETS.items() if row.build])
def test_every_corpus_is_published_somewhere_and_can_be_read(name: str) -> None:
    row = DATASETS[name]
    build = row.build
    assert build is not None and not row.verified and not row.address
    portions = [*build.training, *(each for group in build.evaluated.values() for each in group)]
    for portion in portions:
        assert portion.form in SENTENCES and len(portion.files) == len(row.languages)
        assert portion.archive.addresses and all(is_archive(each) for each in portion.archive.names)
        assert all(address.startswith("https://") for address in portion.archive.addresses)
    names = [portion.name for portion in portions]
    assert len(set(names)) == len(names)
    assert set(row.splits) == {"train", *build.evaluated, *(("val",) if build.each else ())}


def test_a_corpus_is_called_what_its_files_have_in_common() -> None:
    assert [portion.name for portion in WMT14.training] == [
        "europarl-v7.de-en",
        "commoncrawl.de-en",
        "news-commentary-v9.de-en",
    ]
    assert WMT14.evaluated["test"][0].name == "newstest2014-deen"
    assert IWSLT14.evaluated["test"][1].name == "IWSLT14.TEDX.dev2012.de-en"


def test_an_archive_has_the_names_of_all_its_addresses() -> None:
    assert WMT14.training[0].archive.names == ("training-parallel-europarl-v7.tgz", "de-en.tgz")
    assert WMT14.evaluated["val"][0].archive.names == ("dev.tgz",)
    assert Build(training=()).fit.longest == 250
