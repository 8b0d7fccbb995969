"""How a file of your own was read, in one line before training: rows, columns, header, decimal sign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from glassformer.data.channel import SeriesForm, decimal_sign, read_channels, read_sheet
from glassformer.data.channel_sources import series_form
from glassformer.data.documents import read_documents
from glassformer.data.keyed import is_keyed
from glassformer.data.lines import count_lines
from glassformer.data.moments import step_of, written_moment
from glassformer.data.pairs import pair_places, read_pairs
from glassformer.data.pictures import image_files
from glassformer.data.table import ColumnLayout, Form, delimiter_of, label_columns, pair_columns, table_rows
from glassformer.data.texts import label_layout, label_places, read_texts
from glassformer.errors import Phrase

SHOWN = 6  # names in a list


def _form(options: Any) -> Form:
    delimiter = options.get("delimiter", "")
    return Form(
        options.get("columns"),
        delimiter_of("data.source.delimiter", delimiter) if delimiter else "",
        options.get("header"),
    )


def _named(names: Sequence[str]) -> str:
    return ", ".join([*names[:SHOWN], *(["…"] if len(names) > SHOWN else [])])


def describe_pairs(path: str, options: Any) -> Phrase:
    form = _form(options)
    if not isinstance(options["train"], str):  # two parallel files: plain lines, nothing to infer
        return _phrase("lines", path=path, count=count_lines(path))
    found = read_pairs(path, form)
    how = _keys(form.keys(path, pair_columns)) if is_keyed(path) else form.layout(path).phrase
    order = None if is_keyed(path) else pair_places(path, form.layout(path), form)
    skipped = _phrase("skipped", count=len(found.skipped)) if found.skipped else ""
    columns = "" if order in (None, (0, 1)) else _phrase("sides", source=order[0] + 1, target=order[1] + 1)
    return _phrase("pairs", path=path, count=len(found), how=how, columns=columns, skipped=skipped)


def describe_labelled(path: str, options: Any) -> Phrase:
    form = _form(options)
    found = read_texts(path, form)
    counts = Counter(found.labels)
    labels = _named([f"{label} {count:,}" for label, count in sorted(counts.items())])
    columns: Phrase | str = ""
    if is_keyed(path):
        how = _keys(form.keys(path, label_columns))
    else:
        layout = label_layout(path, form)
        rows = [cells for _, cells in table_rows(path, layout) if cells]
        text, label = label_places(path, layout, form, rows)
        how = layout.phrase
        columns = _phrase("labelled_columns", text=_column(layout, text), label=_column(layout, label))
    return _phrase("labelled", path=path, count=len(found), kinds=len(counts), labels=labels, how=how, columns=columns)


def _column(layout: ColumnLayout, place: int) -> str:
    return f"{place + 1} '{layout.header[place].strip()}'" if layout.header else str(place + 1)


def describe_texts(path: str, options: Any) -> Phrase:
    by_line, column = options.get("by_line", False), options.get("column", "text")
    found = read_documents(path, by_line=by_line, column=column)
    if by_line or is_keyed(path):
        return _phrase("texts", path=path, count=len(found), characters=f"{found.characters:,}")
    return _phrase("text", path=path, characters=f"{found.characters:,}", count=found.texts[0].count("\n"))


def describe_images(path: str, options: Any) -> Phrase:
    files = image_files(path)
    classes = _named([f"{name} {len(some):,}" for name, some in files.items()])
    return _phrase("images", path=path, count=sum(map(len, files.values())), kinds=len(files), classes=classes)


def describe_series(path: str, options: Any) -> Phrase:
    form: SeriesForm = series_form(options)
    sheet, channels = read_sheet(path, form), read_channels(path, form)
    places = [sheet.names.index(channel.name) for channel in channels]
    sign = form.decimal or decimal_sign(path, [row[i] for _, row in sheet.rows for i in places])
    moments = channels[0].moments
    return _phrase(
        "series",
        path=path,
        count=len(moments),
        first=written_moment(moments[0]),
        last=written_moment(moments[-1]),
        step=step_of(moments).phrase,
        names=_named([channel.name for channel in channels]),
        how=sheet.layout.phrase,
        decimal=sign,
    )


def _keys(keys: tuple[str, str]) -> Phrase:
    return _phrase("keys", names=", ".join(keys))


def _phrase(key: str, **values: object) -> Phrase:
    """A phrase: counts with commas, paths as given."""
    shown = {name: f"{value:,}" if isinstance(value, int) else value for name, value in values.items()}
    return Phrase(f"own.{key}", tuple(shown.items()))
