from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.data.labelled import read_dialogue_csv, read_labelled_tsv
from glassformer.errors import FileError


def write(folder: Path, text: str) -> Path:
    path = folder / "texts.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_reviews_keep_their_quotes_and_empty_ones_are_counted(tmp_path: Path) -> None:
    found = read_labelled_tsv(write(tmp_path, 'id\tdocument\tlabel\n1\t"좋아요\t1\n2\t\t0\n'))
    assert (found.texts, found.labels, found.empty, len(found)) == (['"좋아요', ""], [1, 0], 1, 2)


def test_questions_and_answers(tmp_path: Path) -> None:
    found = read_dialogue_csv(write(tmp_path, 'Q,A,label\n"안녕, 너",응,0\n잘 가,그래,2  \n'))
    assert (found.questions, found.answers, found.labels) == (["안녕, 너", "잘 가"], ["응", "그래"], [0, 2])
    assert len(found) == 2


def test_a_label_that_is_no_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="line 3 holds 'good' where a number belongs; mend"):
        read_labelled_tsv(write(tmp_path, "id\tdocument\tlabel\n1\ta\t1\n2\tb\tgood\n"))
    with pytest.raises(FileError, match="line 2 holds '²'"):
        read_dialogue_csv(write(tmp_path, "Q,A,label\na,b,²\n"))


def test_a_table_of_two_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="line 1 has 2 columns and 3 are needed"):
        read_dialogue_csv(write(tmp_path, "Q,A\na,b\n"))
    with pytest.raises(FileError, match="no column document; there are: id, text"):
        read_labelled_tsv(write(tmp_path, "id\ttext\n1\ta\n"))
