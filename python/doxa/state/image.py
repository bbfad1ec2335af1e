"""A state as files hold it: Arrow tables, the core's arrays, and a few values.

The inverse pair :func:`snapshot_of` and :func:`state_of`. Opening from an image
rebuilds no index unless the term pipeline or the language is another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from doxa import _core
from doxa.params import Params
from doxa.scope import Scope
from doxa.state.records import CODECS
from doxa.state.state import State
from doxa.state.tables import Segment, Table
from doxa.store import TableFile

__all__ = ["Image", "snapshot_of", "state_of"]


class Image(msgspec.Struct, frozen=True):
    """What a checkpoint holds of a state."""

    tables: dict[str, pa.Table]
    arrays: dict[str, np.ndarray[Any, Any]]
    meta: dict[str, Any]


def snapshot_of(state: State) -> Image:
    """Return a state, whose core is compacted, as tables, arrays and plain data."""
    return Image(
        tables={name: table.to_arrow() for name, table in state.tables.items()},
        arrays=state.engine.arrays(),
        meta={
            "params": state.params.to_dict(),
            "language": state.language,
            "pipeline": _core.PIPELINE_ID,
            "commit_seq": state.commit_seq,
            "commit_time": state.commit_time,
            "scopes": [scope.to_dict() for scope in state.scopes],
            "names": {key: list(ids) for key, ids in state.names.items().items()},
            "waiting": {key: list(rows) for key, rows in state.waiting.items().items() if rows},
        },
    )


def state_of(
    meta: Mapping[str, Any],
    files: Mapping[str, list[TableFile]],
    arrays: Mapping[str, Any],
) -> State:
    """Return the state that an image was taken of."""
    state = State(Params(**meta["params"]), meta["language"])
    state.tables = {
        name: Table.mapped(codec, [Segment(f.length, f.load) for f in files.get(name, [])])
        for name, codec in CODECS.items()
    }
    for number, scope in enumerate(meta["scopes"]):
        if state.scope_code(Scope(scope)) != number:
            raise ValueError(f"scope {number} of the checkpoint is there twice")
    for key, ids in meta["names"].items():
        state.names.put(key, tuple(ids))
    for key, rows in meta["waiting"].items():
        state.waiting.put(key, tuple(rows))
    state.commit_seq, state.commit_time = meta["commit_seq"], meta["commit_time"]
    if meta["pipeline"] == _core.PIPELINE_ID:
        state.engine = _core.Engine.load(arrays, state.params.tuning, state.language)
    else:
        state.reindex()
    return state
