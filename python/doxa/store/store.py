"""The store: a directory, its journal, its checkpoints, and the rules between them.

Knows bytes, frames and rows, and nothing of what an operation means. What it promises
is listed in docs/reliability.md; the order of writes that keeps each promise stands where
it is written. One handle belongs to one process; threads are kept apart by its caller.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from doxa._core import digest
from doxa.errors import (
    CommitUncertain,
    ForkedHandle,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreExists,
    StoreNotFound,
    StorePoisoned,
    StoreReadOnly,
    shorten,
)
from doxa.store import archive, checkpoint
from doxa.store.checkpoint import Checkpoint
from doxa.store.files import File, Files
from doxa.store.frames import (
    CLOSED,
    COMMIT,
    OVERHEAD,
    Commit,
    Frame,
    Row,
    encode_commit,
    pack_frame,
)
from doxa.store.head import Head, HeadFile
from doxa.store.journal import (
    EpochStart,
    Position,
    acknowledged_later,
    commit_of,
    corrupt,
    epoch_numbers,
    epoch_path,
    read_start,
    scan_epoch,
    start_epoch,
)
from doxa.store.layout import FIRST_CHAIN, PARTS, folder_size, lay_out, read_format
from doxa.store.reports import RecoveryReport, VerifyReport

__all__ = ["Store"]

#: With durability "batch": commits that a crash may take, at most.
BATCH_COMMITS: Final = 64
#: Commits between two writes of the head.
HEAD_EVERY: Final = 256
#: Journal bytes behind the last checkpoint that make another one worth while.
CHECKPOINT_BYTES: Final = 256 << 20
#: Times that opening begins anew while another process compacts.
_OPEN_ATTEMPTS: Final = 8
#: The end of an epoch that was read from the archive: nothing of it is missing.
_ALL: Final = 1 << 62


class Store:
    """An open store; made by :meth:`create` and :meth:`open`."""

    def __init__(
        self,
        files: Files,
        root: str,
        store_id: bytes,
        *,
        read_only: bool,
        durability: str,
        key: bytes | None,
        anchor: Callable[[int, bytes], None] | None,
    ) -> None:
        self.files = files
        self.where = root
        self.store_id = store_id
        self.read_only = read_only
        self.closed = False
        self.recovery: RecoveryReport | None = None
        self._durability = durability
        self._key = key
        self._anchor = anchor
        self._pid = os.getpid()
        self._head_file = HeadFile(files, f"{root}/head")
        self._head = self._head_file.read()
        self._riding: list[Row] = []
        self._poisoned = ""
        self._torn = False
        #: the present epoch ended with a CLOSED frame
        self._closed_epoch = False
        self._synced_seq = self._head.seq
        self._locked = False
        self._epoch_file: File | None = None
        self._position = Position(0, 0, 0, FIRST_CHAIN)
        self._seen_size = 0
        self._checkpoint_end = 0
        self._image: Checkpoint | None = None

    # -- making and opening --------------------------------------------------------------

    @classmethod
    def create(
        cls,
        files: Files,
        root: str,
        *,
        durability: str,
        key: bytes | None,
        anchor: Callable[[int, bytes], None] | None,
        store_id: bytes | None = None,
    ) -> Store:
        """Make a new, empty store; its FORMAT file comes last, so it is there whole or not.

        Raises
        ------
        StoreExists
            If the directory holds something else.
        """
        files.make_dir(root)
        with files.lock(f"{root}/lock", 30.0):
            if not files.exists(f"{root}/FORMAT"):
                foreign = [n for n in files.names(root) if n not in PARTS]
                if foreign:
                    raise StoreExists(
                        f"{shorten(root, 200)} holds {shorten(foreign[0])} and is no store; choose an "
                        "empty or a new directory",
                        path=root,
                    )
                lay_out(files, root, store_id or os.urandom(16))
        return cls.open(files, root, read_only=False, durability=durability, key=key, anchor=anchor)

    @classmethod
    def open(
        cls,
        files: Files,
        root: str,
        *,
        read_only: bool,
        durability: str,
        key: bytes | None,
        anchor: Callable[[int, bytes], None] | None,
    ) -> Store:
        """Open a store and find the place from which its journal has to be read.

        Raises
        ------
        StoreNotFound, FormatTooNew, StoreCorrupt
        """
        store_id = read_format(files, root)
        chain_key = None if key is None else digest(b"doxa chain key\0" + bytes(key))
        for attempt in range(_OPEN_ATTEMPTS):
            store = cls(
                files,
                root,
                store_id,
                read_only=read_only,
                durability=durability,
                key=chain_key,
                anchor=anchor,
            )
            if store._head.store_id != store_id:
                raise corrupt(f"{root}/head", "the head belongs to another store")
            try:
                store._begin()
                return store
            except (StoreCorrupt, StoreNotFound):
                # A writer may have put a newer checkpoint in place meanwhile.
                moved = HeadFile(files, f"{root}/head").read().counter != store._head.counter
                if not moved or attempt == _OPEN_ATTEMPTS - 1:
                    raise
        raise AssertionError("unreachable")

    def _begin(self) -> None:
        """Take position behind the newest checkpoint, or at the first epoch."""
        seq = checkpoint.newest(self.files, self.where)
        if self._head.checkpoint > (seq or 0):
            raise corrupt(
                f"{self.where}/checkpoint",
                f"the checkpoint of commit {self._head.checkpoint} is missing",
            )
        if seq is not None:
            self._image = checkpoint.load(self.files, self.where, self.store_id, seq)
            position = self._image.position
        else:
            epochs = epoch_numbers(self.files, self.where)
            if not epochs:
                raise corrupt(f"{self.where}/journal", "the journal is missing")
            if epochs[0] != 1:
                raise corrupt(f"{self.where}/journal", "the first epoch is missing")
            position = Position(1, 0, 0, FIRST_CHAIN)
        self._checkpoint_end = position.end
        self._go_to(position)

    def _go_to(self, position: Position) -> None:
        path = epoch_path(self.where, position.epoch)
        try:
            file = self.files.open(path, write=not self.read_only)
        except StoreNotFound as error:
            raise corrupt(path, "this epoch of the journal is missing") from error
        start, first = read_start(file, position.epoch, self.store_id)
        if position.end == 0:
            position = first
        if start.base_seq > position.seq or (
            start.base_seq == position.seq and start.base_chain != position.chain
        ):
            file.close()
            raise corrupt(path, f"it does not continue commit {position.seq}")
        # The one before is dropped, not closed: another thread may be looking at its size.
        self._epoch_file, self._position, self._seen_size = file, position, position.end
        self._closed_epoch = False

    @property
    def last(self) -> tuple[int, bytes]:
        """Sequence number and id of the last commit that was read or written."""
        return self._position.seq, self._position.chain

    @property
    def process(self) -> int:
        """What tells this process's generated ids from another's: 0 in RAM."""
        return self._pid if any(self.store_id) else 0

    @property
    def writable(self) -> bool:
        """Whether this handle may write now."""
        return not (self.read_only or self.closed or self._poisoned)

    @property
    def riding(self) -> bool:
        """Whether rows wait for the next commit."""
        return bool(self._riding)

    def check_alive(self) -> None:
        """Refuse a handle that was closed or came here by fork."""
        if os.getpid() != self._pid:
            raise ForkedHandle(
                f"this handle of {shorten(self.where, 200)} was opened by process {self._pid}; open the "
                "store anew in this one",
                path=self.where,
            )
        if self.closed:
            raise StoreClosed(
                f"this handle of {shorten(self.where, 200)} is closed; open the store again",
                path=self.where,
            )

    def check_writable(self) -> None:
        """Refuse a handle that may not write, naming why."""
        self.check_alive()
        if self.read_only:
            raise StoreReadOnly("this handle was opened with read_only=True; open it for writing")
        if self._poisoned:
            raise StorePoisoned(
                f"a sync failed on this handle ({self._poisoned}); it still reads. Close it and "
                "open the store again to write.",
                path=self.where,
            )

    # -- reading -----------------------------------------------------------------------

    def poll(self) -> bool:
        """Tell whether others may have appended: one look at the size of a file."""
        self.check_alive()
        file = self._epoch_file
        assert file is not None
        size = file.size()
        return size != self._seen_size or size > self._position.end or self._closed_epoch

    def read_new(self) -> Iterator[Commit]:
        """Yield the commits that this handle has not seen, verified one by one.

        Raises
        ------
        StoreCorrupt
            If a frame that was acknowledged is damaged or missing.
        """
        while True:
            file = self._epoch_file
            assert file is not None
            for item in scan_epoch(file, self._position, self.store_id):
                if isinstance(item, int):
                    self._seen_size = self._position.end + item
                elif item.kind == CLOSED:
                    self._closed_epoch = True
                    self._position = msgspec.structs.replace(self._position, end=item.end)
                else:
                    commit = commit_of(item, self._position.chain, self._key, file.path)
                    self._position = Position(self._position.epoch, item.end, commit.seq, commit.id)
                    yield commit
            later = (
                [n for n in epoch_numbers(self.files, self.where) if n > self._position.epoch]
                if self._may_have_moved()
                else []
            )
            if not later:
                break
            if later[0] != self._position.epoch + 1:
                yield from self._from_archive(later[0])
            self._cross(later[0])
        self._check_known()

    def _may_have_moved(self) -> bool:
        """Tell whether another epoch may have begun: the present one ended, or is torn."""
        return self._closed_epoch or self._seen_size > self._position.end or self._locked

    def _from_archive(self, until: int) -> Iterator[Commit]:
        """Yield commits whose epochs were archived before this handle came to read them."""
        for epoch in archive.numbers(self.files, self.where):
            if not self._position.epoch < epoch < until:
                continue
            for commit in archive.history(self.files, self.where, epoch, self._key):
                if commit.seq <= self._position.seq:
                    continue
                if commit.parent != self._position.chain:
                    raise corrupt(f"{self.where}/archive", f"commit {commit.seq} does not follow")
                self._position = Position(epoch, _ALL, commit.seq, commit.id)
                yield commit

    def _cross(self, epoch: int) -> None:
        """Go on in the next epoch, checking that it continues what was read."""
        before = self._position
        path = epoch_path(self.where, epoch)
        file = self.files.open(path)
        try:
            start, first = read_start(file, epoch, self.store_id)
        finally:
            file.close()
        short = start.previous == before.epoch and start.previous_end > before.end
        if short:
            raise corrupt(
                epoch_path(self.where, before.epoch),
                f"the journal was synced up to byte {start.previous_end:,}, but only {before.end:,} are sound",
            )
        if start.base_seq > before.seq:
            raise corrupt(
                path, f"it continues commit {start.base_seq}, but only {before.seq} are there"
            )
        if start.base_seq == before.seq and start.base_chain != before.chain:
            raise corrupt(path, f"it continues another commit {before.seq} than the one before it")
        if start.base_seq < before.seq:
            self._skip_repeated(path, epoch, first, before)
            return
        self._go_to(Position(epoch, 0, before.seq, before.chain))

    def _skip_repeated(self, path: str, epoch: int, first: Position, before: Position) -> None:
        """Pass over commits that were written again and that this handle has read already."""
        file = self.files.open(path)
        position = first
        try:
            for item in scan_epoch(file, first, self.store_id):
                if isinstance(item, int) or item.kind != COMMIT or position.seq == before.seq:
                    break
                commit = commit_of(item, position.chain, self._key, path)
                position = Position(epoch, item.end, commit.seq, commit.id)
        finally:
            file.close()
        if position.seq != before.seq or position.chain != before.chain:
            raise corrupt(path, f"it does not repeat commit {before.seq} as it was read")
        self._go_to(position)

    def _check_known(self) -> None:
        """Refuse a journal that holds less than the head knew, or bad frames in its middle."""
        position, head = self._position, self._head
        assert self._epoch_file is not None
        path = self._epoch_file.path
        if position.seq < head.seq:
            raise corrupt(
                path, f"commit {head.seq} was acknowledged, but only {position.seq} are there"
            )
        if position.seq == head.seq and position.chain != head.chain:
            raise corrupt(
                path, f"commit {head.seq} is another one than the head knows", bool(self._key)
            )
        if self._seen_size <= position.end:
            return
        if not acknowledged_later(self._epoch_file, position.end, position.seq + 1):
            return
        # A writer may have finished the frame since it was looked at.
        item = next(iter(scan_epoch(self._epoch_file, position, self.store_id)))
        if isinstance(item, int):
            raise corrupt(path, f"commit {position.seq + 1} is damaged, and later ones are there")

    def history(self) -> Iterator[Commit]:
        """Yield every commit from the first on: the archive, then the journal."""
        chain = FIRST_CHAIN
        seq = 0
        archived = archive.numbers(self.files, self.where)
        for epoch in archived:
            for commit in archive.history(self.files, self.where, epoch, self._key):
                if commit.seq <= seq:
                    continue
                if commit.parent != chain or commit.seq != seq + 1:
                    raise corrupt(f"{self.where}/archive", f"commit {seq + 1} is missing")
                chain, seq = commit.id, commit.seq
                yield commit
        for epoch in epoch_numbers(self.files, self.where):
            if archived and epoch <= archived[-1]:
                continue
            file = self.files.open(epoch_path(self.where, epoch))
            try:
                _, position = read_start(file, epoch, self.store_id)
                for item in scan_epoch(file, position, self.store_id):
                    if isinstance(item, int) or item.kind != COMMIT:
                        continue
                    commit = commit_of(item, position.chain, self._key, file.path)
                    position = Position(epoch, item.end, commit.seq, commit.id)
                    if commit.seq == seq + 1 and commit.parent == chain:
                        chain, seq = commit.id, commit.seq
                        yield commit
            finally:
                file.close()
        if seq < self._head.seq:
            raise corrupt(f"{self.where}/journal", f"commit {seq + 1} is missing")

    # -- writing -----------------------------------------------------------------------

    @contextlib.contextmanager
    def lock(self, timeout: float) -> Iterator[None]:
        """Hold the store's one writer's lock."""
        self.check_writable()
        with self.files.lock(f"{self.where}/lock", timeout):
            self._head = self._head_file.read()
            self._locked = True
            try:
                yield
            finally:
                self._locked = False

    def ride(self, rows: Sequence[Row]) -> None:
        """Keep rows for the next commit; they are none of their own."""
        self.check_writable()
        self._riding.extend(rows)

    def append(self, time: int, branch: str, message: str, rows: Sequence[Row]) -> Commit:
        """Append one commit, under the lock and caught up; synced as durability says.

        Raises
        ------
        CommitUncertain
            If the sync failed: the handle is poisoned, the commit may or may not survive.
        StoreFull, StoreReadOnly, StoreUnavailable
            If the write failed: nothing was committed.
        """
        assert self._locked, "append runs under the lock"
        self._prepare_tail()
        before = self._position
        whole = [*self._riding, *rows]
        seq = before.seq + 1
        chain, payload = encode_commit(before.chain, seq, branch, time, message, whole, self._key)
        frame = pack_frame(
            COMMIT, before.epoch, seq, self._synced_seq, self.store_id, before.chain, payload
        )
        assert self._epoch_file is not None
        try:
            self._epoch_file.write_at(before.end, frame)
        except StoreError:
            self._torn = True
            raise
        if self._durability == "full" or (
            self._durability == "batch" and seq - self._synced_seq >= BATCH_COMMITS
        ):
            self._sync_journal(seq)
        self._position = Position(before.epoch, before.end + len(frame), seq, chain)
        self._seen_size = self._position.end
        self._riding.clear()
        if seq % HEAD_EVERY == 0 and self._synced_seq == seq:
            self._write_head(clean=False)
        return Commit(chain, before.chain, seq, branch, time, message, tuple(whole))

    def _sync_journal(self, seq: int) -> None:
        assert self._epoch_file is not None
        try:
            self._epoch_file.sync()
        except StoreError as error:
            self._poison(str(error))
            raise CommitUncertain(
                f"the sync failed ({error}); whether commit {seq} survives a power cut is unknown. "
                "Open the store again: what is there then is what counts.",
                path=self.where,
                seq=seq,
            ) from error
        self._synced_seq = seq

    def _poison(self, why: str) -> None:
        """Mark handle and epoch: no sync is tried again on these pages."""
        self._poisoned = why
        epoch = self._position.epoch
        with contextlib.suppress(StoreError):
            self.files.create(f"{self.where}/journal/{epoch:010}.dead").close()

    def _prepare_tail(self) -> None:
        """Begin a new epoch where appending to the present one is not sound."""
        assert self._epoch_file is not None
        position = self._position
        size = self._epoch_file.size()
        dead = self.files.exists(f"{self.where}/journal/{position.epoch:010}.dead")
        if size == position.end and not (self._torn or dead or self._closed_epoch):
            return
        if size > position.end and acknowledged_later(
            self._epoch_file, position.end, position.seq + 1
        ):
            raise corrupt(
                self._epoch_file.path,
                f"commit {position.seq + 1} is damaged, and later ones are there",
            )
        kept = self._keep_aside(position, size)
        uncertain = self._uncertain(position) if dead else []
        if kept:
            self.recovery = RecoveryReport(position.epoch, position.end, size - position.end, kept)
        self._rotate(uncertain)
        if dead:
            self.files.remove(f"{self.where}/journal/{position.epoch:010}.dead")
        self._torn = False

    def _keep_aside(self, position: Position, size: int) -> str:
        """Copy a torn tail to a file of its own before anything is written."""
        if size <= position.end:
            return ""
        assert self._epoch_file is not None
        tail = self._epoch_file.read(position.end, size - position.end)
        path = f"{self.where}/journal/{position.epoch:010}-{position.end}.torn"
        file = self.files.create(path)
        try:
            file.write_at(0, tail)
            file.sync()
        finally:
            file.close()
        return path

    def _uncertain(self, position: Position) -> list[Frame]:
        """Return the frames of a dead epoch whose sync is unknown."""
        assert self._epoch_file is not None
        _, first = read_start(self._epoch_file, position.epoch, self.store_id)
        frames = [
            item
            for item in scan_epoch(self._epoch_file, first, self.store_id, until=position.end)
            if isinstance(item, Frame) and item.kind == COMMIT
        ]
        known = max((frame.synced for frame in frames), default=0)
        known = max(known, self._head.seq, first.seq)
        return [frame for frame in frames if frame.seq > known]

    def _rotate(self, uncertain: Sequence[Frame] = ()) -> None:
        """Begin the next epoch; frames whose sync is unknown are written again in it."""
        before = self._position
        base_seq, base_chain, end = before.seq, before.chain, before.end
        if uncertain:
            first = uncertain[0]
            base_seq, base_chain = first.seq - 1, first.parent
            end = first.end - _frame_size(first)
        epoch = before.epoch + 1
        start = EpochStart(before.epoch, end, base_seq, base_chain)
        frames = [
            pack_frame(COMMIT, epoch, f.seq, base_seq, self.store_id, f.parent, f.payload)
            for f in uncertain
        ]
        file, length = start_epoch(self.files, self.where, epoch, start, self.store_id, frames)
        self._epoch_file = file
        self._position = Position(epoch, length, before.seq, before.chain)
        self._seen_size = length
        self._closed_epoch = False
        self._synced_seq = before.seq

    def _write_head(self, *, clean: bool) -> None:
        """Write what is known to be synced, then tell the anchor."""
        position = self._position
        head = Head(
            counter=self._head.counter + 1,
            epoch=position.epoch,
            end=position.end,
            seq=position.seq,
            checkpoint=checkpoint.newest(self.files, self.where) or 0,
            clean=clean,
            chain=position.chain,
            store_id=self.store_id,
        )
        self._head_file.write(head, sync=self._durability != "memory")
        self._head = head
        if self._anchor is not None:
            self._anchor(position.seq, position.chain)

    def _flush(self) -> None:
        """Sync what a batch still holds."""
        if self._synced_seq < self._position.seq and self._durability != "memory":
            self._sync_journal(self._position.seq)

    def checkpoint_due(self) -> bool:
        """Tell whether the journal behind the last checkpoint has grown long."""
        return self._position.end - self._checkpoint_end > CHECKPOINT_BYTES and any(self.store_id)

    def checkpoint(
        self,
        tables: Mapping[str, pa.Table],
        arrays: Mapping[str, np.ndarray[Any, Any]],
        meta: Mapping[str, Any],
    ) -> None:
        """Write a checkpoint of the state after the last commit; under the lock."""
        assert self._locked, "checkpoint runs under the lock"
        self._prepare_tail()
        self._flush()
        checkpoint.save(self.files, self.where, self.store_id, self._position, tables, arrays, meta)
        self._checkpoint_end = self._position.end
        self._write_head(clean=False)

    def load_checkpoint(self) -> Checkpoint | None:
        """Return the checkpoint that was found on opening; it is given once."""
        image, self._image = self._image, None
        return image

    def compact(self) -> None:
        """Archive the epochs that the newest checkpoint covers; under the lock."""
        assert self._locked, "compact runs under the lock"
        seq = checkpoint.newest(self.files, self.where)
        if seq is None or seq != self._position.seq:
            return
        self._close_epoch()
        self._rotate()
        position = self._position
        checkpoint.move(self.files, self.where, self.store_id, seq, position)
        self._checkpoint_end = position.end
        self._write_head(clean=False)
        for epoch in epoch_numbers(self.files, self.where):
            if epoch < position.epoch:
                self._archive(epoch)
        checkpoint.drop_older(self.files, self.where, seq)
        self.files.sync_dir(f"{self.where}/checkpoint")

    def _close_epoch(self) -> None:
        """End the present epoch with a frame by which readers notice that another begins."""
        position = self._position
        assert self._epoch_file is not None
        frame = pack_frame(
            CLOSED, position.epoch, position.seq, position.seq, self.store_id, position.chain, b""
        )
        try:
            self._epoch_file.write_at(position.end, frame)
        except StoreError:
            self._torn = True
            raise
        if self._durability != "memory":
            try:
                self._epoch_file.sync()
            except StoreError as error:
                self._poison(str(error))
                raise
        self._closed_epoch = True
        self._position = msgspec.structs.replace(position, end=position.end + len(frame))

    def _archive(self, epoch: int) -> None:
        path = epoch_path(self.where, epoch)
        file = self.files.open(path)
        kept: list[tuple[Frame, bytes]] = []
        try:
            _, position = read_start(file, epoch, self.store_id)
            for item in scan_epoch(file, position, self.store_id):
                if isinstance(item, Frame) and item.kind == COMMIT:
                    commit = commit_of(item, position.chain, self._key, path)
                    position = Position(epoch, item.end, commit.seq, commit.id)
                    kept.append((item, commit.id))
        finally:
            file.close()
        archive.write(self.files, self.where, epoch, kept)
        self.files.remove(path)
        for name in self.files.names(f"{self.where}/journal"):
            if name.startswith(f"{epoch:010}-") or name == f"{epoch:010}.dead":
                self.files.remove(f"{self.where}/journal/{name}")
        self.files.sync_dir(f"{self.where}/journal")

    def close(self) -> None:
        """Sync, write a clean head, close the files."""
        if self.closed:
            return
        try:
            if os.getpid() == self._pid and self.writable and self._wrote():
                with self.lock(5.0):
                    if (
                        self._epoch_file is not None
                        and self._epoch_file.size() == self._position.end
                    ):
                        self._flush()
                        self._write_head(clean=True)
        finally:
            self.closed = True
            if self._epoch_file is not None:
                self._epoch_file.close()

    def _wrote(self) -> bool:
        return self._position.seq > self._head.seq or not self._head.clean

    # -- looking at the whole ------------------------------------------------------------

    def journal_table(self) -> pa.Table:
        """Return every row of the history as an Arrow table."""
        return archive.table_of(self.history())

    def sizes(self) -> dict[str, int]:
        """Return bytes by part of the store."""
        out = {}
        for part in ("journal", "checkpoint", "archive"):
            out[f"{part}_bytes"] = folder_size(self.files, f"{self.where}/{part}")
        return out

    def verify(self) -> VerifyReport:
        """Read every byte that counts and check it against its hash."""
        self.check_alive()
        problems: list[str] = []
        commits = 0
        if not self._head_file.intact():
            problems.append(f"{self._head_file.path}: one of its two slots is damaged")
        try:
            for _ in self.history():
                commits += 1
        except StoreError as error:
            problems.append(str(error))
        read = folder_size(self.files, f"{self.where}/journal") + folder_size(
            self.files, f"{self.where}/archive"
        )
        seq = checkpoint.newest(self.files, self.where)
        if seq is not None:
            more, found = checkpoint.verify(self.files, self.where, self.store_id, seq)
            read += more
            problems.extend(found)
        return VerifyReport(commits, read, tuple(problems))


def _frame_size(frame: Frame) -> int:
    return OVERHEAD + len(frame.payload)
