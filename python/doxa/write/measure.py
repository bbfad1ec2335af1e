"""How good is the duplicate gate? Precision and recall on labelled pairs.

The gate has two answers that a caller relies on: *merged* (equal or same: the second
statement is not stored again) and *linked* (abstain: stored, and linked for a judge). The
first must be right; the second must be complete. Nothing here reads a store: a pair is
two texts, compared as the gate compares a statement with one candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from doxa import _core
from doxa.errors import InvalidValue
from doxa.params import Params

__all__ = ["GateReport", "Pair", "ReasonReport", "measure_gate", "read_pairs", "shipped_pairs"]

_MERGED: Final = ("equal", "same")
#: What the label of a data set says about being a duplicate; ``entailment`` says neither.
_LABELS: Final = {
    "duplicate": True,
    "not_duplicate": False,
    "contradiction": False,
    "neutral": False,
    "superseded_by": False,
}


class Pair(msgspec.Struct, frozen=True):
    """Two statements and whether the second is a duplicate of the first.

    Attributes
    ----------
    a, b : str
        The statements.
    duplicate : bool or None
        The label; None where the source leaves it open (entailment).
    reason : str
        What kind of pair it is.
    id : str
        Its id in the source.
    """

    a: str
    b: str
    duplicate: bool | None
    reason: str = ""
    id: str = ""


class ReasonReport(msgspec.Struct, frozen=True):
    """The gate's answers to the pairs of one kind.

    Attributes
    ----------
    reason : str
        The kind.
    duplicate : bool or None
        Their label.
    pairs, equal, same, abstain, different : int
        How many, and how many by verdict.
    """

    reason: str
    duplicate: bool | None
    pairs: int
    equal: int
    same: int
    abstain: int
    different: int


class GateReport(msgspec.Struct, frozen=True):
    """Precision and recall of the gate on one set of pairs.

    Attributes
    ----------
    pairs, duplicates, others : int
        Pairs in all, labelled duplicates, labelled as none; the rest is left open.
    merged, merged_right : int
        Labelled pairs that the gate calls equal or same; how many of them are duplicates.
    merged_open : int
        Pairs without a label that the gate calls equal or same.
    same_wrong : int
        Pairs called *same* (not equal) that are no duplicates.
    identical_wrong : int
        Pairs of two identical texts that the source labels as no duplicates: noise that no
        gate can get right. They are among ``merged``, not among ``merged_right``.
    linked, linked_right : int
        Labelled pairs on which the gate abstains; how many are duplicates.
    reasons : tuple of ReasonReport
        The same by kind of pair.
    mistakes : tuple of Pair
        Pairs merged wrongly, at most 20.
    """

    pairs: int
    duplicates: int
    others: int
    merged: int
    merged_right: int
    merged_open: int
    same_wrong: int
    identical_wrong: int
    linked: int
    linked_right: int
    reasons: tuple[ReasonReport, ...]
    mistakes: tuple[Pair, ...]

    @property
    def precision(self) -> float | None:
        """Share of merged pairs that are duplicates; None where nothing was merged."""
        return self.merged_right / self.merged if self.merged else None

    @property
    def precision_without_noise(self) -> float | None:
        """The same, leaving out identical texts that the source labels as different."""
        merged = self.merged - self.identical_wrong
        return self.merged_right / merged if merged else None

    @property
    def recall(self) -> float | None:
        """Share of duplicates that are merged; None where there are no duplicates."""
        return self.merged_right / self.duplicates if self.duplicates else None

    @property
    def reach(self) -> float | None:
        """Share of duplicates that are merged or linked: what no judge would get to see is lost."""
        if not self.duplicates:
            return None
        return (self.merged_right + self.linked_right) / self.duplicates

    @property
    def linked_precision(self) -> float | None:
        """Share of linked pairs that are duplicates; None where nothing was linked."""
        return self.linked_right / self.linked if self.linked else None

    @property
    def linked_others(self) -> float | None:
        """Share of the pairs that are no duplicates that a judge would have to look at."""
        return (self.linked - self.linked_right) / self.others if self.others else None

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, for JSON."""
        names = (
            "precision",
            "precision_without_noise",
            "recall",
            "reach",
            "linked_precision",
            "linked_others",
        )
        ratios = {name: getattr(self, name) for name in names}
        return {**msgspec.to_builtins(self), **ratios}


def measure_gate(pairs: Iterable[Pair], params: Params | None = None) -> GateReport:
    """Compare each pair as the duplicate gate does and count against the labels.

    Parameters
    ----------
    pairs : iterable of Pair
        Labelled pairs.
    params : Params, optional
        Where the thresholds come from; default ``Params()``.

    Returns
    -------
    GateReport
        Counts, precision and recall, by kind of pair too. Terms weigh alike here: a store
        weighs them by its own idf.

    Examples
    --------
    >>> report = measure_gate(shipped_pairs())
    >>> report.pairs > 100, report.same_wrong, report.precision
    (True, 0, 1.0)
    """
    params = params or Params()
    thresholds = (
        params.duplicate_threshold,
        params.abstain_threshold,
        params.abstain_threshold_cjk,
    )
    kinds: dict[tuple[str, bool | None], dict[str, int]] = {}
    mistakes: list[Pair] = []
    identical = 0
    for pair in pairs:
        verdict, _, _ = _core.compare(pair.a, pair.b, *thresholds)
        counts = kinds.setdefault(
            (pair.reason, pair.duplicate),
            dict.fromkeys(("equal", "same", "abstain", "different"), 0),
        )
        counts[verdict] += 1
        if verdict in _MERGED and pair.duplicate is False:
            identical += pair.a == pair.b
            mistakes.append(pair)
    order = sorted(kinds, key=lambda kind: (str(kind[1]), kind[0]))
    return _report(
        tuple(ReasonReport(r, d, sum(kinds[r, d].values()), **kinds[r, d]) for r, d in order),
        tuple(mistakes[:20]),
        identical,
    )


def _report(
    reasons: tuple[ReasonReport, ...], mistakes: tuple[Pair, ...], identical: int
) -> GateReport:
    """Sum the kinds up."""
    right = [row for row in reasons if row.duplicate is True]
    wrong = [row for row in reasons if row.duplicate is False]
    left_open = [row for row in reasons if row.duplicate is None]

    def merged(rows: list[ReasonReport]) -> int:
        return sum(row.equal + row.same for row in rows)

    return GateReport(
        pairs=sum(row.pairs for row in reasons),
        duplicates=sum(row.pairs for row in right),
        others=sum(row.pairs for row in wrong),
        merged=merged(right) + merged(wrong),
        merged_right=merged(right),
        merged_open=merged(left_open),
        same_wrong=sum(row.same for row in wrong),
        identical_wrong=identical,
        linked=sum(row.abstain for row in right + wrong),
        linked_right=sum(row.abstain for row in right),
        reasons=reasons,
        mistakes=mistakes,
    )


def shipped_pairs() -> list[Pair]:
    """Return the labelled pairs that ship with doxa, English and Chinese, written for it.

    Returns
    -------
    list of Pair
        About 120 pairs with a reason each.

    Examples
    --------
    >>> shipped_pairs()[0].reason
    'dress'
    """
    return read_pairs(Path(__file__).parents[1] / "data" / "gate_pairs.jsonl")


def read_pairs(path: str | Path) -> list[Pair]:
    """Read labelled pairs from a JSON Lines file.

    Parameters
    ----------
    path : str or Path
        One JSON object a line. ``a``, ``b`` and ``label`` (``duplicate``,
        ``not_duplicate``, ``contradiction``, ``neutral``, ``entailment``, ``superseded_by``)
        or ``duplicate`` (bool), which comes first; ``reason`` or ``category`` name the kind.
        ``a`` and ``b`` may be objects with an ``observation``, also called ``old`` and
        ``new``. ``{"label": "duplicate_group", "members": [...]}`` pairs the first member with each
        other one. Rows that have but a ``text`` are paired where they are equal once all that
        is no letter or digit is left out.

    Returns
    -------
    list of Pair
        The pairs in the order of the file.

    Raises
    ------
    InvalidValue
        For a line that is none of these.
    """
    pairs: list[Pair] = []
    groups: dict[str, list[str]] = {}
    text = Path(path).read_text(encoding="utf-8")
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            raise _refused(path, number, line, str(error)) from None
        if isinstance(row, dict) and "text" in row and "a" not in row:
            groups.setdefault(_bare(str(row["text"])), []).append(str(row["text"]))
            continue
        try:
            pairs.extend(_pairs_of(row))
        except (KeyError, TypeError, AttributeError):
            raise _refused(path, number, line, "a pair has a, b and label") from None
    for members in groups.values():
        pairs += [Pair(members[0], other, True, "equal but for signs") for other in members[1:]]
    return pairs


def _pairs_of(row: dict[str, Any]) -> Iterator[Pair]:
    label = row.get("label", "")
    identity = str(row.get("id", ""))
    if label == "duplicate_group":
        members = [_words(member) for member in row["members"]]
        for other in members[1:]:
            yield Pair(members[0], other, True, label, identity)
        return
    a = _words(row["a"] if "a" in row else row["old"])
    b = _words(row["b"] if "b" in row else row["new"])
    duplicate = row.get("duplicate", _LABELS.get(label))
    yield Pair(a, b, duplicate, str(row.get("reason") or row.get("category") or label), identity)


def _words(side: str | dict[str, Any]) -> str:
    return side if isinstance(side, str) else str(side["observation"])


def _bare(text: str) -> str:
    """A crude normal form, so that the gate is not measured by its own."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


def _refused(path: str | Path, number: int, line: str, rule: str) -> InvalidValue:
    return InvalidValue(
        f"{path}, line {number}: {line[:80]!r} is no labelled pair: {rule}; see read_pairs",
        field="line",
        value=line[:80],
        rule=rule,
    )
