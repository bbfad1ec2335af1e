"""Rows for ``remember_many``: from mappings or Arrow to arguments of ``remember``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
import pyarrow as pa

from doxa.errors import InvalidValue
from doxa.write.drafts import draft

__all__ = ["RowResult", "rows_of"]

_NAMES: Final = frozenset(draft.__kwdefaults__ or ()) | {"title", "summary"}
_BATCH: Final = 4096


class RowResult(msgspec.Struct, frozen=True):
    """A row that is refused before it is looked at as a proposition."""

    error: str


def rows_of(
    rows: Iterable[Mapping[str, Any]] | pa.Table,
) -> Iterator[Mapping[str, Any] | RowResult]:
    """Yield the arguments of ``remember`` row by row, or why a row is refused.

    Nulls of an Arrow table are arguments not given.
    """
    if isinstance(rows, (pa.Table, pa.RecordBatch)):
        rows = _arrow_rows(rows)
    elif isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise InvalidValue("rows", rows, "a list of mappings or an Arrow table")
    for row in rows:
        if not isinstance(row, Mapping):
            yield RowResult(f"a row is a mapping of arguments, not a {type(row).__name__}")
            continue
        unknown = [key for key in row if key not in _NAMES]
        if unknown:
            yield RowResult(
                f"{unknown[0]!r} is no argument of remember; those are {', '.join(sorted(_NAMES))}"
            )
        elif "title" not in row:
            yield RowResult("title is missing: every row has one")
        else:
            yield row


def _arrow_rows(table: pa.Table | pa.RecordBatch) -> Iterator[Mapping[str, Any]]:
    batches = [table] if isinstance(table, pa.RecordBatch) else table.to_batches(_BATCH)
    for batch in batches:
        for row in batch.to_pylist():
            yield {key: value for key, value in row.items() if value is not None}
