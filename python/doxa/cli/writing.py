"""Commands that write: init, remember, append, link."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from doxa.cli.output import Out, printable
from doxa.cli.parse import claim_of, link_of, params_of, scope_of, text_of, time_of
from doxa.cli.session import AgentOption, JsonOption, StoreOption, guarded, session
from doxa.errors import StoreExists, StoreNotFound

if TYPE_CHECKING:
    from doxa.model import Proposition

__all__ = ["register"]

_Texts = list[str] | None
_Id = Annotated[str | None, typer.Option("--id", help="Its id; else one is made.")]
_Scope = Annotated[
    _Texts, typer.Option("--scope", metavar="DIM=VALUE", help="Where it applies; repeatable.")
]
_Claim = Annotated[tuple[str, str, str] | None, typer.Option(metavar="SUBJECT ATTRIBUTE VALUE")]
_About = Annotated[_Texts, typer.Option("--about", help="Whom or what it is about; repeatable.")]
_Links = Annotated[
    _Texts, typer.Option("--link", metavar="[RELATION:]ID", help="A link; repeatable.")
]
_Where = Annotated[str | None, typer.Option("--context", help="The context in which it holds.")]
_SourceClass = Annotated[
    str, typer.Option(help="verified, user_explicit, third_party or inferred.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("init")(guarded(init))
    app.command("remember")(guarded(remember))
    app.command("append")(guarded(append))
    app.command("link")(guarded(link))


def init(
    context: typer.Context,
    path: Annotated[Path | None, typer.Argument(help="The directory; or give --store.")] = None,
    language: Annotated[
        str, typer.Option(help="en: English stems as second terms; '': none.")
    ] = "en",
    published: Annotated[
        bool, typer.Option("--published", help="The source's own parameters.")
    ] = False,
    param: Annotated[
        _Texts, typer.Option("--param", metavar="NAME=VALUE", help="A parameter of the store.")
    ] = None,
    seed_norms: Annotated[
        bool, typer.Option(help="Begin with a few norms about the store's own upkeep.")
    ] = True,
    agent: AgentOption = "agent",
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a store."""
    here = session(context, path or store, as_json)
    params = params_of(param, published=published)
    try:
        with here.open(read_only=True):
            raise StoreExists(
                f"there is a store at {printable(str(here.path))} already; "
                "choose another directory, or use this one as it is"
            )
    except StoreNotFound:
        pass
    with here.open(
        create=True, language=language, params=params, seed_norms=seed_norms, agent=agent
    ) as mem:
        count = len(mem)
    here.out.document({"store": str(here.path), "propositions": count, "language": language})
    here.out.say(f"A store is ready in {here.path}" + (f", with {count} norms." if count else "."))
    here.out.say(f'Next: doxa --store {here.path} remember "The API listens on port 8080"')


def remember(
    context: typer.Context,
    title: Annotated[str, typer.Argument(help="The statement in one line.")],
    summary: Annotated[str, typer.Argument(help="The statement in a few sentences.")] = "",
    identifier: _Id = None,
    body: Annotated[str, typer.Option(help="Notes; - reads them from stdin.")] = "",
    kind: Annotated[str, typer.Option(help="knowledge, norm, task or subject.")] = "knowledge",
    importance: Annotated[str, typer.Option(help="low, medium, high or resident.")] = "medium",
    scope: _Scope = None,
    category: Annotated[str | None, typer.Option(help="Lifecycle category.")] = None,
    claim: _Claim = None,
    about: _About = None,
    link_to: _Links = None,
    where: _Where = None,
    valid_from: Annotated[str | None, typer.Option(help="True in the world from.")] = None,
    valid_to: Annotated[str | None, typer.Option(help="True in the world until.")] = None,
    event_at: Annotated[str | None, typer.Option(help="When what it speaks of happens.")] = None,
    exit_condition: Annotated[str, typer.Option(help="Of a task: what counts as done.")] = "",
    review_by: Annotated[str | None, typer.Option(help="Of a task: when to look again.")] = None,
    confidence: Annotated[float | None, typer.Option(help="-1 to 1.")] = None,
    source: Annotated[str, typer.Option(help="Where it comes from.")] = "",
    source_class: _SourceClass = "user_explicit",
    evidence: Annotated[_Texts, typer.Option("--evidence", help="What was said or read.")] = None,
    on_duplicate: Annotated[str, typer.Option(help="raise, merge or allow.")] = "raise",
    reason: Annotated[str, typer.Option(help="Why a duplicate is stored all the same.")] = "",
    at: Annotated[str | None, typer.Option(help="When it was learnt; default: now.")] = None,
    by: Annotated[str | None, typer.Option(help="Who says so; default: the agent.")] = None,
    agent: AgentOption = "agent",
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Store a proposition, unless the same statement is there (exit code 1)."""
    here = session(context, store, as_json)
    given: dict[str, Any] = {
        "id": identifier,
        "body": text_of(body),
        "kind": kind,
        "importance": importance,
        "scope": scope_of(scope),
        "category": category,
        "claim": claim_of(claim),
        "about": about or (),
        "links": [link_of(text) for text in link_to or ()],
        "context": where,
        "valid_from": time_of("--valid-from", valid_from),
        "valid_to": time_of("--valid-to", valid_to),
        "event_at": time_of("--event-at", event_at),
        "exit_condition": exit_condition,
        "review_by": time_of("--review-by", review_by),
        "confidence": confidence,
        "source": source,
        "source_class": source_class,
        "evidence": evidence or (),
        "on_duplicate": on_duplicate,
        "reason": reason,
        "at": time_of("--at", at),
        "by": by,
    }
    with here.open(agent=agent) as mem:
        written = mem.remember(title, summary, **given)
    tell_written(here.out, written, "remembered")


def tell_written(out: Out, written: Proposition, verb: str) -> None:
    """Say what a write did and what was found on the way."""
    receipt = written.receipt
    out.document(msgspec.structs.asdict(written))
    if receipt.duplicate_of:
        out.say(f"already there as {receipt.duplicate_of}: {written.title}")
    else:
        out.say(f"{verb} {written.id}: {written.title}")
    for other in receipt.possible_duplicates:
        out.say(f"  may say the same as {other}; linked for review", "yellow")
    for warning in receipt.warnings:
        out.say(f"  {warning}", "yellow")


def append(
    context: typer.Context,
    identifier: Annotated[str, typer.Argument(metavar="ID", help="The proposition.")],
    text: Annotated[str, typer.Argument(help="The note; - reads it from stdin.")],
    by: Annotated[str | None, typer.Option(help="Who says so; default: the agent.")] = None,
    at: Annotated[str | None, typer.Option(help="When; default: now.")] = None,
    agent: AgentOption = "agent",
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a signed, timestamped note to a proposition."""
    here = session(context, store, as_json)
    with here.open(agent=agent) as mem:
        written = mem.append(identifier, text_of(text), by=by, at=time_of("--at", at))
    tell_written(here.out, written, f"noted (revision {written.rev}) in")


def link(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="FROM")],
    b: Annotated[str, typer.Argument(metavar="TO")],
    relation: Annotated[
        str, typer.Argument(help="relates, supports, depends_on, supersedes, about, …")
    ] = "relates",
    weight: Annotated[float, typer.Option(help="Above 0, at most 1.")] = 1.0,
    valid_from: Annotated[str | None, typer.Option(help="True in the world from.")] = None,
    valid_to: Annotated[str | None, typer.Option(help="True in the world until.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the link back.")] = False,
    agent: AgentOption = "agent",
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Link two nodes; 'doxa link NEW OLD supersedes' puts new in the place of old."""
    here = session(context, store, as_json)
    with here.open(agent=agent) as mem:
        if remove:
            receipt = mem.unlink(a, b, relation)
        else:
            receipt = mem.link(
                a,
                b,
                relation,
                weight=weight,
                valid_from=time_of("--valid-from", valid_from),
                valid_to=time_of("--valid-to", valid_to),
            )
    here.out.document(
        {"from": a, "to": b, "relation": relation, "removed": remove, **_told(receipt)}
    )
    verb = (
        "unlinked" if remove else "linked" if receipt.outcome != "unchanged" else "already linked"
    )
    here.out.say(f"{verb} {a} -{relation}-> {b}")


def _told(receipt: Any) -> dict[str, Any]:
    return {"outcome": receipt.outcome, "commit": receipt.commit}
