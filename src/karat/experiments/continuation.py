"""Continue a run only with the engine that its stored answers are from."""

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from functools import partial
from math import isclose, isnan
from pathlib import Path
from typing import NamedTuple

from karat.engines.content import engine_content
from karat.experiments.execute import run_is_held
from karat.experiments.plan import is_deterministic
from karat.experiments.run_records import CONTINUED
from karat.experiments.store import Experiment, RunStatus, Store, StoredRun
from karat.experiments.workers import Configuration
from karat.model import Answer, Hit, Outcome, Run
from karat.model.spec import Spec
from karat.system.words import counted, first_few, first_line, join_names

# The number of stored queries that an external engine repeats before its run is continued.
REPEATED = 3
# Scores of equal hits may differ by rounding.
ROUNDING = 1e-6
NO_HIT = Hit("")

# Runs queries again, by the name of a configuration; returns those that have ended.
Repeat = Callable[[Mapping[str, Collection[str]]], Mapping[str, Mapping[str, Answer]]]


class Verdict(Enum):
    """What happens to the stored answers of a run."""

    KEPT = "kept"
    DROPPED = "dropped"
    UNKNOWN = "unknown"


class Continuation(NamedTuple):
    """What happens to the stored answers of a run, and a sentence about it, "" if it is obvious.

    ``UNKNOWN``: every repeated query failed, so that nothing is known about the engine.
    """

    verdict: Verdict
    text: str = ""


class StoredAnswers(NamedTuple):
    """The answers of a run that an earlier command stored, of *total* queries.

    *stored* is the run as it was before it was claimed. *content* has the digests of the files that
    the engine is made of now.
    """

    name: str
    spec: Spec
    stored: StoredRun
    run: Run
    content: Mapping[str, str]
    total: int

    @property
    def changed_files(self) -> list[str]:
        """Return the names of the files of the engine that have changed since, as far as known."""
        before = self.stored.content
        return [] if before is None else _changed_files(before, self.content)

    @property
    def needs_repeat(self) -> bool:
        """Return whether the files of the engine do not tell that it is the same."""
        unknown = self.stored.content is None and bool(self.content)
        return unknown or not is_deterministic(self.spec)

    @property
    def share(self) -> str:
        """Return how many of the queries have a stored answer."""
        return f"{len(self.run):,} of {self.total:,} answers"

    @property
    def since(self) -> str:
        """Return when the stored answers were made, by the clock of this machine."""
        moments = [moment for moment in (self.stored.begun, self.stored.ended) if moment]
        return f"{max(moments).astimezone():%Y-%m-%d %H:%M}" if moments else "an earlier command"


def continue_runs(
    experiment: Experiment,
    configurations: Sequence[Configuration],
    store: Store,
    claimed: set[str],
    *,
    repeat: Repeat,
    completed: bool,
) -> dict[str, str]:
    """Delete the stored answers of engines that have changed; return a sentence for each run.

    *experiment* is as it was before its runs were *claimed*; *configurations* are in the order of
    its runs. With *completed*, the completed runs of external engines are checked too; one whose
    engine has changed is claimed and starts again. A claimed run whose stored queries all fail when
    repeated ends as failed, with its answers.
    """
    queries = experiment.queries
    older = (
        _older_answers(one, stored, store, claimed, queries=queries, completed=completed)
        for one, stored in zip(configurations, experiment.runs, strict=True)
    )
    answered = [answers for answers in older if answers is not None]
    decided = check_stored_answers(answered, repeat)
    for answers in answered:
        run = answers.stored.id
        verdict, text = decided[answers.name]
        if verdict is Verdict.DROPPED:
            if run not in claimed and not store.claim(run, completed=True):
                raise run_is_held(experiment, store)
            claimed.add(run)
            store.clear(run, content=answers.content)
        elif verdict is Verdict.UNKNOWN and run in claimed:
            store.finish(run, RunStatus.FAILED, error=text, notes={CONTINUED: text})
            claimed.discard(run)
    return {name: text for name, (_, text) in decided.items() if text}


def _older_answers(
    one: Configuration,
    stored: StoredRun,
    store: Store,
    claimed: Collection[str],
    *,
    queries: int,
    completed: bool,
) -> StoredAnswers | None:
    """Return the stored answers of a run, None where there is nothing to check.

    A claimed run without answers gets the content of its engine.
    """
    content, own = engine_content(one.spec), is_deterministic(one.spec)
    if stored.id not in claimed and (own or not completed):
        return None
    if stored.id in claimed and not store.answered(stored.id):
        if content or stored.content:
            store.clear(stored.id, content=content)
        return None
    if own and content == (stored.content or {}):
        return None
    run = store.measured(stored.id).run
    return StoredAnswers(one.name, one.spec, stored, run, content, queries)


def check_stored_answers(
    answers: Sequence[StoredAnswers], repeat: Repeat
) -> dict[str, Continuation]:
    """Return by the name of each run what happens to its stored *answers*.

    An engine with a changed file is another engine. Imports, settings, indexes and services cannot
    be seen: an external engine runs up to three stored queries again, and must return the same
    documents in the same order, with scores that are equal but for rounding. A query that fails
    decides nothing.
    """
    verdicts: dict[str, Continuation] = {}
    repeated: dict[str, tuple[Answer, ...]] = {}
    for one in answers:
        if changed := one.changed_files:
            verdicts[one.name] = _dropped(one, f"{_have_changed(changed)} since {one.since}")
        elif one.needs_repeat:
            repeated[one.name] = queries_to_repeat(one.run)
        else:
            verdicts[one.name] = Continuation(Verdict.KEPT)
    if repeated:
        queries = {name: [each.query_id for each in some] for name, some in repeated.items()}
        ended = repeat(queries)
        verdicts |= {
            one.name: _decided(one, repeated[one.name], ended.get(one.name, {}))
            for one in answers
            if one.name in repeated
        }
    return verdicts


def edited_while_running(spec: Spec, content: Mapping[str, str] | None) -> str:
    """Return a sentence on files of an engine that changed during its run, "" without any.

    *content* has the digests of its files when the run began.
    """
    changed = _changed_files(content or {}, engine_content(spec))
    if not changed:
        return ""
    return (
        f"{_have_changed(changed)} while the queries ran, so the answers may be of two searches; "
        "repeat the command"
    )


def queries_to_repeat(run: Run) -> tuple[Answer, ...]:
    """Return up to three answers of *run*: the first, one in the middle and the last.

    Answers without hits, and answers that differed between repetitions of the query, are taken only
    where there are too few others.
    """
    answered = [row for row, outcome in enumerate(run.outcomes) if outcome == Outcome.ANSWERED]
    answered.sort(key=partial(_is_poor, run))
    good = [row for row in answered if not _is_poor(run, row)]
    rows = good if len(good) >= REPEATED else answered[:REPEATED]
    chosen = dict.fromkeys(rows[position] for position in (0, len(rows) // 2, -1)) if rows else {}
    return tuple(run.answer(row) for row in chosen)


def first_difference(before: Sequence[Hit], now: Sequence[Hit]) -> int:
    """Return the first rank at which two answers differ, 0 if they are the same.

    >>> first_difference([Hit("a.py", 2.0), Hit("b.py", 1.0)], [Hit("a.py", 2.0000001)])
    2
    """
    for rank in range(1, max(len(before), len(now)) + 1):
        first, second = (hits[rank - 1] if rank <= len(hits) else NO_HIT for hits in (before, now))
        if _location(first) != _location(second) or not _same_score(first.score, second.score):
            return rank
    return 0


def _decided(
    one: StoredAnswers, before: Sequence[Answer], now: Mapping[str, Answer]
) -> Continuation:
    """Return what happens to stored answers, by the answers to the repeated queries."""
    answered = [each for each in before if _is_answered(now.get(each.query_id))]
    for each in answered:
        if rank := first_difference(each.hits, now[each.query_id].hits):
            return _dropped(
                one,
                f"query {each.query_id} returned other hits than before (first difference: rank "
                f"{rank}), so the engine is not the one of {one.since}, or is not deterministic",
            )
    if not answered:
        errors = (str(each.extra.get("error", "")) for each in now.values())
        why = first_line(next((error for error in errors if error), "no answer"))
        return Continuation(
            Verdict.UNKNOWN,
            f"{counted(len(before), 'stored query')} failed when repeated, so it is not known "
            f"whether the engine is the one of {one.since} ({one.share} are stored); the first "
            f"error: {why}",
        )
    failed = len(before) - len(answered)
    return Continuation(
        Verdict.KEPT,
        f"{one.share} are from {one.since}, before the run was continued; "
        f"{counted(len(answered), 'repeated query')} gave the same hits"
        f"{f', {failed} failed' if failed else ''}",
    )


def _changed_files(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of the files whose digests differ."""
    changed = (path for path in {*before, *now} if before.get(path) != now.get(path))
    return sorted(Path(path).name for path in changed)


def _have_changed(names: Sequence[str]) -> str:
    return f"{join_names(first_few(names))} {'have' if len(names) > 1 else 'has'} changed"


def _dropped(one: StoredAnswers, why: str) -> Continuation:
    older = counted(len(one.run), "older answer")
    verb = "is" if len(one.run) == 1 else "are"
    return Continuation(Verdict.DROPPED, f"{why}; {older} {verb} not used")


def _is_answered(answer: Answer | None) -> bool:
    return answer is not None and answer.outcome is Outcome.ANSWERED


def _is_poor(run: Run, row: int) -> bool:
    return run.offsets[row] == run.offsets[row + 1] or "unstable" in run.extras[row]


def _location(hit: Hit) -> tuple[str, int, int, str]:
    return hit.path, hit.start_line, hit.end_line, hit.symbol


def _same_score(first: float, second: float) -> bool:
    if isnan(first) or isnan(second):
        return isnan(first) and isnan(second)
    return isclose(first, second, rel_tol=ROUNDING, abs_tol=ROUNDING)
