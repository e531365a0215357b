"""Files to write that cannot be written: an error before anything runs."""

from collections.abc import Callable
from subprocess import CompletedProcess

import click
import pytest

from karat.cli.options.shared import OutputPath
from karat.extensions.mining.commands import carry, demo, generate

Karat = Callable[..., CompletedProcess[str]]


@pytest.mark.parametrize("command", [("generate", "--repo", "."), ("carry", "gold.qrels")])
@pytest.mark.parametrize("output", ["lacks/out.json", "gold.qrels/out.json"])
def test_an_output_that_cannot_be_written_is_named_at_once(
    karat: Karat, command: tuple[str, ...], output: str
) -> None:
    done = karat(*command, "-o", output)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"error: {output}: ")
    assert "does not exist" in line


@pytest.mark.parametrize("command", [carry.command, demo.command, generate.command])
def test_every_file_that_a_command_writes_is_checked(command: click.Command) -> None:
    (written,) = (option for option in command.params if "-o" in option.opts)
    assert isinstance(written.type, OutputPath)
