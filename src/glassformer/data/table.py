"""A user's table: what separates its columns, whether the first line names them, which column is which.

All of this is inferred from the first rows and from the names, English or Korean, unless a recipe says it:
`source.delimiter`, `source.header`, `source.columns`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from glassformer.data.keyed import keyed_objects
from glassformer.data.lines import plain_name, read_lines
from glassformer.errors import ConfigError, FileError, Phrase

# In this order: a comma also occurs inside sentences and numbers, a tab hardly ever.
DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}
LOOKED_AT = 200  # lines
ColumnName = int | str  # a number from 1, as in `cut -f`; or a name from the first line


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


LANGUAGE_COLUMNS = _names(
    "ko kor korean en eng english de deu ger german fr fra french ja jp jpn japanese zh zho chinese es spa spanish it"
    " ita italian ru rus russian pt por portuguese vi vie vietnamese nl dutch pl polish tr turkish ar arabic"
    " 한국어 한글 영어 일본어 중국어 독일어 프랑스어 스페인어 이탈리아어 러시아어 베트남어"
)
SOURCE_COLUMNS = _names("source src original 원문 출발어")
TARGET_COLUMNS = _names("target tgt translation translated 번역 번역문 도착어")
TEXT_COLUMNS = _names(
    "text texts document sentence sentences content contents review reviews comment comments message title body"
    " utterance question query input 문장 텍스트 본문 문서 내용 리뷰 댓글 제목 발화 질문"
)
LABEL_COLUMNS = _names(
    "label labels class classes category categories sentiment emotion tag intent topic genre polarity y target"
    " 라벨 레이블 분류 범주 감정 감성 종류 주제 정답"
)
NUMBER_COLUMNS = _names("id ids idx index no number row 번호 순번 아이디")
DATES = _names("date datetime timestamp time day month 날짜 일자 일시 시간 시각")
KNOWN = LANGUAGE_COLUMNS | SOURCE_COLUMNS | TARGET_COLUMNS | TEXT_COLUMNS | LABEL_COLUMNS | NUMBER_COLUMNS | DATES


def parts(name: str) -> set[str]:
    """ "Text_KO" → {"text", "ko"}."""
    return {part for part in re.split(r"[\W_]+", name.casefold()) if part}


def names_columns(cells: Sequence[str]) -> bool:
    """Whether a first line names its columns: all cells are different known names; one may be empty."""
    known = [cell for cell in cells if parts(cell)]
    return len(known) == len(set(known)) and len(known) >= len(cells) - 1 > 0 and all(parts(c) <= KNOWN for c in known)


def is_called(name: str, *kinds: frozenset[str]) -> bool:
    return any(parts(name) & kind for kind in kinds)


def pair_columns(names: Sequence[str]) -> tuple[int, int] | None:
    """The columns of source and target by their names; else the first two that are not row numbers."""
    source = [i for i, name in enumerate(names) if is_called(name, SOURCE_COLUMNS)]
    target = [i for i, name in enumerate(names) if is_called(name, TARGET_COLUMNS)]
    if len(source) == len(target) == 1 and source != target:
        return source[0], target[0]
    rest = [i for i, name in enumerate(names) if not is_called(name, NUMBER_COLUMNS) and parts(name)]
    return (rest[0], rest[1]) if len(rest) >= 2 else None


def label_columns(names: Sequence[str]) -> tuple[int, int] | None:
    """The columns of text and label by their names; if only one is known, the only other column is taken."""
    label = [i for i, name in enumerate(names) if is_called(name, LABEL_COLUMNS)]
    text = [i for i, name in enumerate(names) if is_called(name, TEXT_COLUMNS) and i not in label]
    rest = [i for i, name in enumerate(names) if i not in (*label, *text) and not is_called(name, NUMBER_COLUMNS)]
    text, label = text or (rest if label else []), label or (rest if text else [])
    return (text[0], label[0]) if len(text) == len(label) == 1 else None


@dataclass(frozen=True)
class ColumnLayout:
    """What separates the columns; the names in the header, () without one."""

    delimiter: str
    header: tuple[str, ...] = ()

    @property
    def phrase(self) -> Phrase:
        """ "separated by commas, header 'text, label' skipped"."""
        names = ", ".join(name.strip() for name in self.header)
        header = Phrase("own.header", (("names", names),)) if self.header else Phrase("own.no_header")
        return Phrase("own.layout", (("delimiter", Phrase(f"own.{DELIMITERS[self.delimiter]}")), ("header", header)))


def find_layout(
    path: str | Path,
    *,
    delimiter: str = "",
    header: bool | None = None,
    names: Callable[[Sequence[str]], bool] = names_columns,
    least: int = 2,
) -> ColumnLayout:
    """As given, else inferred: see `find_delimiter`; `names` recognises a header. `least`: the fewest columns."""
    first = list(islice(read_lines(path), LOOKED_AT + 1))
    if not any(line.strip() for line in first):
        raise FileError("data_empty_file", path=path)
    known = delimiter or find_delimiter(path, first, least)
    filled = (cells for _, cells in split_lines(iter(first), known, path) if any(cell.strip() for cell in cells))
    cells = next(filled, None)
    if cells is None:  # a single quotation mark, for example
        raise FileError("data_empty_file", path=path)
    named = names(cells) if header is None else header
    return ColumnLayout(known, tuple(cells) if named else ())


def find_delimiter(path: str | Path, first: Sequence[str], least: int = 2) -> str:
    """The tab for a .tsv; else the first that splits all rows into the same number of columns, two or more."""
    if plain_name(path).endswith(".tsv"):
        return "\t"
    cut = len(first) > LOOKED_AT  # then the last row may continue in lines that were not read
    best, agreeing = "", 0
    for delimiter in DELIMITERS:
        widths = [len(cells) for _, cells in split_lines(iter(first), delimiter, path) if cells]
        widths = widths[:-1] if cut else widths
        same = widths.count(widths[0]) if widths and widths[0] > 1 else 0
        if same and same == len(widths):
            return delimiter
        if same > agreeing:
            best, agreeing = delimiter, same
    if agreeing > 1:  # most rows agree: the reader names the line that does not
        return best
    if least == 1:
        return ","
    raise FileError("data_one_column", path=path)


def split_lines(
    some: Iterator[str], delimiter: str, path: str | Path, *, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Each row with the number of its last line; [] for an empty one.

    Between tabs a quotation mark is an ordinary character, as in corpora; else it quotes, as in any CSV. `strict`
    refuses one that is never closed, or closed inside a cell; without it, the first lines of a file may end in one.
    """
    if delimiter == "\t":
        for number, line in enumerate(some, 1):
            yield number, line.split("\t") if line.strip() else []
        return
    reader = csv.reader((f"{line}\n" for line in some), delimiter=delimiter, strict=strict)
    try:
        for row in reader:
            yield reader.line_num, row if any(cell.strip() for cell in row) else []
    except csv.Error as error:
        raise FileError("data_not_csv", path=path, line=reader.line_num, why=str(error)) from error


def table_rows(path: str | Path, layout: ColumnLayout) -> Iterator[tuple[int, list[str]]]:
    """Every row below the header with the number of its last line, empty ones as []; raises for another width.

    With tabs a row may have more columns than the first: corpora put remarks there.
    """
    width, waiting = 0, bool(layout.header)
    for number, cells in split_lines(read_lines(path), layout.delimiter, path, strict=True):
        if cells:
            width = width or len(cells)
            short, long = len(cells) < width, len(cells) > width and layout.delimiter != "\t"
            if (short and layout.delimiter != "\t") or long:
                raise FileError("data_row_width", path=path, line=number, columns=len(cells), needed=width)
            if waiting:
                waiting = False
                continue
        yield number, cells


def delimiter_of(key: str, value: object) -> str:
    """`source.delimiter`: one of four."""
    known = {"\\t": "\t", "tab": "\t"}
    found = known.get(str(value), value)
    if not isinstance(found, str) or found not in DELIMITERS:
        raise ConfigError("not_one_of", key=key, value=value, known="tab ; | ,")
    return found


@dataclass(frozen=True)
class Form:
    """`source.columns`, `source.delimiter` and `source.header`; None and "" mean that it is inferred from the file."""

    columns: Sequence[ColumnName] | None = None
    delimiter: str = ""
    header: bool | None = None

    def layout(self, path: str | Path, names: Callable[[Sequence[str]], bool] = names_columns) -> ColumnLayout:
        """The layout of the table in its file. A column given by name means that there is a header."""
        named = any(isinstance(column, str) for column in self.columns or ())
        return find_layout(path, delimiter=self.delimiter, header=True if named else self.header, names=names)

    def places(self, path: str | Path, names: Sequence[str]) -> list[int] | None:
        """The indices of the columns in the recipe, from 0; None if it names none."""
        return None if self.columns is None else [column_index(column, names, path) for column in self.columns]

    def keys(self, path: str | Path, find: Callable[[Sequence[str]], tuple[int, int] | None]) -> tuple[str, str]:
        """The two keys of a .jsonl or a .parquet: as in the recipe, else as `find` chooses from the first object."""
        line, first = next(iter(keyed_objects(path)), (0, None))
        if first is None:
            raise FileError("data_empty_file", path=path)
        known = list(first)
        if len(known) < 2:  # naming columns would not help
            raise FileError("data_row_short", path=path, line=line, columns=len(known), needed=2)
        if self.columns is not None and all(isinstance(column, str) for column in self.columns):
            one, other = map(str, self.columns)
            return one, other
        found = self.places(path, known) or find(known)
        if found is None:
            raise FileError("columns_unclear", path=path, known=", ".join(known))
        return known[found[0]], known[found[1]]


def column_index(column: ColumnName, names: Sequence[str], path: str | Path) -> int:
    """The index of a column, from 0; blanks around its name are ignored."""
    match column:
        case str() if column in [name.strip() for name in names]:
            return [name.strip() for name in names].index(column)
        case int() if 1 <= column <= len(names):
            return column - 1
    known = ", ".join(names) if isinstance(column, str) else f"1–{len(names)}"
    raise FileError("data_no_column", path=path, column=column, known=known)


def column_count(path: str | Path, layout: ColumnLayout) -> int:
    """The number of columns: of the header, else of the first row."""
    return len(layout.header) or next((len(cells) for _, cells in table_rows(path, layout) if cells), 0)
