"""The demo: all of it, for real, in time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import doxa
from doxa.data import peps


def test_the_shipped_data_holds_all_peps_and_is_small() -> None:
    found = peps()
    assert len(found) == 736
    assert sum("summary" in pep for pep in found) == 703
    ids = {pep["id"] for pep in found}
    assert {new for pep in found for new in pep.get("supersedes", ())} <= ids
    packed = Path(doxa.__file__).parent / "data" / "peps.jsonl.gz"
    assert packed.stat().st_size < 400_000


def test_the_demo_shows_what_it_says_and_loses_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "doxa", "--json", "demo", "--directory", str(tmp_path / "kept")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["taken_in"]["propositions"] == 736
    assert figures["taken_in"]["superseded"] == 47
    assert figures["superseded"]["successor_first"]
    assert figures["superseded"]["notes"][0].startswith("superseded by PEP 435")
    assert figures["chinese"]["recalled"]
    assert figures["kill"]["acknowledged"] >= 40
    assert figures["kill"]["lost"] == 0
    assert figures["speed"]["recalls"] == 400
    with doxa.open(tmp_path / "kept", create=False) as mem:
        assert mem.get("PEP 8").title == "Style Guide for Python Code"
    again = subprocess.run(
        [sys.executable, "-m", "doxa", "demo", "--directory", str(tmp_path / "kept")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert again.returncode == 3
    assert "is there already; the demo wants a directory of its own" in again.stderr
