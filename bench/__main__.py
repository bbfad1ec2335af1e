"""``python -m bench``: doxa's speed beside references in the same run.

Prints tables; ``--record`` keeps figures and a plot in bench/records/; ``--quick`` runs all of it
tiny, to see that it runs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bench import footprint, ingest, latency, writing
from bench.core import engine_of, params_of
from bench.data import PLAIN, SIZES, workload
from bench.report import heading, record, surroundings, table_of

__all__ = ["PARTS", "main", "run"]

PARTS = ("latency", "writing", "ingest", "footprint")


@dataclass(frozen=True)
class Scale:
    """How much of everything is measured."""

    sizes: Sequence[int] = SIZES
    write_sizes: Sequence[int] = (10_000, 100_000, 1_000_000)
    queries: int = 1_000
    rounds: int = latency.ROUNDS
    writes: int = 300
    ingest_size: int = 10_000
    ingest_seconds: float = 3.0
    memory_size: int = 100_000
    import_rounds: int = 7


QUICK = Scale(
    sizes=(500,),
    write_sizes=(1_000,),
    queries=50,
    rounds=1,
    writes=20,
    ingest_size=200,
    ingest_seconds=0.1,
    memory_size=1_000,
    import_rounds=1,
)


def run(scale: Scale, parts: Sequence[str], step: Callable[[str], None]) -> dict[str, Any]:
    """Measure the parts asked for; ``step`` is told what is under way."""
    report: dict[str, Any] = surroundings()
    report |= {"latency": [], "growth": [], "spread": [], "threads": [], "writing": []}
    report |= {"ingest": [], "rescore": [], "forks": [], "memory": [], "import": []}
    if {"latency", "footprint"} & set(parts):
        for n in scale.sizes:
            step(f"recall at {n:,}")
            work = workload(n, queries=scale.queries)
            engine = engine_of(work, params_of(PLAIN))
            if "latency" in parts:
                report["latency"] += latency.compare(work, engine=engine, rounds=scale.rounds)
                report["spread"].append(latency.spread_alone(work, engine=engine))
                report["threads"].append(latency.threads(work, engine))
            if "footprint" in parts:
                report["rescore"].append(footprint.rescore(work, engine))
                report["forks"].append(footprint.forks(work, engine))
        report["growth"] = latency.growth(report["latency"])
    if "footprint" in parts:
        step("memory and import")
        report["memory"].append(footprint.memory(scale.memory_size))
        report["import"].append(footprint.imports(scale.import_rounds))
    if "ingest" in parts:
        step("recall during ingest")
        work = workload(scale.ingest_size, queries=min(scale.queries, 200))
        report["ingest"].append(ingest.under_writing(work, seconds=scale.ingest_seconds))
    if "writing" in parts:
        for n in scale.write_sizes:
            step(f"writing at {n:,}")
            work = workload(n, queries=min(scale.queries, 200))
            report["writing"].append(writing.measure(work, writes=scale.writes))
        report["remember_growth"] = writing.growth(report["writing"])
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print tables or one JSON document, and keep a record if asked to."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny, to see that all runs")
    parser.add_argument("--sizes", type=int, nargs="*", help="numbers of propositions")
    parser.add_argument("--write-sizes", type=int, nargs="*", help="sizes for writing and opening")
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS), help="parts")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    parser.add_argument("--record", action="store_true", help="keep figures in bench/records/")
    given = parser.parse_args(arguments)
    usual = QUICK if given.quick else Scale()
    changes = {
        name: tuple(value)
        for name, value in (("sizes", given.sizes), ("write_sizes", given.write_sizes))
        if value is not None
    }
    scale = Scale(**{**vars(usual), **changes})
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with progress:
        task = progress.add_task("")
        report = run(scale, given.only, lambda what: progress.update(task, description=what))
    kept = record(report) if given.record else None
    if given.json:
        print(json.dumps(report))
        return
    console = Console()
    console.print(heading(report))
    for title, rows in report.items():
        if title == "latency":
            for setting in dict.fromkeys(row["setting"] for row in rows):
                part = [row for row in rows if row["setting"] == setting]
                console.print(table_of(f"recall, {setting}", part))
        elif isinstance(rows, list) and rows:
            console.print(table_of(title, rows))
    if kept is not None:
        console.print(f"kept in {kept}")


if __name__ == "__main__":
    main()
