"""The command line and environment of adapters that start a program."""

import os
import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, field_validator

from karat.engines.adapters.options import (
    AnswerOptions,
    Secrets,
    check_template,
    fill,
    literal_secrets,
    names_of,
    words,
)
from karat.errors import InputError
from karat.system.processes import BASE_ENVIRONMENT, find_program

__all__ = [
    "ProgramOptions",
    "SpawnOptions",
    "arguments",
    "environment",
    "found_program",
    "relative_hint",
]

NAMES = ("query", "root", "k", "words")
# The argument of an interpreter, not an option or a pattern such as ``*.py``.
SCRIPT = re.compile(r"[\w.][\w./-]*\.(py|sh|m?js|ts|rb|pl)")


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
            raise ValueError(  # noqa: TRY004
                "expected a list of arguments, because no shell is used; write "
                'command: [python3, "{here}/mysearch.py", "{query}"]'
            )
        return value

    @field_validator("command")
    @classmethod
    def _known_names(cls, value: list[str]) -> list[str]:
        if any("here" in names_of(argument) for argument in value):
            raise ValueError(
                "{here} is the folder of an engine's YAML or JSON file, and this engine was not "
                "read from a file; write an absolute path instead"
            )
        if value and "{" in value[0]:
            raise ValueError("the program itself cannot depend on the query")
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
    """A program that must be installed."""

    command: Annotated[list[str], Field(min_length=1)]


def found_program(options: ProgramOptions, environ: Mapping[str, str] | None = None) -> str:
    """Return the absolute path of the program, or raise InputError.

    The program runs in the directory of the corpus, where a relative path, or ``.`` on the search
    path, would start whatever the corpus holds.
    """
    name = options.command[0]
    source = os.environ if environ is None else environ
    program = find_program(name, source.get("PATH", os.defpath))
    if program is None:
        hint = f"; {_write_here(name)}" if "/" in name and not os.path.isabs(name) else ""  # noqa: PTH117
        raise InputError(f"no such program: {name!r}{hint}")
    return program


def relative_hint(options: ProgramOptions, root: str) -> str:
    """Return a hint for the error of a program one of whose arguments is a relative path.

    The path is a file of the current folder, or looks like a script that *root*, the folder of
    the corpus, does not have: the program runs there.
    """
    for argument in options.command[1:]:
        absolute = os.path.abspath(argument)  # noqa: PTH100 - links stay links
        if argument == absolute or names_of(argument):
            continue
        where = f"; commands run in the corpus folder: {_write_here(argument)}"
        # pathlib raises on an argument that is too long for a path, such as that of `python -c`.
        if os.path.isfile(absolute):  # noqa: PTH113
            return f"{where}, or {absolute!r}, instead of {argument!r}"
        if SCRIPT.fullmatch(argument) and not os.path.isfile(f"{root}/{argument}"):  # noqa: PTH113
            return where
    return ""


def _write_here(path: str) -> str:
    """Return the advice to name a *path* relative to the file of the engine."""
    named = "{here}/" + os.path.normpath(path)
    return f"write {named!r} in the engine's YAML file, where {{here}} is its folder"


def arguments(
    options: ProgramOptions, program: str, *, root: str, query: str = "", k: int = 0
) -> list[str]:
    """Return the command line for one query; ``{words}`` becomes ``word|word``, escaped."""
    values = {
        "query": query,
        "root": root,
        "k": str(k),
        "words": "|".join(re.escape(word) for word in words(query)) or re.escape(query),
    }
    return [program, *(fill(argument, values) for argument in options.command[1:])]


def environment(
    options: ProgramOptions, secrets: Secrets, environ: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the variables that the program sees."""
    source = os.environ if environ is None else environ
    variables = {name: source[name] for name in BASE_ENVIRONMENT if name in source}
    if isinstance(options.env, dict):
        return variables | {name: secrets.expand(value) for name, value in options.env.items()}
    # A variable that is allowed by name may be a secret, so its value is redacted from output.
    return variables | {name: secrets.get(name) for name in options.env if source.get(name)}
