"""The compiled core: a memory graph in columns. Private; see :class:`doxa.Memory`."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "PIPELINE_ID",
    "Engine",
    "Filter",
    "RawHits",
    "Tuning",
    "compare",
    "digest",
    "normalize",
    "similarity",
    "terms",
]

PIPELINE_ID: Final[str]

def digest(
    data: bytes | bytearray | memoryview | NDArray[Any], key: bytes | None = None
) -> bytes: ...
def terms(text: str, language: str = "en") -> list[str]: ...
def normalize(text: str) -> str: ...
def similarity(a: str, b: str) -> float: ...
def compare(
    a: str,
    b: str,
    same_threshold: float = 0.85,
    abstain_threshold: float = 0.4,
    abstain_threshold_cjk: float = 0.3,
) -> tuple[str, float, str]: ...

@final
class Tuning:
    def __new__(
        cls,
        *,
        alpha: float = ...,
        beta: float = ...,
        rho: float = ...,
        w_title: float = ...,
        w_summary: float = ...,
        w_body: float = ...,
        base: Sequence[float] = ...,
        half_life: Sequence[float] = ...,
        w_t: float = ...,
        w_u: float = ...,
        hops: int = ...,
        lam: float = ...,
        theta: float = ...,
        max_seeds: int = ...,
        seed_power: float = ...,
        damp: str = ...,
        damp_allowance: float = ...,
        direction: str = ...,
        conductance: Sequence[float] = ...,
        lift_successor: bool = ...,
        relevance: str = ...,
        k1: float = ...,
        b: float = ...,
    ) -> Tuning: ...

@final
class Filter:
    def __new__(
        cls,
        *,
        statuses: int | None = None,
        kinds: int | None = None,
        categories: int | None = None,
        scopes: bytes | None = None,
        valid_at: int | None = None,
        min_confidence: float | None = None,
        only: Sequence[int] | None = None,
    ) -> Filter: ...

@final
class RawHits:
    def __len__(self) -> int: ...
    @property
    def nodes(self) -> NDArray[np.uint32]: ...
    @property
    def scores(self) -> NDArray[np.float64]: ...
    @property
    def combined(self) -> NDArray[np.float64]: ...
    @property
    def relevance(self) -> NDArray[np.float64]: ...
    @property
    def strength(self) -> NDArray[np.float64]: ...
    @property
    def activation(self) -> NDArray[np.float64]: ...
    @property
    def succession(self) -> NDArray[np.float64]: ...
    @property
    def flags(self) -> NDArray[np.uint8]: ...
    @property
    def rows(self) -> NDArray[np.uint32]: ...
    @property
    def named(self) -> list[int]: ...
    @property
    def seeds(self) -> list[tuple[int, float]]: ...
    @property
    def confidence(self) -> float: ...
    def ids(self) -> list[str]: ...
    def path(self, index: int) -> list[tuple[int, int, int]]: ...
    def successor(self, index: int) -> list[int]: ...

@final
class Engine:
    def __new__(cls, tuning: Tuning, language: str = "en") -> Engine: ...
    @staticmethod
    def load(arrays: Mapping[str, Any], tuning: Tuning, language: str = "en") -> Engine: ...
    def arrays(self) -> dict[str, NDArray[Any]]: ...
    def fork(self) -> Engine: ...
    def adopt(self, fork: Engine) -> None: ...
    def compact(self) -> None: ...
    @property
    def version(self) -> int: ...
    @property
    def node_count(self) -> int: ...
    @property
    def pending(self) -> int: ...
    def add_node(self, id: str, type: int, row: int = 0) -> int: ...
    def set_text(
        self,
        node: int,
        title: str,
        summary: str = "",
        body: str = "",
        id_text: str = "",
        date: str = "",
        evidence: Sequence[str] = ...,
    ) -> None: ...
    def clear_text(self, node: int) -> None: ...
    def set_columns(
        self,
        node: int,
        *,
        kind: int = ...,
        importance: int = ...,
        status: int = ...,
        category: int = ...,
        scope: int = ...,
        row: int = ...,
        use_count: int = ...,
        confidence: float = ...,
        last_used: int | None = ...,
        recorded_at: int | None = ...,
        valid_from: int | None = ...,
        valid_to: int | None = ...,
        event_at: int | None = ...,
        evidence_at: int | None = ...,
    ) -> None: ...
    def set_names(self, node: int, names: Sequence[str]) -> None: ...
    def add_link(self, a: int, b: int, relation: int, weight: float = 1.0) -> bool: ...
    def remove_link(self, a: int, b: int, relation: int) -> bool: ...
    def set_tuning(self, tuning: Tuning) -> None: ...
    def recall(
        self,
        query: str,
        k: int,
        now: int,
        tuning: Tuning,
        filter: Filter | None = None,
        spread: bool = True,
        min_confidence_of_hits: float | None = None,
    ) -> RawHits: ...
    def recall_many(
        self,
        queries: Sequence[str],
        k: int,
        now: int,
        tuning: Tuning,
        filter: Filter | None = None,
        spread: bool = True,
        min_confidence_of_hits: float | None = None,
    ) -> list[RawHits]: ...
    def related(
        self, nodes: Sequence[int], k: int, now: int, tuning: Tuning, filter: Filter | None = None
    ) -> RawHits: ...
    def rescore(
        self, now: int, tuning: Tuning
    ) -> tuple[
        NDArray[np.uint32],
        NDArray[np.float32],
        NDArray[np.float32],
        NDArray[np.float32],
        NDArray[np.float32],
    ]: ...
    def rescore_with(
        self, now: int, address: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64]]: ...
    def node(self, id: str) -> int | None: ...
    def id(self, node: int) -> str: ...
    def ids(self, nodes: Sequence[int] | NDArray[np.uint32]) -> list[str]: ...
    def row(self, node: int) -> int: ...
    def node_type(self, node: int) -> int: ...
    def columns(self, node: int) -> dict[str, Any]: ...
    def links(self, node: int) -> list[tuple[int, int, int, float]]: ...
    def link_weight(self, a: int, b: int, relation: int) -> float | None: ...
    def degree(self, node: int) -> int: ...
    def names_in(self, text: str) -> list[int]: ...
    def compare(
        self,
        statement: str,
        others: Sequence[str],
        same_threshold: float,
        abstain_threshold: float,
        abstain_threshold_cjk: float,
    ) -> list[tuple[str, float, str]]: ...
    def candidates(
        self, statement: str, scopes: bytes | None = None, limit: int = 64
    ) -> list[tuple[int, bool, float]]: ...
    def stats(self) -> dict[str, Any]: ...
