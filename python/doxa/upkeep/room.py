"""``mem.upkeep``: what keeps a store in order."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from doxa import model
from doxa.errors import InvalidValue
from doxa.model import TEXT_CHARACTERS, Proposition, Receipt
from doxa.write import edits
from doxa.write.drafts import evidence_drafts

if TYPE_CHECKING:
    from doxa.memory import Memory
    from doxa.store import VerifyReport

__all__ = ["Upkeep"]


class Upkeep:
    """The room for retirement, checkpoints and verification; reached as ``mem.upkeep``."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def retire(
        self,
        id: str,  # noqa: A002 - the public name
        ground: str,
        *,
        reason: str = "",
        evidence: object = (),
        by: str | None = None,
        at: dt.datetime | None = None,
    ) -> Proposition:
        """Take a proposition out of recall because it is false or its scene is gone.

        Parameters
        ----------
        id : str
            The proposition.
        ground : {"falsified", "scene_gone"}
            There are no other grounds: being unused is none.
        reason : str
            For ``scene_gone``: how it is known that what it guarded exists no longer.
        evidence : str, mapping or list
            For ``falsified``: what was said, read or measured, as text or evidence ids.
        by, at
            Who and when; default: the handle's agent, now.

        Raises
        ------
        InvalidValue
            For another ground, or a ground without what it needs.
        NotFound
            For an unknown id.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> p = mem.remember("The staging host is s1.example.org")
        >>> mem.upkeep.retire(p.id, "scene_gone", reason="staging was switched off").status
        'retired'
        >>> len(mem.recall("staging host"))
        0
        """
        memory = self._memory
        node_id = model.identifier("id", id)
        model.choice("ground", ground, edits.GROUNDS)
        why = model.text("reason", reason, TEXT_CHARACTERS)
        when, who = memory._when(at), memory._who(by)
        given = evidence_drafts(evidence, "", "user_explicit", when)
        if ground == "falsified" and not given:
            raise InvalidValue("evidence", evidence, "falsified needs the evidence that showed it")
        if ground == "scene_gone" and not why.strip():
            raise InvalidValue("reason", reason, "scene_gone says how that is known")
        drawn = tuple((item.id or memory._live.draw_id(when, item.text), item) for item in given)
        work = edits.retire(node_id, ground, reason=why, evidence=drawn, by=who, at=when)
        return memory._changed(work, Receipt(ids=(node_id,), outcome="changed"))

    def restore(
        self,
        id: str,  # noqa: A002 - the public name
        *,
        by: str | None = None,
        at: dt.datetime | None = None,
    ) -> Proposition:
        """Bring a retired proposition back as it was.

        Examples
        --------
        >>> mem = doxa.memory(seed_norms=False)
        >>> p = mem.remember("The staging host is s1.example.org")
        >>> _ = mem.upkeep.retire(p.id, "scene_gone", reason="switched off")
        >>> mem.upkeep.restore(p.id).status
        'active'
        """
        memory = self._memory
        node_id = model.identifier("id", id)
        work = edits.restore(node_id, by=memory._who(by), at=memory._when(at))
        return memory._changed(work, Receipt(ids=(node_id,), outcome="changed"))

    def checkpoint(self) -> None:
        """Write the state to verified Arrow files, so that opening replays less.

        Raises
        ------
        StoreError
            If the files could not be written; the store is as it was.
        """
        self._memory._checkpoint(compact=False)

    def compact(self) -> None:
        """Write a checkpoint, archive the journal that it covers, and fold recent changes."""
        self._memory._checkpoint(compact=True)

    def verify(self) -> VerifyReport:
        """Read every byte of the store and check it against its hashes.

        Returns
        -------
        VerifyReport
            What was read and what does not match.
        """
        return self._memory._live.store.verify()
