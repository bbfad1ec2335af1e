"""``python -m bench``: latency by size with ratios, writing, opening; a table and a record."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.data import workload
from bench.latency import compare
from bench.writing import measure

RECORDS = Path(__file__).parent / "records"


def main() -> None:
    """Measure and report; ``--quick`` runs everything tiny, ``--write`` keeps a record."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that all runs")
    parser.add_argument("--sizes", type=int, nargs="*", help="numbers of propositions")
    parser.add_argument("--write-sizes", type=int, nargs="*", help="sizes for writing and opening")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    parser.add_argument(
        "--record", action="store_true", help=f"keep the figures in {RECORDS.name}/"
    )
    given = parser.parse_args()
    sizes = (
        given.sizes
        if given.sizes is not None
        else ([500] if given.quick else [1_000, 10_000, 100_000, 1_000_000])
    )
    writes = (
        given.write_sizes
        if given.write_sizes is not None
        else ([1_000] if given.quick else [10_000, 100_000])
    )
    report = {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "commit": _commit(),
        "latency": [
            row for n in sizes for row in compare(workload(n, queries=50 if given.quick else 1000))
        ],
        "writing": [
            measure(workload(n, queries=100), writes=50 if given.quick else 300) for n in writes
        ],
    }
    if given.record:
        RECORDS.mkdir(exist_ok=True)
        (RECORDS / f"{report['date']}.json").write_text(
            json.dumps(report, indent=1) + "\n", "utf-8"
        )
    if given.json:
        print(json.dumps(report))
        return
    console = Console()
    console.print(f"{report['date']}  {report['machine']}  commit {report['commit']}")
    for title in ("latency", "writing"):
        if report[title]:
            console.print(_table(title, report[title]))


def _table(title: str, rows: list[dict[str, Any]]) -> Table:
    table = Table(title=title)
    for name in rows[0]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            *(
                f"{v:,.3g}" if isinstance(v, float) else f"{v:,}" if isinstance(v, int) else str(v)
                for v in row.values()
            )
        )
    return table


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
