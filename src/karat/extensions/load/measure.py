"""Measure the latency of an engine under load, at several rates of queries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

from karat.corpus import Corpus, FileSelection
from karat.engines.base import Progress
from karat.engines.spec import parse_spec
from karat.errors import InputError
from karat.experiments.workers import Configuration, Holder, LoadPoint, measure_load
from karat.experiments.workers.sources import EVERYTHING, corpus_source, load_corpus
from karat.model import Dataset
from karat.model.spec import Spec

__all__ = ["under_load"]


def under_load(
    gold: Dataset,
    engine: Spec | str | Mapping[str, object],
    place: str,
    *,
    revision: str | None = None,
    selection: FileSelection = EVERYTHING,
    rates: Sequence[float],
    seconds: float,
    k: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
    reached: Callable[[LoadPoint], None] = lambda _: None,
    waiting: Callable[[Sequence[Holder]], None] = lambda _: None,
    opened: Callable[[Corpus], None] = lambda _: None,
    wait: bool = True,
) -> list[LoadPoint]:
    """Return the latencies of the queries of *gold* at each of *rates*, for *seconds* each.

    They are sent in random order (*seed*), again and again. *progress* receives how many texts are
    embedded before that; *reached* is called with each rate when it is done. Other karat runs are
    waited for, which *waiting* receives, unless *wait* is False. *opened* receives the corpus
    before the engine is started.
    """
    queries = [text for text in gold.texts if text.strip()]
    if not queries:
        raise InputError(f"{gold.name}: no query has a text")
    Random(f"{seed} load").shuffle(queries)
    spec = engine if isinstance(engine, Spec) else parse_spec(engine)
    source = corpus_source(place, revision=revision)
    opened(load_corpus(place, revision=revision, selection=selection))
    return measure_load(
        Configuration(spec.name, spec, k),
        replace(source, selection=selection),
        queries,
        rates=rates,
        seconds=seconds,
        seed=seed,
        progress=progress,
        reached=reached,
        waiting=waiting,
        wait=wait,
    )
