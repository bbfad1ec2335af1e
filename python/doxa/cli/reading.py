"""Commands that read: recall, show, rescore, stats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from doxa.cli.output import Out, when
from doxa.cli.parse import params_of, scope_of, time_of
from doxa.cli.session import JsonOption, Session, StoreOption, guarded, session

if TYPE_CHECKING:
    from doxa.memory import Memory
    from doxa.model import Proposition
    from doxa.recall.hits import Hit, Hits

__all__ = ["hits_document", "register", "tell_hits"]

_Texts = list[str] | None


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("recall")(guarded(recall))
    app.command("show")(guarded(show))
    app.command("rescore")(guarded(rescore))
    app.command("stats")(guarded(stats))


def recall(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="Words, in any language; never syntax.")],
    k: Annotated[int, typer.Option("-k", "--count", help="How many hits at most.")] = 10,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how each hit was reached.")
    ] = False,
    scope: Annotated[
        _Texts, typer.Option("--scope", metavar="DIM=VALUE", help="The situation; repeatable.")
    ] = None,
    kind: Annotated[_Texts, typer.Option("--kind", help="Only these kinds.")] = None,
    category: Annotated[_Texts, typer.Option("--category", help="Only these categories.")] = None,
    about: Annotated[_Texts, typer.Option("--about", help="Only what is about these.")] = None,
    status: Annotated[_Texts, typer.Option("--status", help="Only these statuses.")] = None,
    include: Annotated[
        _Texts, typer.Option("--include", help="archived, quarantined or retired as well.")
    ] = None,
    hops: Annotated[int | None, typer.Option(help="Hops of the spread.")] = None,
    spread: Annotated[bool, typer.Option(help="Follow links; else the flat match.")] = True,
    relevance: Annotated[str | None, typer.Option(help="bm25 or count.")] = None,
    valid_at: Annotated[str | None, typer.Option(help="Only what is true then.")] = None,
    history: Annotated[bool, typer.Option("--history", help="Don't lift successors.")] = False,
    min_confidence: Annotated[float | None, typer.Option(help="Drop weaker beliefs.")] = None,
    param: Annotated[
        _Texts, typer.Option("--param", metavar="NAME=VALUE", help="For this call only.")
    ] = None,
    now: Annotated[str | None, typer.Option(help="The time of reading.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find what the memory holds on a question, the best first, each score explained."""
    here = session(context, store, as_json)
    given: dict[str, Any] = {
        "scope": scope_of(scope),
        "kinds": kind,
        "categories": category,
        "about": about,
        "statuses": status,
        "include": include,
        "hops": hops,
        "relevance": relevance,
        "valid_at": time_of("--valid-at", valid_at),
        "min_confidence": min_confidence,
        "params": params_of(param),
        "now": time_of("--now", now),
    }
    asked = {name: value for name, value in given.items() if value is not None}
    with here.open(read_only=True) as mem:
        hits = mem.recall(query, k=k, spread=spread, history=history, **asked)
        here.out.document(hits_document(query, hits))
        tell_hits(here.out, hits, explain=explain)


def hits_document(query: str, hits: Hits) -> dict[str, Any]:
    """Return hits as plain data."""
    return {
        "query": query,
        "confidence": hits.confidence if len(hits) else 0.0,
        "hits": [msgspec.structs.asdict(hit) for hit in hits],
    }


def terms_of(hit: Hit) -> str:
    """Return the named terms of a score: what it is made of."""
    return " + ".join(f"{name} {value:.3f}" for name, value in hit.terms.items())


def tell_hits(out: Out, hits: Hits, *, explain: bool = False) -> None:
    """Write hits, each with its score, the terms of it, and what a reader has to know."""
    if out.as_json:
        return
    if not len(hits):
        out.say("nothing was found")
        return
    if out.terminal:
        rows = [
            (
                str(place),
                f"{hit.score:.3f}",
                _told(hit, explain),
                terms_of(hit).replace(" + ", "\n"),
            )
            for place, hit in enumerate(hits, 1)
        ]
        columns = ("#", "score", "proposition", "made of")
        styles = {0: "dim", 1: "bold", 3: "dim"}
        out.table(columns, rows, numbers=(0, 1), styles=styles, ratio=2, leading=1)
        return
    for place, hit in enumerate(hits, 1):
        out.say(f"{place}. {hit.score:.3f}  {hit.id}: {hit.title}")
        out.say(f"   = {terms_of(hit)}")
        for line in _asides(hit, explain):
            out.say(f"   {line}")


def _told(hit: Hit, explain: bool) -> str:
    lines = [hit.title, f"[{hit.id}]"]
    if explain and hit.summary:
        lines.insert(1, hit.summary)
    return "\n".join(lines + _asides(hit, explain))


def _asides(hit: Hit, explain: bool) -> list[str]:
    lines = [f"! {note}" for note in hit.notes]
    if explain:
        way = "".join(f" -{step.relation}-> {step.target}" for step in hit.path)
        lines.append(
            f"reached by {hit.path[0].source}{way}" if hit.path else "matched by its words"
        )
    return lines


def show(
    context: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...")] = None,
    count: Annotated[int, typer.Option("-n", help="Without ids: how many of the latest.")] = 20,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show propositions in full with their links, or list the latest."""
    here = session(context, store, as_json)
    with here.open(read_only=True) as mem:
        if ids:
            _show_each(here, mem, ids)
        else:
            _show_latest(here.out, mem, count)


def _show_each(here: Session, mem: Memory, ids: list[str]) -> None:
    found = [mem.get(identifier) for identifier in ids]
    links = _links(mem, {item.id for item in found})
    documents = [
        {**msgspec.structs.asdict(item), "links": links.get(item.id, [])} for item in found
    ]
    for document in documents:
        del document["receipt"]
    here.out.document(documents[0] if len(documents) == 1 else documents)
    for item in found:
        here.out.heading(item.title)
        here.out.pairs(_facts(item, links.get(item.id, [])))


def _facts(item: Proposition, links: list[dict[str, Any]]) -> list[tuple[str, str]]:
    claim = item.claim
    said = f"{claim.subject} · {claim.attribute} · {claim.value}" if claim else ""
    used = f"{item.use_count} times, last {when(item.last_used)}" if item.use_count else ""
    return [
        ("id", item.id),
        ("summary", item.summary),
        ("kind", f"{item.kind}, importance {item.importance}"),
        ("status", item.status),
        ("replaced by", ", ".join(item.superseded_by)),
        ("scope", str(item.scope)),
        ("category", item.category),
        ("claim", said if claim is None or claim.polarity else f"not: {said}"),
        ("confidence", f"{item.confidence:.2f} ({item.source_class})"),
        ("valid", _span(item)),
        ("happens", when(item.event_at)),
        ("done when", item.exit_condition),
        ("review by", when(item.review_by)),
        ("used", used),
        ("source", item.source),
        ("recorded", f"{when(item.recorded_at)} by {item.author}, revision {item.rev}"),
        ("notes", item.body),
        ("links", "\n".join(_arrow(link, item.id) for link in links)),
    ]


def _span(item: Proposition) -> str:
    if item.valid_from is None and item.valid_to is None:
        return ""
    return f"{when(item.valid_from) or '…'} to {when(item.valid_to) or '…'}"


def _arrow(link: dict[str, Any], identifier: str) -> str:
    broken = " (there is nothing of this id)" if link["broken"] else ""
    weight = "" if link["weight"] == 1.0 else f" (weight {link['weight']:g})"
    if link["source"] == identifier:
        return f"-{link['relation']}-> {link['target']}{weight}{broken}"
    return f"<-{link['relation']}- {link['source']}{weight}{broken}"


def _links(mem: Memory, ids: set[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the links that touch some ids, by id."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = mem.to_arrow("links")
    wanted = pa.array(sorted(ids), table["source"].type)
    touched = pc.or_(pc.is_in(table["source"], wanted), pc.is_in(table["target"], wanted))
    out: dict[str, list[dict[str, Any]]] = {}
    columns = ["source", "target", "relation", "weight", "broken"]
    for link in table.filter(touched).select(columns).to_pylist():
        for end in {link["source"], link["target"]} & ids:
            out.setdefault(end, []).append(link)
    return out


def _show_latest(out: Out, mem: Memory, count: int) -> None:
    latest = sorted(mem.propositions(), key=lambda p: (p.recorded_at, p.id))[-max(count, 0) :][::-1]
    if count <= 0:
        latest = []
    out.document(
        [
            {"id": p.id, "title": p.title, "status": p.status, "recorded_at": p.recorded_at}
            for p in latest
        ]
    )
    rows = [(when(p.recorded_at), p.kind, p.status, p.title, p.id) for p in latest]
    columns = ("recorded", "kind", "status", "title", "id")
    out.table(columns, rows, styles={0: "dim", 4: "dim"}, ratio=3)
    if len(mem) > len(latest):
        out.say(f"{len(latest)} of {len(mem):,}")


def rescore(
    context: typer.Context,
    k: Annotated[int, typer.Option("-k", "--count", help="How many of the strongest.")] = 20,
    now: Annotated[str | None, typer.Option(help="The time of reading; default: now.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compute the strength of every proposition: what has been going on."""
    here = session(context, store, as_json)
    with here.open(read_only=True) as mem:
        table = mem.rescore(now=time_of("--now", now))
        order = table.sort_by([("strength", "descending"), ("id", "ascending")])
        best = order.slice(0, max(k, 0)).to_pylist()
        titles = {row["id"]: mem.get(row["id"]).title for row in best}
    here.out.document({"count": table.num_rows, "strongest": best})
    terms = [name for name in table.column_names if name != "id"]
    rows = [(*(f"{row[name]:.3f}" for name in terms), titles[row["id"]], row["id"]) for row in best]
    numbers = range(len(terms))
    here.out.table(
        (*terms, "title", "id"),
        rows,
        numbers=tuple(numbers),
        styles={0: "bold", len(terms) + 1: "dim"},
        ratio=len(terms),
    )
    here.out.say(f"{len(best)} of {table.num_rows:,}")


def stats(
    context: typer.Context,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count what a store holds and what it takes on disk."""
    here = session(context, store, as_json)
    with here.open(read_only=True) as mem:
        figures = mem.stats()
    here.out.document(figures)
    here.out.pairs(
        [(name.replace("_", " "), _figure(name, value)) for name, value in figures.items()]
    )


def _figure(name: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}" + (" bytes" if "bytes" in name else "")
    return str(value)
