"""The entry: exit codes, streams and pipes."""

import errno
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import click
import pytest

from karat.cli.main import _sections, help_width
from karat.cli.main import karat as program

Karat = Callable[..., CompletedProcess[str]]

MODULE = (sys.executable, "-m", "karat")
SCORE = ("score", "gold.qrels", "old.run", "-m", "mrr", "--ci", "none")


def sections(server: str | None = None) -> dict[str, dict[str, str]]:
    """Return the lines of the help by title, those of extensions included."""
    context = click.Context(program, info_name="karat")
    context.params["server"] = server
    return _sections(context)


COMMANDS = {name: line for lines in sections().values() for name, line in lines.items()}


@pytest.mark.parametrize("columns", ["", "wide", "-3", "0", "20", "51", "60", "80", "81", "300"])
def test_help_is_as_wide_as_that_of_click(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert help_width() == click.HelpFormatter().width


def test_python_m_karat_is_the_command_line(folder: Path) -> None:
    done = subprocess.run([*MODULE, *SCORE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("old has mrr 0.500 over 3 queries.\n")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_help_goes_to_the_output_with_examples_on_lines_of_their_own(
    karat: Karat, command: tuple[str, ...]
) -> None:
    done = karat(*command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: karat")
    assert "\\b" not in done.stdout
    examples = [line for line in done.stdout.splitlines() if line.startswith("  karat ")]
    assert examples
    assert not any(" karat " in line.strip() for line in examples)


def test_no_command_shows_the_help_and_is_wrong_usage(karat: Karat) -> None:
    done = karat()
    assert (done.returncode, done.stdout) == (2, "")
    assert "More commands: karat --help-all (make a gold set, " in done.stderr


def test_the_help_has_a_line_for_every_command(karat: Karat) -> None:
    wide = [f"{name} {line}" for name, line in COMMANDS.items()]
    lines = [" ".join(line.split()) for line in karat("--help-all").stdout.splitlines()]
    assert set(wide) <= set(lines), "a line that is too long is broken"


def every_command() -> Iterator[tuple[str, click.Command]]:
    for typed, server in (("karat", None), ("karat --server URL", "URL")):
        context = click.Context(program, info_name="karat")
        context.params["server"] = server
        for name in (name for section in sections(server).values() for name in section):
            command = program.get_command(context, name)
            assert command is not None, name
            yield f"{typed} {name}", command
            inner = command.commands if isinstance(command, click.Group) else {}
            yield from ((f"{typed} {name} {word}", each) for word, each in inner.items())


@pytest.mark.parametrize(("name", "command"), list(every_command()))
def test_every_command_has_an_example(name: str, command: click.Command) -> None:
    assert "\b\nkarat " in inspect.cleandoc(command.help or ""), name


def test_the_nearest_command_is_offered(karat: Karat) -> None:
    done = karat("scroe")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "error: No such command 'scroe'. Did you mean 'score'?\nTry 'karat --help'.\n"
    )


def test_a_command_that_is_like_none_lists_them(karat: Karat) -> None:
    assert f"Commands: {', '.join(COMMANDS)}." in karat("zzz").stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("runs foo", "No such command 'foo'. Commands: delete, export, latest, list, pin, show."),
        ("runs lis", "No such command 'lis'. Did you mean 'list'?"),
        ("baseline updat", "No such command 'updat'. Did you mean 'update'?"),
        ("engines chek", "No such command 'chek'. Did you mean 'check'?"),
    ],
)
def test_a_group_of_commands_names_its_own(karat: Karat, words: str, hint: str) -> None:
    done = karat(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert hint in done.stderr


def test_version(karat: Karat) -> None:
    done = karat("--version")
    assert (done.returncode, done.stdout) == (0, "karat, version 0.3.0.dev0\n")


def test_a_code_given_by_a_command_is_the_exit_code(karat: Karat, folder: Path) -> None:
    (folder / "bad.qrels").write_text("q1 0 a 1\nq2 0 b\n")
    assert karat("validate", "bad.qrels").returncode == 2
    assert karat("validate", "gold.qrels").returncode == 0


def broken(*_arguments: object, **_settings: object) -> None:
    raise RuntimeError("no such luck\nat all")


def test_a_defect_of_ours_is_3_with_one_line_and_no_traceback(
    karat: Karat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KARAT_DEBUG", raising=False)
    monkeypatch.setattr("karat.app.score.evaluate_run", broken)
    done = karat(*SCORE)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error: internal error: RuntimeError: no such luck\n")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("named", "said"), [("gold.html", "gold.html"), (None, "the output")])
def test_a_full_disk_is_called_one(
    karat: Karat, monkeypatch: pytest.MonkeyPatch, named: str | None, said: str
) -> None:
    def full(*_arguments: object, **_settings: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), named)

    monkeypatch.delenv("KARAT_DEBUG", raising=False)
    monkeypatch.setattr("karat.app.score.evaluate_run", full)
    done = karat(*SCORE)
    assert done.stderr == f"error: {said}: no space left on the disk\n"
    assert done.returncode == 3


def test_debugging_shows_where(karat: Karat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_DEBUG", "1")
    monkeypatch.setattr("karat.app.score.evaluate_run", broken)
    with pytest.raises(RuntimeError, match="no such luck"):
        karat(*SCORE)


def test_an_interrupt_is_130_and_quiet(karat: Karat, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object, **_settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("karat.app.score.evaluate_run", interrupted)
    done = karat(*SCORE)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")


@pytest.mark.skipif(os.name != "posix", reason="a closed pipe is an error of POSIX systems")
@pytest.mark.parametrize("command", [("metrics",), (*SCORE, "--per-query"), (*SCORE, "--json")])
def test_a_reader_that_has_seen_enough_is_no_failure(
    folder: Path, command: tuple[str, ...]
) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [*MODULE, *command], stdout=write, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "style", [(), ("--json",), ("--csv",), ("--markdown",), ("--per-query",), ("-o", "out.txt")]
)
@pytest.mark.parametrize(("run", "code"), [("old.run", 0), ("gold.qrels", 2)])
def test_the_exit_code_does_not_depend_on_the_output(
    karat: Karat, style: tuple[str, ...], run: str, code: int
) -> None:
    assert karat("score", "gold.qrels", run, "--ci", "none", *style).returncode == code
