"""The small public Python API: load, run, evaluate, compare, write_report.

Nothing heavy is imported before a function is called.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.model import Dataset, Run
from karat.system.words import options_as_arguments

if TYPE_CHECKING:
    from karat.app.run import CorpusLike
    from karat.app.score import RunSource, TruthSource
    from karat.engines.base import Progress
    from karat.model.evaluation import ComparisonResult, Evaluation


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users write
    columns: Mapping[str, str] | None = None,
) -> Dataset | Run:
    """Return the dataset or the run in a file, whatever its format.

    *format* names one where detection finds none or the wrong one; `karat validate` reports it.
    *columns* names columns of a table: ``{"query": "question", "document": "expected file"}``.
    """
    from karat.formats import read

    return read(path, format=format, columns=columns or {})


def run(
    dataset: Dataset | Mapping[str, str] | str | os.PathLike[str],
    engine: object,
    *,
    corpus: "CorpusLike | None" = None,
    kind: str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    k: int = 100,
    name: str = "",
    document_key: str = "",
    progress: "bool | Progress" = False,
) -> Run:
    """Return the hits of *engine* for every query of *dataset*, with the latency of each query.

    *dataset* is a Dataset, its file, or ``{query id: text}``. *engine* is a name with options
    (``"bm25"``, ``"hybrid(dense_weight=0.3)"``), a YAML file, a function ``f(query, k)`` that
    returns ids, pairs of id and score, or dictionaries; or a retriever of LangChain, LlamaIndex or
    Haystack. *corpus* is a folder, a Corpus or ``{path: text}``; functions and retrievers need
    none. They search their own files: on a mined dataset, only engines by name or file and objects
    with ``index`` search the version before each change, and a function gets a UserWarning.
    So do targets that do not exist in the searched version.

    *kind* (``"docs"``, ``"code"`` or ``"all"``) and the globs *include* and *exclude* select the
    files to search; without a kind, that of all targets, as in `karat evaluate`. *document_key*
    names the metadata with the document id, where a retriever has several. *progress* True prints a
    line, and a function is called with (done, total).

    >>> texts = {"auth.py": "def login(user): ...", "cart.py": "def checkout(cart): ..."}
    >>> hits = run({"q1": "user login"}, "bm25", corpus=texts)
    >>> hits.answer(0).hits[0].path
    'auth.py'
    >>> run({"q1": "login"}, lambda query, k: ["auth.py"], name="mine")
    <Run mine: 1 query, 1 hit>
    """
    from karat.app.run import run_queries

    if isinstance(dataset, str | os.PathLike):
        from karat.formats import read_dataset

        dataset = read_dataset(dataset)
    return run_queries(
        dataset,
        engine,
        corpus=corpus,
        kind=kind,
        include=include,
        exclude=exclude,
        k=k,
        name=name,
        document_key=document_key,
        progress=progress,
    )


def evaluate(
    gold: "TruthSource",
    run: "RunSource",
    metrics: Iterable[object] = (),
    *,
    match: str | None = None,
    ties: str | None = None,
    level: float = 0.0,
    judged_only: bool = False,
    depth: int | None = None,
    root: str = "",
    strip_prefix: Sequence[str] = (),
    cut_at: str = "",
    by: Iterable[str] = (),
    confidence: float | None = 0.95,
    draws: int = 9_999,
    seed: int = 0,
    judge_labels: str = "exclude",
    min_agreement: float = 0.6,
    human_sample: str | None = None,
) -> "Evaluation":
    """Return the scores of *run* on *gold*, with an interval on every mean.

    *gold* is a path, a Dataset or ``{query: {document: grade}}``; *run* a path, a Run or
    ``{query: {document: score}}``. Both may also be ``{query: [document, ...]}``, a data frame or
    an object of ranx; dictionaries are read in place, never copied. *metrics* are names such as
    ``"nDCG@10"``, or measures of ir_measures; results have the names as they were given.
    *confidence* None computes no interval and needs no numpy. *by* names tags by which to break
    results down. *human_sample* (``"auto"`` or a file with query ids) combines the labels of people
    for these queries with model labels for all of them. If the run and *gold* name documents
    differently, ``warnings`` of the result says so; *root*, *strip_prefix* (a list) and *cut_at*
    fix it.

    *ties* is the order of hits with equal scores: by default the order of the engine for a run of
    Karat, and that of trec_eval for any other.

    *judge_labels* ``"include"`` also uses the labels of models that `karat judge --model` wrote,
    where no target judges a hit, and ``"only"`` uses nothing else. ``warnings`` says so if their
    weighted kappa with people is below *min_agreement*, or is based on fewer than 10 hits.

    >>> gold = {"q1": {"a.py": 2, "b.py": 1}, "q2": {"c.py": 1}}
    >>> run = {"q1": {"x.py": 3.0, "a.py": 2.0}, "q2": {"c.py": 1.0}}
    >>> evaluation = evaluate(gold, run, ["mrr", "recall@10"], confidence=None)
    >>> evaluation["mrr"], evaluation["recall@10"]
    (0.75, 0.75)
    >>> evaluation.query("q1")["mrr"]
    0.5
    """
    from karat.app.score import LabelRule, score
    from karat.scoring.settings import Confidence, Scoring

    sure = None
    if confidence is not None:
        sure = Confidence(level=confidence, draws=draws, seed=seed, human_sample=human_sample)
    scoring = Scoring(
        _names(metrics),
        match=match,
        ties=ties,
        level=level,
        judged_only=judged_only,
        depth=depth,
        root=root,
        strip_prefix=tuple(strip_prefix),
        cut_at=cut_at,
    )
    rule = LabelRule(judge_labels, min_agreement)
    evaluation = score(gold, run, scoring=scoring, confidence=sure, by=by, labels=rule)
    return replace(evaluation, in_python=True)


def compare(
    gold: "TruthSource",
    runs: "Mapping[str, RunSource] | Sequence[RunSource]",
    metrics: Iterable[object] = (),
    *,
    match: str | None = None,
    ties: str | None = None,
    level: float = 0.0,
    judged_only: bool = False,
    depth: int | None = None,
    root: str = "",
    strip_prefix: Sequence[str] = (),
    cut_at: str = "",
    by: Iterable[str] = (),
    pairs: str | None = None,
    correction: str | None = None,
    confidence: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
    judge_labels: str = "exclude",
    min_agreement: float = 0.6,
    human_sample: str | None = None,
) -> "ComparisonResult":
    """Return *runs* scored and compared on *gold*, the first being the baseline.

    *runs* is a list, or ``{name: run}``; gold and runs are what :func:`evaluate` takes.

    >>> gold = {f"q{n}": {"a": 1} for n in range(8)}
    >>> old = {query: {"x": 2.0, "a": 1.0} for query in gold}
    >>> new = {query: {"a": 1.0} for query in gold}
    >>> contest = compare(gold, {"old": old, "new": new}, ["mrr"])
    >>> contest.comparison.difference("old", "new", "mrr").difference
    0.5
    """
    from karat.app.compare import compare as compare_runs
    from karat.app.score import LabelRule
    from karat.scoring.settings import Confidence, Scoring

    names, sources = _several("compare(gold, [run_a, run_b])", runs, metrics)
    contest = compare_runs(
        gold,
        sources,
        scoring=Scoring(
            _names(metrics),
            match=match,
            ties=ties,
            level=level,
            judged_only=judged_only,
            depth=depth,
            root=root,
            strip_prefix=tuple(strip_prefix),
            cut_at=cut_at,
        ),
        confidence=Confidence(
            level=confidence,
            draws=draws,
            seed=seed,
            pairs=pairs,
            correction=correction,
            human_sample=human_sample,
        ),
        by=by,
        names=names,
        labels=LabelRule(judge_labels, min_agreement),
    )
    return replace(
        contest,
        evaluations=tuple(replace(each, in_python=True) for each in contest.evaluations),
        verdict=options_as_arguments(contest.verdict),
        notes=tuple(map(options_as_arguments, contest.notes)),
    )


def write_report(
    gold: "TruthSource",
    runs: "Mapping[str, RunSource] | Sequence[RunSource]",
    path: str | os.PathLike[str],
    metrics: Iterable[object] = (),
    *,
    match: str | None = None,
    root: str = "",
    strip_prefix: Sequence[str] = (),
    cut_at: str = "",
    by: Iterable[str] | None = None,
    title: str = "",
    judge_labels: str = "exclude",
    min_agreement: float = 0.6,
    human_sample: str | None = None,
) -> None:
    """Write the report of `karat report` on *runs*, the first being the baseline.

    The suffix of *path* sets the format: ``.html``, ``.md``, ``.txt``, ``.csv``, ``.json`` or
    ``.tex``. The other arguments are those of :func:`compare`; *runs* may also be a list of one.
    Without *by*, results are broken down by every tag with a few values.
    """
    from karat.app.report import write_report as write
    from karat.app.score import LabelRule
    from karat.scoring.settings import Confidence, Scoring

    names, sources = _several("write_report(gold, [run_a, run_b], path)", runs, metrics)
    scoring = Scoring(
        _names(metrics), match, root=root, strip_prefix=tuple(strip_prefix), cut_at=cut_at
    )
    write(
        gold,
        sources,
        os.fspath(path),
        scoring=scoring,
        confidence=Confidence(human_sample=human_sample),
        by=by,
        names=names,
        title=title,
        labels=LabelRule(judge_labels, min_agreement),
    )


def _names(metrics: Iterable[object]) -> tuple[str, ...]:
    """Return the names of measures; a single name is one measure, not a list of letters."""
    return (metrics,) if isinstance(metrics, str) else tuple(map(str, metrics))


def _several(
    call: str,
    runs: "Mapping[str, RunSource] | Sequence[RunSource]",
    metrics: Iterable[object],
) -> "tuple[list[str] | None, Sequence[RunSource]]":
    """Return the names of *runs*, if they have any, and the runs; *call* is the expected call."""
    # A second run in place of the metrics: the runs are not in a list.
    wrong = isinstance(metrics, Run | Mapping | os.PathLike) or isinstance(runs, str)
    if wrong or not isinstance(runs, Mapping | Sequence):
        from karat.errors import InputError

        raise InputError(f"{call}: expected a list of runs or {{name: run}}")
    if isinstance(runs, Mapping):
        return list(runs), list(runs.values())
    return None, runs
