"""Strength of every proposition at once: the batch job.

The default runs in the core, a multiply and an add per row. A team's own curve may be a
compiled function that the core calls without the interpreter.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

import pyarrow as pa

from doxa.errors import InvalidValue, MissingExtra
from doxa.params import Params
from doxa.state.state import State

__all__ = ["Strength", "rescored"]

#: The base class of all function types of ctypes.
_C_FUNCTION: Final[type] = type(ctypes.CFUNCTYPE(None)()).__mro__[1]

#: ``(days, use_count, importance code) -> strength``, plain Python or ``numba.cfunc``.
Strength: TypeAlias = Callable[[float, int, int], float]


def rescored(state: State, params: Params, now: int, strength: Strength | None) -> pa.Table:
    """Return ids and strengths; see :meth:`doxa.Memory.rescore`."""
    if strength is None:
        nodes, strengths, recency, frequency, base = state.engine.rescore(now, params.tuning)
        columns: dict[str, Any] = {
            "strength": strengths,
            "base": base,
            "recency": recency,
            "frequency": frequency,
        }
    else:
        address, keep = _compiled(strength)
        nodes, total = state.engine.rescore_with(now, address)
        del keep
        columns = {"strength": total}
    return pa.table({"id": pa.array(state.engine.ids(nodes), pa.string()), **columns})


def _compiled(strength: Any) -> tuple[int, Any]:
    """Return the address of a C function ``double(double, int64, int64)``, and its owner."""
    address = getattr(strength, "address", None)
    if isinstance(address, int):
        return address, strength
    if isinstance(strength, _C_FUNCTION):
        pointer = ctypes.cast(cast(Any, strength), ctypes.c_void_p).value
        assert pointer is not None
        return pointer, strength
    if not callable(strength):
        raise InvalidValue("strength", strength, "a function of (days, use_count, importance)")
    try:
        import numba
    except ImportError:
        raise MissingExtra(
            "strength: compiling a Python function needs numba; install doxa[batch], or pass a "
            "ctypes function double(double, int64, int64)",
            extra="batch",
        ) from None
    function = getattr(strength, "py_func", strength)
    try:
        compiled = numba.cfunc("float64(float64, int64, int64)")(function)
    except numba.core.errors.NumbaError as error:
        raise InvalidValue("strength", strength, f"numba cannot compile it: {error}") from error
    return int(compiled.address or 0), compiled
