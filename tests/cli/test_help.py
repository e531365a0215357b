"""Help in tiers: --help shows what is common, --help-all everything in groups."""

import re
from collections.abc import Callable, Iterator
from subprocess import CompletedProcess

import click
import pytest
from click.testing import CliRunner

from karat.cli.help import FEW, GROUPS, OTHERS, TieredCommand, option
from karat.cli.main import FIRST
from karat.cli.main import karat as program

Karat = Callable[..., CompletedProcess[str]]

MOST = 12
TITLE = re.compile(r"^(\S.*):$", re.MULTILINE)


def options_of(command: click.Command) -> list[click.Option]:
    options = (each for each in command.params if isinstance(each, click.Option))
    return [each for each in options if not each.hidden]


def commands_below(
    group: click.Group, context: click.Context
) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        yield name, command
        if isinstance(command, click.Group):
            inner = click.Context(command, info_name=name, parent=context)
            yield from ((f"{name} {word}", each) for word, each in commands_below(command, inner))


COMMANDS = dict(commands_below(program, click.Context(program, info_name="karat")))
TIERED = [name for name, command in COMMANDS.items() if len(options_of(command)) > FEW]
SMALL = [name for name in COMMANDS if name not in TIERED]


def test_the_program_shows_eight_commands_with_examples(karat: Karat) -> None:
    short, full = karat("--help").stdout, karat("--help-all").stdout
    assert set(re.findall(r"^  karat (\S+)", short, re.MULTILINE)) == FIRST & set(COMMANDS)
    assert "More commands: karat --help-all" in short
    assert TITLE.findall(short) == ["Options"]
    assert {"Make a gold set", "Run engines", "Extend Karat"} < set(TITLE.findall(full))
    assert len(short.splitlines()) <= 24
    assert max(map(len, short.splitlines())) <= 80


def test_h_is_help(karat: Karat) -> None:
    assert karat("-h").stdout == karat("--help").stdout
    assert karat("compare", "-h").stdout == karat("compare", "--help").stdout


@pytest.mark.parametrize("name", TIERED)
def test_a_command_with_many_options_shows_the_common_ones(karat: Karat, name: str) -> None:
    options = options_of(COMMANDS[name])
    common = [each.opts[0] for each in options if getattr(each, "common", False)]
    short = karat(*name.split(), "--help").stdout
    assert 0 < len(common) <= MOST
    assert re.findall(r"^  (-[-\w]+)", short, re.MULTILINE) == common
    assert len(re.findall(r"^  karat ", short, re.MULTILINE)) == 2
    rest = len(options) - len(common)
    assert short.endswith(f"\nkarat {name} --help-all lists {rest} more options.\n")
    assert max(map(len, short.splitlines())) <= 80


@pytest.mark.parametrize("name", TIERED)
def test_help_all_has_every_option_below_a_title(karat: Karat, name: str) -> None:
    full = karat(*name.split(), "--help-all").stdout
    _, _, listed = full.partition(":\n  -")
    shown = re.findall(r"^  (-[-\w]+)", f"  -{listed}", re.MULTILINE)
    options = options_of(COMMANDS[name])
    assert sorted(shown) == sorted(each.opts[0] for each in options)
    titles = TITLE.findall(full)
    assert OTHERS not in titles, "an option has no group"
    assert [each for each in titles if each in GROUPS] == [
        each for each in GROUPS if each in titles
    ]


@pytest.mark.parametrize("name", SMALL)
def test_a_command_with_few_options_shows_all(
    karat: Karat, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # click remembers the option --help of a command that another test has called by itself.
    monkeypatch.setattr(COMMANDS[name], "_help_option", None, raising=False)
    assert karat(*name.split(), "--help").stdout == karat(*name.split(), "--help-all").stdout


def made(count: int, *, common: bool = True) -> click.Command:
    """Return a command with *count* options; the first may be common and has no group."""
    command = TieredCommand("made", callback=lambda **_: None, help="Answer.\n\nDetails.")
    command.params[:0] = [
        option(f"--o{number}", common=common and not number, group="Own" if number else "")(
            lambda: None
        ).__click_params__[0]  # type: ignore[attr-defined]
        for number in range(count)
    ]
    return command


def help_of(command: click.Command, typed: str) -> str:
    done = CliRunner().invoke(command, [typed])
    assert done.exit_code == 0
    return done.output


def test_tiers_begin_above_fourteen_options() -> None:
    assert "Details." in help_of(made(FEW), "--help")
    text = help_of(made(FEW + 1), "--help")
    assert "Details." not in text
    assert "Common options:\n  --o0" in text
    assert f"lists {FEW} more options." in text
    assert TITLE.findall(help_of(made(FEW + 1), "--help-all")) == [OTHERS, "Own"]


def test_without_a_common_option_all_are_shown() -> None:
    text = help_of(made(FEW + 1, common=False), "--help")
    assert "Details." in text
    assert f"--o{FEW}" in text
