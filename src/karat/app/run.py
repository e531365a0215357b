"""Run the queries of a dataset through any engine, in this process."""

import inspect
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Any, Protocol, TypeAlias

from karat.corpus import Corpus, from_texts
from karat.engines.adapters.external import CorpusPaths, in_order_returned
from karat.engines.adapters.python import adapted, is_retriever, retriever
from karat.engines.base import Engine, Progress
from karat.engines.spec import build, parse_spec
from karat.errors import EngineError, InputError
from karat.experiments.plan import judged_units, with_unit
from karat.experiments.snapshots import (
    RepositoryRevisions,
    SelectedFiles,
    Snapshots,
    carried_to,
    corpus_candidates,
    corpus_snapshots,
    dataset_masks,
    history_snapshots,
    selected_files,
)
from karat.experiments.target_check import check_snapshots
from karat.experiments.workers.sources import Source
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run
from karat.model.run import AS_RETURNED, TIES
from karat.model.spec import Spec
from karat.report.score_view import missing_targets
from karat.system.words import options_as_arguments

CorpusLike: TypeAlias = Corpus | Mapping[str, str] | str | os.PathLike[str]
# The key of an error in the extra fields of an answer.
ERROR = "error"
# Frames from a warning to the code that calls `karat.run`.
CALLER = 4


class _Search(Protocol):
    """The interface of a function or engine that runs a query."""

    name: str

    def search(self, query: str, k: int) -> Sequence[Hit]: ...


def run_queries(
    dataset: Dataset | Mapping[str, str],
    engine: object,
    *,
    corpus: CorpusLike | None = None,
    kind: str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    k: int = 100,
    name: str = "",
    document_key: str = "",
    progress: bool | Progress = False,
) -> Run:
    """Return the hits of *engine* for every query of *dataset*, with the latency of each query.

    *dataset* may also be ``{query id: text}``. *corpus* is a folder, a Corpus or ``{path: text}``;
    a mined dataset without one is searched in its repository, each query on the version before its
    change. *kind*, *include* and *exclude* select its files as
    :func:`karat.experiments.snapshots.selected_files` does. A function or a retriever needs no
    corpus and none of these: with a corpus, absolute paths become relative to it. It searches its
    own files, so that a mined dataset without a corpus is warned about. There is also a UserWarning
    if targets do not exist in the snapshots that an engine searches.

    A query on which the engine fails has no hits and the outcome ERROR; EngineError is raised if
    all of them fail.
    """
    if k < 1:
        raise InputError(f"k is {k}; expected 1 or more")
    gold = _dataset(dataset)
    if is_retriever(engine):
        search = retriever(engine, name, key=document_key)
        if corpus is None and _is_mined(gold) and not carried_to(gold):
            _warn(
                f"a {'function' if inspect.isroutine(engine) else 'retriever'} searches its own "
                "files, not the version before each change of a mined gold set; use an engine "
                "file to search that"
            )
        opened = None if corpus is None else _opened(corpus, gold)
        steps: Iterable[tuple[Sequence[int], Corpus | None]] = [(range(len(gold)), opened)]
        answers = _answers(gold, search, steps, k, _told(progress, search.name))
        label = search.name
    else:
        built = _engine(engine, gold, name)
        label = name or built.name
        selected = selected_files(gold, kind, _patterns(include), _patterns(exclude))
        with _closing(built), _snapshots(gold, corpus, built.name, selected) as searched:
            # The names may be mapped when the run is scored: even a corpus without any target is
            # not an error.
            check = check_snapshots(gold, searched, match=gold.match, strict=False)
            if missing := missing_targets(check.searched):
                _warn(missing)
            tell = _told(progress, label)
            if progress:
                built.watch(_told(progress, f"{label}, index"))
            answers = _answers(gold, built, _visits(built, searched), k, tell)
    errors = [str(each.extra[ERROR]) for each in answers if each.outcome is Outcome.ERROR]
    if errors and len(errors) == len(answers):
        raise EngineError(f"every query failed; the first: {errors[0]}")
    return Run.of(answers, name=label, metadata={"k": k, TIES: AS_RETURNED})


def _warn(text: str) -> None:
    warnings.warn(options_as_arguments(text), UserWarning, stacklevel=CALLER)


def _dataset(source: Dataset | Mapping[str, str]) -> Dataset:
    if not isinstance(source, Dataset):
        source = Dataset.of(Query(str(key), text) for key, text in source.items())
    empty = [key for key, text in zip(source.query_ids, source.texts, strict=True) if not text]
    if empty:
        raise InputError(
            f"{source.name}: {len(empty)} of {len(source)} queries have no text, the first is "
            f"{empty[0]!r}; expected a dataset with texts, or {{query id: text}}"
        )
    return source


def _engine(engine: object, gold: Dataset, name: str) -> Engine:
    """Return the engine that is named or described, or that the object is."""
    if isinstance(engine, os.PathLike):
        engine = os.fspath(engine)
    if isinstance(engine, str | Mapping):
        engine = parse_spec(engine)
    if isinstance(engine, Spec):
        return build(with_unit(engine, judged_units(gold, gold.match).most))
    if isinstance(engine, type):
        raise InputError(
            f"{engine.__name__} is a class; expected an object, such as {engine.__name__}()"
        )
    try:
        return adapted(engine, name or type(engine).__name__)
    except InputError:
        # Says what else it could have been.
        retriever(engine)
        raise


@contextmanager
def _closing(engine: Engine) -> Iterator[None]:
    try:
        yield
    finally:
        engine.close()


@contextmanager
def _snapshots(
    gold: Dataset, corpus: CorpusLike | None, engine: str, selected: SelectedFiles
) -> Iterator[Snapshots]:
    """Open the snapshots to search: *corpus*, or those of the repository of a mined dataset."""
    if isinstance(corpus, str | os.PathLike):
        yield corpus_snapshots(gold, os.fspath(corpus), selected=selected)
    elif corpus is not None:
        opened = _opened(corpus, gold)
        part = RepositoryRevisions(
            lambda: [("", opened)], {"": range(len(gold))}, lambda _: Source.of_texts({})
        )
        files, kind_from = selected
        yield Snapshots(
            "corpus",
            opened.name,
            corpus_candidates(gold),
            (part,),
            selection=files,
            kind_from=kind_from,
            masks=dataset_masks(gold),
        )
    elif _is_mined(gold):
        with history_snapshots(gold, selected=selected) as snapshots:
            yield snapshots
    else:
        raise InputError(f"{engine} needs something to search: corpus=, a folder or {{path: text}}")


def _is_mined(gold: Dataset) -> bool:
    """Return whether *gold* names the repositories that it was mined from."""
    return any(gold.metadata.get(key) for key in ("repository", "repositories"))


def _visits(engine: Engine, snapshots: Snapshots) -> Iterator[tuple[Sequence[int], None]]:
    """Yield the rows of the queries on each snapshot, after *engine* has indexed it."""
    moves = False
    for corpus, queries, _ in snapshots:
        if moves:
            engine.show(corpus)
        else:
            engine.index(corpus)
        moves = True
        yield sorted(queries.rows), None


def _patterns(globs: str | Sequence[str]) -> Sequence[str]:
    """Return a list of globs; a single text is one glob, not a list of letters."""
    return (globs,) if isinstance(globs, str) else globs


def _opened(corpus: CorpusLike, gold: Dataset) -> Corpus:
    if isinstance(corpus, Corpus):
        return corpus
    if isinstance(corpus, Mapping):
        return from_texts(corpus)
    (snapshot,) = corpus_snapshots(gold, os.fspath(corpus))
    return snapshot.corpus


def _answers(
    gold: Dataset,
    search: _Search,
    steps: Iterable[tuple[Sequence[int], Corpus | None]],
    k: int,
    tell: Progress,
) -> list[Answer]:
    """Return the answers in the order of the dataset."""
    by_row: dict[int, Answer] = {}
    tell(0, len(gold))
    for rows, corpus in steps:
        paths = None
        if corpus is not None:
            paths = CorpusPaths(corpus, root="" if corpus.folder is None else str(corpus.folder))
        for row in rows:
            by_row[row] = _answer(gold.query_ids[row], gold.texts[row], search, k, paths)
            tell(len(by_row), len(gold))
    return [by_row[row] for row in range(len(gold))]


def _answer(query_id: str, text: str, search: _Search, k: int, paths: CorpusPaths | None) -> Answer:
    started = perf_counter_ns()
    try:
        hits = search.search(text, k)
    except EngineError as error:
        return Answer(query_id, (), Outcome.ERROR, extra={ERROR: str(error)})
    latency_ns = perf_counter_ns() - started
    if paths is not None:
        # A path that is not in the corpus stays as it is, so that scoring can report it.
        hits = [hit._replace(path=paths.resolve(hit.path)[0] or hit.path) for hit in hits]
    ordered = in_order_returned(tuple(hits), Counter())
    return Answer(query_id, ordered, Outcome.ANSWERED, latency_ns)


def _told(progress: bool | Progress, label: str) -> Progress:
    """Return the callback for progress; True prints one line that is updated."""
    if callable(progress):
        return progress
    return _line(label) if progress else lambda done, total: None  # noqa: ARG005


def _line(label: str) -> Callable[[int, int], Any]:
    def show(done: int, total: int) -> None:
        sys.stderr.write(f"\r{label}: {done:,} of {total:,}" + ("\n" if done == total else ""))
        sys.stderr.flush()

    return show
