"""The configuration file, ``karat.yaml``: gold set, engines, settings, gate and output."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from karat.app.gold_sources import GOLD_SET, SECTION, read_gold_settings
from karat.corpus import FileSelection
from karat.discovery import add_files
from karat.engines.spec import expand_here
from karat.errors import InputError, MissingExtra
from karat.experiments.matrix_file import check_matrix_keys
from karat.experiments.plan import Agent, parse_agent
from karat.experiments.suites import parse_suites
from karat.formats import DEFAULT, ReadLimits
from karat.formats.base import FOLDER_FORMATS
from karat.formats.fields import ANYTHING, SECTIONS, Accepts, Checker, Location, Record
from karat.formats.jsontext import SWITCH, load_yaml
from karat.formats.source import parse_amount

DEFAULT_FOLDER = "benchmark_results"
AGENT_KEYS = ("name", "class", "engine", "config")
CORPUS_KEYS = ("kind", "include", "exclude")
EVALUATION_KEYS = ("num_runs", "timeout_seconds", "randomize_order")
GATE_KEYS = (
    *("min", "max_regression", "max_latency", "max_lost_hits", "min_queries"),
    *("strict", "baseline"),
)
OUTPUT_KEYS = ("directory", "formats", "generate_visualizations")

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The content of a configuration file; None for a setting that it does not have.

    The gold set is the file *gold_set*, or what the gold source called *source* makes with these
    *settings*; the source is "" where there are none. *folder* is where results go, in these
    *formats*. *sections* are the sections that the file has. *kind*, *include* and *exclude* select
    the files to search.
    """

    gold_set: str | None
    source: str
    settings: Mapping[str, object]
    agents: tuple[Agent, ...]
    repetitions: int | None
    timeout_s: float | None
    folder: str | None
    formats: tuple[str, ...]
    charts: bool
    metrics: tuple[str, ...] = ()
    sections: frozenset[str] = frozenset()
    kind: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class GateConfig(NamedTuple):
    """The gold set and the options of `karat gate` in a configuration file."""

    gold_set: str | None
    options: Mapping[str, object]


def read_benchmark_config(
    path: str | os.PathLike[str], *, limits: ReadLimits = DEFAULT
) -> ConfigFile:
    """Return the content of *path*; all problems are reported at once, with their lines.

    Paths are relative to the folder of the file. The order of the queries is always random, with a
    stored seed.
    """
    value, check = load_yaml(path, limit=limits.yaml_bytes)
    top = check.record(value, ())
    check.known(top, SECTIONS, (), list_keys=True)
    folder = Path(path).parent
    _load_plugins(check, top, folder)
    source, settings = read_gold_settings(check, top)
    agents = tuple(_agents(check, top, folder))
    evaluation = _section(check, top, "evaluation", EVALUATION_KEYS)
    output = _section(check, top, "output", OUTPUT_KEYS)
    gold_set = _gold_set(check, top, settings)
    if _value(check, evaluation, "evaluation", "randomize_order", _switch) is False:
        check.add(
            ("evaluation", "randomize_order"),
            "the order is always random, with a stored seed; expected true",
        )
    if top.get("matrix") is not None:
        check_matrix_keys(check, check.record(top["matrix"], ("matrix",)), ("matrix",))
    if top.get("suites") is not None:
        parse_suites(check, ("suites",), check.record(top["suites"], ("suites",)))
    _gate_options(check, top, folder, ANYTHING)
    config = ConfigFile(
        _gold_path(folder, gold_set),
        "" if gold_set else source,
        {} if gold_set else settings,
        agents,
        _value(check, evaluation, "evaluation", "num_runs", _whole),
        _value(check, evaluation, "evaluation", "timeout_seconds", _seconds),
        _folder(check, output, folder) if "output" in top else None,
        tuple(_formats(check, output)),
        _value(check, output, "output", "generate_visualizations", _switch) or False,
        _metrics(check, top),
        frozenset(name for name, section in top.items() if section is not None),
        *_selected_files(check, top),
    )
    check.finish()
    return config


def read_gate_config(
    path: str | os.PathLike[str], *, accepts: Accepts = ANYTHING, limits: ReadLimits = DEFAULT
) -> GateConfig:
    """Return the sections ``gate`` and ``metrics`` of *path*, and the gold set if it names one.

    Values for which *accepts* raises ValueError are problems.
    """
    value, check = load_yaml(path, limit=limits.yaml_bytes)
    top = check.record(value, ())
    check.known(top, SECTIONS, (), list_keys=True)
    folder = Path(path).parent
    _load_plugins(check, top, folder)
    options = _gate_options(check, top, folder, accepts)
    if metrics := _metrics(check, top):
        options["metrics"] = metrics
    gold_set = _gold_set(check, top, {})
    check.finish()
    return GateConfig(_gold_path(folder, gold_set), options)


def _gate_options(check: Checker, top: Record, folder: Path, accepts: Accepts) -> dict[str, object]:
    """Return option -> value of the section ``gate``, by the names of their parameters."""
    section = _section(check, top, "gate", GATE_KEYS)
    options: dict[str, object] = {
        option: _rules(check, section[key], ("gate", key))
        for option, key in (
            ("minimums", "min"),
            ("regressions", "max_regression"),
            ("latencies", "max_latency"),
        )
        if section.get(key) is not None
    }
    for option, key in (("min_queries", "min_queries"), ("lost_hits", "max_lost_hits")):
        if section.get(key) is not None:
            options[option] = check.text(section, key, ("gate",))
    if (strict := _value(check, section, "gate", "strict", _switch)) is not None:
        options["strict"] = strict
    if section.get("baseline") is not None:
        options["baseline"] = str(folder / check.text(section, "baseline", ("gate",)))
    for option, value in options.items():
        try:
            accepts(option, value)
        except ValueError as error:
            check.add(("gate",), str(error))
    return options


def _rules(check: Checker, value: object, location: Location) -> list[str]:
    """Return rules as typed, ``hit@5=0.7``, from an object; a single limit may stand alone."""
    if isinstance(value, str):
        return [check.word(value, location)]
    rules = check.record(value, location)
    return [f"{name}={check.text(rules, name, location)}" for name in rules]


def _selected_files(
    check: Checker, top: Record
) -> tuple[str | None, tuple[str, ...], tuple[str, ...]]:
    """Return the section ``corpus``: a kind of file, and globs to include and to exclude."""
    section = _section(check, top, "corpus", CORPUS_KEYS)
    kind = _value(check, section, "corpus", "kind", str)
    include, exclude = (
        tuple(check.texts(section[key], ("corpus", key))) if section.get(key) is not None else ()
        for key in ("include", "exclude")
    )
    try:
        FileSelection(kind or "all", include, exclude).check()
    except InputError as error:
        check.add(("corpus",), str(error))
    return kind, include, exclude


def _metrics(check: Checker, top: Record) -> tuple[str, ...]:
    if top.get("metrics") is None:
        return ()
    return tuple(check.texts(top["metrics"], ("metrics",)))


def _load_plugins(check: Checker, top: Record, folder: Path) -> None:
    """Load the files of ``plugins``: other sections may name what they add."""
    if top.get("plugins") is None:
        return
    for number, name in enumerate(check.texts(top["plugins"], ("plugins",))):
        try:
            add_files([str(folder / name)])
        except InputError as error:
            check.add(("plugins", number), str(error))


def _section(check: Checker, top: Record, name: str, keys: tuple[str, ...]) -> Record:
    section = check.record(top.get(name) or {}, (name,))
    check.known(section, keys, (name,), list_keys=True)
    return section


def _gold_set(check: Checker, top: Record, settings: Mapping[str, object]) -> list[str]:
    section = top.get("dataset")
    if not isinstance(section, Mapping) or section.get(GOLD_SET) is None:
        return []
    if settings:
        check.add(
            (*SECTION, GOLD_SET), "cannot be combined with mining settings; expected it alone"
        )
    if isinstance(section[GOLD_SET], list):
        rows = check.rows(section[GOLD_SET], (*SECTION, GOLD_SET), filled=True)
        return [check.word(item, location) for location, item in rows]
    return [check.text(section, GOLD_SET, SECTION)]


def _gold_path(folder: Path, names: Sequence[str]) -> str | None:
    """Return the gold set below *folder*; several files are joined to one name."""
    return "+".join(str(folder / name) for name in names) or None


def _agents(check: Checker, top: Record, folder: Path) -> list[Agent]:
    if top.get("engines") is not None and top.get("agents") is not None:
        check.add(("agents",), "'agents' and 'engines' mean the same; give one of them")
    listed = (*check.listed(top, "engines", ()), *check.listed(top, "agents", ()))
    rows = [(location, check.record(item, location)) for location, item in listed]
    check.unique(((location, str(row.get("name") or "")) for location, row in rows), "name")
    agents = (_agent(check, row, location, folder) for location, row in rows)
    return [agent for agent in agents if agent]


def _agent(check: Checker, row: Record, location: Location, folder: Path) -> Agent | None:
    check.known(row, AGENT_KEYS, location, list_keys=True)
    name = check.text(row, "name", location)
    given = [key for key in ("class", "engine") if row.get(key) is not None]
    if len(given) != 1:
        check.add(location, "expected either 'class' or 'engine'")
        return None
    target = check.text(row, given[0], location)
    config = check.record(row.get("config") or {}, (*location, "config"))
    if not name or not target:
        return None
    try:
        return parse_agent(name, target, expand_here(config, folder))
    except (InputError, MissingExtra) as error:
        for line in str(error).splitlines():
            check.add(location, line)
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
    raise ValueError(f"{text!r} is not a whole number above 0")


def _seconds(text: str) -> float:
    if seconds := parse_amount(text):
        return seconds
    raise ValueError(f"{text!r} is not a number above 0")


def _switch(text: str) -> bool:
    if text.lower() in SWITCH:
        return SWITCH[text.lower()]
    raise ValueError(f"{text!r} is neither true nor false")


def _folder(check: Checker, output: Record, folder: Path) -> str:
    return str(folder / check.text(output, "directory", ("output",), default=DEFAULT_FOLDER))


def _formats(check: Checker, output: Record) -> list[str]:
    if output.get("formats") is None:
        return list(FOLDER_FORMATS)
    formats = []
    for location, item in check.listed(output, "formats", ("output",)):
        name = check.word(item, location)
        if name and name not in FOLDER_FORMATS:
            check.add(
                location,
                f"{name!r} is not a valid format; expected one of: {', '.join(FOLDER_FORMATS)}",
            )
        formats.append(name)
    return formats
