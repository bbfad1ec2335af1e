"""Writes what importers yield into a memory, in batches, each one transaction.

Order within a batch: stored records, entities, rows, links. What is there already is
left as it is, so that a second import adds nothing. Nothing is dropped in silence:
whatever is not taken in is in the report, with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

import msgspec

from doxa.errors import DoxaError, shorten
from doxa.io.admit import admission, link_work
from doxa.io.items import EntityItem, Item, LinkItem, Problem, Row, Stored, name_key
from doxa.memory import Memory
from doxa.model import Receipt
from doxa.state.state import ENTITY, State

__all__ = ["ImportReport", "apply"]

BATCH_ITEMS: Final = 20_000


class ImportReport(msgspec.Struct, frozen=True, kw_only=True):
    """What an import did.

    Attributes
    ----------
    file, format : str
        What was read, and as what.
    propositions, entities, contexts, evidence, links : int
        How many of each were added.
    already_there : int
        Records, rows and entities whose content was there before, or came twice.
    duplicates : int
        Rows that say what another proposition says; they were merged into it.
    rewritten : int
        Propositions whose wording was brought up to date (only if asked for).
    broken_links : int
        Links, among those added, whose target is not there; kept, and mended when it appears.
    refused, notes : tuple of Problem
        What was not taken in; what was taken in differently.
    written : bool
        False for a dry run, and where ``strict`` refused the whole.
    """

    file: str = ""
    format: str = ""
    propositions: int = 0
    entities: int = 0
    contexts: int = 0
    evidence: int = 0
    links: int = 0
    already_there: int = 0
    duplicates: int = 0
    rewritten: int = 0
    broken_links: int = 0
    refused: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()
    written: bool = True

    @property
    def added(self) -> int:
        """How many nodes and links are new."""
        return self.propositions + self.entities + self.contexts + self.evidence + self.links


class _RefusedError(Exception):
    """Leaves a transaction of a strict import without writing it."""


def apply(
    memory: Memory,
    items: Iterable[Item],
    *,
    strict: bool = False,
    dry_run: bool = False,
    update: bool = False,
    defaults: dict[str, Any] | None = None,
    message: str = "import",
    progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Write items into a memory.

    Parameters
    ----------
    memory : Memory
        Where to.
    items : iterable of Item
        What a reader yields.
    strict : bool
        One refused item refuses all: nothing is written.
    dry_run : bool
        Do everything in a transaction that is dropped at its end.
    update : bool
        Rewrite propositions whose id is there with other wording; else they are refused.
    defaults : dict, optional
        Arguments of ``remember`` for rows that don't give them.
    message : str
        Stands in the commit.
    progress : callable, optional
        Called with (items written, items in all) of each batch.

    Returns
    -------
    ImportReport

    Examples
    --------
    >>> mem = doxa.memory(seed_norms=False)
    >>> apply(mem, [Row(fields={"title": "The port is 8080"}), Problem(2, "no JSON")]).propositions
    1
    """
    writer = _Writer(memory, update, defaults or {})
    whole = strict or dry_run
    stream = iter(items)
    try:
        for batch in _batches(stream, None if whole else BATCH_ITEMS):
            with memory.transaction(message):
                for written in writer.write(batch):
                    if progress is not None:
                        progress(written, len(batch))
                if dry_run or (strict and writer.refused):
                    raise _RefusedError
    except _RefusedError:
        return writer.report(written=False)
    return writer.report(written=True)


def _batches(stream: Iterator[Item], size: int | None) -> Iterator[list[Item]]:
    while batch := list(islice(stream, size)):
        yield batch


class _Writer:
    """Keeps count, and where ids went that were merged into others."""

    def __init__(self, memory: Memory, update: bool, defaults: dict[str, Any]) -> None:
        self.memory = memory
        self.update = update
        self.defaults = defaults
        self.counts: dict[str, Any] = {}
        self.refused: list[Problem] = []
        self.notes: list[Problem] = []
        self.instead: dict[str, str] = {}
        self.left_out: set[str] = set()

    @property
    def state(self) -> State:
        return self.memory._live.view()

    def count(self, what: str, by: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + by

    def refuse(self, item: Any, what: str) -> None:
        self.refused.append(Problem(item.line, f"{what}: skipped", item.where))

    def write(self, batch: list[Item]) -> Iterator[int]:
        """Write a batch, yielding now and then how much of it is done."""
        rows: list[Row] = []
        links: list[LinkItem] = []
        done = 0
        for item in batch:
            if isinstance(item, Problem):
                (self.refused if item.refused else self.notes).append(item)
            elif isinstance(item, Row):
                rows.append(item)
                continue
            elif isinstance(item, LinkItem):
                links.append(item)
                continue
            elif isinstance(item, EntityItem):
                self.entity(item)
            else:
                self.stored(item)
            done += 1
            if done % 1024 == 0:
                yield done
        before = self.state.engine.stats()["links"]
        for start in range(0, len(rows), 1024):
            self.rows(rows[start : start + 1024])
            yield done + min(start + 1024, len(rows))
        done += len(rows)
        for number, link in enumerate(links, 1):
            self.link(link)
            if number % 1024 == 0:
                yield done + number
        self.count("links", self.state.engine.stats()["links"] - before)

    def stored(self, item: Stored) -> None:
        """Admit a record of an export."""
        try:
            receipt = self.memory._live.write(admission(item.record))
        except DoxaError as error:
            self.refuse(item, str(error))
            return
        if receipt.outcome == "unchanged":
            self.count("already_there")
            return
        self.count(_COUNTED[type(item.record).__name__])
        self.count("broken_links", receipt.outcome == "broken")

    def entity(self, item: EntityItem) -> None:
        """Add an entity, or tie its id to the one that bears its name."""
        state = self.state
        node = state.node(item.id, ENTITY)
        there = item.id
        if node is None and (bearer := state.entity(item.name)) is not None:
            self.instead[item.id] = there = bearer
            node = state.node(bearer, ENTITY)
        held = None if node is None else state.record(node)
        if held is not None and (held.type or not item.type):
            known = {held.name, *held.aliases}
            if all(name in known for name in item.aliases):
                self.count("already_there")
                return
        try:
            self.memory.beliefs.entity(
                item.name if held is None else held.name,
                type=item.type if held is None or not held.type else held.type,
                aliases=[name for name in item.aliases if held is None or name != held.name],
                id=there,
                at=item.at,
            )
        except DoxaError as error:
            self.left_out.add(item.id)
            self.refuse(item, str(error))
            return
        self.count("entities" if held is None else "already_there")

    def rows(self, rows: list[Row]) -> None:
        """Remember rows whose ids are not there yet."""
        fresh: list[Row] = []
        seen: set[str] = set()
        for row in rows:
            node_id = row.fields.get("id")
            if node_id is None or (node_id not in self.memory and node_id not in seen):
                fresh.append(row)
                seen.update([node_id] if node_id else [])
            elif node_id in seen:
                self.count("already_there")
            else:
                self.known(row, node_id)
        arguments = [self.arguments(row) for row in fresh]
        receipts = self.memory.remember_many(arguments, on_duplicate="merge")
        for row, receipt in zip(fresh, receipts, strict=True):
            self.received(row, receipt)

    def arguments(self, row: Row) -> dict[str, Any]:
        fields = {**self.defaults, **row.fields}
        claim = fields.get("claim")
        if isinstance(claim, dict):
            ends = {
                name: self.instead.get(claim[name], claim[name])
                for name in ("subject", "value")
                if isinstance(claim.get(name), str)
            }
            fields["claim"] = {**claim, **ends}
        return fields

    def received(self, row: Row, receipt: Receipt) -> None:
        node_id = row.fields.get("id", "")
        if receipt.outcome == "refused":
            self.left_out.add(node_id)
            self.refuse(row, receipt.error)
        elif receipt.duplicate_of:
            if node_id and receipt.duplicate_of != node_id:
                self.instead[node_id] = receipt.duplicate_of
            self.count("duplicates")
        else:
            self.count("propositions")

    def known(self, row: Row, node_id: str) -> None:
        """Leave a proposition that is there, or bring its wording up to date if asked."""
        held = self.memory.get(node_id)
        given = {name: row.fields.get(name, "") for name in ("title", "summary", "body")}
        same = str if self.update else name_key  # another case or spacing is no other wording
        other = [
            name
            for name, text in given.items()
            if same(getattr(held, name)) != same(text)
            and not (name == "body" and held.body.startswith(text))
        ]
        if not other:
            self.count("already_there")
        elif not self.update:
            what = f"{shorten(node_id)} is there with another {other[0]}; what is there was kept"
            self.refuse(row, what)
        else:
            try:
                self.memory.rewrite(
                    node_id, expected_rev=held.rev, **{name: given[name] for name in other}
                )
            except DoxaError as error:
                self.refuse(row, str(error))
            else:
                self.count("rewritten")

    def link(self, item: LinkItem) -> None:
        """Write a link between what rows and entities became."""
        if item.source in self.left_out or item.target in self.left_out:
            return  # the row was refused by name already
        source = self.instead.get(item.source, item.source)
        target = self.instead.get(item.target, item.target)
        if source == target:  # both ends were merged into one
            return
        live = self.memory._live
        try:
            work = link_work(
                source, target, item.relation, item.weight, at=live.now(), by=live.agent
            )
            outcome = live.write(work).outcome
        except DoxaError as error:
            self.refuse(item, str(error))
            return
        if outcome == "broken":
            self.count("links")
            self.count("broken_links")

    def report(self, *, written: bool) -> ImportReport:
        """Return what was done."""
        return ImportReport(
            **self.counts,
            refused=tuple(self.refused),
            notes=tuple(self.notes),
            written=written,
        )


_COUNTED: Final = {
    "PropositionRecord": "propositions",
    "EntityRecord": "entities",
    "ContextRecord": "contexts",
    "EvidenceRecord": "evidence",
    "LinkRecord": "links",
}
