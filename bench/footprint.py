"""What a memory takes: RAM per proposition, forks, re-scoring, import.

RAM and import are measured in a process of their own: ``python -m bench.footprint N`` prints one
JSON object. Everything else runs in the caller's.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.core import NOW_MICROSECONDS, engine_of, params_of
from bench.data import PLAIN, Workload, workload
from bench.timing import fastest
from doxa import _core

__all__ = ["forks", "imports", "memory", "rescore"]

ROOT = Path(__file__).parents[1]
_BYTES_READ, _BYTES_WRITTEN = 12, 20


def rescore(work: Workload, engine: _core.Engine, *, rounds: int = 5) -> dict[str, Any]:
    """Measure a batch re-score beside a bare pass over as many bytes, and beside NumPy.

    The pass reads 12 and writes 20 bytes per node into fresh memory, as the core does: the
    strength pair and what is packed with it, and number, strength and its three terms.
    """
    tuning = params_of(PLAIN).tuning
    source = np.ones((work.n, _BYTES_WRITTEN // 4), dtype=np.float32)
    core = fastest(lambda: engine.rescore(NOW_MICROSECONDS, tuning), rounds)
    bare = fastest(lambda: _pass(source), rounds)
    numpy = fastest(lambda: _numpy_rescore(work), rounds)
    moved = (_BYTES_READ + _BYTES_WRITTEN) / (2 * _BYTES_WRITTEN)
    return {
        "n": work.n,
        "nodes_per_us": work.n / core / 1e6,
        "bandwidth_to_pass": bare * moved / core,
        "times_numpy": numpy / core,
    }


def _pass(source: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return source * np.float32(1.0)


def _numpy_rescore(work: Workload) -> tuple[np.ndarray[Any, Any], ...]:
    base = np.array([0.0, 0.2, 0.4, 0.6])[work.importance]
    half_life = np.array([7.0, 21.0, 45.0, 60.0])[work.importance]
    days = np.maximum(0.0, (NOW_MICROSECONDS - work.last_used) / 86_400e6)
    recency, use = np.exp(-days / half_life), 0.05 * np.log1p(work.use_count)
    return base + recency + use, recency, use, base


def forks(work: Workload, engine: _core.Engine) -> dict[str, Any]:
    """Measure a fork, and the first write to one."""

    def write() -> None:
        fork = engine.fork()
        fork.set_text(0, "one changed title")

    return {
        "n": work.n,
        "fork_us": fastest(engine.fork, 20) * 1e6,
        "fork_and_write_us": fastest(write, 20) * 1e6,
    }


def memory(n: int) -> dict[str, Any]:
    """Return RAM per proposition of the core alone, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.footprint", str(n)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return dict(json.loads(done.stdout))


def _memory_here(n: int) -> dict[str, Any]:
    work = workload(n, queries=1)
    _ = work.ids
    before = _resident()
    engine = engine_of(work, params_of(PLAIN))
    grown = _resident() - before
    arrays = {name: array.nbytes for name, array in engine.arrays().items()}
    links = work.link_from.size
    return {
        "n": n,
        "rss_bytes_per_proposition": grown / n,
        "array_bytes_per_proposition": sum(arrays.values()) / n,
        "links_each": links / n,
        "beside_links_at_20": sum(arrays.values()) / n - 20 * links / n,
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "largest_arrays": dict(sorted(arrays.items(), key=lambda item: -item[1])[:8]),
    }


def _resident() -> int:
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def imports(rounds: int = 5) -> dict[str, Any]:
    """Measure ``import doxa`` beside ``import numpy, pyarrow``, in turn."""
    taken: dict[str, list[float]] = {"import doxa": [], "import numpy, pyarrow": []}
    for _ in range(rounds):
        for code, times in taken.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
    own, base = (float(np.median(times)) for times in taken.values())
    return {"import_s": own, "base_s": base, "ratio": own / base}


if __name__ == "__main__":
    print(json.dumps(_memory_here(int(sys.argv[1]))))
