"""The core filled with the standard workload, and the settings as ``Params``."""

from __future__ import annotations

from bench.data import NOW_MICROSECONDS, Setting, Workload
from doxa import _core
from doxa.params import RELATIONS, Params

__all__ = ["NOW_MICROSECONDS", "engine_of", "params_of"]


def params_of(setting: Setting) -> Params:
    """Return a setting of the bench as parameters; every link conducts alike."""
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
    """Return a compacted core that holds the workload."""
    engine = _core.Engine(params.tuning, "")
    titles, summaries = work.title_texts(), work.summary_texts()
    last_used, uses, importance = work.last_used, work.use_count, work.importance
    fork = engine.fork()
    for row, name in enumerate(work.ids):
        node = fork.add_node(name, 0, row)
        fork.set_text(node, titles[row].as_py(), summaries[row].as_py(), "", "", "", [])
        used = int(last_used[row])
        fork.set_columns(
            node,
            kind=1,
            importance=int(importance[row]),
            status=0,
            category=0,
            scope=0,
            last_used=used,
            use_count=int(uses[row]),
            recorded_at=used,
            confidence=0.6,
        )
    relates = list(RELATIONS).index("relates")
    for a, b in zip(work.link_from.tolist(), work.link_to.tolist(), strict=True):
        fork.add_link(a, b, relates, 1.0)
    fork.compact()
    engine.adopt(fork)
    return engine
