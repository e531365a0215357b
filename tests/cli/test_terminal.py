"""A table on a terminal: bold where it may be, and no wider than there is room."""

import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from subprocess import CompletedProcess
from threading import Thread

import pytest

from karat.cli import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")

Karat = Callable[..., CompletedProcess[str]]


Terminal = Callable[..., str]


@pytest.fixture
def on_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return what runs `karat *arguments*` on a terminal so many columns wide, for its output."""
    import fcntl
    import pty
    import termios

    def run(columns: int, *arguments: str, **environment: str) -> str:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        written: list[bytes] = []
        reader = Thread(target=_read, args=(ours, written.append))
        reader.start()
        with monkeypatch.context() as patch, os.fdopen(theirs, "w", encoding="utf-8") as terminal:
            for name in ("NO_COLOR", "COLUMNS"):
                patch.delenv(name, raising=False)
            for name, text in environment.items():
                patch.setenv(name, text)
            patch.setattr(sys, "stdout", terminal)
            # Where Python looks for the size of the terminal.
            patch.setattr(sys, "__stdout__", terminal)
            with pytest.raises(SystemExit) as caught:
                main(arguments)
        reader.join()
        os.close(ours)
        assert not caught.value.code
        return b"".join(written).decode().replace("\r\n", "\n")

    return run


def _read(terminal: int, keep: Callable[[bytes], None]) -> None:
    with suppress(OSError):  # how Linux reports that the other end is closed
        while piece := os.read(terminal, 65536):
            keep(piece)


@pytest.fixture
def contest(folder: Path) -> tuple[str, ...]:
    """Return a comparison with a clear winner."""
    (folder / "clear.qrels").write_text("".join(f"q{n} 0 a 1\n" for n in range(20)))
    for name, score in (("baseline", 1), ("candidate", 3)):
        (folder / f"{name}.run").write_text(
            "".join(f"q{n} Q0 a 1 {score} t\nq{n} Q0 x 2 2 t\n" for n in range(20))
        )
    return ("compare", "clear.qrels", "baseline.run", "candidate.run", "-m", "mrr")


def test_a_terminal_shows_the_best_in_bold_unless_told_not_to(
    on_terminal: Terminal, contest: tuple[str, ...]
) -> None:
    bold = on_terminal(120, *contest)
    assert "\x1b[1m1.000*\x1b[0m" in bold
    plain = on_terminal(120, *contest, NO_COLOR="1")
    assert plain == bold.replace("\x1b[1m", "").replace("\x1b[0m", "")


@pytest.mark.parametrize("columns", [80, 100])
def test_a_table_fits_the_terminal(
    on_terminal: Terminal, contest: tuple[str, ...], columns: int
) -> None:
    text = on_terminal(columns, *contest, NO_COLOR="1")
    assert max(map(len, text.splitlines())) <= columns
    details = on_terminal(columns, *contest, "--details", NO_COLOR="1")
    assert max(map(len, details.splitlines())) <= columns
    hidden = f"too wide for {columns} columns, not shown: "
    assert hidden not in text
    assert "better than" in details.partition(hidden)[2]


def test_a_pipe_is_100_columns_wide_but_gets_all_of_the_details(
    karat: Karat, contest: tuple[str, ...]
) -> None:
    text = karat(*contest, "-m", ",".join(f"recall@{k}" for k in range(1, 8))).stdout
    assert max(map(len, text.splitlines())) <= 100
    assert "too wide for 100 columns, not shown: recall@5, recall@6, recall@7\n" in text
    assert "better than" in karat(*contest, "--details").stdout.splitlines()[4]


@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize("command", ["compare", "evaluate", "sweep", "engines", "metrics"])
def test_whatever_is_shown_fits_the_terminal(
    on_terminal: Terminal, folder: Path, command: str, columns: int
) -> None:
    """Ten configurations are ranked, with recommendations."""
    (folder / "docs").mkdir()
    rows = ["question,expected_document"]
    for number in range(12):
        (folder / "docs" / f"document{number}.md").write_text(f"about the number{number}\n")
        rows.append(f"what is number{number},document{number}.md")
    (folder / "gold.csv").write_text("\n".join(rows) + "\n")
    (folder / "matrix.yaml").write_text(
        "search_modes: [sparse]\nchunkers: ['window:512', 'lines:20']\n"
        "top_k_values: [10, 20]\nk1: [0.9, 1.2, 1.6]\n"
    )
    common = ("gold.csv", "--corpus", "docs", "--draws", "99", "--timed", "2")
    words = {
        "compare": ("compare", *common, "--agents", "bm25", "keyword", "bm25(k1=0.5)"),
        "evaluate": ("evaluate", *common, "-e", "bm25"),
        "sweep": ("sweep", *common, "--matrix", "matrix.yaml"),
    }
    text = on_terminal(columns, *words.get(command, (command,)), NO_COLOR="1")
    assert (" as an engine: " in text) == (command == "sweep")
    assert max(map(len, text.splitlines())) <= columns
