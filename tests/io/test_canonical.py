"""Canonical JSON lines: byte-stable, without loss, past the gate."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

import doxa
from doxa.io import ImportReport, export_file, import_file
from doxa.io.export import canonical_lines

Take = Callable[..., ImportReport]
WHEN = dt.datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=dt.UTC)
#: Text that is odd in one way or another, and all that UTF-8 can hold besides NUL.
ODD = st.one_of(
    st.sampled_from(
        [
            'a "quoted" \\ back\\slash',
            "two\nlines\r\nand \t a tab",
            "行分隔\u2028段落\u2029换行\x85",
            "👩‍👩‍👧 emoji and e\u0301 apart",
            "\u202eturned\u202c",
            '{"json": [1]}',
            "\x01\x1f control",
            "—",
        ]
    ),
    st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=60),
)
BREAKS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\0")
TITLES = ODD.map(lambda text: "".join(c for c in text if c not in BREAKS).strip() or "untitled")
IDS = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=12)
TIMES = st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30), timezones=st.just(dt.UTC))


@st.composite
def propositions(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of ``remember``."""
    row: dict[str, Any] = {
        "title": draw(TITLES),
        "summary": draw(ODD),
        "body": draw(ODD),
        "kind": draw(st.sampled_from(["knowledge", "norm", "subject"])),
        "importance": draw(st.sampled_from(["low", "medium", "high"])),
        "confidence": draw(st.floats(-1, 1)),
        "source": draw(ODD),
        "at": draw(TIMES),
    }
    if draw(st.booleans()):
        row["scope"] = {"env": draw(st.sets(st.sampled_from(["prod", "dev", "测试"]), min_size=1))}
        row["scope"]["env"] = sorted(row["scope"]["env"])
    if draw(st.booleans()):
        value = st.one_of(
            st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(-1e300, 1e300)
        )
        row["claim"] = {
            "subject": "subject 主语",
            "attribute": "attribute",
            "value": draw(value),
            "cardinality": draw(st.sampled_from(["single", "many"])),
            "qualifiers": {"place": draw(ODD), "dose": draw(st.integers(-9, 9))},
        }
    if draw(st.booleans()):
        row["evidence"] = [{"text": draw(TITLES), "source": draw(ODD)}]
    if draw(st.booleans()):
        row["context"] = draw(IDS)
    return row


def written(mem: doxa.Memory) -> bytes:
    return b"".join(canonical_lines(mem))


def fill(mem: doxa.Memory, rows: list[dict[str, Any]], steps: list[int]) -> None:
    """Store rows, then change some of them in every way there is."""
    ids = []
    for row in rows:
        try:
            ids.append(mem.remember(**row, on_duplicate="allow").id)
        except doxa.AlreadyExists:  # a context's id that was drawn before for something else
            continue
        except doxa.InvalidValue:
            continue
    for number, step in enumerate(steps):
        if not ids:
            return
        one, other = ids[step % len(ids)], ids[(step // 7) % len(ids)]
        if step % 5 == 0:
            mem.append(one, f"note {number} 注", by="ada", at=WHEN)
        elif step % 5 == 1:
            mem.use([one], at=WHEN)
        elif step % 5 == 2 and one != other:
            mem.link(one, other, "depends_on", weight=0.3, at=WHEN)
        elif step % 5 == 3 and one < other:
            mem.link(one, other, "supersedes", at=WHEN)
        elif step % 5 == 4 and mem.get(one).status != "retired":
            mem.upkeep.retire(one, "scene_gone", reason="gone 不再", at=WHEN)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(propositions(), max_size=5), st.lists(st.integers(0, 1000), max_size=10))
def test_what_was_exported_and_imported_exports_to_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], steps: list[int]
) -> None:
    file = tmp_path_factory.mktemp("round") / "memory.jsonl"
    with doxa.memory(seed_norms=False, agent="ada") as mem:
        fill(mem, rows, steps)
        export_file(mem, file)
        before = {p.id: p for p in mem.propositions()}
    data = file.read_bytes()
    assert data.count(b"\n") == len(data.splitlines()) == len(data.decode().splitlines())
    with doxa.memory(seed_norms=False, agent="somebody else") as mem:
        report = import_file(mem, file)
        assert report.refused == ()
        assert {p.id: p for p in mem.propositions()} == before
        assert written(mem) == data
        again = import_file(mem, file)
        assert (again.added, again.refused) == (0, ())
        assert written(mem) == data


def test_the_round_trip_keeps_what_no_public_argument_can_set(
    mem: doxa.Memory, tmp_path: Path
) -> None:
    kept = mem.remember("The port is 8080", by="ada", at=WHEN, id="port")
    mem.append("port", "seen", by="bob", at=WHEN)
    mem.use(["port"] * 3, at=WHEN + dt.timedelta(days=3))
    gone = mem.remember("The old host is s1")
    mem.upkeep.retire(gone.id, "scene_gone", reason="switched off")
    new = mem.remember("The port is 9090")
    mem.link(new.id, "port", "supersedes")
    export_file(mem, tmp_path / "a.jsonl")
    with doxa.memory(seed_norms=False) as other:
        import_file(other, tmp_path / "a.jsonl")
        port = other.get("port")
        assert (port.author, port.recorded_at, port.rev, port.use_count) == (
            kept.author,
            WHEN,
            2,
            3,
        )
        assert port.last_used == WHEN + dt.timedelta(days=3)
        assert (port.status, port.superseded_by) == ("superseded", (new.id,))
        assert other.get(gone.id).status == "retired"
        assert other.recall("port").ids == mem.recall("port").ids


def test_an_import_bypasses_the_duplicate_gate(mem: doxa.Memory, tmp_path: Path) -> None:
    mem.remember("The port is 8080", id="a")
    mem.remember("The port is 8080", id="b", on_duplicate="allow")
    export_file(mem, tmp_path / "a.jsonl")
    with doxa.memory(seed_norms=False) as other:
        assert import_file(other, tmp_path / "a.jsonl").propositions == 2


def test_what_is_there_with_other_words_is_kept_and_named(mem: doxa.Memory, tmp_path: Path) -> None:
    mem.remember("The port is 8080", id="port")
    export_file(mem, tmp_path / "a.jsonl")
    with doxa.memory(seed_norms=False) as other:
        other.remember("The port is 9090", id="port")
        report = import_file(other, tmp_path / "a.jsonl")
        assert [str(problem) for problem in report.refused] == [
            "line 2: id: 'port' is there with another title, 'The port is 9090'; "
            "what is there was kept: skipped"
        ]
        assert other.get("port").title == "The port is 9090"


def test_the_lines_of_an_export_read_like_this(mem: doxa.Memory) -> None:
    mem.beliefs.entity("api", type="service", at=WHEN)
    mem.remember(
        "The API listens on port 8080",
        id="port",
        kind="norm",
        scope={"env": "prod"},
        about="api",
        at=WHEN,
        by="ada",
    )
    assert written(mem).decode().splitlines() == [
        '{"type":"doxa","version":1}',
        '{"type":"entity","author":"agent","entity_type":"service","id":"api","name":"api",'
        '"recorded_at":"2024-05-06T07:08:09.123456Z"}',
        '{"type":"proposition","agent":"agent","author":"ada","confidence":1.0,"id":"port",'
        '"kind":"norm","recorded_at":"2024-05-06T07:08:09.123456Z","scope":{"env":["prod"]},'
        '"title":"The API listens on port 8080"}',
        '{"type":"link","author":"ada","recorded_at":"2024-05-06T07:08:09.123456Z",'
        '"relation":"about","source":"port","target":"api"}',
        '{"type":"end","records":3}',
    ]


def test_a_file_that_was_cut_is_noticed_and_strict_refuses_it(
    mem: doxa.Memory, take: Take, tmp_path: Path
) -> None:
    mem.remember("The port is 8080")
    mem.remember("The queue is NATS")
    whole = written(mem)
    cut = b"\n".join(whole.split(b"\n")[:2]) + b"\n"
    with doxa.memory(seed_norms=False) as other:
        file = tmp_path / "cut.jsonl"
        file.write_bytes(cut)
        assert not import_file(other, file, strict=True).written
        report = import_file(other, file)
        assert report.propositions == 1
        assert str(report.refused[0]) == (
            "line 2: the file has no end line: it was cut short after this line"
        )


def test_a_line_taken_out_is_noticed(mem: doxa.Memory, tmp_path: Path) -> None:
    mem.remember("The port is 8080")
    lines = written(mem).splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_bytes(lines[0] + lines[-1])
    with doxa.memory(seed_norms=False) as other:
        report = import_file(other, tmp_path / "a.jsonl")
        assert "the file says that it holds 1 records; it has 0" in str(report.refused[0])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"type":"proposition","id":"a","title":"t"', "not JSON"),
        ('["proposition"]', "a list where an object is expected"),
        ('{"type":"opinion","title":"t"}', "unknown type 'opinion'; known are context, doxa, end"),
        ('{"titel":"t"}', "unknown field 'titel'; known are about, at"),
        ('{"summary":"s"}', "no title"),
        ('{"title":"t","at":"2024-01-01"}', "a time with its zone"),
        ('{"type":"entity","id":"e","recorded_at":"2024-01-01T00:00:00Z"}', "missing required"),
        ('{"type":"entity","id":"e","name":"n","recorded_at":"2024-01-01T00:00:00"}', "naive"),
        (
            '{"type":"proposition","id":"a","title":"t","recorded_at":"2024-01-01T00:00:00Z",'
            '"confidence":2}',
            "confidence: 2.0 is not allowed",
        ),
        (
            '{"type":"proposition","id":"a","title":"t","recorded_at":"2024-01-01T00:00:00Z",'
            '"colour":"red"}',
            "unknown field `colour`",
        ),
        (
            '{"type":"link","source":"a","target":"a","relation":"relates",'
            '"recorded_at":"2024-01-01T00:00:00Z"}',
            "not linked to itself",
        ),
    ],
)
def test_a_bad_line_is_refused_with_its_number_and_the_others_are_taken(
    line: str, said: str, mem: doxa.Memory, take: Take
) -> None:
    report = take(f'{{"title":"The first fact"}}\n{line}\n{{"title":"Another thing"}}\n')
    assert report.propositions == 2
    assert [problem.line for problem in report.refused] == [2]
    assert said in str(report.refused[0])


def test_a_file_of_a_newer_version_is_not_read(mem: doxa.Memory, take: Take) -> None:
    report = take('{"type":"doxa","version":2}\n{"title":"x"}\n')
    assert (report.added, len(mem)) == (0, 0)
    assert "format version 2 is newer than 1" in str(report.refused[0])


def test_plain_rows_go_through_the_gate_and_a_second_import_adds_nothing(
    mem: doxa.Memory, take: Take
) -> None:
    rows = [
        {"title": "The port is 8080", "kind": "norm", "at": "2024-01-01T00:00:00Z"},
        {"type": "proposition", "title": "the port is 8080."},
        {"title": "端口是 9090", "scope": {"env": "prod"}},
    ]
    content = "\n".join(json.dumps(row) for row in rows)
    report = take(content)
    assert (report.format, report.propositions, report.duplicates) == ("jsonl", 2, 1)
    before = written(mem)
    assert take(content).added == 0
    assert written(mem) == before


def test_gzip_is_undone_by_name_and_written_the_same_every_time(
    mem: doxa.Memory, tmp_path: Path
) -> None:
    mem.remember("The port is 8080")
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        export_file(mem, tmp_path / name)
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == written(mem)
    with doxa.memory(seed_norms=False) as other:
        assert import_file(other, tmp_path / "a.jsonl.gz").propositions == 1


def test_a_compressed_file_that_was_cut_gives_what_stands_before_the_cut(
    mem: doxa.Memory, tmp_path: Path
) -> None:
    rows = "".join(f'{{"title":"Fact {n} of {n * 7919 % 10007}"}}\n' for n in range(3000))
    packed = gzip.compress(rows.encode())
    (tmp_path / "a.jsonl.gz").write_bytes(packed[: len(packed) * 2 // 3])
    report = import_file(mem, tmp_path / "a.jsonl.gz")
    assert 0 < report.propositions < 3000
    assert "a file that is whole" in str(report.refused[-1])
    (tmp_path / "b.jsonl.gz").write_bytes(b"no gzip at all")
    with pytest.raises(doxa.InvalidValue, match="a file that is whole"):
        import_file(mem, tmp_path / "b.jsonl.gz")


def test_an_export_never_replaces_a_file_unasked_and_leaves_no_half_one(
    mem: doxa.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mem.remember("The port is 8080")
    file = tmp_path / "a.jsonl"
    export_file(mem, file)
    with pytest.raises(doxa.InvalidValue, match="nothing is there yet"):
        export_file(mem, file)
    whole = file.read_bytes()
    monkeypatch.setattr("doxa.io.export.EndRecord", None)
    with pytest.raises(TypeError):
        export_file(mem, file, overwrite=True)
    assert file.read_bytes() == whole
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_tables_are_written_for_other_tools(kind: str, mem: doxa.Memory, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    mem.remember("The port is 8080", id="port", evidence="seen in the config")
    export_file(mem, tmp_path / "out", format=kind)
    file = tmp_path / "out" / f"propositions.{kind}"
    table = pq.read_table(file) if kind == "parquet" else pa.ipc.open_file(file).read_all()
    assert table["id"].to_pylist() == ["port"]
    assert len(list((tmp_path / "out").iterdir())) == 5


def test_a_file_that_tells_nothing_is_refused_with_the_formats(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("just words")
    with doxa.memory(seed_norms=False) as mem, pytest.raises(doxa.InvalidValue) as error:
        import_file(mem, file)
    assert "Name it with --format (jsonl: " in str(error.value)
