"""``mem.beliefs``: entities and contexts."""

from __future__ import annotations

import datetime as dt
import difflib
from typing import TYPE_CHECKING, Final

import msgspec

from doxa import model
from doxa.errors import AlreadyExists, InvalidValue, NotFound, shorten
from doxa.model import NAME_CHARACTERS, TEXT_CHARACTERS, Context, Entity, Receipt
from doxa.state.live import Stage
from doxa.state.state import CONTEXT, ENTITY, name_key
from doxa.store import Text

if TYPE_CHECKING:
    from doxa.memory import Memory

__all__ = ["Beliefs", "Resolution"]

_CLOSE: Final = 0.75
_OFFERED: Final = 5


class Resolution(msgspec.Struct, frozen=True):
    """What a name may mean.

    Attributes
    ----------
    id : str or None
        The one entity whose id, name or alias this is; None if there is none, or several.
    candidates : tuple of str
        Ids of what comes near, or of the several; never merged silently.
    """

    id: str | None
    candidates: tuple[str, ...] = ()


class Beliefs:
    """The room for entities and contexts; reached as ``mem.beliefs``."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def entity(
        self,
        name: str,
        *,
        type: str = "",  # noqa: A002 - the public name
        aliases: tuple[str, ...] | list[str] = (),
        id: str | None = None,  # noqa: A002 - the public name
        at: dt.datetime | None = None,
        by: str | None = None,
    ) -> Entity:
        """Add an entity, or give one that is there another name, type or more aliases.

        Parameters
        ----------
        name : str
            1 to 256 characters.
        type : str
            Person, service, place, …
        aliases : list of str
            Other names; added to those that are there.
        id : str, optional
            Canonical id; default: the name.

        Returns
        -------
        Entity

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> mem.beliefs.entity("Ada Lovelace", type="person", aliases=["艾达"]).id
        'Ada Lovelace'
        >>> mem.beliefs.resolve("艾达").id
        'Ada Lovelace'
        """
        memory = self._memory
        checked = model.text("name", name, NAME_CHARACTERS, empty=False)
        kind = model.text("type", type, NAME_CHARACTERS)
        if isinstance(aliases, str) or not isinstance(aliases, (list, tuple)):
            raise InvalidValue("aliases", aliases, "a list of names")
        others = [model.text("aliases", a, NAME_CHARACTERS, empty=False) for a in aliases]
        node_id = model.identifier("id", name if id is None else id)
        when, who = memory._when(at), memory._who(by)

        def work(stage: Stage) -> str:
            state = stage.state
            node = state.engine.node(node_id)
            merged = others
            if node is not None:
                if state.engine.node_type(node) != ENTITY:
                    raise AlreadyExists(f"id: {shorten(node_id)} is taken by no entity", id=node_id)
                held = state.record(node)
                merged = list(dict.fromkeys((*held.aliases, *others)))
                if (held.name, held.type or kind, list(held.aliases)) == (
                    checked,
                    kind or held.type,
                    merged,
                ):
                    return node_id
            fields = {
                "name": Text(checked),
                "type": kind or (held.type if node is not None else ""),
                "aliases": [Text(alias) for alias in merged],
                "author": who,
            }
            stage.emit("entity.put", node_id, when, fields)
            return node_id

        receipt = memory._receipt(work, Receipt(ids=(node_id,)))
        state = memory._live.view()
        record = state.record(state.must(node_id))
        return Entity(
            id=record.id,
            name=record.name,
            type=record.type,
            aliases=record.aliases,
            recorded_at=model.instant(record.recorded_at),
            receipt=receipt,
        )

    def resolve(self, name: str) -> Resolution:
        """Return which entity a name means: exact after normalisation, else candidates.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> _ = mem.beliefs.entity("Postgres", aliases=["PostgreSQL"])
        >>> mem.beliefs.resolve("POSTGRESQL").id, mem.beliefs.resolve("Postgre").candidates
        ('Postgres', ('Postgres',))
        """
        checked = model.text("name", name, NAME_CHARACTERS, empty=False)
        state = self._memory._live.view()
        exact = state.entity(checked)
        if exact is not None:
            return Resolution(exact)
        several = state.entities_named(checked)
        if several:
            return Resolution(None, several)
        names = state.names.items()
        near = difflib.get_close_matches(name_key(checked), names, n=_OFFERED, cutoff=_CLOSE)
        ids = dict.fromkeys(node_id for key in near for node_id in names[key])
        return Resolution(None, tuple(ids))

    def context(
        self,
        id: str,  # noqa: A002 - the public name
        *,
        within: str | None = None,
        description: str = "",
        at: dt.datetime | None = None,
        by: str | None = None,
    ) -> Context:
        """Add a context, or describe one that is there.

        Parameters
        ----------
        id : str
            Its name: topic, session, place, project.
        within : str, optional
            The context in which it lies; it has to be there.
        description : str
            What it is.

        Raises
        ------
        NotFound
            If ``within`` is not there.
        InvalidValue
            If a context would lie within itself.
        """
        memory = self._memory
        node_id = model.identifier("id", id)
        outer = "" if within is None else model.identifier("within", within)
        text = model.text("description", description, TEXT_CHARACTERS)
        when, who = memory._when(at), memory._who(by)

        def work(stage: Stage) -> str:
            state = stage.state
            node = state.engine.node(node_id)
            if node is not None and state.engine.node_type(node) != CONTEXT:
                raise AlreadyExists(f"id: {shorten(node_id)} is taken by no context", id=node_id)
            above = outer
            while above:
                if above == node_id:
                    raise InvalidValue("within", outer, "a context does not lie within itself")
                parent = state.node(above, CONTEXT)
                if parent is None:
                    raise NotFound(f"within: there is no context {shorten(above)}", id=above)
                above = state.record(parent).within
            fields = {"within": outer, "description": Text(text), "author": who}
            stage.emit("context.put", node_id, when, fields)
            return node_id

        receipt = memory._receipt(work, Receipt(ids=(node_id,)))
        state = memory._live.view()
        record = state.record(state.must(node_id))
        return Context(
            id=record.id,
            within=record.within,
            description=record.description,
            recorded_at=model.instant(record.recorded_at),
            receipt=receipt,
        )
