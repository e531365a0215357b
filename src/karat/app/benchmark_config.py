"""A benchmark in one YAML file: its gold set, its agents, how they are asked, what is written."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeVar

from karat.app.generate import ANYTHING, GOLD_SET, SECTIONS, Accepts, mining_options
from karat.errors import InputError, MissingExtra
from karat.experiments.configurations import Agent, parse_agent
from karat.formats import DEFAULT, ReadLimits
from karat.formats.akashic_suites import SWITCH
from karat.formats.fields import Checker, Place, Record
from karat.formats.numerals import amount
from karat.formats.results import FOLDER_FORMATS
from karat.formats.yamltext import load_yaml
from karat.model import Dataset

__all__ = ["ConfigFile", "read_benchmark_config", "sampled"]

DEFAULT_FOLDER = "benchmark_results"
AGENT_KEYS = ("name", "class", "engine", "config")
EVALUATION_KEYS = ("num_runs", "timeout_seconds", "randomize_order")
OUTPUT_KEYS = ("directory", "formats", "generate_visualizations")

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a file says; None where it says nothing.

    The gold set is the file *gold_set*, or is mined as *mining* says, by the names of the options
    of `karat generate`. *folder* is where results go, in these *formats*.
    """

    gold_set: str | None
    mining: Mapping[str, object]
    agents: tuple[Agent, ...]
    repetitions: int | None
    timeout_s: float | None
    folder: str | None
    formats: tuple[str, ...]
    charts: bool


def read_benchmark_config(
    path: str | os.PathLike[str], *, accepts: Accepts = ANYTHING, limits: ReadLimits = DEFAULT
) -> ConfigFile:
    """Return what is in *path*; every problem is told at once, with its line.

    What *accepts* refuses of the settings of mining is among them.

    The sections are ``dataset``, ``evaluation``, ``agents`` and ``output``. Paths count from the
    folder of the file. The order of the queries is always left to chance, by a seed that is kept.
    """
    value, check = load_yaml(path, limit=limits.yaml_bytes)
    top = check.record(value, ())
    check.known(top, SECTIONS, ())
    folder = Path(path).parent
    mining = mining_options(check, top, accepts)
    agents = tuple(_agents(check, top))
    evaluation = _section(check, top, "evaluation", EVALUATION_KEYS)
    output = _section(check, top, "output", OUTPUT_KEYS)
    gold_set = _gold_set(check, top, mining)
    if _value(check, evaluation, "evaluation", "randomize_order", _switch) is False:
        check.add(
            ("evaluation", "randomize_order"),
            "the order is always random, by a seed that is kept; expected true",
        )
    found = ConfigFile(
        gold_set and str(folder / gold_set),
        {} if gold_set else mining,
        agents,
        _value(check, evaluation, "evaluation", "num_runs", _whole),
        _value(check, evaluation, "evaluation", "timeout_seconds", _seconds),
        _folder(check, output, folder) if "output" in top else None,
        tuple(_formats(check, output)),
        _value(check, output, "output", "generate_visualizations", _switch) or False,
    )
    check.finish()
    return found


def _section(check: Checker, top: Record, name: str, keys: tuple[str, ...]) -> Record:
    section = check.record(top.get(name) or {}, (name,))
    check.known(section, keys, (name,))
    return section


def _gold_set(check: Checker, top: Record, mining: Mapping[str, object]) -> str | None:
    section = top.get("dataset")
    if not isinstance(section, Mapping) or section.get(GOLD_SET) is None:
        return None
    if mining:
        check.add(("dataset", GOLD_SET), "a set that is there is not mined; expected it alone")
    return check.text(section, GOLD_SET, ("dataset",))


def _agents(check: Checker, top: Record) -> list[Agent]:
    rows = [(place, check.record(item, place)) for place, item in check.listed(top, "agents", ())]
    check.unique(((place, str(row.get("name") or "")) for place, row in rows), "name")
    found = (_agent(check, row, place) for place, row in rows)
    return [agent for agent in found if agent]


def _agent(check: Checker, row: Record, place: Place) -> Agent | None:
    check.known(row, AGENT_KEYS, place)
    name = check.text(row, "name", place)
    given = [key for key in ("class", "engine") if row.get(key) is not None]
    if len(given) != 1:
        check.add(place, "expected either 'class' or 'engine'")
        return None
    target = check.text(row, given[0], place)
    config = check.record(row.get("config") or {}, (*place, "config"))
    if not name or not target:
        return None
    try:
        return parse_agent(name, target, config)
    except (InputError, MissingExtra) as error:
        for line in str(error).splitlines():
            check.add(place, line)
        return None


def _value(
    check: Checker, section: Record, name: str, key: str, read: Callable[[str], Value]
) -> Value | None:
    """Return what *read* makes of the text at *key*, None where it is absent or wrong."""
    if section.get(key) is None:
        return None
    text = check.text(section, key, (name,))
    try:
        return read(text)
    except ValueError as error:
        check.add((name, key), str(error))
        return None


def _whole(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise ValueError(f"{text!r} is no whole number above 0")


def _seconds(text: str) -> float:
    if seconds := amount(text):
        return seconds
    raise ValueError(f"{text!r} is no number above 0")


def _switch(text: str) -> bool:
    if text.lower() in SWITCH:
        return SWITCH[text.lower()]
    raise ValueError(f"{text!r} is neither true nor false")


def _folder(check: Checker, output: Record, folder: Path) -> str:
    return str(folder / check.text(output, "directory", ("output",), default=DEFAULT_FOLDER))


def _formats(check: Checker, output: Record) -> list[str]:
    if output.get("formats") is None:
        return list(FOLDER_FORMATS)
    found = []
    for place, item in check.listed(output, "formats", ("output",)):
        name = check.word(item, place)
        if name and name not in FOLDER_FORMATS:
            check.add(place, f"{name!r} is none of: {', '.join(FOLDER_FORMATS)}")
        found.append(name)
    return found


def sampled(gold: Dataset, count: int | None, *, seed: int) -> Dataset:
    """Return *count* queries of *gold* drawn by *seed*, in their order; None takes all.

    >>> from karat.model import Query
    >>> gold = Dataset.of([Query(str(number), "text") for number in range(9)])
    >>> sampled(gold, 3, seed=1).query_ids
    ('3', '6', '7')
    """
    if count is None:
        return gold
    if count < 1:
        raise InputError(f"a sample of {count} queries; expected 1 or more")
    if count >= len(gold):
        return gold
    rows = set(Random(f"{seed} sample").sample(range(len(gold)), count))
    queries = (query for row, query in enumerate(gold.queries()) if row in rows)
    return gold.with_queries(queries)
