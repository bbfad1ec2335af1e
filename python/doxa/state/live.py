"""A store and its state kept in step: catching up, staging, committing.

The one path from a change to a commit: take the lock, fold what others appended, stage
the change on a fork of the state, append its rows to the journal, publish the fork. If
anything fails before the append, the fork is dropped and nothing has happened. Readers
call :meth:`Live.refresh`, which waits for nobody.
"""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec

from doxa import _core
from doxa.errors import DoxaError, InvalidValue, StoreReadOnly, TransactionConflict
from doxa.model import Receipt
from doxa.state.image import snapshot_of
from doxa.state.state import State
from doxa.store import Commit, Row, Store, Text

__all__ = ["Live", "Stage", "Transaction", "Work"]

T = TypeVar("T")
#: A change: checks, then emits rows to the stage it is given, and returns what was done.
Work = Callable[["Stage"], T]

_ID_COUNTER_BITS: Final = 12
#: Tells the handles of one process apart.
_HANDLES: Final = itertools.count(1)
_ID_TIME_BITS: Final = 48


def _plain(value: Any) -> Any:
    """Return fields with plain strings for committed texts, as reading them back gives."""
    if isinstance(value, Text):
        return str(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


class Stage:
    """A change in the making: a fork of the state and the rows that led to it."""

    def __init__(self, live: Live) -> None:
        self.live = live
        with live.lock:  # version and state belong together
            self.version = live.version
            self.base = live.state
            self.state = self._fork()
        self.rows: list[Row] = []
        self.works: list[tuple[Work[Any], Any]] = []
        self.commit: Commit | None = None

    def _fork(self) -> State:
        """Return a fork of the last commit's state, numbered as the commit to come."""
        fork = self.base.fork()
        fork.commit_seq += 1
        return fork

    def emit(self, op: str, target: str, at: int, fields: Mapping[str, Any]) -> None:
        """Add one row and fold it into the staged state."""
        row = Row(
            op=op,
            op_version=1,
            target=target,
            at=at,
            agent=self.live.agent,
            channel=self.live.channel,
            fields=dict(fields),
        )
        self._fold(row)
        self.rows.append(row)

    def _fold(self, row: Row) -> None:
        """Fold a row; what is committed to, as Text, is the journal's matter, not the state's."""
        self.state.apply((msgspec.structs.replace(row, fields=_plain(row.fields)),))

    def run(self, work: Work[T]) -> T:
        """Run a work on this stage; if it fails, the stage is as it was before."""
        mark = len(self.rows)
        try:
            result = work(self)
        except BaseException:
            if len(self.rows) > mark:
                del self.rows[mark:]
                self.state = self._fork()
                for row in self.rows:
                    self._fold(row)
            raise
        self.works.append((work, result))
        return result


def _agree(before: Any, after: Any) -> bool:
    """Tell whether a step that was run again did the same; what it noticed may differ."""
    if isinstance(before, Receipt) and isinstance(after, Receipt):
        return (before.ids, before.outcome) == (after.ids, after.outcome)
    return bool(before == after)


class Transaction:
    """What :meth:`doxa.Memory.transaction` gives: after the block, ``commit`` is its id."""

    __slots__ = ("commit",)

    def __init__(self) -> None:
        self.commit = ""


class Live:
    """A store, the state after its last commit, and the way to the next one.

    Parameters
    ----------
    store : Store
        Open.
    state : State
        What the store's commits fold to.
    agent, channel : str
        Who writes through this handle, and by which way; stands in every row.
    lock_timeout : float
        Seconds to wait for another writer.
    """

    def __init__(
        self, store: Store, state: State, *, agent: str, channel: str, lock_timeout: float
    ) -> None:
        self.store = store
        self.state = state
        self.agent = agent
        self.channel = channel
        self.lock_timeout = lock_timeout
        self.version = 0
        #: held while the state changes; never while a caller's code runs in a transaction
        self.lock = threading.RLock()
        self._number = next(_HANDLES) if any(store.store_id) else 0
        self._staged: contextvars.ContextVar[Stage | None] = contextvars.ContextVar(
            "doxa_stage", default=None
        )
        self._drawn = 0
        self._last = threading.local()

    # -- reading ---------------------------------------------------------------------

    def view(self) -> State:
        """Return the state to read: the open transaction's own, else the last commit's."""
        stage = self._staged.get()
        if stage is not None:
            return stage.state
        self.refresh()
        return self.state

    def refresh(self) -> None:
        """Fold what other processes appended, unless a writer of this one is at it."""
        if self.store.poll() and self.lock.acquire(blocking=False):
            try:
                self._catch_up()
            finally:
                self.lock.release()

    def _catch_up(self) -> None:
        fork: State | None = None
        for commit in self.store.read_new():
            if fork is None:
                fork = self.state.fork()
            fork.commit_seq, fork.commit_time = commit.seq, commit.time
            fork.apply(commit.rows)
        if fork is not None:
            self._publish(fork)

    def begin(self) -> None:
        """Fold what the journal holds behind the checkpoint."""
        with self.lock:
            self._catch_up()

    def _publish(self, fork: State) -> None:
        """Let readers see a fork; what an open transaction reads stays as it is."""
        if self.state.pins:
            self.state = fork
        else:
            self.state.adopt(fork)
        self.version += 1

    def _unpin(self, state: State) -> None:
        """Give up a state that a transaction has read, and fold the layers above it down."""
        with self.lock:
            state.pins -= 1
            below = self.state.below
            while below is not None and not below.pins and not self.state.pins:
                below.adopt(self.state)
                self.state, below = below, below.below

    # -- writing ---------------------------------------------------------------------

    def now(self) -> int:
        """Return the clock in microseconds: the only place that reads it."""
        return time.time_ns() // 1000

    def write(self, work: Work[T], message: str = "") -> T:
        """Run a change as a transaction of its own, or within the open one."""
        self.store.check_writable()
        stage = self._staged.get()
        if stage is not None:
            return stage.run(work)
        with self._exclusive():
            stage = Stage(self)
            result = stage.run(work)
            self._append(stage, message)
        return result

    @property
    def reading(self) -> State:
        """The state that this thread's last write left: staged or committed."""
        stage = self._staged.get()
        return self.state if stage is None else stage.state

    @property
    def last_commit(self) -> str:
        """Id in hex of what this thread's last write committed; empty if that was nothing."""
        return getattr(self._last, "commit", "")

    @property
    def staging(self) -> Stage | None:
        """The open transaction of this thread or task."""
        return self._staged.get()

    @contextlib.contextmanager
    def transaction(self, message: str) -> Iterator[Stage]:
        """Stage all writes of the block; commit them at its end, or none."""
        self.store.check_writable()
        if self._staged.get() is not None:
            raise InvalidValue("a transaction is open already; transactions do not nest")
        with self.lock:
            stage = Stage(self)
            stage.base.pins += 1
        try:
            token = self._staged.set(stage)
            try:
                yield stage
            finally:
                self._staged.reset(token)
        finally:
            self._unpin(stage.base)
        if stage.rows:
            with self._exclusive():
                final = stage if self.version == stage.version else self._again(stage)
                self._append(final, message)
                stage.commit = final.commit

    def _again(self, old: Stage) -> Stage:
        """Stage a transaction's changes anew on what others have committed meanwhile."""
        stage = Stage(self)
        for work, before in old.works:
            try:
                after = stage.run(work)
            except DoxaError as error:
                raise TransactionConflict(
                    f"another writer changed what this transaction relied on: {error} "
                    "Nothing was written; read again and repeat the transaction.",
                    cause=error,
                ) from error
            if not _agree(before, after):
                raise TransactionConflict(
                    "another writer changed what this transaction relied on: a step that gave "
                    f"{before!r} would now give {after!r}. Nothing was written; read again and "
                    "repeat the transaction.",
                    before=before,
                    after=after,
                )
        return stage

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        with self.lock, self.store.lock(self.lock_timeout):
            self._catch_up()
            yield

    def _append(self, stage: Stage, message: str) -> None:
        self._last.commit = ""
        if not stage.rows:
            return
        state = stage.state
        commit = self.store.append(self._commit_time(), "main", message, stage.rows)
        state.commit_seq, state.commit_time = commit.seq, commit.time
        stage.commit = commit
        self._last.commit = commit.id.hex()
        self._publish(state)
        if self.store.checkpoint_due():
            self._checkpoint(compact=True)

    def ride(self, work: Work[T]) -> T:
        """Apply a change at once and let its rows ride on the next commit or close."""
        if self.store.read_only:
            raise StoreReadOnly("this handle was opened with read_only=True; it records no uses")
        self.store.check_writable()
        stage = self._staged.get()
        if stage is not None:
            return stage.run(work)
        with self.lock:
            stage = Stage(self)
            result = stage.run(work)
            if stage.rows:
                self.store.ride(stage.rows)
                stage.state.commit_seq = self.state.commit_seq  # uses are no commit
                self._publish(stage.state)
        return result

    # -- upkeep ------------------------------------------------------------------------

    def checkpoint(self, *, compact: bool) -> None:
        """Write a checkpoint of the last commit's state; with ``compact`` archive the journal."""
        self.store.check_writable()
        if self._staged.get() is not None:
            raise InvalidValue("checkpoint and compact do not run inside a transaction")
        with self._exclusive():
            self._flush_uses()
            self._checkpoint(compact=compact)

    def _checkpoint(self, *, compact: bool) -> None:
        fork = self.state.fork()
        fork.engine.compact()
        self._publish(fork)
        image = snapshot_of(self.state)
        self.store.checkpoint(image.tables, image.arrays, image.meta)
        if compact:
            self.store.compact()

    def _flush_uses(self) -> None:
        """Commit uses that still ride, so that a checkpoint holds no more than the journal."""
        if self.store.riding:
            commit = self.store.append(self._commit_time(), "main", "uses", [])
            self.state.commit_seq, self.state.commit_time = commit.seq, commit.time

    def _commit_time(self) -> int:
        return max(self.now(), self.state.commit_time or -(2**62))

    def close(self) -> None:
        """Commit uses that ride, checkpoint where it pays, close the store."""
        if self.store.closed:
            return
        with self.lock:
            self._close()

    def _close(self) -> None:
        try:
            if self.store.riding and self.store.writable:
                with self._exclusive():
                    self._flush_uses()
        finally:
            self.store.close()

    # -- ids -------------------------------------------------------------------------

    def draw_id(self, at: int, salt: str) -> str:
        """Return a new id of UUIDv7 shape, ordered by ``at``.

        Its other bits are a digest of the store's id, the position in the history, this
        handle's counter and process, and ``salt``: nothing is drawn at random.
        """
        with self.lock:
            self._drawn += 1
            drawn = self._drawn
        process = self.store.process
        seed = f"{self.state.commit_seq}\0{drawn}\0{process}\0{self._number}\0{self.agent}\0{salt}"
        bits = int.from_bytes(
            _core.digest(self.store.store_id + seed.encode("utf-8", "surrogatepass"))[:8], "big"
        )
        millis = min(max(at // 1000, 0), (1 << _ID_TIME_BITS) - 1)
        value = (
            (millis << 80)
            | (0x7 << 76)
            | ((drawn & ((1 << _ID_COUNTER_BITS) - 1)) << 64)
            | (0b10 << 62)
            | (bits & ((1 << 62) - 1))
        )
        text = f"{value:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
