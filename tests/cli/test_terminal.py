"""A table on a terminal: bold where it may be, and no wider than there is room."""

import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")

Karat = Callable[..., CompletedProcess[str]]


def on_terminal(columns: int, *arguments: str, **environment: str) -> str:
    """Return what `karat *arguments*` writes to a terminal so many columns wide."""
    import fcntl
    import pty
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    plain = {key: text for key, text in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "karat", *arguments], stdout=theirs, env={**plain, **environment}
    )
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 65536):
            written += piece
    except OSError:  # how Linux reports that the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return written.decode().replace("\r\n", "\n")


@pytest.fixture
def contest(folder: Path) -> tuple[str, ...]:
    """Return a comparison with a clear winner."""
    (folder / "clear.qrels").write_text("".join(f"q{n} 0 a 1\n" for n in range(20)))
    for name, score in (("baseline", 1), ("candidate", 3)):
        (folder / f"{name}.run").write_text(
            "".join(f"q{n} Q0 a 1 {score} t\nq{n} Q0 x 2 2 t\n" for n in range(20))
        )
    return ("compare", "clear.qrels", "baseline.run", "candidate.run", "-m", "mrr")


def test_a_terminal_shows_the_best_in_bold_unless_told_not_to(contest: tuple[str, ...]) -> None:
    bold = on_terminal(120, *contest)
    assert "\x1b[1m1.000*\x1b[0m" in bold
    plain = on_terminal(120, *contest, NO_COLOR="1")
    assert plain == bold.replace("\x1b[1m", "").replace("\x1b[0m", "")


@pytest.mark.parametrize("columns", [80, 100])
def test_a_table_fits_the_terminal(contest: tuple[str, ...], columns: int) -> None:
    text = on_terminal(columns, *contest, NO_COLOR="1")
    assert max(map(len, text.splitlines())) <= columns
    assert "too wide for this terminal, not shown: better than" in text.replace("\n  ", " ")


def test_a_pipe_gets_every_column(karat: Karat, contest: tuple[str, ...]) -> None:
    assert "better than" in karat(*contest).stdout.splitlines()[2]


@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize("command", ["compare", "evaluate", "sweep", "engines", "metrics"])
def test_whatever_is_shown_fits_the_terminal(folder: Path, command: str, columns: int) -> None:
    """Ten configurations are ranked, with recommendations."""
    (folder / "docs").mkdir()
    rows = ["question,expected_document"]
    for number in range(12):
        (folder / "docs" / f"document{number}.md").write_text(f"about the number{number}\n")
        rows.append(f"what is number{number},document{number}.md")
    (folder / "gold.csv").write_text("\n".join(rows) + "\n")
    (folder / "matrix.yaml").write_text(
        "search_modes: [sparse]\nchunkers: ['window:512', 'window(unit=tokens, size=200)']\n"
        "top_k_values: [10, 20]\nk1: [0.9, 1.2, 1.6]\n"
    )
    common = ("gold.csv", "--corpus", "docs", "--draws", "99", "--timed", "2")
    words = {
        "compare": ("compare", *common, "--agents", "bm25", "keyword", "bm25(k1=0.5)"),
        "evaluate": ("evaluate", *common, "-e", "bm25"),
        "sweep": ("sweep", *common, "--matrix", "matrix.yaml"),
    }
    text = on_terminal(columns, *words.get(command, (command,)), NO_COLOR="1")
    assert ("Recommendations" in text) == (command == "sweep")
    assert max(map(len, text.splitlines())) <= columns
