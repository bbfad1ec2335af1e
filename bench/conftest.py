"""Stores that the benchmarks share, built once per size; ``DOXA_BENCH_SIZES`` names the sizes."""

from __future__ import annotations

import os
from functools import lru_cache

import pytest

from bench.core import engine_of, params_of
from bench.data import PLAIN, Workload, workload
from doxa import _core

QUERIES = 200


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each benchmark at every size asked for, at 1,000 propositions by default."""
    if "size" in metafunc.fixturenames:
        sizes = [int(size) for size in os.environ.get("DOXA_BENCH_SIZES", "1000").split(",")]
        metafunc.parametrize("size", sizes, scope="session")


@lru_cache(maxsize=1)
def _built(size: int) -> tuple[Workload, _core.Engine]:
    work = workload(size, queries=QUERIES)
    return work, engine_of(work, params_of(PLAIN))


@pytest.fixture
def work(size: int) -> Workload:
    """The standard workload."""
    return _built(size)[0]


@pytest.fixture
def engine(size: int) -> _core.Engine:
    """The core that holds it."""
    return _built(size)[1]
