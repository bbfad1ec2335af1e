"""The core filled with the standard workload, and the settings as ``Params``."""

from __future__ import annotations

from bench.data import NOW_MICROSECONDS, Setting, Workload
from doxa import _core
from doxa.params import RELATIONS, Params

__all__ = ["NOW_MICROSECONDS", "engine_of", "params_of", "retuned"]

#: Rows whose texts are made into Python strings at a time.
_PART = 50_000


def params_of(setting: Setting) -> Params:
    """Return a setting of the bench as parameters; links of other relations carry nothing."""
    conductance = {relation: float(relation == "relates") for relation in RELATIONS}
    conductance["relates"] = float(setting.conductance)
    return Params(
        alpha=setting.alpha,
        beta=setting.beta,
        w_title=setting.w_title,
        w_summary=setting.w_summary,
        lam=setting.lam,
        theta=setting.theta,
        hops=setting.hops,
        max_seeds=setting.max_seeds,
        seed_power=setting.seed_power,
        damp=setting.damp,
        damp_allowance=setting.damp_allowance,
        direction=setting.direction,
        relevance=setting.relevance,
        conductance=conductance,
        lift_successor=False,
    )


def engine_of(work: Workload, params: Params) -> _core.Engine:
    """Return a compacted core that holds the workload; node numbers are row numbers."""
    engine = _core.Engine(params.tuning, "")
    fork = engine.fork()
    last_used, uses, importance = (
        column.tolist() for column in (work.last_used, work.use_count, work.importance)
    )
    titles, summaries = work.title_texts(), work.summary_texts()
    for first in range(0, work.n, _PART):
        texts = zip(
            titles[first : first + _PART].to_pylist(),
            summaries[first : first + _PART].to_pylist(),
            strict=True,
        )
        for row, (title, summary) in enumerate(texts, first):
            node = fork.add_node(work.ids[row], 0, row)
            fork.set_text(node, title, summary, "", "", "", [])
            fork.set_columns(
                node,
                kind=1,
                importance=importance[row],
                status=0,
                category=0,
                scope=0,
                last_used=last_used[row],
                use_count=uses[row],
                recorded_at=last_used[row],
                confidence=0.6,
            )
    relates = list(RELATIONS).index("relates")
    for a, b in zip(work.link_from.tolist(), work.link_to.tolist(), strict=True):
        fork.add_link(a, b, relates, 1.0)
    fork.compact()
    engine.adopt(fork)
    return engine


def retuned(engine: _core.Engine, params: Params) -> _core.Engine:
    """Return the same memory whose own parameters are these: what a store so created holds."""
    fork = engine.fork()
    fork.set_tuning(params.tuning)
    engine.adopt(fork)
    return engine
