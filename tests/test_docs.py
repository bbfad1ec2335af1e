"""Every example in the documentation and in the docstrings runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import doxa

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "README.zh.md", *(ROOT / "docs").glob("*.md")])
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


def modules() -> list[str]:
    found = [m.name for m in pkgutil.walk_packages(doxa.__path__, "doxa.")]
    return ["doxa", *(name for name in found if not name.startswith(("doxa.cli", "doxa.__main__")))]


@pytest.mark.parametrize("name", modules())
def test_docstring_examples_run(name: str, tmp_path: Path) -> None:
    module = importlib.import_module(name)
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=OPTIONS)
    names = {"doxa": doxa, "tmp_path": tmp_path}
    if name == "doxa._core":
        tests = [
            t
            for item in vars(module).values()
            if callable(item)
            for t in finder.find(item, f"{name}.{item.__name__}", module=False, globs=dict(names))
        ]
    else:
        tests = finder.find(module, name, extraglobs=names)
    for test in tests:
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_blocks_of_the_pages_run(page: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)


def test_public_names_have_docstrings_with_examples() -> None:
    without = []
    for name in doxa.__all__:
        item = getattr(doxa, name)
        if callable(item) and not inspect.getdoc(item):
            without.append(name)
    methods = [
        m
        for m in vars(doxa.Memory).values()
        if inspect.isfunction(m) and not m.__name__.startswith("_")
    ]
    without += [m.__name__ for m in methods if not inspect.getdoc(m)]
    assert without == []
