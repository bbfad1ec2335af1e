"""Data that ships with doxa: Python's PEPs, for the demo. See ``LICENCE.md`` beside it."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files
from typing import Any

__all__ = ["peps"]


def peps() -> list[dict[str, Any]]:
    """Return Python's PEPs as plain data.

    Returns
    -------
    list of dict
        ``id``, ``title``, ``status``, ``type``, ``created``, and where there is any: ``summary``,
        ``more`` (the rest of the abstract's first lines), ``topic``, ``python_version``,
        ``supersedes``, ``requires``, ``references`` (ids), ``history`` (date, status).

    Examples
    --------
    >>> found = peps()
    >>> len(found), found[0]["title"]
    (736, 'PEP Purpose and Guidelines')
    """
    packed = files(__package__).joinpath("peps.jsonl.gz").read_bytes()
    return [json.loads(line) for line in gzip.decompress(packed).splitlines()]
