"""The entry: finds the command, and turns an error into one clear line and an exit code."""

import errno
import importlib
import os
import sys
from collections.abc import Sequence

import click

from karat.cli.options.stray import TYPED
from karat.errors import KaratError, UnknownFormat
from karat.installation import __version__

__all__ = ["CommandGroup", "main"]

# Which parameter of a command names the format of which kind of file.
FORMAT_OPTIONS = {
    "gold_format": ("dataset",),
    "run_format": ("run",),
    "format_name": ("dataset", "run"),
    "source_format": ("dataset", "run"),
}
# More than any sentence has.
LONGEST = 500


class CommandGroup(click.Group):
    """A group that answers an unknown name with the nearest one, or with all that there are."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does, in a whole sentence."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(LONGEST))
                    for name in self.list_commands(ctx)
                    if (command := self.get_command(ctx, name))
                ]
            )

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; where a format is not clear, name its option that chooses one."""
        try:
            return super().invoke(ctx)
        except UnknownFormat as error:
            if option := self._format_option(ctx, error.kind):
                raise error.with_option(option) from error
            raise

    def _format_option(self, ctx: click.Context, kind: str | None) -> str | None:
        command = self.get_command(ctx, ctx.invoked_subcommand or "")
        named = {param.name: param.opts[0] for param in command.params} if command else {}
        wanted = [name for name, holds in FORMAT_OPTIONS.items() if kind in (None, *holds)]
        return next((named[name] for name in wanted if name in named), None)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first of *args* names; one that is unknown is wrong usage."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], known, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Commands: {', '.join(known)}."
            ctx.fail(f"No such command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)


# Each is the module of its name. Help shows these lines, and loads none of the modules.
SECTIONS = {
    "Make a gold set": {
        "generate": "Mine questions and answers from the history of a repository.",
        "inspect": "Look at its cases, with their diffs and code.",
        "import-log": "Make one from real searches and clicks.",
        "judge": "Grade what searches have found and nobody has judged.",
        "carry": "Bring it to a newer commit.",
        "resolve": "Find what its references mean in a corpus.",
        "validate": "Say what a file holds, and every problem in it.",
        "convert": "Write a gold set or a run in another format.",
    },
    "Ask searches": {
        "evaluate": "Ask searches, score what they find and take their time.",
        "compare": "Say which one is better, and whether that is real.",
        "sweep": "Say which of many configurations to take.",
        "init": "Write a configuration to begin with.",
        "load": "Measure latency under load.",
        "search": "Search a folder or a repository.",
        "index": "Cut and embed a folder or a repository ahead.",
        "engines": "List the engines, and check one of your own.",
    },
    "Score what was found": {
        "score": "Score a run file, with an interval on every mean.",
        "metrics": "Explain every number: definition, formula, range.",
        "trec-eval": "Do what trec_eval 10 does, byte for byte.",
    },
    "Look into it": {
        "report": "Show all about runs on one page, or as a table.",
        "analyze": "Find weak topics, a weak index, and changes over time.",
        "runs": "List, show, export and delete what was kept.",
        "verify": "Run a report again, and say what differs.",
    },
    "Keep it good": {
        "gate": "Fail where quality or speed is below what was agreed.",
        "baseline": "Keep the scores that a gate compares with.",
    },
    "Share it": {
        "serve": "Serve the API and the web page.",
        "token": "Make, list and end the tokens that open a service.",
    },
}
# What a service can do instead, where one is named.
REMOTE = {
    "Ask the service": {
        "collections": "List, make, index and delete collections of documents.",
        "datasets": "List, send and delete gold sets.",
        "engines": "List the searches that it offers.",
        "sweep": "Compare many configurations.",
        "runs": "List, show, cancel and delete benchmarks.",
        "report": "Write what a benchmark has shown.",
    },
}
COMMANDS = {name: line for section in SECTIONS.values() for name, line in section.items()}

BAD_INPUT = 2
INTERRUPTED = 130


class ReaderGone(Exception):
    """Whoever read our output, `head` perhaps, has seen enough."""


class Commands(CommandGroup):
    """A group whose commands are modules, found by their names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what was typed, so that an error can say what was meant."""
        ctx.meta[TYPED] = tuple(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return [name for section in _sections(ctx).values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module and return its ``command``."""
        if cmd_name not in self.list_commands(ctx):
            return None
        package = "karat.cli.remote" if ctx.params.get("server") else "karat.cli.commands"
        module = importlib.import_module(f"{package}.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what there is to do, by what it is done for."""
        for title, commands in _sections(ctx).items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a pipe closed by its reader is no failure of ours."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            # click would exit with 1, which says that a gate has failed.
            raise ReaderGone from error


def _sections(ctx: click.Context) -> dict[str, dict[str, str]]:
    return REMOTE if ctx.params.get("server") else SECTIONS


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="karat")
@click.option(
    "--server",
    metavar="URL",
    is_eager=True,  # The help lists what the service can do.
    help="Ask the service at URL instead; the token is read from KARAT_TOKEN.",
)
def karat(server: str | None) -> None:
    """Measure how good a search is.

    \b
    karat generate --repo ../flask -o gold.json      questions and answers from its history
    karat compare gold.json --agents keyword bm25    which search is better, and is it real
    karat report latest -o report.html               all of it on one page
    karat score gold.csv results.run                 a run file of any search
    karat metrics ndcg                               what a number means
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 fine, 1 gate failed, 2 bad input, 3 Karat broke, 130 ^C."""
    try:
        # In this mode click hands back the code of ctx.exit() instead of exiting.
        sys.exit(karat.main(args=arguments, prog_name="karat", standalone_mode=False))
    except (click.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(BAD_INPUT)
    except click.ClickException as error:
        _complain(_told(error))
        if isinstance(error, click.UsageError) and error.ctx:
            click.echo(f"Try '{_path(error.ctx)} --help'.", err=True)
        sys.exit(BAD_INPUT)
    except KaratError as error:
        _complain(str(error))
        sys.exit(error.exit_code)
    except ReaderGone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:  # the last line of defence: the traceback is for us
        if os.environ.get("KARAT_DEBUG"):
            raise
        _complain(_broken(error))
        sys.exit(KaratError.exit_code)


def _broken(error: Exception) -> str:
    """Return what is not the user's fault, and not always ours."""
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"{error.filename or 'the output'}: there is no room left on the disk"
    return f"Karat broke: {type(error).__name__}: {error} (KARAT_DEBUG=1 shows where)"


def _told(error: click.ClickException) -> str:
    """Return what was wrong, and of what was expected the likeliest."""
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        hint = f" Did you mean {error.possibilities[0]!r}?" if error.possibilities else ""
        return f"No such option {error.option_name!r}.{hint}"
    if isinstance(error, click.UsageError) and error.ctx and "unexpected extra" in message:
        expected = " ".join(error.ctx.command.collect_usage_pieces(error.ctx))
        return f"{message}; expected {_path(error.ctx)} {expected}"
    return message


def _path(ctx: click.Context) -> str:
    """Return the words before the options of a command; a service has commands of its own."""
    server = ctx.find_root().params.get("server")
    first, space, rest = ctx.command_path.partition(" ")
    return f"{first} --server {server}{space}{rest}" if server else ctx.command_path


def _complain(message: str) -> None:
    from karat.report.text import printable

    for number, line in enumerate(message.splitlines()):
        click.echo(printable(line if number else f"error: {line}"), err=True)
