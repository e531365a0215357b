"""Files to write that cannot be written: an error before anything runs, in every command."""

from pathlib import Path

import click
import pytest

from karat.cli.main import COMMANDS, main
from karat.cli.options.shared import OutputPath

SCORED = ("gold.qrels", "new.run")
RUNS = [
    ("evaluate", "gold.qrels", "-o"),
    ("evaluate", "gold.qrels", "--run-out"),
    ("compare", *SCORED, "-o"),
    ("sweep", "gold.qrels", "-o"),
    ("score", *SCORED, "-o"),
    ("report", *SCORED, "-o"),
    ("gate", *SCORED, "--junit"),
]


@pytest.mark.parametrize("command", RUNS, ids=" ".join)
@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("lacks/out.json", "does not exist"),
        ("gold.qrels/out.json", "does not exist"),
    ],
)
def test_an_output_that_cannot_be_written_is_named_at_once(
    command: tuple[str, ...],
    output: str,
    problem: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught:
        main([*command, output])
    assert caught.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    [line] = printed.err.splitlines()
    assert line.startswith(f"error: {output}: ")
    assert problem in line
    assert folder.exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_file_that_a_command_writes_is_checked(name: str) -> None:
    module = __import__(f"karat.cli.commands.{name.replace('-', '_')}", fromlist=["command"])
    commands = [module.command, *getattr(module.command, "commands", {}).values()]
    written = [
        option
        for command in commands
        for option in command.params
        if isinstance(option, click.Option) and set(option.opts) & {"-o", "--output", "--run-out"}
    ]
    assert all(isinstance(option.type, OutputPath) for option in written)
