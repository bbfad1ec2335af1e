"""What the command line's tests share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from typer.testing import Result

Run = Callable[..., Result]


def document(result: Result) -> Any:
    """Return the one JSON document that stdout has to be."""
    assert result.stdout.count("\n") == 1
    return json.loads(result.stdout)


def without_ids(text: str) -> str:
    """Replace what changes from run to run: generated ids and times."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "ID", text)
    return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z", "TIME", text)
