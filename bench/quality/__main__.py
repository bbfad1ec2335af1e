"""``python -m bench.quality --data DIR``: recall on real data beside BM25, default parameters.

DIR is a folder with the data sets; they are not part of the project. What is not there is named
and skipped. ``--check`` fails where the defaults are worse than BM25 or than a row asks for.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

import doxa
from bench.quality.documents import peps, vault
from bench.quality.passages import hotpot, mquake, musique
from bench.quality.tables import NO_VARIANTS, RANKINGS, Row, Variants, failures
from bench.quality.talks import locomo, unknown

#: One change each to the defaults: what every choice is worth.
ABLATION: Variants = {
    "published": doxa.Params.published(),
    "count": doxa.Params(relevance="count"),
    "both ways": doxa.Params(direction="both"),
    "64 seeds": doxa.Params(max_seeds=64),
    "equal seeds": doxa.Params(seed_power=0.0),
    "damped from 1": doxa.Params(damp_allowance=0.0),
    "undamped": doxa.Params(damp_allowance=1e6),
    "by receiver": doxa.Params(damp="receiver"),
    "2 hops": doxa.Params(hops=2),
    "mentions at 1": doxa.Params(conductance={"mentions": 1.0}),
}
SETS: dict[str, tuple[str, Callable[[Path, Variants], Iterator[Row]]]] = {
    "peps": ("peps", peps),
    "locomo": ("locomo/dev", locomo),
    "unknown": ("locomo/dev", unknown),
    "musique": ("multihop", musique),
    "hotpot": ("multihop", hotpot),
    "mquake": ("mquake/dev", mquake),
    "vault": ("vault_zh", vault),
}
FOUND = "default parameters beside BM25 (k1 0.8, b 0.6, one field) over the same terms"
CHANGED = "one change each to the default parameters"
CURVE = "share of questions that a threshold of confidence lets pass"
COLUMNS = ("set", "measure", "tasks", *RANKINGS)


def run(
    data: Path | None, names: Sequence[str], more: Variants = NO_VARIANTS
) -> tuple[list[Row], list[str]]:
    """Return the rows of the sets that are there, and in words which were skipped."""
    rows: list[Row] = []
    skipped = []
    for name in names:
        folder, measure = SETS[name]
        if data is None:
            skipped.append(f"{name}: skipped, no --data folder was given")
        elif not (data / folder).is_dir():
            skipped.append(f"{name}: skipped, {data / folder} is not there")
        else:
            rows.extend(measure(data / folder, more))
    return rows, skipped


def table_of(title: str, columns: Sequence[str], rows: Sequence[Row]) -> Table:
    """Return rows as a table for the terminal."""
    out = Table(title=title)
    for column in columns:
        out.add_column(column, justify="left" if column in ("set", "measure") else "right")
    for row in rows:
        cells = (row[column] for column in columns)
        out.add_row(*(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells))
    return out


def report(rows: Sequence[Row]) -> None:
    """Print what was found, and beside it when an answer is better withheld."""
    found = [row for row in rows if "default" in row]
    curve = [row for row in rows if "default" not in row]
    if found:
        Console().print(table_of(FOUND, COLUMNS, found))
    changed = [name for name in ABLATION if found and name in found[0]]
    if changed:
        Console().print(table_of(CHANGED, ("set", "measure", "default", *changed), found))
    if curve:
        Console().print(table_of(CURVE, tuple(curve[0]), curve))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the sets that are there and print one table; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, help="the same as --data")
    parser.add_argument("--data", dest="folder", type=Path, help="folder with the data sets")
    parser.add_argument("--sets", nargs="*", choices=SETS, default=list(SETS))
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument("--ablate", action="store_true", help="also with one change each")
    parser.add_argument("--check", action="store_true", help="exit 1 where a default falls short")
    given = parser.parse_args(arguments)
    rows, skipped = run(
        given.folder or given.data, given.sets, ABLATION if given.ablate else NO_VARIANTS
    )
    for line in skipped:
        Console(stderr=True).print(line)
    if given.json:
        print(json.dumps(rows))
    else:
        report(rows)
    short = failures(rows)
    for line in short:
        Console(stderr=True).print(line)
    return int(given.check and bool(short))


if __name__ == "__main__":
    sys.exit(main())
