"""How times are taken: several implementations in turn, the same items, medians over rounds.

A time per item is the median of its rounds, so that what the machine does besides disturbs little;
percentiles are then taken over the items. Knows nothing of what it times.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["each", "fastest", "interleaved", "percentiles", "quiet"]

Times = npt.NDArray[np.float64]


@contextmanager
def quiet() -> Any:
    """Keep the garbage collector out of what is timed."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def each(call: Callable[[Any], object], items: Sequence[Any]) -> Times:
    """Return the time of each call in µs."""
    clock, out = time.perf_counter_ns, np.empty(len(items))
    for at, item in enumerate(items):
        start = clock()
        call(item)
        out[at] = clock() - start
    return out / 1000


def interleaved(
    calls: Mapping[str, tuple[Callable[[Any], object], Sequence[Any]]], rounds: int
) -> dict[str, Times]:
    """Return by name each item's median time in µs over rounds in which all take turns."""
    for call, items in calls.values():
        each(call, items[:50])
    taken: dict[str, list[Times]] = {name: [] for name in calls}
    with quiet():
        for _ in range(rounds):
            for name, (call, items) in calls.items():
                taken[name].append(each(call, items))
    return {name: np.median(times, axis=0) for name, times in taken.items()}


def percentiles(name: str, times: Times) -> dict[str, float]:
    """Return p50 and p99 as columns of a row.

    Examples
    --------
    >>> percentiles("core", np.array([1.0, 2.0, 3.0]))
    {'core_p50_us': 2.0, 'core_p99_us': 2.98}
    """
    return {
        f"{name}_p50_us": float(np.percentile(times, 50)),
        f"{name}_p99_us": round(float(np.percentile(times, 99)), 6),
    }


def fastest(call: Callable[[], object], rounds: int) -> float:
    """Return the least time of several calls in seconds."""
    with quiet():
        return min(_seconds(call) for _ in range(rounds))


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
