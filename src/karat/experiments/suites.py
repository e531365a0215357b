"""Suites: named lists of dense configurations, from a file or built in."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from karat.engines.embedding.base import embedder_named
from karat.engines.rerank import DEFAULT_RERANKER
from karat.errors import InputError, UnknownName
from karat.experiments.matrix import axis_problems
from karat.experiments.workers import Configuration
from karat.formats.base import DEFAULT, ReadLimits
from karat.formats.fields import Checker, Location, Record, find_section
from karat.formats.jsontext import SWITCH, load_yaml
from karat.model.spec import Spec

KEYS = ("name", "chunk_size", "embedding_model", "use_reranker", "reranker_model")


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


BUNDLED = Path(__file__).with_name("suites.yaml")


def suites(path: str | os.PathLike[str] = BUNDLED) -> Mapping[str, tuple[SuiteConfig, ...]]:
    """Return the suites in *path* by name."""
    return read_suites(path)


def suite(
    name: str, path: str | os.PathLike[str] = BUNDLED, *, k: int = 100
) -> tuple[Configuration, ...]:
    """Return the configurations of the suite *name*, each with *k* hits."""
    known = suites(path)
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
        raise UnknownName(f"no suite named {name!r}; {hint}")
    configurations, wrong = [], []
    for config in known[name]:
        try:
            configurations.append(suite_configuration(config, k=k))
        except InputError as error:
            wrong.append(str(error))
    if wrong:
        raise InputError("\n".join(wrong))
    return tuple(configurations)


def suite_configuration(config: SuiteConfig, *, k: int = 100) -> Configuration:
    """Return the dense configuration that *config* describes.

    Chunks are windows of ``chunk_size`` words and signs. A chunk that is too long for the model is
    embedded in parts. All settings that cannot be applied are reported at once.
    """
    chunker, reranker = f"window:{config.chunk_size}", _reranker(config.reranker_model)
    named = {"models": config.embedding_model, "chunkers": chunker, "rerankers": reranker}
    wrong = [message for axis, name in named.items() for _, message in axis_problems(axis, (name,))]
    if config.reranker_model and not config.use_reranker:
        wrong.append(f"reranker_model {config.reranker_model!r} needs use_reranker: true")
    if wrong:
        raise InputError("\n".join(f"{config.name}: {message}" for message in wrong))
    model = embedder_named(config.embedding_model)
    spec = Spec("engine", "dense", {"model": model, "windows": "all", "chunker": chunker})
    if config.use_reranker:
        over = {"engine": spec.name, **spec.params}
        spec = Spec("engine", "rerank", {"over": over, "model": reranker})
    settings = config._asdict()
    name = settings.pop("name")
    options = {option: value for option, value in settings.items() if value != ""}
    return Configuration(name, spec, k, options=options)


def _reranker(model: str) -> str:
    """Return the name of a reranker: what the hub calls owner/model is a cross-encoder there."""
    return f"cross:{model}" if "/" in model and ":" not in model else model or DEFAULT_RERANKER
