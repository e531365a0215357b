"""The entry: finds the command, and turns an error into one clear line and an exit code."""

import importlib
import os
import sys
from collections.abc import Sequence

import click

from karat.cli.groups import Group
from karat.errors import KaratError

__all__ = ["main"]

COMMANDS = {
    "score": "karat.cli.score",
    "compare": "karat.cli.compare",
    "report": "karat.cli.report",
    "analyze": "karat.cli.analyze",
    "metrics": "karat.cli.metrics",
    "validate": "karat.cli.validate",
    "resolve": "karat.cli.resolve",
    "carry": "karat.cli.carry",
    "judge": "karat.cli.judge",
    "convert": "karat.cli.convert",
    "trec-eval": "karat.cli.trec_eval",
    "index": "karat.cli.index",
    "search": "karat.cli.search",
    "engines": "karat.cli.engines",
    "generate": "karat.cli.generate",
    "inspect": "karat.cli.inspect",
    "init": "karat.cli.init",
    "evaluate": "karat.cli.evaluate",
    "sweep": "karat.cli.sweep",
    "runs": "karat.cli.runs",
    "verify": "karat.cli.verify",
    "load": "karat.cli.load",
    "gate": "karat.cli.gate",
    "baseline": "karat.cli.baseline",
    "import-log": "karat.cli.import_log",
    "serve": "karat.cli.serve",
    "token": "karat.cli.token",
}

# What a service can do instead, where one is named.
REMOTE = {
    "collections": "karat.cli.remote.collections",
    "datasets": "karat.cli.remote.datasets",
    "engines": "karat.cli.remote.engines",
    "sweep": "karat.cli.remote.sweep",
    "runs": "karat.cli.remote.runs",
    "report": "karat.cli.remote.report",
}

BAD_INPUT = 2
INTERRUPTED = 130


class ReaderGone(Exception):
    """Whoever read our output, `head` perhaps, has seen enough."""


class Commands(Group):
    """A group whose commands are looked up in a table of modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(_commands(ctx))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module and return its ``command``."""
        module = _commands(ctx).get(cmd_name)
        if module is None:
            return None
        command: click.Command = importlib.import_module(module).command
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a pipe closed by its reader is no failure of ours."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            # click would exit with 1, which says that a gate has failed.
            raise ReaderGone from error


def _commands(ctx: click.Context) -> dict[str, str]:
    return REMOTE if ctx.params.get("server") else COMMANDS


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="karat", prog_name="karat")
@click.option(
    "--server",
    metavar="URL",
    is_eager=True,  # The help lists what the service can do.
    help="Ask the service at URL instead; the token is read from KARAT_TOKEN.",
)
def karat(server: str | None) -> None:
    """Measure how good a search is.

    \b
    karat score gold.csv results.run              numbers with intervals
    karat compare gold.csv old.run new.run        which one is better, and is it real
    karat evaluate gold.json -e keyword -e bm25   ask searches, score them and take their time
    karat sweep gold.json --matrix matrix.yaml    which of many configurations to take
    karat report latest -o report.html            all of it on one page
    karat metrics ndcg                            what a number means
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
        _complain(error.format_message())
        if isinstance(error, click.UsageError) and error.ctx:
            click.echo(f"Try '{error.ctx.command_path} --help'.", err=True)
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
        _complain(f"Karat broke: {type(error).__name__}: {error} (KARAT_DEBUG=1 shows where)")
        sys.exit(KaratError.exit_code)


def _complain(message: str) -> None:
    from karat.report.text import printable

    for number, line in enumerate(message.splitlines()):
        click.echo(printable(line if number else f"error: {line}"), err=True)
