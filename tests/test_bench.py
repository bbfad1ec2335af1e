"""Every benchmark runs, tiny, so that none rots; and its answers agree with the reference."""

from __future__ import annotations

import json
import sys

import pytest
from bench import __main__ as bench


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_bench_runs_quickly_and_its_answers_agree(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "--quick", "--json"])
    bench.main()
    report = json.loads(capsys.readouterr().out)
    assert {row["setting"] for row in report["latency"]} == {"plain", "published", "default"}
    assert all(row["differ"] == 0 for row in report["latency"])
    assert report["writing"][0]["n"] == 1000
