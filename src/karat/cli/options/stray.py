"""Words that were typed without the option that belongs in front of them."""

import shlex
from collections.abc import Callable, Mapping
from typing import TypeVar

import click

__all__ = ["TYPED", "stray"]

Command = TypeVar("Command", bound=Callable[..., object])

# Where the context keeps all words that follow `karat`.
TYPED = "karat.typed"


class Stray(click.Argument):
    """An argument that takes what no other one does, and that no help shows."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's protocol
        """Return nothing: nobody is asked for it."""
        return []


def stray(options: Mapping[str, str]) -> Callable[[Command], Command]:
    """Refuse words that no argument takes, and say which of *options* they belong to.

    *options* are those that are likely to be left out, each with what it gives. Of those that are
    not given, each takes a word in turn, and the last one takes the rest; where all are given, the
    first of all.
    """

    def refuse(ctx: click.Context, _argument: click.Parameter, words: tuple[str, ...]) -> None:
        if not words:
            return
        free = [option for option in options if not _given(ctx, option)] or [*options][:1]
        used = [free[min(number, len(free) - 1)] for number in range(len(words))]
        said = " and ".join(f"{options[one]} is given by {one}" for one in dict.fromkeys(used))
        meant = shlex.join(["karat", *_with(used, words, ctx.meta[TYPED])])
        raise click.UsageError(f"Unexpected {shlex.join(words)}: {said}; type\n  {meant}")

    return click.argument("stray", cls=Stray, nargs=-1, expose_value=False, callback=refuse)


def _given(ctx: click.Context, name: str) -> bool:
    """Return whether the option *name* was typed; those that were come before any argument."""
    return any(name in option.opts and option.name in ctx.params for option in ctx.command.params)


def _with(options: list[str], words: tuple[str, ...], typed: tuple[str, ...]) -> list[str]:
    """Return *typed* with one of *options* before each of *words*.

    >>> _with(["--repo", "-o"], ("a", "b"), ("generate", "a", "--limit", "5", "b"))
    ['generate', '--repo', 'a', '--limit', '5', '-o', 'b']
    """
    meant = list(typed)
    place = len(meant)
    for option, word in reversed([*zip(options, words, strict=True)]):
        place = max(at for at, one in enumerate(meant[:place]) if one == word)
        meant.insert(place, option)
    return meant
