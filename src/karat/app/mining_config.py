"""The settings of mining in a YAML file, by the names of the options that they stand for."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from karat.formats import DEFAULT, Limits
from karat.formats.akashic_suites import SWITCH
from karat.formats.fields import Checker, Place, Record
from karat.formats.yamltext import load_yaml

__all__ = ["ANYTHING", "GOLD_SET", "SECTIONS", "Accepts", "mining_options", "read_mining_config"]

# Raises ValueError where the option of this name cannot be given this value.
Accepts = Callable[[str, object], object]
ANYTHING: Accepts = lambda _name, _value: None  # noqa: E731 - what a default is called
# One file may serve several commands.
SECTIONS = ("dataset", "evaluation", "agents", "output")
# A set that is there already, and need not be mined.
GOLD_SET = "gold_set"
# Keys that are not called like their option.
OPTIONS = {
    "repository_path": "repositories",
    "exclude_patterns": "exclude",
    "include_merge_commits": "include_merges",
}
LISTS = frozenset({"repository_path", "exclude_patterns", "off"})
SWITCHES = frozenset({"include_merge_commits", "adversarial", "cache"})
TEXTS = (
    *("min_files", "max_files", "max_commits", "limit", "seed", "test_share"),
    *("unit", "since", "until", "branch", "level", "hardness", "rewrite", "split"),
)
_PLACE = ("dataset",)


def read_mining_config(
    path: str | os.PathLike[str], *, accepts: Accepts = ANYTHING, limits: Limits = DEFAULT
) -> Mapping[str, object]:
    """Return option -> value of the section ``dataset``; numbers stay text, for options to read.

    The path of a repository counts from the folder of the file. Unknown keys are refused, and with
    them all values that *accepts* refuses.
    """
    value, check = load_yaml(path, limit=limits.yaml_bytes)
    top = check.record(value, ())
    check.known(top, SECTIONS, ())
    found = mining_options(check, top, accepts)
    check.finish()
    return found


def mining_options(check: Checker, top: Record, accepts: Accepts) -> Mapping[str, object]:
    """Return the same of what was read already; problems are left to *check*."""
    section = check.record(top.get("dataset") or {}, _PLACE)
    check.known(section, (GOLD_SET, *LISTS, *SWITCHES, *TEXTS), _PLACE)
    found: dict[str, object] = {}
    for key, given in section.items():
        if given is None or key == GOLD_SET:
            continue
        option = OPTIONS.get(key, key)
        if value := _value(check, section, key):
            try:
                accepts(option, value)
            except ValueError as error:
                check.add((*_PLACE, key), str(error))
        found[option] = value
    folder = Path(check.source).parent
    places = found.get("repositories")
    if isinstance(places, list):
        found["repositories"] = [str(folder / place) for place in places]
    return found


def _value(check: Checker, section: Record, key: str) -> object:
    if key in LISTS:
        return _texts(check, section[key], (*_PLACE, key))
    text = check.text(section, key, _PLACE)
    if key not in SWITCHES:
        return text
    if text.lower() not in SWITCH:
        check.add((*_PLACE, key), f"{text!r} is neither true nor false")
    return SWITCH.get(text.lower(), False)


def _texts(check: Checker, value: object, place: Place) -> list[str]:
    """Return a list of texts; one alone may stand without its list."""
    if isinstance(value, str):
        return [check.word(value, place)]
    return [check.word(item, at) for at, item in check.rows(value, place)]
