"""Where results are kept: the option of every command that keeps or finds them."""

import click

from karat.cli.options import Command

__all__ = ["store_option"]


def store_option(command: Command) -> Command:
    """Add where results are kept: *store*."""
    return click.option(
        "--store",
        default=".karat/karat.db",
        envvar="KARAT_STORE",
        show_default=True,
        show_envvar=True,
        metavar="PLACE",
        help="Where results are kept: a file, or the address of a PostgreSQL.",
    )(command)
