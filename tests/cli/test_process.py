"""The command line as a process: pipes, signals, terminals, start-up."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import doxa

DOXA = [sys.executable, "-m", "doxa"]


def environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "DOXA_STORE", "COLUMNS")}
    return {**kept, **more}


def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*DOXA, *arguments],
        env=environment(**more),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def on_a_terminal(*arguments: str, **more: str) -> str:
    """Return what a command writes where stdout is a terminal."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [*DOXA, *arguments],
        env=environment(TERM="xterm", COLUMNS="100", **more),
        stdout=follower,
        stderr=follower,
    ) as process:
        os.close(follower)
        data = b""
        while True:
            try:
                chunk = os.read(leader, 65_536)
            except OSError:
                break
            if not chunk:
                break
            data += chunk
        process.wait(60)
    os.close(leader)
    return data.decode()


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = tmp_path / "store"
    with doxa.open(path, seed_norms=False) as mem:
        mem.remember("The API listens on port 8080", id="port")
    return str(path)


def test_the_module_and_the_script_are_the_same_command() -> None:
    script = Path(sys.executable).parent / "doxa"
    said = subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout
    assert said == run("--version").stdout == f"doxa {doxa.__version__}\n"


def test_starting_loads_neither_scipy_nor_numba_nor_rich() -> None:
    code = (
        "import sys, doxa.cli.app as a; "
        "print([m for m in ('scipy', 'numba', 'rich', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_pipe_sees_plain_text_and_one_json_document(store: str) -> None:
    plain = run("--store", store, "recall", "port")
    assert "\x1b" not in plain.stdout
    assert plain.stderr == ""
    document = run("--store", store, "--json", "recall", "port")
    assert json.loads(document.stdout)["hits"][0]["id"] == "port"


def test_a_terminal_sees_tables_and_no_color_takes_the_colours_away(store: str) -> None:
    coloured = on_a_terminal("--store", store, "recall", "port")
    assert "\x1b[1m" in coloured
    assert "─" in coloured
    plain = on_a_terminal("--store", store, "recall", "port", NO_COLOR="1")
    assert "\x1b[3" not in plain
    assert "─" in plain


def test_markup_in_a_memory_is_shown_as_it_stands_on_a_terminal(store: str) -> None:
    with doxa.open(store) as mem:
        mem.remember("Use [bold]brackets[/bold] and \x1b[31m nothing else", id="markup")
    shown = on_a_terminal("--store", store, "recall", "brackets", NO_COLOR="1")
    assert "Use [bold]brackets[/bold] and \\x1b[31m nothing else" in shown


def reads(pid: int, path: Path) -> bool:
    """Tell whether a process has a file open."""
    folder = Path(f"/proc/{pid}/fd")
    try:
        return any(os.path.realpath(fd) == str(path) for fd in folder.iterdir())
    except OSError:
        return False


def test_ctrl_c_ends_with_130_and_no_traceback(store: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    with rows.open("w", encoding="utf-8") as file:  # minutes of work
        file.writelines(f'{{"title": "Never to be written, row {n}"}}\n' for n in range(200_000))
    process = subprocess.Popen(
        [*DOXA, "--store", store, "import", "--format", "jsonl", str(rows)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not reads(process.pid, rows) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    assert err == "doxa: interrupted; what was not committed yet was not written\n"
    with doxa.open(store) as mem:
        assert len(mem) == 1


def test_a_reader_that_leaves_early_is_no_error(store: str) -> None:
    with doxa.open(store) as mem:
        mem.remember_many(
            [{"title": f"Fact {n} of many {n * 3}", "body": "long " * 200} for n in range(500)],
            on_duplicate="allow",
        )
    with subprocess.Popen(
        [*DOXA, "--store", store, "export", "-"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read()
    assert b"Traceback" not in err
    assert process.returncode == 0


def test_bytes_that_are_no_utf8_are_refused_and_an_ascii_terminal_is_no_trouble(store: str) -> None:
    bad = subprocess.run(
        [*DOXA, "--store", store, "remember", b"bad \xff"],
        env=environment(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert bad.returncode == 2
    assert b"no lone surrogates" in bad.stderr
    run("--store", store, "remember", "端口是 9090", "--id", "zh")
    ascii_only = run("--store", store, "recall", "端口", PYTHONIOENCODING="ascii")
    assert ascii_only.returncode == 0
    assert "\\u7aef\\u53e3" in ascii_only.stdout


def test_completion_for_shells_is_there() -> None:
    script = run("--show-completion", SHELL="/bin/bash", _DOXA_COMPLETE="source_bash")
    assert "_DOXA_COMPLETE" in script.stdout
