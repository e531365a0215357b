"""karat score: a run scored on a gold set, both from a path or from memory."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import starmap
from typing import Any, Protocol

from karat.errors import InputError, Problem
from karat.formats import FORMATS, detect, read_dataset, read_judgments, read_run
from karat.formats.base import IDS_ARE_TEXTS, RANKING
from karat.formats.objects import judgments_of, scores_of
from karat.model import Answer, Dataset, Hit, Run
from karat.model.evaluation import Evaluation
from karat.model.frozen import EMPTY
from karat.scoring.labels import LabelChoice, LabelRule, use_labels
from karat.scoring.matching.judge import ALTERNATIVES, Scored, Truth
from karat.scoring.score import cluster_labels, evaluate_run, slice_rows
from karat.scoring.settings import Confidence, Scoring
from karat.scoring.whole_files import judge_whole_files
from karat.system.words import number_duplicates

__all__ = [
    "LabelRule",
    "RunSource",
    "Truth",
    "TruthSource",
    "distinct_names",
    "load_judgments",
    "load_run",
    "own_run_name",
    "placed",
    "read_gold",
    "run_name",
    "score",
    "use_labels",
    "whole_run",
    "with_run_as_gold",
]


class _Frame(Protocol):
    """A data frame, or another object that :mod:`karat.formats.objects` reads."""

    @property
    def columns(self) -> Any: ...


class _Dictionary(Protocol):
    """An object of ranx."""

    def to_dict(self) -> Any: ...


Lists = Mapping[str, Sequence[str]]
TruthSource = Truth | Lists | _Frame | _Dictionary | str | os.PathLike[str]
RunSource = Run | Scored | Lists | _Frame | _Dictionary | str | os.PathLike[str]


def load_judgments(
    source: TruthSource,
    *,
    format: str | None = None,  # noqa: A002 - the word users write
    tags: Iterable[str] = (),
    columns: Mapping[str, str] = EMPTY,
    topics: str | os.PathLike[str] | None = None,
    labels: LabelRule = LabelRule(),  # noqa: B008 - immutable
    on_empty: Callable[[Problem], None] | None = None,
) -> Truth:
    """Return the dataset in *source*; TREC judgments stay plain dictionaries.

    The options are those of :func:`read_gold`.
    """
    if isinstance(source, Dataset):
        return use_labels(source, labels)
    is_plain = LabelChoice(labels.choice) is LabelChoice.EXCLUDE
    if not isinstance(source, str | os.PathLike):
        if not is_plain:
            raise InputError("a dictionary of judgments has no model labels; expected a gold set")
        return judgments_of(source)
    chosen = format if format or columns else detect(source, kind="dataset").name
    if chosen == "trec-qrels" and not tags and topics is None and is_plain:
        return read_judgments(source)
    return read_gold(
        source,
        format=chosen,
        tags=tags,
        columns=columns,
        topics=topics,
        labels=labels,
        on_empty=on_empty,
    )


def read_gold(
    source: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - as above
    tags: Iterable[str] = (),
    columns: Mapping[str, str] = EMPTY,
    topics: str | os.PathLike[str] | None = None,
    labels: LabelRule = LabelRule(),  # noqa: B008 - as above
    on_empty: Callable[[Problem], None] | None = None,
) -> Dataset:
    """Return the gold set in *source* to score runs on, with the labels that *labels* chooses.

    The other options are those of :func:`karat.formats.read_dataset`. Targets that are quotes have
    no place without their documents: they raise InputError.
    """
    data = read_dataset(
        source,
        format=format,
        tags=tuple(tags),
        columns=columns,
        topics=topics,
        on_empty=on_empty,
    )
    return use_labels(placed(data, source), labels)


def with_run_as_gold(source: str, reading: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *reading*, the keywords of :func:`read_gold`, for *source* in place of a gold set.

    A run is read as the ranking that other runs are compared with, if an extension does that.
    """
    if reading.get("format") or reading.get("columns") or not FORMATS.has(RANKING):
        return reading
    try:
        is_run = detect(source).kind == "run"
    except InputError:
        is_run = False  # reading it says what is wrong
    return {**reading, "format": RANKING} if is_run else reading


def placed(data: Dataset, source: str | os.PathLike[str]) -> Dataset:
    """Return *data*, read from *source*, if it can be scored; quotes must be resolved first."""
    rows = range(len(data.grades)) if "quote" in data.refs.names else ()
    # A quote that was looked for and not found has its text as its path.
    if not any(data.refs[row] == "quote" and data.symbols[row] for row in rows):
        return data
    name = os.fspath(source)
    raise InputError(
        f"{name}: targets are quotes, which must be found in their documents first; "
        f"run karat resolve {name} CORPUS -o resolved.json, and score against resolved.json"
    )


def load_run(
    source: RunSource,
    truth: Truth,
    *,
    scoring: Scoring | None = None,
    format: str | None = None,  # noqa: A002 - as above
) -> Run | Scored:
    """Return the run in *source*; a run in a format that streams is read once, as it is scored.

    If *scoring* matches unchanged document ids, the stream of a large file decodes only judged ids.
    A Parquet run whose hits have lines or symbols, or that is matched by paths, is read whole.
    """
    if isinstance(source, Run):
        return source
    if not isinstance(source, str | os.PathLike):
        return scores_of(source)
    chosen = FORMATS.get(format) if format else detect(source, kind="run")
    default = truth.match if isinstance(truth, Dataset) else "document"
    how = scoring or Scoring()
    by_id = (how.match or default) == "document" and not how.respells
    if chosen.stream:
        judged = _judged(truth) if by_id and not _has_alternatives(truth) else None
        rankings = chosen.stream(source, judged)
        if rankings is not None:
            return rankings
    return _by_ids(read_run(source, format=chosen.name), truth)


def _has_alternatives(truth: Truth) -> bool:
    return isinstance(truth, Dataset) and any(ALTERNATIVES in extra for extra in truth.extras)


def whole_run(
    source: RunSource,
    truth: Truth,
    *,
    name: str,
    format: str | None = None,  # noqa: A002 - as above
) -> Run:
    """Return the run in *source* with all of its hits, so that it can be read several times."""
    if isinstance(source, str | os.PathLike):
        return _by_ids(read_run(source, format=format), truth)
    loaded = load_run(source, truth)
    if isinstance(loaded, Run):
        return loaded
    rows = loaded.items() if isinstance(loaded, Mapping) else loaded
    answers = (
        Answer(query, tuple(sorted(starmap(Hit, scores.items()), key=lambda hit: -hit.score)))
        for query, scores in rows
    )
    return Run.of(answers, name=name)


def _by_ids(run: Run, truth: Truth) -> Run:
    """Return *run*; if its queries are texts, with the ids that *truth* has for these texts."""
    if not (run.metadata.get(IDS_ARE_TEXTS) and isinstance(truth, Dataset)):
        return run
    ids = {
        text.strip(): query_id for query_id, text in zip(truth.query_ids, truth.texts, strict=True)
    }
    answers = (
        answer._replace(query_id=ids.get(answer.query_id, answer.query_id))
        for answer in run.answers()
    )
    return Run.of(answers, name=run.name)


def run_name(source: RunSource, position: int) -> str:
    """Return the name of a run: its own, that of its file, or its number."""
    if isinstance(source, Run):
        return source.name
    if isinstance(source, str | os.PathLike):
        path = os.path.normpath(source)
        # The parts of a run have the name of their folder.
        while any(mark in os.path.basename(path) for mark in "*?[") and os.path.dirname(path):  # noqa: PTH119, PTH120 - pathlib is slow to load
            path = os.path.dirname(path)  # noqa: PTH120 - as above
        name = os.path.basename(path).removesuffix(".gz")  # noqa: PTH119 - as above
        return name if os.path.isdir(path) else name.rpartition(".")[0] or name  # noqa: PTH112 - as above
    own = getattr(source, "name", None)
    return own if isinstance(own, str) else f"run{position}"


def own_run_name(
    source: RunSource,
    loaded: Run | Scored,
    *,
    format: str | None = None,  # noqa: A002 - as above
) -> str:
    """Return the name of one run: that in the header of a Karat run, else :func:`run_name`.

    *loaded* is what :func:`load_run` has read from *source* in this *format*.
    """
    if isinstance(loaded, Run) and isinstance(source, str | os.PathLike):
        file = os.path.basename(source)  # noqa: PTH119 - as above
        chosen = format or detect(source, kind="run").name
        if chosen == "karat-run" and loaded.name not in ("", file):
            return loaded.name
    return run_name(source, 1)


def distinct_names(sources: Iterable[RunSource]) -> list[str]:
    """Return one name per run; equal names get a number.

    >>> distinct_names(["old/bm25.run", "new/bm25.run", "dense.run"])
    ['bm25-1', 'bm25-2', 'dense']
    """
    return number_duplicates(
        [run_name(source, position) for position, source in enumerate(sources, 1)]
    )


def _judged(truth: Truth) -> Mapping[str, Mapping[str, float]]:
    if not isinstance(truth, Dataset):
        return truth
    return {query_id: truth.judgments(row) for row, query_id in enumerate(truth.query_ids)}


def score(
    truth: TruthSource,
    run: RunSource,
    *,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
    by: Iterable[str] = (),
    name: str | None = None,
    run_format: str | None = None,
    labels: LabelRule = LabelRule(),  # noqa: B008 - as above
) -> Evaluation:
    """Return the scores of *run* on *truth*, both from a path or from memory.

    Without *confidence* no interval is computed, and numpy is not loaded. *by* names tags by which
    to break results down. *labels* says whether labels of models count.
    """
    scoring = scoring or Scoring()
    gold = load_judgments(truth, labels=labels)
    name = name or run_name(run, 1)
    loaded: Run | Scored
    if confidence and confidence.human_sample:
        from karat.app.human_sample import sampled_run

        gold, loaded = sampled_run(
            gold, run, confidence.human_sample, name=name, scoring=scoring, format=run_format
        )
    else:
        loaded = load_run(run, gold, scoring=scoring, format=run_format)
    return evaluate_run(
        gold,
        loaded,
        scoring=judge_whole_files(gold, {name: loaded}, scoring),
        confidence=confidence,
        slices=slice_rows(gold, by),
        name=name,
        clusters=cluster_labels(gold, confidence.cluster) if confidence else None,
    )
