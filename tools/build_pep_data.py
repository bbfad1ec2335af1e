"""Builds the small file of PEPs that ships with doxa for its demo.

    python tools/build_pep_data.py FOLDER [OUTPUT]

FOLDER holds ``docs.jsonl`` (id, title, summary, abstract, status, type, topic, created,
python_version, status_history, public_domain_notice) and ``links.jsonl`` (from, rel, to).
Of a PEP that does not say that it is in the public domain, only facts are taken: number,
title, status, dates and relations, no text. The output is the same, byte for byte, for
the same input.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).parent.parent / "python" / "doxa" / "data" / "peps.jsonl.gz"
RELATIONS = ("supersedes", "requires", "references")
LIMIT_BYTES = 400_000


def read(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON lines file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def documents(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield one compact object per PEP, in the order of the input."""
    related: dict[tuple[str, str], list[str]] = defaultdict(list)
    for link in read(folder / "links.jsonl"):
        related[link["from"], link["rel"]].append(link["to"])
    for doc in read(folder / "docs.jsonl"):
        out = {name: doc[name] for name in ("id", "title", "status", "type", "created")}
        out["topic"], out["python_version"] = doc.get("topic"), doc.get("python_version")
        if doc["public_domain_notice"]:
            out["summary"] = doc["summary"]
            out["more"] = doc["abstract"].removeprefix(doc["summary"]).strip()
        for relation in RELATIONS:
            out[relation] = related[doc["id"], relation]
        out["history"] = [[step["date"], step["status"]] for step in doc["status_history"]]
        yield {name: value for name, value in out.items() if value}


def main(arguments: list[str]) -> int:
    """Write the file; return 1 if it is too large to ship."""
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    output = Path(arguments[1]) if len(arguments) == 2 else OUTPUT
    lines = [
        json.dumps(doc, ensure_ascii=False, separators=(",", ":"))
        for doc in documents(Path(arguments[0]))
    ]
    packed = gzip.compress(("\n".join(lines) + "\n").encode(), compresslevel=9, mtime=0)
    output.write_bytes(packed)
    print(f"{output}: {len(lines)} PEPs, {len(packed):,} bytes")
    return int(len(packed) > LIMIT_BYTES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
