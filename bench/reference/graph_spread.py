"""The spread alone by general means: SciPy sparse rows, dictionaries, networkx.

Each does exactly the formulas of the Numba reference, per-link threshold included, from given
seeds and energies, and returns {row: activation}. Knows no text. Cost: SciPy slices the rows of a
frontier and multiplies them as arrays; the other two walk one link at a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from bench.reference.arrays import Arrays

if TYPE_CHECKING:
    import networkx


def scipy_matrix(arrays: Arrays) -> scipy.sparse.csr_array:
    """Conductance times damping as a sparse matrix: row sends, column receives."""
    starts = arrays.nodes["start"].astype(np.int64)
    targets = arrays.edges["node"].astype(np.int32)
    damp = arrays.nodes["damp"][:-1]
    damp = damp[targets] if arrays.setting.damp == "receiver" else np.repeat(damp, np.diff(starts))
    weights = (arrays.edges["conductance"] * damp).astype(np.float32)
    return scipy.sparse.csr_array((weights, targets, starts), shape=(arrays.n, arrays.n))


def scipy_spread(
    matrix: scipy.sparse.csr_array, arrays: Arrays, energy: Mapping[int, float]
) -> dict[int, float]:
    """Spread by slicing the rows of the frontier out of a sparse matrix."""
    setting = arrays.setting
    nodes: npt.NDArray[np.integer] = np.fromiter(energy.keys(), dtype=np.int64)
    amounts: npt.NDArray[np.float64] = np.fromiter(energy.values(), dtype=np.float64)
    total: npt.NDArray[np.float64] = np.zeros(arrays.n)
    for _ in range(setting.hops):
        rows = matrix[nodes]
        adds: npt.NDArray[np.float64] = rows.data * np.repeat(
            amounts * setting.lam, np.diff(rows.indptr)
        )
        kept = adds >= setting.theta
        arrived = np.asarray(
            np.bincount(rows.indices[kept], weights=adds[kept], minlength=arrays.n), np.float64
        )
        total += arrived
        nodes = np.flatnonzero(arrived)
        amounts = arrived[nodes]
    found = np.flatnonzero(total)
    return dict(zip(found.tolist(), total[found].tolist(), strict=True))


def dict_graph(arrays: Arrays) -> dict[int, list[tuple[int, float]]]:
    """The rows as a dictionary of lists of (neighbour, conductance times damping)."""
    matrix = scipy_matrix(arrays)
    starts = matrix.indptr.tolist()
    edges = list(zip(matrix.indices.tolist(), matrix.data.tolist(), strict=True))
    return {row: edges[starts[row] : starts[row + 1]] for row in range(arrays.n)}


def dict_spread(
    graph: Mapping[int, list[tuple[int, float]]], arrays: Arrays, energy: Mapping[int, float]
) -> dict[int, float]:
    """Spread over a dictionary of lists, the obvious Python."""
    setting = arrays.setting
    total: dict[int, float] = defaultdict(float)
    frontier = dict(energy)
    for _ in range(setting.hops):
        arrived: dict[int, float] = defaultdict(float)
        for node, amount in frontier.items():
            for target, weight in graph[node]:
                add = amount * setting.lam * weight
                if add >= setting.theta:
                    arrived[target] += add
        for target, amount in arrived.items():
            total[target] += amount
        frontier = arrived
    return dict(total)


def networkx_graph(arrays: Arrays) -> networkx.DiGraph[Any]:
    """The rows as a networkx graph with ``weight`` on its edges."""
    import networkx

    graph: networkx.DiGraph[Any] = networkx.DiGraph()
    graph.add_nodes_from(range(arrays.n))
    for node, edges in dict_graph(arrays).items():
        for target, weight in edges:
            if graph.has_edge(node, target):  # both directions of a pair of links
                graph[node][target]["weights"].append(weight)
            else:
                graph.add_edge(node, target, weights=[weight])
    return graph


def networkx_spread(
    graph: networkx.DiGraph[Any], arrays: Arrays, energy: Mapping[int, float]
) -> dict[int, float]:
    """Spread over a networkx graph."""
    setting = arrays.setting
    total: dict[int, float] = defaultdict(float)
    frontier = dict(energy)
    for _ in range(setting.hops):
        arrived: dict[int, float] = defaultdict(float)
        for node, amount in frontier.items():
            for target, data in graph.adj[node].items():
                for weight in data["weights"]:
                    add = amount * setting.lam * weight
                    if add >= setting.theta:
                        arrived[target] += add
        for target, amount in arrived.items():
            total[target] += amount
        frontier = arrived
    return dict(total)
