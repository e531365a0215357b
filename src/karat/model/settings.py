"""Settings: a field of a record, with the option by which users give it, and its help."""

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any, NamedTuple

SETTING = "setting"


class Setting(NamedTuple):
    """How users give a field: the spellings of its option, its help, and the form of its value.

    *type* is that of the value: a class, or the choices. *default* is () if values are collected.
    ``--help`` lists the *common* ones only; ``--help-all`` lists all, this one below the title
    *group*, "" for that of the options that a command adds with it.
    """

    options: tuple[str, ...]
    help: str
    type: Any
    default: Any
    form: Mapping[str, Any]
    common: bool = False
    group: str = ""


def setting(
    *options: str,
    help: str,  # noqa: A002 - as in click
    type: Any = str,  # noqa: A002
    default: Any = None,
    common: bool = False,
    group: str = "",
    **form: Any,
) -> Any:
    """Return a field of a dataclass that users set by one of *options*.

    *type* is the class of the value, or a tuple of choices; *form* has the further keywords of a
    click option, such as metavar, and ``minimum`` and ``maximum`` of a number. A *common* option
    is in ``--help``; ``--help-all`` lists it below the title *group*.
    """
    given = Setting(options, help, type, default, form, common, group)
    return field(default=default, metadata={SETTING: given})


def settings_of(record: Any, *names: str) -> dict[str, Setting]:
    """Return the settings of the dataclass *record* in its order; with *names*, only these.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Draws:
    ...     count: int = setting("--draws", help="Number of resamples.", type=int, default=999)
    ...     name: str = ""
    >>> list(settings_of(Draws)), Draws().count
    (['count'], 999)
    """
    declared = {each.name: each.metadata.get(SETTING) for each in fields(record)}
    return {
        name: given
        for name, given in declared.items()
        if given is not None and (not names or name in names)
    }
