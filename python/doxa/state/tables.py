"""Tables of rows: Arrow segments that never change, and recent rows beside them.

A :class:`Table` numbers its rows from 0 and never renumbers. Old rows live in Arrow
record batches (memory-mapped after opening a checkpoint), new and changed rows as
Python records in a dictionary; every ``FREEZE_ROWS`` new rows become a batch. A fork
costs O(1): it reads through to its parent and keeps its own changes, which
:meth:`Table.adopt` takes over. Knows nothing of what the rows mean.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

import pyarrow as pa

__all__ = ["Codec", "Layered", "Segment", "Table"]

R = TypeVar("R")
K = TypeVar("K")
V = TypeVar("V")

#: New rows that are kept as Python records before they become an Arrow batch.
FREEZE_ROWS: Final = 65_536


class Codec(Generic[R]):
    """How records of one type become Arrow columns and come back.

    Parameters
    ----------
    schema : pyarrow.Schema
        One column per field, in the order of the record's fields.
    build : callable
        Makes a record of the columns' Python values.
    values : callable
        Gives the Python values of a record.
    """

    def __init__(
        self,
        schema: pa.Schema,
        build: Callable[[Sequence[Any]], R],
        values: Callable[[R], Sequence[Any]],
    ) -> None:
        self.schema = schema
        self.build = build
        self.values = values

    def batch(self, records: Sequence[R]) -> pa.RecordBatch:
        """Return the records as one Arrow batch."""
        rows = [self.values(record) for record in records]
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(self.schema)
        arrays = [
            pa.array(column, type=field.type)
            for column, field in zip(columns, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


class Segment(Generic[R]):
    """An Arrow batch at a fixed place in a table, loaded when it is first read.

    Parameters
    ----------
    length : int
        Its rows.
    load : callable
        Gives the batch, verified.
    """

    __slots__ = ("_batch", "_load", "length")

    def __init__(self, length: int, load: Callable[[], pa.RecordBatch]) -> None:
        self.length = length
        self._load = load
        self._batch: pa.RecordBatch | None = None

    @property
    def batch(self) -> pa.RecordBatch:
        """The rows."""
        if self._batch is None:
            self._batch = self._load()
        return self._batch

    def row(self, index: int) -> list[Any]:
        """Return the values of one row."""
        return [column[index].as_py() for column in self.batch.columns]

    def value(self, index: int, column: int) -> Any:
        """Return one value."""
        return self.batch.column(column)[index].as_py()


class Table(Generic[R]):
    """Rows numbered from 0; see the module's text."""

    def __init__(self, codec: Codec[R], parent: Table[R] | None = None) -> None:
        self.codec = codec
        self._parent = parent
        self._segments: list[Segment[R]] = []
        self._starts: list[int] = []
        self._frozen = 0
        self._recent: dict[int, R] = {}
        self.length: int = parent.length if parent is not None else 0

    @classmethod
    def mapped(cls, codec: Codec[R], segments: Sequence[Segment[R]]) -> Table[R]:
        """Return a table over Arrow segments."""
        table = cls(codec)
        for segment in segments:
            table._add_segment(segment)
        table.length = table._frozen
        return table

    def _add_segment(self, segment: Segment[R]) -> None:
        self._segments.append(segment)
        self._starts.append(self._frozen)
        self._frozen += segment.length

    def get(self, row: int) -> R:
        """Return the record of a row."""
        record = self._recent.get(row)
        if record is not None:
            return record
        if self._parent is not None:
            return self._parent.get(row)
        at = bisect_right(self._starts, row) - 1
        return self.codec.build(self._segments[at].row(row - self._starts[at]))

    def value(self, row: int, field: str) -> Any:
        """Return one field of a row without building its record."""
        record = self._recent.get(row)
        if record is not None:
            return getattr(record, field)
        if self._parent is not None:
            return self._parent.value(row, field)
        at = bisect_right(self._starts, row) - 1
        column = self.codec.schema.get_field_index(field)
        return self._segments[at].value(row - self._starts[at], column)

    def append(self, record: R) -> int:
        """Add a row and return its number."""
        row = self.length
        self._recent[row] = record
        self.length = row + 1
        return row

    def replace(self, row: int, record: R) -> None:
        """Put another record in a row's place."""
        self._recent[row] = record

    def fork(self) -> Table[R]:
        """Return a table that sees this one and keeps its own changes."""
        return Table(self.codec, self)

    def adopt(self, child: Table[R]) -> None:
        """Take over the changes of a fork of this table."""
        self._recent.update(child._recent)
        self.length = child.length
        if self._parent is None and self.length - self._frozen >= 2 * FREEZE_ROWS:
            self._freeze()

    def _freeze(self) -> None:
        """Turn the oldest recent rows into a batch, keeping the youngest as records."""
        until = self._frozen + FREEZE_ROWS
        rows = range(self._frozen, until)
        batch = self.codec.batch([self._recent[row] for row in rows])
        self._add_segment(Segment(batch.num_rows, lambda: batch))
        for row in rows:
            del self._recent[row]

    def __iter__(self) -> Iterator[R]:
        return (self.get(row) for row in range(self.length))

    def to_arrow(self) -> pa.Table:
        """Return all rows in order; segments without changes are shared, not copied."""
        if self._parent is not None:
            return pa.Table.from_batches([self.codec.batch(list(self))], self.codec.schema)
        batches = [
            self._current(segment, start)
            for segment, start in zip(self._segments, self._starts, strict=True)
        ]
        if self._frozen < self.length:
            young = [self._recent[row] for row in range(self._frozen, self.length)]
            batches.append(self.codec.batch(young))
        return pa.Table.from_batches(batches, self.codec.schema)

    def _current(self, segment: Segment[R], start: int) -> pa.RecordBatch:
        end = start + segment.length
        changed = sorted(row for row in list(self._recent) if start <= row < end)
        whole = segment.batch
        if not changed:
            return whole
        order = list(range(segment.length))
        for position, row in enumerate(changed):
            order[row - start] = segment.length + position
        extra = self.codec.batch([self._recent[row] for row in changed])
        both = pa.Table.from_batches([whole, extra], self.codec.schema).combine_chunks()
        taken = both.take(pa.array(order, pa.int64())).combine_chunks()
        return taken.to_batches()[0]


class Layered(Generic[K, V]):
    """A dictionary whose forks cost O(1) and can be adopted."""

    __slots__ = ("_own", "_parent")

    def __init__(self, parent: Layered[K, V] | None = None) -> None:
        self._own: dict[K, V] = {}
        self._parent = parent

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None."""
        found = self._own.get(key)
        if found is None and self._parent is not None:
            return self._parent.get(key)
        return found

    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""
        self._own[key] = value

    def items(self) -> dict[K, V]:
        """Return everything as one plain dictionary."""
        base = self._parent.items() if self._parent is not None else {}
        base.update(self._own)
        return base

    def fork(self) -> Layered[K, V]:
        """Return a view that keeps its own changes."""
        return Layered(self)

    def adopt(self, child: Layered[K, V]) -> None:
        """Take over the changes of a fork."""
        self._own.update(child._own)
