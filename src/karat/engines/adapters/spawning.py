"""What the adapters that start a program share: its command line and its environment."""

import os
import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, field_validator

from karat.engines.adapters.child import BASE_ENVIRONMENT
from karat.engines.adapters.options import AnswerOptions, literal_secrets
from karat.engines.adapters.template import Secrets, check_template, fill, words

__all__ = ["ProgramOptions", "SpawnOptions", "arguments", "environment"]

NAMES = ("query", "root", "k", "words")


class ProgramOptions(AnswerOptions):
    """A program: *command* is a list of arguments and never goes through a shell.

    *env* allows variables of Karat's environment by name, or sets them: ``{RUST_LOG: off, KEY:
    "{env:MY_KEY}"}``. PATH, HOME, the language and the temporary directory are always there.
    """

    command: list[str] = Field(default_factory=list)
    env: list[str] | dict[str, str] = Field(default_factory=list)

    @field_validator("command", mode="before")
    @classmethod
    def _no_shell(cls, value: object) -> object:
        if isinstance(value, str):
            # pydantic reports a ValueError, and lets a TypeError pass.
            raise ValueError("expected a list; there is no shell to split it")  # noqa: TRY004
        return value

    @field_validator("command")
    @classmethod
    def _known_names(cls, value: list[str]) -> list[str]:
        # A secret among arguments would be seen by every user of the machine.
        check_template(value, NAMES)
        return value

    @field_validator("env")
    @classmethod
    def _no_secrets(cls, value: list[str] | dict[str, str]) -> list[str] | dict[str, str]:
        if isinstance(value, dict):
            check_template(value, (), env=True)
            literal_secrets(value, "the variable")
        return value


class SpawnOptions(ProgramOptions):
    """A program that must be there."""

    command: Annotated[list[str], Field(min_length=1)]


def arguments(options: ProgramOptions, *, root: str, query: str = "", k: int = 0) -> list[str]:
    """Return the command line for one query; ``{words}`` becomes ``word|word``, escaped."""
    values = {
        "query": query,
        "root": root,
        "k": str(k),
        "words": "|".join(re.escape(word) for word in words(query)) or re.escape(query),
    }
    return [fill(argument, values) for argument in options.command]


def environment(
    options: ProgramOptions, secrets: Secrets, environ: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the variables that the program sees."""
    source = os.environ if environ is None else environ
    found = {name: source[name] for name in BASE_ENVIRONMENT if name in source}
    if isinstance(options.env, dict):
        return found | {name: secrets.expand(value) for name, value in options.env.items()}
    # What is allowed by name may be a secret, and is then taken out of what is shown.
    return found | {name: secrets.get(name) for name in options.env if source.get(name)}
