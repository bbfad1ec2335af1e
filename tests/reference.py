"""Recall written as slow, obvious loops: the oracle that the core is compared with.

Holds the formulas of recall (strength, flat match, spread, succession, filters) in double
precision, one dictionary look-up at a time. Invariant: nothing here imports the core; text is cut
by a function that the caller passes. It knows no store, no time zone and no index. Cost: it walks
every document for every query term, so keep it below a few hundred nodes.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Cut = Callable[[str], Sequence[str]]
Stem = Callable[[str], str]

IMPORTANCES = ("low", "medium", "high", "resident")
RETURNED = frozenset({"active", "pending", "closed", "superseded"})
STANDING = frozenset({"active", "pending", "closed"})
COUNTED_FIELDS = ("title", "summary", "body")
SEEDING_FIELDS = frozenset({"title", "summary"})
STEM_SHARE = 0.5
FUNCTION_WORD_SHARE = 0.3
SUBJECT_FACTOR = 1.2


@dataclass(frozen=True)
class Node:
    """One node. Times are days on any common axis; the ones that are absent are None.

    ``scope`` is the verdict for the situation asked about: ``applies``, ``conditional`` or
    ``no``. ``evidence`` holds the texts of a proposition's evidence, ``names`` an entity's names.
    """

    id: str
    type: str = "proposition"
    title: str = ""
    summary: str = ""
    body: str = ""
    id_text: str = ""
    date: str = ""
    evidence: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    kind: str = "knowledge"
    category: str = ""
    scope: str = "applies"
    importance: str = "medium"
    status: str = "active"
    last_used: float = 0.0
    use_count: int = 0
    recorded_at: float = 0.0
    valid_from: float | None = None
    valid_to: float | None = None
    confidence: float = 0.0


@dataclass(frozen=True)
class Link:
    """A link from ``a`` to ``b``."""

    a: str
    b: str
    relation: str = "relates"
    weight: float = 1.0


@dataclass(frozen=True)
class Filters:
    """What may be returned; scope, status and time also bar energy, the others don't."""

    statuses: Collection[str] = RETURNED
    kinds: Collection[str] | None = None
    categories: Collection[str] | None = None
    valid_at: float | None = None
    min_confidence: float | None = None
    about: str | None = None


@dataclass(frozen=True)
class Hit:
    """One result; ``score`` is the sum of the three terms."""

    id: str
    combined: float
    activation: float
    succession: float
    relevance: float
    hotness: float

    @property
    def score(self) -> float:
        """The sum that orders the results."""
        return self.combined + self.activation + self.succession


def hotness(node: Node, now: float, params: Any) -> float:
    """Strength: base + recency + frequency (days, e-folding time by importance)."""
    days = max(0.0, now - node.last_used)
    recency = params.w_t * math.exp(-days / params.half_life[node.importance])
    return float(params.base[node.importance] + recency + params.w_u * math.log(1 + node.use_count))


def hub_damp(degree: float, allowance: float) -> float:
    """Damping by degree; an allowance of 0 is the published form."""
    if allowance == 0:
        return 1 / (1 + math.log(1 + degree))
    return 1 / (1 + math.log(max(1.0, degree / allowance)))


@dataclass
class Graph:
    """All nodes and links, and the cutting of text they were indexed with."""

    nodes: Sequence[Node]
    links: Sequence[Link]
    cut: Cut = str.split
    stem: Stem | None = None
    function_words: Collection[str] = field(default_factory=frozenset)

    @cached_property
    def by_id(self) -> Mapping[str, Node]:
        """Nodes by id."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def documents(self) -> Mapping[str, Document]:
        """The indexed propositions."""
        return {
            node.id: Document(node, self.cut, self.stem)
            for node in self.nodes
            if node.type == "proposition"
        }

    @cached_property
    def frequencies(self) -> Mapping[str, int]:
        """Documents that hold each term, in any field, as a word or as a stem."""
        counts: Counter[str] = Counter()
        for document in self.documents.values():
            counts.update(document.vocabulary)
        return counts

    def idf(self, term: str) -> float:
        """Inverse document frequency, never negative."""
        holders = self.frequencies.get(term, 0)
        return math.log(1 + (len(self.documents) - holders + 0.5) / (holders + 0.5))

    @cached_property
    def mean_idf(self) -> float:
        """Mean over the vocabulary of the store."""
        if not self.frequencies:
            return 1.0
        return math.fsum(self.idf(term) for term in self.frequencies) / len(self.frequencies)

    @cached_property
    def mean_lengths(self) -> Mapping[str, float]:
        """Mean length by field over the documents that have the field."""
        lengths: dict[str, list[int]] = defaultdict(list)
        for document in self.documents.values():
            for name, length in document.lengths.items():
                lengths[name].append(length)
        return {name: sum(values) / len(values) for name, values in lengths.items()}

    def degree(self, node_id: str, params: Any) -> int:
        """Links that touch a node whose relation has conductance above 0."""
        return sum(
            (link.a == node_id) + (link.b == node_id)
            for link in self.links
            if params.conductance[link.relation] > 0
        )

    def flow(self, node_id: str, params: Any) -> list[tuple[str, float]]:
        """(neighbour, conductance) for each link that carries energy away from a node."""
        out: list[tuple[str, float]] = []
        for link in self.links:
            start, end = (link.b, link.a) if link.relation == "about" else (link.a, link.b)
            conductance = link.weight * params.conductance[link.relation]
            if start == node_id:
                out.append((end, conductance))
            if end == node_id and params.direction == "both":
                out.append((start, conductance))
        return out

    def named(self, query: str) -> list[str]:
        """Entities one of whose whole names stands in the query."""
        words = list(self.cut(query))
        return [
            node.id
            for node in self.nodes
            if node.type == "entity"
            and any(_stands_in(list(self.cut(name)), words) for name in node.names)
        ]

    def subjects(self, node_id: str) -> set[str]:
        """Entities that a proposition is about."""
        return {link.b for link in self.links if link.relation == "about" and link.a == node_id}

    def heads(self, node_id: str) -> list[str]:
        """What stands in the chain of what superseded a node, by id."""
        seen, waiting = {node_id}, [node_id]
        while waiting:
            current = waiting.pop()
            newer = {
                link.a for link in self.links if link.relation == "supersedes" and link.b == current
            }
            waiting.extend(newer - seen)
            seen |= newer
        seen.discard(node_id)
        return sorted(name for name in seen if self.by_id[name].status in STANDING)


class Document:
    """The terms of one proposition by field: (term, is_stem) → count, and lengths in words."""

    def __init__(self, node: Node, cut: Cut, stem: Stem | None) -> None:
        self.terms: dict[str, Counter[tuple[str, bool]]] = {}
        self.lengths: dict[str, int] = {}
        texts = {
            "title": [node.title],
            "summary": [node.summary],
            "body": [node.body],
            "id": [node.id_text],
            "date": [node.date],
            "evidence": list(node.evidence),
        }
        for name, parts in texts.items():
            words = [word for part in parts for word in cut(part)]
            if not words:
                continue
            counts: Counter[tuple[str, bool]] = Counter((word, False) for word in words)
            if stem is not None:
                counts.update((stem(word), True) for word in words if stem(word) != word)
            self.terms[name] = counts
            self.lengths[name] = len(words)

    @property
    def vocabulary(self) -> set[str]:
        """Every term of the document, stems included."""
        return {term for counts in self.terms.values() for term, _ in counts}


def _stands_in(name: list[str], words: list[str]) -> bool:
    width = len(name)
    return width > 0 and any(
        words[start : start + width] == name for start in range(len(words) - width + 1)
    )


def _field_weight(name: str, params: Any) -> float:
    weights = {
        "title": params.w_title,
        "id": params.w_title,
        "summary": params.w_summary,
        "date": params.w_summary,
        "body": params.w_body,
        "evidence": params.w_body,
    }
    return float(weights[name])


def relevance_by_count(document: Document, words: Iterable[str], params: Any) -> float:
    """Sum over distinct query terms of the weight of the best field that holds the term."""
    total = 0.0
    for word in dict.fromkeys(words):
        weights = [
            _field_weight(name, params)
            for name in COUNTED_FIELDS
            if (word, False) in document.terms.get(name, ())
        ]
        total += max(weights, default=0.0)
    return total


def query_weights(graph: Graph, query: str) -> dict[tuple[str, bool], float]:
    """Weight of each query term: 1 + ln tf, function words less.

    A stem that also stands in the query as a word is that word alone.
    """
    words = Counter(graph.cut(query))
    stems: Counter[str] = Counter()
    plain = set(graph.function_words)
    if graph.stem is not None:
        for word, count in words.items():
            if graph.stem(word) not in words:
                stems[graph.stem(word)] += count
        plain |= {graph.stem(word) for word in graph.function_words}
    weights = {}
    for is_stem, counts in ((False, words), (True, stems)):
        for term, count in counts.items():
            weak = term in (plain if is_stem else graph.function_words)
            weights[term, is_stem] = (1 + math.log(count)) * (FUNCTION_WORD_SHARE if weak else 1)
    return weights


def saturation(count: int, length: int, mean_length: float, params: Any) -> float:
    """BM25's saturation of a count in a field of some length."""
    norm = params.k1 * (1 - params.b + params.b * length / mean_length)
    return float(count * (params.k1 + 1) / (count + norm))


def relevance_by_bm25(graph: Graph, document: Document, query: str, params: Any) -> float:
    """Sum over query terms of qw · idf · best field; a stem on either side counts half."""
    total = 0.0
    for (term, asked_as_stem), weight in query_weights(graph, query).items():
        best = 0.0
        for name, counts in document.terms.items():
            for is_stem in (False, True):
                count = counts.get((term, is_stem), 0)
                if count == 0:
                    continue
                part = _field_weight(name, params) * saturation(
                    count, document.lengths[name], graph.mean_lengths[name], params
                )
                best = max(best, part * (STEM_SHARE if asked_as_stem or is_stem else 1.0))
        total += weight * graph.idf(term) * best
    return total / graph.mean_idf


def seeds_from(graph: Graph, document: Document, query: str, params: Any) -> bool:
    """Whether a query term hits the title or the summary."""
    if params.relevance == "count":
        wanted = {(word, False) for word in graph.cut(query)}
        held = {key for name in SEEDING_FIELDS for key in document.terms.get(name, ())}
        return bool(wanted & held)
    terms = {term for term, _ in query_weights(graph, query)}
    return any(term in terms for name in SEEDING_FIELDS for term, _ in document.terms.get(name, ()))


def is_barred(node: Node, filters: Filters) -> bool:
    """Whether status, scope or time keep energy and results away from a proposition."""
    if node.type != "proposition":
        return node.status not in STANDING
    if node.status not in filters.statuses or node.scope == "no":
        return True
    if filters.valid_at is None:
        return False
    begun = node.valid_from is None or node.valid_from <= filters.valid_at
    ended = node.valid_to is not None and node.valid_to <= filters.valid_at
    return not begun or ended


def is_returned(graph: Graph, node: Node, filters: Filters) -> bool:
    """Whether a proposition may stand in the results."""
    return (
        node.type == "proposition"
        and not is_barred(node, filters)
        and (filters.kinds is None or node.kind in filters.kinds)
        and (filters.categories is None or node.category in filters.categories)
        and (filters.min_confidence is None or node.confidence >= filters.min_confidence)
        and (filters.about is None or filters.about in graph.subjects(node.id))
    )


def flat_match(graph: Graph, query: str, params: Any) -> dict[str, float]:
    """Relevance of every proposition that any term of the query hits."""
    named = graph.named(query)
    found = {}
    for node_id, document in graph.documents.items():
        if params.relevance == "count":
            relevance = relevance_by_count(document, graph.cut(query), params)
        else:
            relevance = relevance_by_bm25(graph, document, query, params)
            if len(named) == 1 and named[0] in graph.subjects(node_id):
                relevance *= SUBJECT_FACTOR
        if relevance > 0:
            found[node_id] = relevance
    return found


def spread(
    graph: Graph, energy: Mapping[str, float], params: Any, filters: Filters
) -> tuple[dict[str, float], dict[str, float]]:
    """Activation of every proposition after all hops, and what superseded ones miss by rho."""
    activation: dict[str, float] = defaultdict(float)
    unreduced: dict[str, float] = defaultdict(float)
    frontier = dict(energy)
    for _ in range(params.hops):
        arrived: dict[str, float] = defaultdict(float)
        relays = {n: e for n, e in frontier.items() if graph.by_id[n].type != "proposition"}
        sending = {n: e for n, e in frontier.items() if n not in relays}
        for source, amount in sending.items():
            for target, add in _adds(graph, source, amount, params, filters):
                if graph.by_id[target].type == "proposition":
                    _arrive(graph, target, add, params, arrived, unreduced)
                else:
                    relays[target] = relays.get(target, 0.0) + add
        for source, amount in relays.items():
            for target, add in _adds(graph, source, amount, params, filters):
                if graph.by_id[target].type == "proposition":
                    _arrive(graph, target, add, params, arrived, unreduced)
        for target, amount in arrived.items():
            activation[target] += amount
        frontier = dict(arrived)
    return dict(activation), dict(unreduced)


def _adds(
    graph: Graph, source: str, amount: float, params: Any, filters: Filters
) -> Iterable[tuple[str, float]]:
    """What each link carries away from a node, rho aside, where it reaches the threshold."""
    for target, conductance in graph.flow(source, params):
        node = graph.by_id[target]
        damper = source if params.damp == "sender" else target
        add = amount * conductance * hub_damp(graph.degree(damper, params), params.damp_allowance)
        if node.type == "proposition":
            add *= params.lam
        if not is_barred(node, filters) and add >= params.theta and add > 0:
            yield target, add


def _arrive(
    graph: Graph,
    target: str,
    add: float,
    params: Any,
    arrived: dict[str, float],
    unreduced: dict[str, float],
) -> None:
    """Take in what reaches a proposition; what is superseded gets rho of it, or nothing."""
    if graph.by_id[target].status == "superseded":
        unreduced[target] += add
        add *= params.rho
    if add >= params.theta and add > 0:
        arrived[target] += add


def seed_energies(
    graph: Graph,
    combined: Mapping[str, float],
    query: str,
    now: float,
    params: Any,
    filters: Filters,
) -> dict[str, float]:
    """Energy of the best ``max_seeds`` hits in title or summary, and of the entities named.

    Where nothing seeds, an entity named has the energy of the best hit, and where nothing hits
    that of one term in a title.
    """
    candidates = [
        node_id
        for node_id in combined
        if seeds_from(graph, graph.documents[node_id], query, params)
        and not is_barred(graph.by_id[node_id], filters)
    ]
    candidates.sort(key=lambda node_id: _order(graph, node_id, combined[node_id], now, params))
    hits = [
        amount
        for node_id, amount in combined.items()
        if is_returned(graph, graph.by_id[node_id], filters)
    ]
    fallback = max(hits, default=params.alpha * params.w_title)
    best = combined[candidates[0]] if candidates else fallback
    energy = {
        node_id: combined[node_id] * (combined[node_id] / best) ** params.seed_power
        for node_id in candidates[: params.max_seeds]
        if combined[node_id] > 0
    }
    energy.update(dict.fromkeys(graph.named(query), best))
    return energy


def _order(graph: Graph, node_id: str, score: float, now: float, params: Any) -> tuple[Any, ...]:
    node = graph.by_id[node_id]
    return (-score, -hotness(node, now, params), -node.recorded_at, node_id)


def recall(
    graph: Graph,
    query: str,
    *,
    k: int,
    now: float,
    params: Any,
    filters: Filters | None = None,
    use_spread: bool = True,
    history: bool = False,
) -> list[Hit]:
    """Return the best k propositions.

    Parameters
    ----------
    graph, query, k
        The store, a text that ``graph.cut`` cuts, how many at most.
    now
        The time asked at, in days like those of the nodes.
    params
        Anything with the attributes of ``doxa.Params``.
    filters, use_spread
        What may be returned; whether activation spreads.
    history
        Whether successors are left unlifted.

    Returns
    -------
    list of Hit
        Best first; ties by hotness, latest recorded, id.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> p = SimpleNamespace(alpha=1, beta=0.1, rho=0.3, w_title=2, w_summary=1, w_body=0.25,
    ...     base={"medium": 0.2}, half_life={"medium": 21}, w_t=1, w_u=0.05, hops=2, lam=0.5,
    ...     theta=0.02, max_seeds=64, seed_power=0, damp="receiver", damp_allowance=0,
    ...     direction="both", relevance="count", conductance={"relates": 1}, lift_successor=True)
    >>> g = Graph([Node("a", title="zc zd"), Node("b", title="zf")], [Link("a", "b")])
    >>> [(hit.id, round(hit.score, 3)) for hit in recall(g, "zc", k=5, now=0, params=p)]
    [('a', 2.424), ('b', 0.626)]
    """
    filters = filters or Filters()
    relevance = flat_match(graph, query, params)
    full = {
        node_id: params.alpha * amount + params.beta * hotness(graph.by_id[node_id], now, params)
        for node_id, amount in relevance.items()
    }
    combined = {
        node_id: amount * (params.rho if graph.by_id[node_id].status == "superseded" else 1.0)
        for node_id, amount in full.items()
    }
    energy = seed_energies(graph, combined, query, now, params, filters) if use_spread else {}
    activation, unreduced = spread(graph, energy, params, filters)
    scores = {
        node_id: combined.get(node_id, 0.0) + activation.get(node_id, 0.0)
        for node_id in {**combined, **activation}
        if is_returned(graph, graph.by_id[node_id], filters)
    }
    lifted: dict[str, float] = {}
    if params.lift_successor and not history:
        lifted = succession(graph, scores, full, unreduced, filters)
    hits = [
        _hit(graph.by_id[node_id], (combined, activation, lifted, relevance), now, params)
        for node_id in {**scores, **lifted}
    ]
    hits = [hit for hit in hits if hit.score > 0]
    hits.sort(key=lambda hit: _order(graph, hit.id, hit.score, now, params))
    return hits[:k]


def _hit(node: Node, parts: Sequence[Mapping[str, float]], now: float, params: Any) -> Hit:
    combined, activation, lifted, relevance = (part.get(node.id, 0.0) for part in parts)
    return Hit(node.id, combined, activation, lifted, relevance, hotness(node, now, params))


def succession(
    graph: Graph,
    scores: Mapping[str, float],
    full: Mapping[str, float],
    unreduced: Mapping[str, float],
    filters: Filters,
) -> dict[str, float]:
    """What lifts each standing head to the score that its superseded hit has without rho."""
    lifts: dict[str, float] = {}
    for node_id in {**full, **unreduced}:
        node = graph.by_id[node_id]
        if node.status != "superseded" or is_barred(node, filters):
            continue
        target = full.get(node_id, 0.0) + unreduced.get(node_id, 0.0)
        for head in graph.heads(node_id):
            gap = target - scores.get(head, 0.0)
            if gap > 0 and is_returned(graph, graph.by_id[head], filters):
                lifts[head] = max(lifts.get(head, 0.0), gap)
    return lifts


def confidence(graph: Graph, query: str, hits: Sequence[Hit]) -> float:
    """Whether anything relevant is known: coverage of the query's idf by the best hit.

    Where the query names entities, times the relevance of the best hit about one of them over
    that of the best hit.
    """
    lexical = [hit for hit in hits if hit.relevance > 0]
    weights = {
        term: weight * graph.idf(term)
        for (term, is_stem), weight in query_weights(graph, query).items()
        if not is_stem
    }
    whole = math.fsum(weights.values())
    if not lexical or whole == 0:
        return 0.0
    best = max(lexical, key=lambda hit: hit.relevance)
    held = graph.documents[best.id].vocabulary
    stem = graph.stem or str
    covered = math.fsum(
        weight for term, weight in weights.items() if term in held or stem(term) in held
    )
    named = set(graph.named(query))
    if not named:
        return covered / whole
    about = [hit.relevance for hit in lexical if graph.subjects(hit.id) & named]
    return covered / whole * max(about, default=0.0) / best.relevance
