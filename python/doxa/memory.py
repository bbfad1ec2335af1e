"""``Memory``: the one object that a user holds. It checks, delegates and returns values.

Writes go to :mod:`doxa.write` as works that :class:`doxa.state.live.Live` stages and
commits; reads go to the core through the state of the last commit. Holds no logic of
its own beyond turning arguments into drafts.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import pyarrow as pa

from doxa import model
from doxa.beliefs import Beliefs
from doxa.errors import DoxaError, InvalidValue, NotFound, NotInThisVersion, shorten
from doxa.model import TEXT_CHARACTERS, Proposition, Receipt
from doxa.params import Params
from doxa.recall.hits import Hits
from doxa.recall.options import Options, chosen, options
from doxa.recall.rescore import Strength, rescored
from doxa.scope import Scope
from doxa.state.live import Live, Stage, Transaction, Work
from doxa.state.state import PROPOSITION, State
from doxa.upkeep import Upkeep
from doxa.write import edits
from doxa.write import links as link_rules
from doxa.write.admission import Admission
from doxa.write.drafts import SETTABLE, checked_changes, draft, link_weight, name
from doxa.write.rows import RowResult, rows_of

__all__ = ["Memory"]

_RECALL_NAMES: Final = frozenset(options.__kwdefaults__ or ())
#: Hits of a recall that names no number.
_K: Final = 10
_ON_DUPLICATE: Final = ("raise", "merge", "allow")
_TABLES: Final = ("propositions", "links", "evidence", "entities", "contexts", "journal")


class Memory:
    """A governed memory; made by :func:`doxa.open` and :func:`doxa.memory`.

    A context manager: leaving the block closes it. Threads may share it; a forked
    process may not.

    Examples
    --------
    >>> mem = doxa.memory(seed_norms=False)
    >>> p = mem.remember("The API listens on port 8080", kind="knowledge")
    >>> [hit.title for hit in mem.recall("which port does the API use")]
    ['The API listens on port 8080']
    """

    def __init__(self, live: Live, *, read_params: Params | None, context: str) -> None:
        self._live = live
        self._read_params = read_params
        self._context = context
        self.upkeep = Upkeep(self)
        self.beliefs = Beliefs(self)

    # -- writing ---------------------------------------------------------------------

    def remember(
        self,
        title: str,
        summary: str = "",
        *,
        id: str | None = None,  # noqa: A002 - the public name
        body: str = "",
        kind: str = "knowledge",
        importance: str = "medium",
        scope: Scope | Mapping[str, Any] | None = None,
        category: str | None = None,
        claim: model.Claim | Mapping[str, Any] | None = None,
        about: str | Iterable[str] = (),
        context: str | None = None,
        valid_from: dt.datetime | None = None,
        valid_to: dt.datetime | None = None,
        event_at: dt.datetime | None = None,
        exit_condition: str = "",
        review_by: dt.datetime | None = None,
        confidence: float | None = None,
        source: str = "",
        source_class: str = "user_explicit",
        evidence: Any = (),
        links: Any = (),
        on_duplicate: str = "raise",
        reason: str = "",
        at: dt.datetime | None = None,
        by: str | None = None,
    ) -> Proposition:
        """Store a proposition, unless the same statement is there already.

        Parameters
        ----------
        title : str
            The statement in one line, 1 to 300 characters.
        summary, body : str
            The self-contained statement in a few sentences; notes.
        id : str, optional
            1 to 256 bytes, compared in NFC; default: a generated, time-ordered one.
        kind : {"knowledge", "norm", "task", "subject"}
            By nature. A task needs ``exit_condition``.
        importance : {"low", "medium", "high", "resident"}
        scope : Scope or mapping
            Where it applies; nothing: everywhere.
        category : str, optional
            Lifecycle category; default by kind.
        claim : Claim or mapping, optional
            Subject, attribute, value.
        about : str or list
            Entities by id or name; new names become entities.
        context : str, optional
            The context in which it holds.
        valid_from, valid_to, event_at : datetime, optional
            Aware times in the world; ``[valid_from, valid_to)``.
        exit_condition, review_by
            Of a task: what counts as done, and when to look again (default 30 days).
        confidence : float, optional
            −1 to 1; default by ``source_class``, 1 for norms and tasks.
        source, source_class : str
            Where it comes from: ``verified``, ``user_explicit``, ``third_party``, ``inferred``.
        evidence : str, mapping or list
            What was said, read or measured: texts, or mappings with ``text`` or ``id``.
        links : list
            Ids, (id, relation) or (id, relation, weight).
        on_duplicate : {"raise", "merge", "allow"}
            What to do where the same statement is there.
        reason : str
            Why a duplicate is stored all the same.
        at, by
            When and who; default: now, the handle's agent.

        Returns
        -------
        Proposition
            With ``receipt``: possible duplicates, warnings.

        Raises
        ------
        DuplicateFound, AlreadyExists, InvalidValue, NotFound, StoreError

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> mem.remember("团队使用 PostgreSQL 15", importance="high").importance
        'high'
        >>> mem.remember("团队使用 PostgreSQL 15。")
        Traceback (most recent call last):
        doxa.errors.DuplicateFound: this statement is there already as ...
        """
        given = {
            "id": id,
            "body": body,
            "kind": kind,
            "importance": importance,
            "scope": scope,
            "category": category,
            "claim": claim,
            "about": about,
            "context": context,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "event_at": event_at,
            "exit_condition": exit_condition,
            "review_by": review_by,
            "confidence": confidence,
            "source": source,
            "source_class": source_class,
            "evidence": evidence,
            "links": links,
            "reason": reason,
            "at": at,
            "by": by,
        }
        model.choice("on_duplicate", on_duplicate, _ON_DUPLICATE)
        admission = self._admission(title, summary, given, on_duplicate)
        receipt, state = self._commit(admission)
        return self._proposition(state, receipt.ids[0], receipt)

    def _admission(
        self, title: object, summary: object, given: Mapping[str, Any], on_duplicate: str
    ) -> Admission:
        live = self._live
        now = live.now()
        checked = draft(title, summary, **given, now=now, agent=live.agent)
        return Admission(live, checked, on_duplicate=on_duplicate, now=now, context=self._context)

    def remember_many(
        self, rows: Iterable[Mapping[str, Any]] | pa.Table, *, on_duplicate: str = "merge"
    ) -> list[Receipt]:
        """Store many propositions in one transaction, each as ``remember`` would.

        Parameters
        ----------
        rows : iterable of mappings, or pyarrow.Table
            Keys and columns are the arguments of :meth:`remember`.
        on_duplicate : {"merge", "raise", "allow"}
            With ``"raise"`` a duplicate row is refused in its receipt.

        Returns
        -------
        list of Receipt
            One per row, in order: ``added``, ``duplicate`` (of what) or ``refused`` (why). A
            refused row does not keep the others out.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> rows = [{"title": "Redis caches sessions"}, {"title": "redis caches sessions."}, {}]
        >>> [receipt.outcome for receipt in mem.remember_many(rows)]
        ['added', 'duplicate', 'refused']
        """
        model.choice("on_duplicate", on_duplicate, _ON_DUPLICATE)
        if self._live.staging is not None:
            return list(self._remember_rows(rows, on_duplicate))
        with self.transaction("remember_many") as transaction:
            receipts = list(self._remember_rows(rows, on_duplicate))
        commit = transaction.commit
        return [
            msgspec.structs.replace(receipt, commit=commit)
            if receipt.outcome != "refused"
            else receipt
            for receipt in receipts
        ]

    def _remember_rows(
        self, rows: Iterable[Mapping[str, Any]] | pa.Table, on_duplicate: str
    ) -> Iterator[Receipt]:
        for row in rows_of(rows):
            if isinstance(row, RowResult):
                yield Receipt(outcome="refused", error=row.error)
                continue
            try:
                given = dict(row)
                title, summary = given.pop("title"), given.pop("summary", "")
                admission = self._admission(title, summary, given, on_duplicate)
                yield self._live.write(admission)
            except DoxaError as error:
                yield Receipt(outcome="refused", error=str(error))

    def append(
        self,
        id: str,  # noqa: A002 - the public name
        text: str,
        *,
        by: str | None = None,
        at: dt.datetime | None = None,
    ) -> Proposition:
        """Add a signed, timestamped note to a proposition's body.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> p = mem.remember("Deploys go through the release branch")
        >>> mem.append(p.id, "confirmed in the meeting", by="ada").body.endswith("meeting")
        True
        """
        node_id = model.identifier("id", id)
        note = model.text("text", text, TEXT_CHARACTERS, empty=False)
        work = edits.append(node_id, note, by=self._who(by), at=self._when(at))
        return self._changed(work, Receipt(ids=(node_id,), outcome="changed"))

    def rewrite(
        self,
        id: str,  # noqa: A002 - the public name
        *,
        title: str | None = None,
        summary: str | None = None,
        body: str | None = None,
        expected_rev: int,
        by: str | None = None,
        at: dt.datetime | None = None,
    ) -> Proposition:
        """Replace wording, if ``expected_rev`` is the revision that is current.

        Raises
        ------
        StaleRevision
            If somebody changed it since; the error carries the current text.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> p = mem.remember("Always squash commits")
        >>> mem.rewrite(p.id, title="Squash commits on release branches", expected_rev=p.rev).rev
        2
        """
        node_id = model.identifier("id", id)
        rev = model.whole("expected_rev", expected_rev, 0, 2**53)
        wording: dict[str, str] = {}
        if title is not None:
            wording["title"] = model.title(title)
        if summary is not None:
            wording["summary"] = model.text("summary", summary, TEXT_CHARACTERS)
        if body is not None:
            wording["body"] = model.text("body", body, TEXT_CHARACTERS)
        if not wording:
            raise InvalidValue("rewrite needs title, summary or body: nothing to rewrite was given")
        work = edits.rewrite(
            node_id, wording, expected_rev=rev, by=self._who(by), at=self._when(at)
        )
        return self._changed(work, Receipt(ids=(node_id,), outcome="changed"))

    def set(
        self,
        id: str,  # noqa: A002 - the public name
        *,
        by: str | None = None,
        at: dt.datetime | None = None,
        **changes: Any,
    ) -> Proposition:
        """Change fields that are not wording: importance, scope, category, claim, times.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> p = mem.remember("Never force-push to main", kind="norm")
        >>> mem.set(p.id, importance="high", scope={"repo": "acme"}).scope
        Scope({'repo': ['acme']})
        """
        node_id = model.identifier("id", id)
        for field in changes:
            if field not in SETTABLE:
                raise InvalidValue(
                    f"set has no {field!r}; it changes {', '.join(SETTABLE)}. Wording is changed "
                    "with rewrite and append.",
                    field=field,
                )
        if not changes:
            raise InvalidValue(f"set needs a field to change: {', '.join(SETTABLE)}")
        checked = checked_changes(changes)
        work = edits.set_fields(node_id, checked, by=self._who(by), at=self._when(at))
        return self._changed(work, Receipt(ids=(node_id,), outcome="changed"))

    def link(
        self,
        a: str,
        b: str,
        relation: str = "relates",
        *,
        weight: float = 1.0,
        valid_from: dt.datetime | None = None,
        valid_to: dt.datetime | None = None,
        by: str | None = None,
        at: dt.datetime | None = None,
    ) -> Receipt:
        """Link two nodes. ``link(new, old, "supersedes")`` puts new in the place of old.

        Returns
        -------
        Receipt
            ``unchanged`` where exactly this link was there.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> old = mem.remember("The port is 8080")
        >>> new = mem.remember("The port is 9090")
        >>> _ = mem.link(new.id, old.id, "supersedes")
        >>> mem.get(old.id).status
        'superseded'
        """
        source, target, kind = link_rules.checked_ends(a, b, relation)
        strength = link_weight(weight)
        first, last = model.micros("valid_from", valid_from), model.micros("valid_to", valid_to)
        if first is not None and last is not None and last <= first:
            raise InvalidValue("valid_to", valid_to, "after valid_from")
        when, who = self._when(at), self._who(by)

        def work(stage: Stage) -> bool:
            return link_rules.add_link(
                stage,
                source,
                target,
                kind,
                strength,
                at=when,
                by=who,
                valid_from=first,
                valid_to=last,
            )

        return self._receipt(work, Receipt(ids=(source, target)))

    def unlink(
        self,
        a: str,
        b: str,
        relation: str = "relates",
        *,
        by: str | None = None,
        at: dt.datetime | None = None,
    ) -> Receipt:
        """Take a link back; taking back ``supersedes`` brings the old one back.

        Raises
        ------
        NotFound
            If there is no such link.
        """
        source, target, kind = link_rules.checked_ends(a, b, relation)
        when, who = self._when(at), self._who(by)

        def work(stage: Stage) -> bool:
            link_rules.remove_link(stage, source, target, kind, at=when, by=who)
            return True

        return self._receipt(work, Receipt(ids=(source, target), outcome="changed"))

    def use(self, ids: str | Iterable[str], *, at: dt.datetime | None = None) -> int:
        """Record that propositions were really used (being listed is no use).

        Uses are no commits of their own: they ride on the next one, or on ``close``.

        Returns
        -------
        int
            How many were recorded.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> p = mem.remember("Backups run at 02:00 UTC")
        >>> mem.use([p.id]), mem.get(p.id).use_count
        (1, 1)
        """
        if not isinstance(ids, Iterable):
            raise InvalidValue("ids", ids, "an id or several")
        names = [ids] if isinstance(ids, str) else list(ids)
        checked = tuple(model.identifier("ids", item) for item in names)
        return self._live.ride(edits.use(checked, at=self._when(at)))

    @contextlib.contextmanager
    def transaction(self, message: str = "") -> Iterator[Transaction]:
        """Make all writes of a block one commit: all of them, or none.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> with mem.transaction("import"):
        ...     a = mem.remember("The cache is Redis")
        ...     b = mem.remember("The queue is NATS")
        ...     _ = mem.link(a.id, b.id)
        >>> len(mem)
        2
        """
        checked = model.text("message", message, TEXT_CHARACTERS)
        handle = Transaction()
        with self._live.transaction(checked) as stage:
            yield handle
        handle.commit = stage.commit.id.hex() if stage.commit is not None else ""

    def set_params(self, params: Params) -> None:
        """Change the store's own parameters; journalled.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> mem.set_params(doxa.Params(hops=1))
        >>> mem.params.hops
        1
        """
        if not isinstance(params, Params):
            raise InvalidValue("params", params, "a doxa.Params")

        def work(stage: Stage) -> bool:
            if stage.state.params == params:
                return False
            stage.emit("params.set", "", self._live.now(), {"params": params.to_dict()})
            return True

        self._live.write(work, "set_params")

    # -- reading ---------------------------------------------------------------------

    @property
    def params(self) -> Params:
        """The store's own parameters."""
        return self._live.view().params

    def get(self, id: str) -> Proposition:  # noqa: A002 - the public name
        """Return a proposition.

        Raises
        ------
        NotFound
            If there is none of this id.
        """
        state = self._live.view()
        return state.proposition(edits.known(state, model.identifier("id", id)))

    def __contains__(self, id: object) -> bool:  # noqa: A002 - the public name
        if not isinstance(id, str):
            return False
        try:
            node_id = model.identifier("id", id)
        except InvalidValue:
            return False
        return self._live.view().node(node_id, PROPOSITION) is not None

    def __len__(self) -> int:
        return self._live.view().tables["propositions"].length

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Proposition]:
        return self.propositions()

    def propositions(
        self,
        *,
        kinds: Iterable[str] | str | None = None,
        statuses: Iterable[str] | str | None = None,
        importances: Iterable[str] | str | None = None,
    ) -> Iterator[Proposition]:
        """Iterate over propositions in the order in which they were stored.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> _ = mem.remember("Never deploy on Fridays", kind="norm")
        >>> [p.title for p in mem.propositions(kinds="norm")]
        ['Never deploy on Fridays']
        """
        wanted = [
            (field, chosen(name, value, allowed))
            for name, field, value, allowed in (
                ("kinds", "kind", kinds, model.KINDS),
                ("statuses", "status", statuses, model.STATUSES),
                ("importances", "importance", importances, model.IMPORTANCES),
            )
            if value is not None
        ]
        return self._iterate(self._live.view(), wanted)

    @staticmethod
    def _iterate(
        state: State, wanted: Sequence[tuple[str, Collection[str]]]
    ) -> Iterator[Proposition]:
        for row in state.tables["propositions"]:
            item = state.proposition(state.must(row.id))
            if all(getattr(item, field) in names for field, names in wanted):
                yield item

    def recall(self, query: str, *, now: dt.datetime | None = None, **given: Any) -> Hits:
        """Return what the memory holds on a query, the best first.

        Parameters
        ----------
        query : str
            Words, in any language; never syntax.
        k : int
            How many hits at most (default 10).
        scope : Scope or mapping, optional
            The situation: what applies to it or may apply.
        kinds, categories, statuses, include : list of str, optional
            Filters; ``include`` adds ``archived``, ``quarantined`` or ``retired``.
        about : str or list, optional
            Only what is about these entities.
        hops : int, optional
            Hops of the spread for this call.
        spread : bool
            False gives the flat match alone.
        relevance : {"bm25", "count"}, optional
        valid_at : datetime, optional
            Only what is true in the world at that time.
        history : bool
            Old statements in their own right: successors are not lifted above them.
        min_confidence, min_confidence_of_hits : float, optional
            Drop weak beliefs; return nothing where nothing relevant is known.
        params : Params, optional
            Other constants for this call.
        now : datetime, optional
            The time of reading; default: the clock.

        Returns
        -------
        Hits

        Raises
        ------
        InvalidValue
            Naming the argument. An empty query or unknown words give no hits, not an error.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> _ = mem.remember("数据库端口是 5432")
        >>> mem.recall("端口")[0].title
        '数据库端口是 5432'
        """
        state = self._live.view()
        text, moment = _query(query), self._when(now, "now")
        if not given:  # the call of every turn
            params = self._read_params or state.params
            return Hits(state.engine.recall(text, _K, moment, params.tuning), state)
        o = self._options(state, given)
        raw = state.engine.recall(
            text, o.k, moment, o.params.tuning, o.filter, o.spread, o.min_confidence_of_hits
        )
        return Hits(raw, state)

    def recall_many(
        self, queries: Iterable[str], *, now: dt.datetime | None = None, **given: Any
    ) -> list[Hits]:
        """Recall a batch on all cores; arguments as for :meth:`recall`.

        Returns
        -------
        list of Hits
            One per query, equal to what :meth:`recall` gives.
        """
        if isinstance(queries, str) or not isinstance(queries, Iterable):
            raise InvalidValue("queries", queries, "several queries")
        texts = [_query(query) for query in queries]
        state = self._live.view()
        o = self._options(state, given)
        raws = state.engine.recall_many(
            texts,
            o.k,
            self._when(now, "now"),
            o.params.tuning,
            o.filter,
            o.spread,
            o.min_confidence_of_hits,
        )
        return [Hits(raw, state) for raw in raws]

    def related(
        self, ids: str | Iterable[str], *, now: dt.datetime | None = None, **given: Any
    ) -> Hits:
        """Return what is connected to given nodes, by activation alone.

        Parameters
        ----------
        ids : str or list of str
            Propositions, entities, evidence or contexts.
        """
        if not isinstance(ids, Iterable):
            raise InvalidValue("ids", ids, "an id or several")
        state = self._live.view()
        nodes = []
        for item in [ids] if isinstance(ids, str) else ids:
            node = state.engine.node(model.identifier("ids", item))
            if node is None:
                raise NotFound(f"related: there is no {shorten(item)}", id=item)
            nodes.append(node)
        o = self._options(state, given)
        moment = self._when(now, "now")
        return Hits(state.engine.related(nodes, o.k, moment, o.params.tuning, o.filter), state)

    def _options(self, state: State, given: Mapping[str, Any]) -> Options:
        for field in given:
            if field not in _RECALL_NAMES:
                raise InvalidValue(
                    f"recall has no {field!r}; it takes {', '.join(sorted(_RECALL_NAMES))}",
                    field=field,
                )
        return options(state, self._read_params or state.params, **given)

    def rescore(
        self, *, now: dt.datetime | None = None, strength: Strength | None = None
    ) -> pa.Table:
        """Return the strength of every proposition at a time.

        Parameters
        ----------
        now : datetime, optional
            Default: the clock.
        strength : callable, optional
            ``(days, use_count, importance) -> strength``, compiled with ``numba.cfunc`` as
            ``float64(float64, int64, int64)``; a plain function is compiled with numba (extra
            ``batch``).

        Returns
        -------
        pyarrow.Table
            ``id``, ``strength`` and its terms ``base``, ``recency``, ``frequency`` (not with an own
            function); one row per proposition, in the order in which they were stored.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> _ = mem.remember("Backups run at 02:00 UTC")
        >>> mem.rescore()["strength"][0].as_py() > 1
        True
        """
        state = self._live.view()
        params = self._read_params or state.params
        return rescored(state, params, self._when(now, "now"), strength)

    def to_arrow(self, table: str, *, as_of: object = None) -> pa.Table:
        """Return a table of the store.

        Parameters
        ----------
        table : {"propositions", "links", "evidence", "entities", "contexts", "journal"}

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> _ = mem.remember("Backups run at 02:00 UTC")
        >>> mem.to_arrow("propositions")["title"].to_pylist()
        ['Backups run at 02:00 UTC']
        """
        model.choice("table", table, _TABLES)
        if as_of is not None:
            raise NotInThisVersion("as_of is not built yet: to_arrow gives the last commit")
        state = self._live.view()
        if table == "journal":
            return self._live.store.journal_table()
        return state.arrow(table)

    def stats(self) -> dict[str, Any]:
        """Return counts and sizes: nodes by type, links, terms, commits, bytes on disk."""
        state = self._live.view()
        counts = {
            name: state.tables[name].length
            for name in ("propositions", "evidence", "entities", "contexts")
        }
        core = state.engine.stats()
        return {
            **counts,
            "links": core["links"],
            "terms": core["terms"],
            "commits": state.commit_seq,
            "pending_changes": core["pending"],
            "language": state.language,
            **self._live.store.sizes(),
        }

    # -- the handle --------------------------------------------------------------------

    def close(self) -> None:
        """Write uses that still ride, and close. Closing twice is fine."""
        self._live.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<doxa.Memory {self._live.store.where!r}>"

    # -- between the rooms ---------------------------------------------------------------

    def _when(self, at: dt.datetime | None, field: str = "at") -> int:
        given = model.micros(field, at)
        return self._live.now() if given is None else given

    def _who(self, by: str | None) -> str:
        return self._live.agent if by is None else name("by", by)

    def _commit(self, work: Work[Receipt]) -> tuple[Receipt, State]:
        live = self._live
        receipt = live.write(work)
        return self._stamped(receipt), live.reading

    def _stamped(self, receipt: Receipt) -> Receipt:
        live = self._live
        if live.staging is not None or not live.last_commit:
            return receipt
        return msgspec.structs.replace(receipt, commit=live.last_commit)

    def _receipt(self, work: Work[Any], receipt: Receipt) -> Receipt:
        done = self._live.write(work)
        if done is False:
            return msgspec.structs.replace(receipt, outcome="unchanged")
        return self._stamped(receipt)

    def _changed(self, work: Work[Any], receipt: Receipt) -> Proposition:
        stamped = self._receipt(work, receipt)
        return self._proposition(self._live.reading, receipt.ids[0], stamped)

    def _proposition(self, state: State, node_id: str, receipt: Receipt) -> Proposition:
        item = state.proposition(edits.known(state, node_id))
        return msgspec.structs.replace(item, receipt=receipt)

    def _checkpoint(self, *, compact: bool) -> None:
        self._live.checkpoint(compact=compact)


def _query(query: object) -> str:
    return model.text("query", query, TEXT_CHARACTERS)
