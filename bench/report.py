"""A run of benchmarks as tables, as a record and as a plot.

A record says on what machine, with which versions, at which commit; nothing else identifies where
it was made. Knows no measure: rows of names and numbers come in.
"""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

__all__ = ["RECORDS", "heading", "plot", "record", "surroundings", "table_of"]

RECORDS = Path(__file__).parent / "records"
_LIBRARIES = ("doxa", "numpy", "numba", "scipy", "networkx", "pyarrow")
_MOST_COLUMNS = 8
_COLOURS = {"plain": "#1f6fb4", "published": "#c2571a", "default": "#2a8a4a"}


def surroundings() -> dict[str, Any]:
    """Return date, machine, versions, commit and load: what a figure depends on."""
    versions = {}
    for name in _LIBRARIES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "versions": versions,
        "commit": _commit(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def heading(report: dict[str, Any]) -> str:
    """Return one line that says where the figures are from."""
    load = report["load_before"]
    busy = f"; load {load} before the run, so times are too long" if load > 1 else ""
    return f"{report['date']}  {report['machine']}  commit {report['commit']}{busy}"


def table_of(title: str, rows: Sequence[dict[str, Any]]) -> Table:
    """Return rows as a table, turned on its side where it has more columns than a terminal.

    Figures that are no single number stand in the record only.
    """
    table = Table(title=title)
    names = [
        name
        for name in dict.fromkeys(name for row in rows for name in row)
        if not any(isinstance(row.get(name), dict) for row in rows)
    ]
    cells = [[_cell(row.get(name, "")) for name in names] for row in rows]
    headers = [name.replace("_", " ") for name in names]
    if len(names) > _MOST_COLUMNS:
        table.add_column("")
        for _ in rows:
            table.add_column("", justify="right")
        for header, *values in zip(headers, *cells, strict=True):
            table.add_row(header, *values)
        table.show_header = False
        return table
    for header in headers:
        table.add_column(header, justify="right")
    for values in cells:
        table.add_row(*values)
    return table


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def record(report: dict[str, Any], folder: Path = RECORDS) -> Path:
    """Write the figures and, where there is latency by size, a plot; return the record's path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{report['date']}-{report['commit']}.json"
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if len({row["n"] for row in report["latency"]}) > 1:
        plot(report, path.with_suffix(".svg"))
    return path


def plot(report: dict[str, Any], path: Path) -> None:
    """Draw p50 of the core and of Numba against N, both axes logarithmic."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "doxa"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for setting, colour in _COLOURS.items():
        rows = sorted(
            (row for row in report["latency"] if row["setting"] == setting),
            key=lambda row: row["n"],
        )
        sizes = [row["n"] for row in rows]
        for name, style in (("core", "-o"), ("numba", "--x")):
            times = [row[f"{name}_p50_us"] for row in rows]
            axes.plot(sizes, times, style, color=colour, label=f"{name}, {setting}", markersize=4)
    axes.set(xscale="log", yscale="log", xlabel="propositions", ylabel="recall, p50 in µs")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    axes.set_title(f"{report['machine']}, {report['date']}", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} ({platform.machine()})" if names else platform.machine()


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
    )
    return done.stdout.strip() or "unknown"
