"""The rows of a Parquet file, some thousand at a time, by pyarrow: a file of any size takes the memory of one piece.

A column inside another is called by both names, as in `translation.en`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from glassformer.errors import ConfigError, FileError

AT_ONCE = 2**12  # rows


def parquet_objects(path: str | Path, keys: Iterable[str] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every row, from 1, with the columns of these names; of all columns without `keys`."""
    library, reading = _library(path)
    if not Path(path).is_file():
        raise FileError("data_no_file", path=path)
    try:
        with reading.ParquetFile(path) as file:
            wanted = None if keys is None else list(keys)
            known = [file.schema.column(i).path for i in range(len(file.schema))]
            for key in wanted or ():
                if key not in known:
                    raise FileError("data_no_key", path=path, line=1, name=key, known=", ".join(known))
            if not file.metadata.num_rows:
                raise FileError("data_empty_file", path=path)
            count = 0
            for piece in file.iter_batches(batch_size=AT_ONCE, columns=wanted):
                for row in _flat(library.Table.from_batches([piece])).to_pylist():
                    count += 1
                    yield count, row
    except (library.ArrowException, OSError) as error:
        raise FileError("data_damaged", path=path, why=str(error).partition("\n")[0]) from error


def _flat(table: Any) -> Any:
    """Columns inside others as columns of their own."""
    while any(str(kind).startswith("struct<") for kind in table.schema.types):
        table = table.flatten()
    return table


def _library(path: str | Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigError("needs_package", what=path, package="glassformer[parquet]") from error
    return pyarrow, pyarrow.parquet
