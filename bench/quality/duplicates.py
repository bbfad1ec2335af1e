"""``python -m bench.quality.duplicates``: precision and recall of the duplicate gate.

Reads labelled pairs: those that ship with doxa, or every ``*.jsonl`` below the folders
and files given (formats: see ``doxa.write.measure.read_pairs``). Prints a table, or one
JSON document. Exit code 1 where a pair that is no duplicate was called *same*, or where
the precision of *equal* and *same* is under the bar, noise of the source left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from doxa.write.measure import GateReport, measure_gate, read_pairs, shipped_pairs

__all__ = ["collect", "main"]

#: The least precision of *equal* and *same* that is accepted.
BAR = 0.98


def collect(paths: Sequence[Path]) -> dict[str, GateReport]:
    """Measure the gate on each file of labelled pairs.

    Parameters
    ----------
    paths : sequence of Path
        Files, and folders that are searched for ``*.jsonl``; none means the shipped pairs.

    Returns
    -------
    dict of str to GateReport
        By name of file, in order. Files without a labelled pair are left out.
    """
    if not paths:
        return {"shipped": measure_gate(shipped_pairs())}
    files = [f for p in paths for f in (sorted(p.rglob("*.jsonl")) if p.is_dir() else [p])]
    found = {file.stem: measure_gate(read_pairs(file)) for file in files}
    return {name: report for name, report in found.items() if report.pairs}


def passes(report: GateReport) -> bool:
    """Whether the gate is as precise as it is asked to be."""
    precision = report.precision_without_noise
    return report.same_wrong == 0 and (precision is None or precision >= BAR)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether the bar was met."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality.duplicates", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders of labelled pairs")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument("--reasons", action="store_true", help="a table by kind of pair as well")
    given = parser.parse_args(arguments)
    reports = collect(given.paths)
    if given.json:
        print(json.dumps({name: r.to_dict() for name, r in reports.items()}, ensure_ascii=False))
    else:
        _show(reports, reasons=given.reasons)
    return 0 if all(passes(report) for report in reports.values()) else 1


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _show(reports: dict[str, GateReport], *, reasons: bool) -> None:
    console = Console()
    table = Table(title="Duplicate gate: merged = equal or same; linked = abstain")
    for name in ("pairs of", "all", "duplicates", "others", "merged", "right", "precision"):
        table.add_column(name, justify="left" if name == "pairs of" else "right")
    for name in ("without noise", "same, wrong", "recall", "merged or linked", "others linked"):
        table.add_column(name, justify="right")
    for name, r in reports.items():
        table.add_row(
            name,
            *(str(n) for n in (r.pairs, r.duplicates, r.others, r.merged, r.merged_right)),
            _ratio(r.precision),
            _ratio(r.precision_without_noise),
            str(r.same_wrong),
            *(_ratio(x) for x in (r.recall, r.reach, r.linked_others)),
        )
    console.print(table)
    for name, report in reports.items():
        if reasons:
            _show_reasons(console, name, report)
        for pair in report.mistakes:
            console.print(f"merged wrongly ({name} {pair.id}): {pair.a!r} | {pair.b!r}")


def _show_reasons(console: Console, name: str, report: GateReport) -> None:
    table = Table(title=f"{name}, by kind of pair")
    for column in ("kind", "label", "pairs", "equal", "same", "abstain", "different"):
        table.add_column(column, justify="left" if column in ("kind", "label") else "right")
    labels = {True: "duplicate", False: "not a duplicate", None: "open"}
    for row in report.reasons:
        counts = (row.pairs, row.equal, row.same, row.abstain, row.different)
        table.add_row(row.reason, labels[row.duplicate], *(str(n) for n in counts))
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
