"""Every benchmark runs, tiny, so that none rots; and its answers agree with the references."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bench import __main__ as bench
from bench.data import DEFAULT, NOW_MICROSECONDS, PLAIN, SETTINGS, Setting, Workload, word, workload
from bench.reference.answers import agree, checksum, seed_at_the_cut
from bench.reference.arrays import build
from bench.reference.graph_spread import (
    dict_graph,
    dict_spread,
    networkx_graph,
    networkx_spread,
    scipy_matrix,
    scipy_spread,
)
from bench.reference.numba_recall import NumbaRecall
from bench.report import plot, record

import doxa
from doxa import _core
from tests.reference import IMPORTANCES, Graph, Link, Node, recall

ORACLE_SIZE, ORACLE_QUERIES = 120, 8


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return bench.run(bench.QUICK, bench.PARTS, lambda what: None)


def test_the_bench_runs_quickly_and_its_answers_agree(report: dict[str, Any]) -> None:
    assert {row["setting"] for row in report["latency"]} == {"plain", "published", "default"}
    assert all(row["differ"] == 0 for row in report["latency"] + report["spread"])
    assert report["writing"][0]["n"] == 1000
    assert report["memory"][0]["array_bytes_per_proposition"] > 0


def test_a_report_prints_as_json_and_as_tables(
    report: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "run", lambda *_: report)
    bench.main(["--quick", "--json"])
    assert json.loads(capsys.readouterr().out) == report
    bench.main(["--quick"])
    assert "recall, default" in capsys.readouterr().out


def test_a_record_holds_the_figures_and_where_they_are_from(
    report: dict[str, Any], tmp_path: Any
) -> None:
    path = record(report, tmp_path)
    assert json.loads(path.read_text("utf-8")) == report
    assert {"machine", "commit", "versions", "date"} <= report.keys()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_plot_of_several_sizes_is_drawn(report: dict[str, Any], tmp_path: Any) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib comes with the extra 'bench'")
    bigger = [{**row, "n": 10 * row["n"]} for row in report["latency"]]
    plot({**report, "latency": report["latency"] + bigger}, tmp_path / "latency.svg")
    assert "<svg" in (tmp_path / "latency.svg").read_text("utf-8")


def test_the_workload_is_the_standard_one() -> None:
    work, again = workload(2_000, queries=20), workload(2_000, queries=30)
    assert (work.titles == again.titles).all()
    assert (work.link_to == again.link_to).all()
    assert (work.queries == again.queries[:20]).all()
    assert work.link_from.size / work.n == pytest.approx(5, rel=0.05)
    assert work.degree.max() == pytest.approx(3 * work.n**0.5, rel=0.15)
    assert (work.link_from != work.link_to).all()
    titles = set(work.title_texts().to_pylist())
    for query, text in zip(work.queries, work.query_texts(), strict=True):
        assert (query + 1 >= 50).all()
        assert (query + 1 <= 5_000).all()
        assert any(set(text.split()) <= set(title.split()) for title in titles)


def test_its_words_are_cut_by_nothing_and_have_no_stem() -> None:
    words = [word(rank) for rank in range(0, 50_000, 997)]
    assert len(set(words)) == len(words)
    assert doxa.terms(" ".join(words)) == words
    plain, stemming = (_core.Engine(doxa.Params().tuning, language) for language in ("", "en"))
    for engine in (plain, stemming):
        engine.set_text(engine.add_node("a", 0), " ".join(words))
    assert plain.stats()["terms"] == stemming.stats()["terms"]


def oracle_params(setting: Setting) -> SimpleNamespace:
    given = {name: getattr(setting, name) for name in Setting.__dataclass_fields__}
    levels = doxa.Params()
    return SimpleNamespace(
        **{**given, "conductance": {"relates": setting.conductance}},
        rho=0.3,
        w_body=0.75,
        base=levels.base,
        half_life=levels.half_life,
        lift_successor=True,
    )


def oracle_graph(work: Workload) -> Graph:
    texts = zip(work.title_texts().to_pylist(), work.summary_texts().to_pylist(), strict=True)
    nodes = [
        Node(
            name,
            title=title,
            summary=summary,
            importance=IMPORTANCES[level],
            last_used=-days,
            recorded_at=-days,
            use_count=uses,
        )
        for name, (title, summary), level, days, uses in zip(
            work.ids,
            texts,
            work.importance.tolist(),
            work.last_used_days.tolist(),
            work.use_count.tolist(),
            strict=True,
        )
    ]
    ends = zip(work.link_from.tolist(), work.link_to.tolist(), strict=True)
    return Graph(nodes, [Link(work.ids[a], work.ids[b]) for a, b in ends])


@pytest.mark.parametrize("name", SETTINGS)
def test_the_numba_reference_agrees_with_the_oracle(name: str) -> None:
    work, setting = workload(ORACLE_SIZE, queries=ORACLE_QUERIES), SETTINGS[name]
    graph, arrays = oracle_graph(work), build(work, setting)
    reference = NumbaRecall(arrays)
    for query, text in zip(work.queries, work.query_texts(), strict=True):
        if seed_at_the_cut(arrays, query):
            continue
        hits = recall(graph, text, k=10, now=0.0, params=oracle_params(setting))
        rows = np.array([work.ids.index(hit.id) for hit in hits])
        assert agree((rows, np.array([hit.score for hit in hits])), reference.recall(query))


@pytest.mark.parametrize("setting", [PLAIN, SETTINGS["published"], DEFAULT], ids=lambda s: s.name)
def test_the_references_of_the_spread_agree(setting: Setting) -> None:
    arrays = build(workload(ORACLE_SIZE, queries=1), setting)
    energy = {0: 2.0, 5: 1.5, 9: 1.0}
    expected = dict_spread(dict_graph(arrays), arrays, energy)
    assert len(expected) > len(energy)
    assert scipy_spread(scipy_matrix(arrays), arrays, energy) == pytest.approx(expected, rel=1e-5)
    graph = networkx_graph(arrays)
    assert networkx_spread(graph, arrays, energy) == pytest.approx(expected, rel=1e-5)
    reached, sums = NumbaRecall(arrays).spread(
        np.array(list(energy), np.uint32), np.array(list(energy.values()), np.float32)
    )
    if setting.seed_power == 0:
        assert dict(zip(reached.tolist(), sums.tolist(), strict=True)) == pytest.approx(
            expected, rel=1e-5
        )


def test_answers_agree_up_to_rounding_only() -> None:
    one = np.array([1, 2, 3]), np.array([3.0, 2.0, 1.0])
    assert agree(one, (np.array([1, 2, 3]), np.array([3.0, 2.00001, 1.0])))
    assert not agree(one, (np.array([1, 2, 3]), np.array([3.0, 2.001, 1.0])))
    assert not agree(one, (np.array([2, 1, 3]), np.array([3.0, 2.0, 1.0])))
    assert not agree(one, (np.array([1, 2]), np.array([3.0, 2.0])))
    tied = np.array([1, 2, 3]), np.array([2.0, 2.0, 1.0])
    assert agree(tied, (np.array([2, 1, 3]), np.array([2.0, 2.0, 1.0])))
    assert checksum([tied]) == checksum([(np.array([2, 1, 3]), tied[1])])
    assert checksum([tied]) != checksum([one])


def test_the_time_asked_at_is_after_every_use() -> None:
    assert (workload(100, queries=1).last_used < NOW_MICROSECONDS).all()
