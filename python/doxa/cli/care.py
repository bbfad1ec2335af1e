"""Commands that look after a store: verify, repair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from doxa.cli.session import FINDINGS, JsonOption, StoreOption, guarded, session

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("verify")(guarded(verify))
    app.command("repair")(guarded(repair))


def verify(
    context: typer.Context,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read every byte of a store and check it against its hashes (exit code 1: damage)."""
    here = session(context, store, as_json)
    with here.open(read_only=True) as mem:
        report = mem.upkeep.verify()
    facts = _facts(report)
    here.out.document(facts)
    here.out.pairs([(name.replace("_", " "), _shown(value)) for name, value in facts.items()])
    if not _sound(report):
        raise typer.Exit(FINDINGS)


def repair(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(help="Where the salvaged copy goes.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Salvage a damaged store into a copy; the store itself is not touched."""
    from doxa.store import RealFiles
    from doxa.store import repair as salvage

    here = session(context, store, as_json)
    report = salvage(RealFiles(), str(here.path), str(target))
    facts = _facts(report)
    here.out.document(facts)
    here.out.say(f"what could be saved is in {target}; look at it before you use it")
    here.out.pairs([(name.replace("_", " "), _shown(value)) for name, value in facts.items()])
    if not _sound(report):
        raise typer.Exit(FINDINGS)


def _facts(report: Any) -> dict[str, Any]:
    return dict(msgspec.to_builtins(report, enc_hook=str))


def _sound(report: Any) -> bool:
    return bool(getattr(report, "ok", not getattr(report, "problems", ())))


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "\n".join(_shown(item) for item in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{name} {item}" for name, item in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
