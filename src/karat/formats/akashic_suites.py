"""Akashic suites: YAML lists of configurations to compare, by the name of the suite."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from karat.errors import InputError
from karat.formats.base import DEFAULT, ReadLimits
from karat.formats.fields import Checker, Place, Record
from karat.formats.yamltext import load_yaml

__all__ = ["SuiteConfig", "read_suites"]

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
    """Return the configurations of every suite in *path*; unknown keys are refused."""
    value, check = load_yaml(path, limit=limits.yaml_bytes)
    suites: dict[str, tuple[SuiteConfig, ...]] = {}
    for name, items in check.record(value, ()).items():
        rows = list(check.rows(items, (name,), filled=True))
        configs = tuple(_config(check, check.record(item, place), place) for place, item in rows)
        check.unique(((place, c.name) for (place, _), c in zip(rows, configs, strict=True)), "name")
        suites[name] = configs
    check.finish()
    if not suites:
        raise InputError(f"{os.fspath(path)}: no suite; expected suite_name: [{{name, ...}}]")
    return suites


def _config(check: Checker, row: Record, place: Place) -> SuiteConfig:
    check.known(row, KEYS, place)
    size = check.text(row, "chunk_size", place)
    if size and not (size.isascii() and size.isdigit() and int(size) > 0):
        check.add((*place, "chunk_size"), f"{size!r} is no whole number above 0")
        size = ""
    switch = check.text(row, "use_reranker", place)
    if switch and switch.lower() not in SWITCH:
        check.add((*place, "use_reranker"), f"{switch!r} is neither true nor false")
    return SuiteConfig(
        check.text(row, "name", place),
        int(size or 1),
        check.text(row, "embedding_model", place),
        SWITCH.get(switch.lower(), False),
        check.text(row, "reranker_model", place, default=""),
    )
