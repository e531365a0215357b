"""Help in tiers: ``--help`` shows what is common, and ``--help-all`` everything, in groups.

The entry point imports this module for every command, so it imports only click.
"""

import inspect
from functools import partial
from typing import Any

import click

# The usual groups of options, in the order of the help; groups of a command's own come first.
INPUTS, ENGINES, MATCHING = "Inputs", "Engines", "Measures and matching"
STATISTICS, OUTPUT, SERVICE = "Statistics", "Output", "Service"
GROUPS = (INPUTS, ENGINES, MATCHING, STATISTICS, OUTPUT, SERVICE)
# The heading of options without a group.
OTHERS = "Options"

# A command with at most so many options shows them all.
FEW = 12
# Examples in the help of a command with more.
EXAMPLES = 2
# The context has this key if everything is to be shown.
EVERYTHING = "karat.help_all"


class TieredOption(click.Option):
    """An option with a *group* in help; ``--help`` lists only those that are *common*."""

    def __init__(self, *args: Any, common: bool = False, group: str = "", **settings: Any) -> None:
        """Take the settings of click too."""
        super().__init__(*args, **settings)
        self.common = common
        self.group = group


# click.option with the two further settings ``common`` and ``group``.
option = partial(click.option, cls=TieredOption)


class TieredCommand(click.Command):
    """A command whose ``--help`` shows the common options, and ``--help-all`` all in groups.

    With at most 12 options, or without a common one, both show all options in one list.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        """Add ``--help-all``."""
        super().__init__(*args, **settings)
        add_help_all(self, hidden=True)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command answers and examples; without --help-all, only the first ones."""
        if self._has_tiers() and not shows_everything(ctx):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(shortened(inspect.cleandoc(self.help or "")))
        else:
            super().format_help_text(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the common options, or all of them by group."""
        if not self._has_tiers():
            super().format_options(ctx, formatter)
            return
        options = self._options()
        if shows_everything(ctx):
            sections: dict[str, list[click.Option]] = {}
            for each in options:
                sections.setdefault(getattr(each, "group", "") or OTHERS, []).append(each)
            for title in sorted(sections, key=_position):
                _write_section(ctx, formatter, title, sections[title])
            return
        common = [each for each in options if _is_common(each)]
        _write_section(ctx, formatter, "Common options", common)
        if rest := len(options) - len(common):
            formatter.write_paragraph()
            formatter.write_text(f"{ctx.command_path} --help-all lists {rest} more options.")

    def _options(self) -> list[click.Option]:
        options = (each for each in self.params if isinstance(each, click.Option))
        return [each for each in options if not each.hidden]

    def _has_tiers(self) -> bool:
        options = self._options()
        return len(options) > FEW and any(map(_is_common, options))


def add_help_all(command: click.Command, *, hidden: bool = False) -> None:
    """Add the option --help-all to *command*."""
    command.params.append(
        click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            hidden=hidden,
            callback=_show_everything,
            help="Show all commands and exit.",
        )
    )


def shows_everything(ctx: click.Context) -> bool:
    """Return whether --help-all was typed."""
    return EVERYTHING in ctx.meta


def shortened(text: str, examples: int = EXAMPLES) -> str:
    r"""Return the first paragraph of a help text and its first *examples*.

    >>> shortened("Score RUN.\n\nDetails.\n\n\b\nkarat a\nkarat b\nkarat c")
    'Score RUN.\n\n\x08\nkarat a\nkarat b'
    """
    first, *others = text.split("\n\n")
    shown = [each.splitlines() for each in others if each.startswith("\b")]
    return "\n\n".join([first, *("\n".join(lines[: examples + 1]) for lines in shown[:1])])


def _show_everything(ctx: click.Context, _option: click.Parameter, typed: object) -> None:
    if typed and not ctx.resilient_parsing:
        ctx.meta[EVERYTHING] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _is_common(option: click.Option) -> bool:
    return bool(getattr(option, "common", False))


def _position(title: str) -> int:
    return GROUPS.index(title) if title in GROUPS else -1


def _write_section(
    ctx: click.Context, formatter: click.HelpFormatter, title: str, options: list[click.Option]
) -> None:
    with formatter.section(title):
        records = (each.get_help_record(ctx) for each in options)
        formatter.write_dl([record for record in records if record])
