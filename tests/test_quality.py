"""The quality benches run on made-up data of the same shape, skip what is absent, and judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bench.quality import __main__ as quality
from bench.quality.bm25 import BM25
from bench.quality.tables import failures

FILES: dict[str, list[dict[str, Any]]] = {
    "peps/docs.jsonl": [
        {"id": "PEP 1", "title": "Old way of packing", "summary": "How to pack.", "abstract": None},
        {"id": "PEP 2", "title": "New rules", "summary": "Boxes.", "abstract": "Boxes. Big ones."},
        {"id": "PEP 3", "title": "Colours", "summary": "Red and blue.", "abstract": ""},
    ],
    "peps/links.jsonl": [
        {"from": "PEP 2", "rel": "supersedes", "to": "PEP 1"},
        {"from": "PEP 2", "rel": "references", "to": "PEP 3"},
    ],
    "peps/dev/tasks.jsonl": [
        {
            "task": "supersession",
            "query": "Old way of packing",
            "stale": "PEP 1",
            "gold_current": "PEP 2",
        },
        {
            "task": "associative",
            "query": "New rules Boxes.",
            "query_doc": "PEP 2",
            "gold": ["PEP 3"],
        },
    ],
    "locomo/dev/propositions.jsonl": [
        {
            "id": "c/1",
            "conv": "c",
            "about": "Ann",
            "text": "Ann keeps bees.",
            "asserted_at": "2023-05-08T13:56",
        },
        {
            "id": "c/2",
            "conv": "c",
            "about": "Bob",
            "text": "Bob sells honey.",
            "asserted_at": "2023-05-09T13:56",
        },
    ],
    "locomo/dev/questions.jsonl": [
        {
            "conv": "c",
            "category_name": "single-hop",
            "question": "What does Ann keep?",
            "gold_propositions": ["c/1"],
        },
        {"conv": "c", "category_name": "temporal", "question": "When?", "gold_propositions": []},
        {
            "conv": "c",
            "category_name": "adversarial",
            "question": "What honey does Ann paint?",
            "gold_propositions": [],
        },
    ],
    "multihop/musique_passages.jsonl": [
        {"id": "m1", "title": "Kestrel", "text": "Kestrel was built by Orla Finch."},
        {"id": "m2", "title": "Orla Finch", "text": "She was born in Tralee."},
    ],
    "multihop/musique_openie.jsonl": [
        {"passage": "m1", "entities": ["Orla Finch", "Kestrel"]},
        {"passage": "m2", "entities": ["Orla Finch", "Tralee"]},
    ],
    "multihop/hotpot_passages.jsonl": [
        {"id": "h1", "title": "Kestrel", "sentences": ["Kestrel was built", "by Orla Finch."]},
        {"id": "h2", "title": "Orla Finch", "sentences": ["She was born in Tralee."]},
    ],
    "multihop/dev/musique_questions.jsonl": [
        {"question": "Where was the builder of Kestrel born?", "gold": ["m1", "m2"]}
    ],
    "multihop/dev/hotpot_questions.jsonl": [
        {"question": "Where was the builder of Kestrel born?", "gold": ["h1", "h2"]}
    ],
    "mquake/dev/facts.jsonl": [
        {"id": "f1", "subject": "Kestrel", "object": "Orla", "asserted": "t0", "text": "Kestrel: Orla."},
        {"id": "f2", "subject": "Orla", "object": "Tralee", "asserted": "t0", "text": "Orla: Tralee."},
        {
            "id": "f3",
            "subject": "Kestrel",
            "object": "Zed",
            "asserted": "t1",
            "text": "Kestrel: Zed.",
            "supersedes": ["f1"],
        },
    ],
    "mquake/dev/questions.jsonl": [
        {"questions": ["Where is Kestrel from?"], "chain_t0": ["f1", "f2"], "chain_t1": ["f3"]}
    ],
    "vault_zh/notes.jsonl": [
        {"id": "n1", "title": "养蜂", "text": "见 [[蜂蜜|蜜]]", "links": [{"target": "蜂蜜", "id": "n2"}]},
        {"id": "n2", "title": "蜂蜜"},
    ],
    "vault_zh/dev/tasks.jsonl": [{"query": "养蜂", "query_note": "n1", "gold": ["n2"]}],
}  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, rows in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return tmp_path


def test_every_set_is_measured(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert quality.main(["--data", str(data), "--check"]) == 0
    printed = capsys.readouterr().out
    for name in ("PEP chain ends", "LoCoMo single-hop", "MuSiQue", "HotpotQA", "Chinese vault"):
        assert name in printed
    rows, skipped = quality.run(data, list(quality.SETS))
    assert skipped == []
    assert {row["default"] for row in rows if row["measure"].startswith("recall")} == {1.0}
    curve = [row for row in rows if "misled" in row]
    assert curve[0]["answerable"] == 1.0
    assert [row["misled"] for row in curve] == sorted((r["misled"] for r in curve), reverse=True)


def test_what_is_absent_is_named_and_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert quality.main([]) == 0
    assert "peps: skipped, no --data folder was given" in capsys.readouterr().err
    rows, skipped = quality.run(tmp_path, ["vault"])
    assert rows == []
    assert skipped == [f"vault: skipped, {tmp_path / 'vault_zh'} is not there"]


def test_a_default_below_the_baseline_or_the_goal_is_a_failure() -> None:
    row = {"set": "A", "measure": "recall@5", "tasks": 3, "bm25": 0.5, "flat": 0.4}
    assert failures([{**row, "default": 0.5}]) == []
    assert failures([{**row, "default": 0.4}]) == [
        "A, recall@5: default 0.400 is below BM25's 0.500"
    ]
    assert failures([{**row, "default": 0.6, "least": 0.9}]) == [
        "A, recall@5: default 0.600, at least 0.9 is asked for"
    ]
    assert failures([{**row, "default": 0.3, "most": 0.1}]) == [
        "A, recall@5: default 0.300, at most 0.1 is asked for"
    ]


def test_the_baseline_ranks_by_rare_words() -> None:
    base = BM25([("a", "red port"), ("b", "red river"), ("c", "red")])
    assert base.rank("red river", 2) == ["b", "c"]
    assert base.rank("red river", 2, "b") == ["c", "a"]
