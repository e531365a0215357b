"""The entry: finds the command, and turns an error into one clear line and an exit code."""

import importlib
import os
import sys
from collections.abc import Sequence

import click

from karat.errors import KaratError

__all__ = ["main"]

COMMANDS = {
    "score": "karat.cli.score",
    "compare": "karat.cli.compare",
    "metrics": "karat.cli.metrics",
    "validate": "karat.cli.validate",
    "convert": "karat.cli.convert",
    "trec-eval": "karat.cli.trec_eval",
}

INTERRUPTED = 130


class Commands(click.Group):
    """A group whose commands are looked up in a table of modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's own
        cmd_name: str,
    ) -> click.Command | None:
        """Import the command's module and return its ``command``."""
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = importlib.import_module(module).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Offer the nearest name for one that is not a command."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Commands: {', '.join(COMMANDS)}."
            ctx.fail(f"No such command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="karat", prog_name="karat")
def karat() -> None:
    """Measure how good a search is.

    \b
    karat score gold.csv results.run              numbers with intervals
    karat compare gold.csv old.run new.run        which one is better, and is it real
    karat metrics ndcg                            what a number means
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 fine, 1 gate failed, 2 bad input, 3 Karat broke, 130 ^C."""
    try:
        karat.main(args=arguments, prog_name="karat", standalone_mode=False)
    except click.exceptions.Exit as exit_:
        sys.exit(exit_.exit_code)
    except click.Abort:
        sys.exit(INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except KaratError as error:
        _complain(str(error))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader, `head` perhaps, has seen enough.
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
