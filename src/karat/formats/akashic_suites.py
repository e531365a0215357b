"""Akashic suites: YAML lists of configurations to compare, by the name of the suite."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from karat.errors import InputError
from karat.formats.base import DEFAULT, ReadLimits
from karat.formats.fields import Checker, Location, Record, find_section
from karat.formats.yamltext import load_yaml

__all__ = ["SuiteConfig", "parse_suites", "read_suites"]

KEYS = ("name", "chunk_size", "embedding_model", "use_reranker", "reranker_model")
SWITCH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class SuiteConfig(NamedTuple):
    """One configuration; an empty *reranker_model* means the default one."""

    name: str
    chunk_size: int
    embedding_model: str
    use_reranker: bool
    reranker_model: str = ""


def read_suites(
    path: str | os.PathLike[str], *, limits: ReadLimits = DEFAULT
) -> Mapping[str, tuple[SuiteConfig, ...]]:
    """Return the configurations of every suite in *path*; an unknown key is an error.

    The suites stand there alone, or in the section ``suites`` of a configuration file.
    """
    value, check = load_yaml(path, limit=limits.yaml_bytes)
    suites = parse_suites(check, *find_section(check, check.record(value, ()), "suites"))
    check.finish()
    if not suites:
        raise InputError(f"{os.fspath(path)}: no suite; expected suite_name: [{{name, ...}}]")
    return suites


def parse_suites(
    check: Checker, location: Location, section: Record
) -> Mapping[str, tuple[SuiteConfig, ...]]:
    """Return the suites of a *section* at *location*; problems are added to *check*."""
    suites: dict[str, tuple[SuiteConfig, ...]] = {}
    for name, items in section.items():
        rows = list(check.rows(items, (*location, name), filled=True))
        configs = tuple(_config(check, check.record(item, at), at) for at, item in rows)
        check.unique(((at, c.name) for (at, _), c in zip(rows, configs, strict=True)), "name")
        suites[name] = configs
    return suites


def _config(check: Checker, row: Record, location: Location) -> SuiteConfig:
    check.known(row, KEYS, location, list_keys=True)
    size = check.text(row, "chunk_size", location)
    if size and not (size.isascii() and size.isdigit() and int(size) > 0):
        check.add((*location, "chunk_size"), f"{size!r} is not a whole number above 0")
        size = ""
    switch = check.text(row, "use_reranker", location)
    if switch and switch.lower() not in SWITCH:
        check.add((*location, "use_reranker"), f"{switch!r} is neither true nor false")
    return SuiteConfig(
        check.text(row, "name", location),
        int(size or 1),
        check.text(row, "embedding_model", location),
        SWITCH.get(switch.lower(), False),
        check.text(row, "reranker_model", location, default=""),
    )
