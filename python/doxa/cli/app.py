"""The command line's root: global options, and the commands in the order of their use."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from doxa.cli import bench, care, demo, reading, transfer, writing

__all__ = ["app"]

app = typer.Typer(
    name="doxa",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if sys.stdout.isatty() and sys.stderr.isatty() else None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Governed memory for long-running agents: a proposition graph in your own process.",
    epilog="Exit codes: 0 ok, 1 findings or rows refused, 2 bad input, 3 store trouble. "
    "A first look: doxa demo",
)


def _version(wanted: bool) -> None:
    if wanted:
        from doxa import __version__

        typer.echo(f"doxa {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    store: Annotated[
        Path | None,
        typer.Option("--store", envvar="DOXA_STORE", metavar="DIR", help="The store's directory."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Answer with one JSON document on stdout.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """Take the global options; each command takes --store and --json as well."""
    context.obj = {"store": store, "json": as_json}


for part in (writing, reading, transfer, care, bench, demo):
    part.register(app)
