"""``doxa.open`` and ``doxa.memory``: from a path to a Memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from doxa import model
from doxa.errors import InvalidValue, NotInThisVersion, StoreNotFound
from doxa.memory import Memory
from doxa.params import Params
from doxa.recall.options import read_params
from doxa.state.image import state_of
from doxa.state.live import Live
from doxa.state.state import State
from doxa.store import MemoryFiles, RealFiles, Store, Text
from doxa.write.drafts import draft, name
from doxa.write.seeds import SEED_NORMS

__all__ = ["memory", "open"]

_LANGUAGES: Final = ("en", "")
_DURABILITIES: Final = ("full", "batch", "memory")
_LOCK_SECONDS: Final = 30.0
_KEY_BYTES: Final = 16


def open(  # noqa: A001 - the public name
    path: str | os.PathLike[str],
    *,
    agent: str = "agent",
    channel: str = "",
    trust: str = "trusted",
    context: str | None = None,
    create: bool = True,
    read_only: bool = False,
    params: Params | None = None,
    language: str = "en",
    durability: str = "full",
    key: bytes | None = None,
    anchor: Callable[[int, bytes], None] | None = None,
    seed_norms: bool = True,
    lock_timeout: float = _LOCK_SECONDS,
) -> Memory:
    """Open a store, or create it where there is none.

    Parameters
    ----------
    path : str or path
        The store's directory.
    agent, channel : str
        Who writes through this handle and by which way; stands in every record.
    trust : {"trusted"}
        What this handle writes is taken for.
    context : str, optional
        The context of this session: a reference in what is written.
    create, read_only : bool
        Whether a missing store is created; whether nothing may be written.
    params : Params, optional
        Constants of a new store; of an existing one, for this handle's reads only.
    language : {"en", ""}
        Of a new store: English stems as second terms, or none.
    durability : {"full", "batch", "memory"}
        Synced before a write returns; synced in bounded batches; never synced.
    key : bytes, optional
        At least 16 bytes: the chain is keyed, so that only who has it can alter history.
    anchor : callable, optional
        Called with (sequence number, chain hash) to be kept outside the store.
    seed_norms : bool
        Whether a new store begins with a few norms about its own upkeep.
    lock_timeout : float
        Seconds to wait for another writer before ``StoreBusy``.

    Returns
    -------
    Memory

    Raises
    ------
    InvalidValue, StoreNotFound, StoreCorrupt, FormatTooNew, StoreUnavailable

    Examples
    --------
    >>> with doxa.open(tmp_path / "memory", agent="a17") as mem:
    ...     _ = mem.remember("The API listens on port 8080")
    >>> with doxa.open(tmp_path / "memory") as mem:
    ...     mem.recall("API port")[0].title
    'The API listens on port 8080'
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InvalidValue("path", path, "a directory's path")
    text = os.fspath(path)
    if not isinstance(text, str) or not text or "\0" in text:
        raise InvalidValue("path", text, "a directory's path, not empty, without NUL")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        rule = "a path that the file system can hold, without lone surrogates"
        raise InvalidValue("path", text, rule) from None
    settings = _checked(agent, channel, trust, context, params, language, lock_timeout)
    model.choice("durability", durability, _DURABILITIES)
    for field, value in (("create", create), ("read_only", read_only), ("seed_norms", seed_norms)):
        model.flag(field, value)
    if key is not None and (not isinstance(key, (bytes, bytearray)) or len(key) < _KEY_BYTES):
        raise InvalidValue(
            "key", f"<{type(key).__name__}>", f"bytes, at least {_KEY_BYTES} of them"
        )
    if anchor is not None and not callable(anchor):
        raise InvalidValue("anchor", anchor, "a function of (sequence number, chain hash)")
    files, root = RealFiles(), str(Path(text))
    common: dict[str, Any] = {"durability": durability, "key": key, "anchor": anchor}
    try:
        store = Store.open(files, root, read_only=read_only, **common)
        fresh = False
    except StoreNotFound:
        if not create or read_only:
            raise
        store = Store.create(files, root, **common)
        fresh = True
    return _memory_over(store, settings, fresh=fresh, seed_norms=seed_norms)


def memory(
    *,
    agent: str = "agent",
    channel: str = "",
    trust: str = "trusted",
    context: str | None = None,
    params: Params | None = None,
    language: str = "en",
    seed_norms: bool = True,
    **given: Any,
) -> Memory:
    """Return a memory in RAM: the same code over files that are not on disk.

    Parameters
    ----------
    agent, channel, trust, context, params, language, seed_norms
        As for :func:`doxa.open`.

    Examples
    --------
    >>> mem = doxa.memory(seed_norms=False)
    >>> len(mem)
    0
    """
    for field in given:
        if field not in ("create", "read_only", "durability", "key", "anchor"):
            raise InvalidValue(f"memory has no {field!r}", field=field)
    settings = _checked(agent, channel, trust, context, params, language, _LOCK_SECONDS)
    model.flag("seed_norms", seed_norms)
    store = Store.create(
        MemoryFiles(), "memory", durability="memory", key=None, anchor=None, store_id=bytes(16)
    )
    return _memory_over(store, settings, fresh=True, seed_norms=seed_norms)


def _checked(
    agent: object,
    channel: object,
    trust: object,
    context: object,
    params: object,
    language: object,
    lock_timeout: object,
) -> dict[str, Any]:
    model.choice("language", language, _LANGUAGES)
    if trust != "trusted":
        model.choice("trust", trust, ("trusted", "untrusted"))
        raise NotInThisVersion("trust='untrusted' is not built yet: open with trust='trusted'")
    if params is not None and not isinstance(params, Params):
        raise InvalidValue("params", params, "a doxa.Params")
    return {
        "agent": name("agent", agent),
        "channel": model.text("channel", channel, model.NAME_CHARACTERS),
        "context": "" if context is None else model.identifier("context", context),
        "params": params,
        "language": language,
        "lock_timeout": model.number("lock_timeout", lock_timeout, 0.0, 86_400.0),
    }


def _memory_over(
    store: Store, settings: dict[str, Any], *, fresh: bool, seed_norms: bool
) -> Memory:
    try:
        state = _state(store)
        live = Live(
            store,
            state,
            agent=settings["agent"],
            channel=settings["channel"],
            lock_timeout=settings["lock_timeout"],
        )
        params = settings["params"]
        live.begin()
        reading = None
        if live.state.commit_seq == 0 and store.writable:
            _begin(live, settings, fresh, seed_norms)
        elif params is not None and not fresh:
            reading = read_params(params, live.state.params)
        mem = Memory(live, read_params=reading, context=settings["context"])
    except BaseException:
        store.close()
        raise
    return mem


def _state(store: Store) -> State:
    """Return the state to start from: the checkpoint's, or an empty one."""
    image = store.load_checkpoint()
    if image is None:
        return State(Params(), "en")
    return state_of(image.meta, image.tables, image.arrays)


def _begin(live: Live, settings: dict[str, Any], fresh: bool, seed_norms: bool) -> None:
    """Write the first commit of a new store: its parameters, language and first norms."""
    params = settings["params"] or Params()

    def work(stage: Any) -> bool:
        if stage.live.state.commit_seq:  # another process was first
            return False
        now = live.now()
        fields = {"params": params.to_dict(), "language": settings["language"]}
        stage.emit("store.create", "", now, fields)
        for norm in SEED_NORMS if seed_norms else ():
            stage.emit("proposition.add", norm["id"], now, seed_fields(norm))
        return True

    live.write(work, "create")


def seed_fields(norm: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a norm that doxa itself brings."""

    checked = draft(
        norm["title"],
        norm["summary"],
        id=norm["id"],
        kind="norm",
        source="doxa",
        now=0,
        agent="doxa",
    )
    texts = ("title", "summary", "body", "exit_condition", "source")
    return {
        **checked.fields,
        **{field: Text(checked.fields[field]) for field in texts},
        "context": "",
    }
