"""The tree keeps its own rules: arrows point one way, files fit in a head, maps are true."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "doxa"
MOST_LINES = 800
#: Layers, lowest first. A module may import from its own layer and from lower ones.
LAYERS = (
    ("errors",),
    ("params", "scope"),
    ("model",),
    ("store",),
    ("state",),
    ("write", "recall", "beliefs", "upkeep"),
    ("memory",),
    ("handle",),
    ("io",),
    ("cli",),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
#: Modules that may be imported from anywhere or stand outside the layers.
FREE = {"_core", "__init__", "__main__", "data", "__version__"}


def sources(suffix: str) -> list[Path]:
    folders = ("python", "tests", "bench", "tools", "rust/core", "rust/py")
    found = [p for folder in folders for p in (ROOT / folder).rglob(f"*{suffix}")]
    return [p for p in found if not {"target", "__pycache__", "data"} & set(p.parts)]


def imports(path: Path) -> set[str]:
    """Return the top names of doxa that a module imports when it runs (not for types only)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "doxa":
            parts = (node.module or "").split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("doxa.")}
    return found


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_imports_point_downwards(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if own in FREE:
        return
    assert own in LEVEL, f"{own} has no layer; give it one in {Path(__file__).name}"
    for name in imports(path) - FREE:
        if name in LEVEL:
            assert LEVEL[name] <= LEVEL[own], f"{path} imports {name}, which lies above it"


def test_files_fit_in_a_head() -> None:
    long = [
        (p, n)
        for s in (".py", ".rs")
        for p in sources(s)
        if (n := len(p.read_text().split("\n"))) > MOST_LINES
    ]
    assert long == []


def test_architecture_names_only_what_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = set(re.findall(r"`([A-Za-z_.\-]+/[A-Za-z_./\-]*)`", text))
    assert len(paths) > 20
    assert [p for p in paths if not (ROOT / p).exists()] == []
    assert len(text.split("\n")) < 200


def test_only_the_file_interface_opens_files_of_a_store() -> None:
    opening = re.compile(
        r"\bos\.(open|pwrite|pread|fsync|replace|rename|ftruncate)\(|\bmmap\.mmap\(|(?<![\w.])(?<!def )open\("
    )
    for path in (PACKAGE / "store").rglob("*.py"):
        if path.name != "files.py":
            assert not opening.search(path.read_text(encoding="utf-8")), path
    for part in ("state", "write", "recall", "beliefs", "upkeep"):
        for path in (PACKAGE / part).rglob("*.py"):
            assert not opening.search(path.read_text(encoding="utf-8")), path


def test_nothing_names_a_machine_or_a_registry() -> None:
    word = "|".join(
        ("/ro" + "ot/", "/wo" + "rk/", "crates" + r"\.io", "pypi" + r"\.org", "npm" + "js")
    )
    for suffix in (".py", ".rs", ".md", ".toml"):
        for path in [
            *sources(suffix),
            *ROOT.glob(f"*{suffix}"),
            *(ROOT / "docs").rglob(f"*{suffix}"),
        ]:
            found = re.search(word, path.read_text(encoding="utf-8"))
            assert found is None, f"{path}: {found.group()}"
