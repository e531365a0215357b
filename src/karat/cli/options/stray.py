"""Reject words that belong to no option, and suggest the corrected command.

The entry point imports this module for every command, so it imports only click.
"""

import os
from collections.abc import Callable, Mapping
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])

# Key of the words after `karat` in the context.
TYPED = "karat.typed"


class Stray(click.Argument):
    """An argument that collects all extra words and is hidden in help."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's protocol
        """Return nothing: the argument is hidden."""
        return []


def stray(options: Mapping[str, str], *, files: str = "") -> Callable[[Command], Command]:
    """Reject extra words, and suggest the *options* that they belong to.

    *options* maps each option that users tend to forget to the name of its value. Each option that
    is not given takes one word in turn, and the last one takes the rest; if all are given, the
    first option takes all words. If all words are *files*, the text says what to do with them.
    """

    def refuse(ctx: click.Context, _argument: click.Parameter, words: tuple[str, ...]) -> None:
        if not words:
            return
        import shlex

        if files and all(map(os.path.exists, words)):
            raise click.UsageError(f"Unexpected {shlex.join(words)}: {files}")
        free = [option for option in options if not _given(ctx, option)] or [*options][:1]
        used = [free[min(number, len(free) - 1)] for number in range(len(words))]
        said = " and ".join(f"{options[one]} needs {one}" for one in dict.fromkeys(used))
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
    end = len(meant)
    for option, word in reversed([*zip(options, words, strict=True)]):
        end = max(at for at, one in enumerate(meant[:end]) if one == word)
        meant.insert(end, option)
    return meant
