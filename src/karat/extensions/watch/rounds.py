"""karat watch: run a comparison again when its files change, and report what moved."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import isnan, nan
from pathlib import Path
from typing import NamedTuple

from karat.app.changes import with_changes
from karat.app.evaluate import (
    ExperimentRequest,
    RunEvent,
    evaluate_experiment,
    open_executor,
    plan,
    run_plan,
    select_finished,
)
from karat.engines.content import engine_files
from karat.model import Dataset
from karat.model.change import Earlier, RunChange
from karat.model.comparison import Comparison, Difference
from karat.model.evaluation import ComparisonResult, Evaluation
from karat.model.frozen import EMPTY
from karat.report.change_view import change_lines
from karat.report.display import headline_and_details, shorten
from karat.scoring.metrics import parse
from karat.scoring.settings import Confidence
from karat.scoring.stats import compare as compare_scores
from karat.scoring.stats import verdict
from karat.scoring.stats.verdict import p_value
from karat.system.words import first_line

__all__ = [
    "EngineChange",
    "FileState",
    "MovedQuery",
    "WatchRound",
    "changed_paths",
    "engine_changes",
    "engine_files",
    "file_state",
    "round_lines",
    "run_round",
    "wait_for_change",
]

# Folders that hold no documents but very many files.
SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages"})
# Modification time and size of each file.
FileState = Mapping[str, tuple[int, int]]


def file_state(places: Iterable[str]) -> FileState:
    """Return modification time and size of every file at or below *places*.

    Hidden folders such as ``.git`` are skipped. A place that does not exist has no files.
    """
    return dict(_states(places))


def _states(places: Iterable[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    for path in places:
        try:
            status = Path(path).stat()
            if not stat.S_ISDIR(status.st_mode):
                yield path, (status.st_mtime_ns, status.st_size)
                continue
            with os.scandir(path) as entries:
                names = sorted(entry.path for entry in entries if _is_watched(entry))
        except OSError:
            continue  # deleted meanwhile, or not readable
        yield from _states(names)


def _is_watched(entry: "os.DirEntry[str]") -> bool:
    if entry.is_symlink():
        return False
    return not (entry.is_dir() and (entry.name.startswith(".") or entry.name in SKIPPED))


def changed_paths(before: FileState, after: FileState) -> list[str]:
    """Return the files that were added, removed or modified.

    >>> changed_paths({"a": (1, 1), "b": (1, 1)}, {"a": (2, 1), "c": (1, 1)})
    ['a', 'b', 'c']
    """
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def wait_for_change(
    before: FileState,
    look: Callable[[], FileState],
    sleep: Callable[[float], None],
    *,
    interval_s: float,
) -> tuple[FileState, list[str]]:
    """Return the files as they are after the next change, and the paths that changed.

    A change counts when nothing has changed for another *interval_s*, because editors and
    ``git checkout`` write many files one after another.
    """
    now = look()
    while now == before:
        sleep(interval_s)
        now = look()
    while True:
        sleep(interval_s)
        later = look()
        if later == now:
            return now, changed_paths(before, now)
        now = later


@dataclass(frozen=True, slots=True)
class WatchRound:
    """The scores of one round; *measure* is the one that engines are compared by.

    *failed* has the error of each engine that failed, and *last_good* its scores in the last round
    in which it did not. *changes* are those since earlier stored runs of the same engines.
    """

    gold: Dataset
    evaluations: tuple[Evaluation, ...]
    measure: str
    comparison: Comparison | None
    failed: Mapping[str, str] = EMPTY
    last_good: Mapping[str, Evaluation] = EMPTY
    changes: tuple[RunChange, ...] = ()

    def after(self, before: "WatchRound | None") -> "WatchRound":
        """Return this round with the last good scores, as the round *before* has them."""
        known = _known(before)
        return replace(self, last_good={n: known[n] for n in self.failed if n in known})


def run_round(
    request: ExperimentRequest, *, store: str, listen: Callable[[RunEvent], None]
) -> WatchRound:
    """Run *request* and return its scores; KeyboardInterrupt if the user interrupts it.

    Stored results of built-in engines are reused.
    """
    done = run_plan(
        request,
        plan(request),
        store=store,
        executor=open_executor("local", workers=request.workers),
        again=None,
        listen=listen,
        on_searched=lambda _searched: None,
    )
    if done.interrupted:
        raise KeyboardInterrupt
    ended = select_finished(done)
    gold, scoring = request.gold, request.scoring
    result = evaluate_experiment(gold, done, runs=ended, scoring=scoring)
    result = with_changes(
        result, gold, done, ended, store=store, scoring=scoring, confidence=Confidence()
    )
    overall = result.overall
    return WatchRound(
        gold,
        overall.evaluations if isinstance(overall, ComparisonResult) else (overall,),
        str(scoring.parsed(gold)[0]),
        overall.comparison if isinstance(overall, ComparisonResult) else None,
        {run.label: first_line(run.error) for run in ended.failed},
        changes=result.changes,
    )


class MovedQuery(NamedTuple):
    """A query whose score differs between two rounds."""

    text: str
    before: float
    after: float


class EngineChange(NamedTuple):
    """How one engine did, compared with the round before; *difference* is None without one.

    *queries* counts the queries that both rounds have.
    """

    name: str
    mean: float
    difference: Difference | None
    moved: tuple[MovedQuery, ...]
    queries: int


def engine_changes(before: WatchRound | None, after: WatchRound) -> list[EngineChange]:
    """Return the change of each engine of *after*, over the queries that both rounds have."""
    known = _known(before)
    same_measure = before is not None and before.measure == after.measure
    return [
        _change(known.get(one.name) if same_measure else None, one, after)
        for one in after.evaluations
    ]


def _known(before: WatchRound | None) -> dict[str, Evaluation]:
    """Return the last good scores of each engine."""
    if before is None:
        return {}
    return {**before.last_good, **{one.name: one for one in before.evaluations}}


def _change(old: Evaluation | None, new: Evaluation, after: WatchRound) -> EngineChange:
    mean = new[after.measure]
    if old is None:
        return EngineChange(new.name, mean, None, moved=(), queries=0)
    texts = dict(zip(after.gold.query_ids, after.gold.texts, strict=True))
    scores = [
        dict(zip(one.table.query_ids, one.table.columns[after.measure], strict=True))
        for one in (old, new)
    ]
    common = [
        query
        for query, score in scores[1].items()
        if not isnan(score) and not isnan(scores[0].get(query, nan))
    ]
    if not common:
        return EngineChange(new.name, mean, None, moved=(), queries=0)
    moved = [
        MovedQuery(texts[query] or query, scores[0][query], scores[1][query])
        for query in common
        if scores[0][query] != scores[1][query]
    ]
    compared = compare_scores(
        [[[one[query]] for query in common] for one in scores],
        systems=["before", "after"],
        metrics=[after.measure],
        bounds=parse(after.measure).bounds,
    )
    (difference,) = compared.differences
    return EngineChange(
        new.name,
        mean,
        difference,
        moved=tuple(sorted(moved, key=lambda one: (one.after - one.before, one.text))),
        queries=len(common),
    )


MOST_MOVED = 5
QUERY_WIDTH = 60


def round_lines(before: WatchRound | None, after: WatchRound) -> list[str]:
    """Return what to print about a round: the verdict, each engine and the queries that moved."""
    changes = engine_changes(before, after)
    width = max(len(name) for name in (*(one.name for one in changes), *after.failed))
    said, was = _verdict(after), _verdict(before) if before else ""
    lines = [f"Verdict unchanged: {said}" if said == was else said] if said else []
    lines += [f"  {name:<{width}}  failed: {error}" for name, error in after.failed.items()]
    for one in changes:
        lines.append(f"  {one.name:<{width}}  {after.measure} {_change_text(one, len(after.gold))}")
        worst, best = one.moved[:MOST_MOVED], one.moved[-MOST_MOVED:]
        listed = [*(each for each in worst if each.after < each.before)]
        listed += [each for each in reversed(best) if each.after > each.before]
        lines += [
            f"    {'+' if each.after > each.before else '-'} {each.before:.2f} -> "
            f"{each.after:.2f}  {shorten(each.text, QUERY_WIDTH)}"
            for each in listed
        ]
        if len(one.moved) > len(listed):
            lines.append(f"      and {len(one.moved) - len(listed)} more")
    # A later round says itself how it differs from the one before.
    told = [one for one in after.changes if before is None or one.against is Earlier.PINNED]
    return [*lines, *change_lines(told)]


def _change_text(change: EngineChange, cases: int) -> str:
    """Return the mean over all *cases*, and how the cases of both rounds have changed."""
    difference = change.difference
    if difference is None or difference.difference is None:
        return f"{change.mean:.3f}"
    if not change.moved:
        common = "" if change.queries == cases else f" on {change.queries:,} common cases"
        return f"{change.mean:.3f}  unchanged{common}"
    better = sum(each.after > each.before for each in change.moved)
    sure = "significant" if difference.is_significant else "not significant"
    if difference.p is not None:
        sure = f"p {p_value(difference.p)}, {sure}"
    amount = f"{difference.difference:+.{difference.digits}f}"
    return (
        f"{change.mean:.3f}  {amount} ({sure}): {better} better, "
        f"{len(change.moved) - better} worse, {change.queries - len(change.moved)} same"
    )


def _verdict(one: WatchRound) -> str:
    return headline_and_details(verdict(one.comparison))[0] if one.comparison else ""
