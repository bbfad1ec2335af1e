"""Fixtures of the command line's tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from doxa.cli.app import app
from tests.cli.support import Run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line over a store of its own, as a pipe would see it."""
    monkeypatch.setenv("DOXA_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("NO_COLOR", "1")
    runner = CliRunner()

    def call(*arguments: str, **options: Any) -> Result:
        result = runner.invoke(app, list(arguments), **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call
