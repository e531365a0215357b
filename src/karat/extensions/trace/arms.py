"""Arms: sets of transcripts over the same queries, as systems with scores."""

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from karat.app.score_files import ScoredFiles
from karat.errors import InputError
from karat.extensions.scores.readers import ReadScores
from karat.extensions.scores.record import ScoreRow, ScoreSet
from karat.extensions.scores.source import scored_files
from karat.extensions.trace.join import join
from karat.extensions.trace.leaks import leaks
from karat.extensions.trace.measures import (
    Progress,
    default_names,
    definition,
    horizons,
    meaning,
    parse,
    progress,
    score,
)
from karat.extensions.trace.reading import read_transcripts
from karat.extensions.trace.record import Step, StepKind, Transcript
from karat.extensions.trace.steps import steps_of
from karat.model import Dataset
from karat.model.frozen import EMPTY
from karat.scoring.metrics import Measure
from karat.system.words import counted, first_few, join_names

CLUSTERS = ("repository", "repo")
# A set of transcripts with a greater share of calls that no rule understands is warned of.
MOST_MISSED = 0.02


class Trial(NamedTuple):
    """One transcript of the query in *row*, with its steps; *leaks* say how it saw the fix."""

    transcript: Transcript
    row: int
    steps: tuple[Step, ...]
    progress: Progress
    leaks: tuple[str, ...] = ()


class Arm(NamedTuple):
    """The transcripts of one agent, or of one set-up of it; *missed* counts unknown commands."""

    name: str
    trials: tuple[Trial, ...]
    unjoined: tuple[str, ...]
    problems: tuple[str, ...]
    readers: tuple[str, ...]
    left_out: int = 0

    @property
    def kinds(self) -> Mapping[StepKind, int]:
        """Return the number of steps of each kind."""
        return Counter(step.kind for trial in self.trials for step in trial.steps)

    @property
    def missed(self) -> Mapping[str, int]:
        """Return commands and tools that no rule understands, the most frequent first."""
        steps = (step for trial in self.trials for step in trial.steps)
        return dict(Counter(each for step in steps for each in step.missed).most_common())


class TraceSettings(NamedTuple):
    """What a user says: see ``karat trace --help``."""

    measures: tuple[str, ...] = ()
    table: Mapping[str, str] = EMPTY
    reader: str = ""
    leave_out_leaks: bool = False
    horizon: Mapping[str, float] = EMPTY


class TraceResult(NamedTuple):
    """Arms on the queries of *gold*; *horizon* is what a run counts that never sees a target."""

    gold: Dataset
    arms: tuple[Arm, ...]
    horizon: Mapping[str, float]
    measures: tuple[str, ...]


def trace(gold: Dataset, places: Sequence[Path], settings: TraceSettings) -> TraceResult:
    """Return the arms in *places*, one each."""
    names = _names(places)
    arms = tuple(
        _arm(gold, name, place, settings) for name, place in zip(names, places, strict=True)
    )
    known = [trial.progress for arm in arms for trial in arm.trials]
    given = [part.strip() for text in settings.measures for part in text.split(",")]
    measures = tuple(filter(None, given)) or tuple(default_names(known))
    return TraceResult(gold, arms, horizons(known, measures, settings.horizon), measures)


def _names(places: Sequence[Path]) -> list[str]:
    names = [place.resolve().name.partition(".")[0] or place.resolve().name for place in places]
    return names if len(set(names)) == len(names) else list(map(str, places))


def _arm(gold: Dataset, name: str, place: Path, settings: TraceSettings) -> Arm:
    read = read_transcripts(place, settings.reader)
    joined = join(read.transcripts, gold, settings.table)
    trials = [_trial(gold, transcript, row) for transcript, row in joined.pairs]
    if not trials:
        first = read.transcripts[0]
        known = join_names(first_few([repr(each) for each in first.ids]))
        raise InputError(
            f"{place}: no transcript could be joined to a query of {gold.name}; the first one, "
            f"{first.source}, is called {known}; name queries with --map FILE "
            "(transcript,query in each row)"
        )
    clean = [trial for trial in trials if not trial.leaks]
    if settings.leave_out_leaks:
        if not clean:
            raise InputError(f"{place}: every transcript may have seen the fix; none is left")
        trials, left_out = clean, len(trials) - len(clean)
    else:
        left_out = 0
    unjoined = tuple(str(each.source) for each in joined.unjoined)
    return Arm(name, tuple(trials), unjoined, read.problems, read.readers, left_out)


def _trial(gold: Dataset, transcript: Transcript, row: int) -> Trial:
    steps = steps_of(transcript)
    return Trial(
        transcript,
        row,
        steps,
        progress(transcript, gold.targets(row), steps),
        leaks(transcript, gold.extras[row], _tags(gold, row)),
    )


def _tags(gold: Dataset, row: int) -> dict[str, str]:
    """Return the tags of a query, and its repository if only a further field names it."""
    tags = {tag: values[row] for tag, values in gold.tags.items() if values[row]}
    fields = {tag: gold.extras[row].get(tag) for tag in CLUSTERS}
    return {tag: value for tag, value in fields.items() if isinstance(value, str) and value} | tags


def score_set(traced: TraceResult) -> ScoreSet:
    """Return the scores of all trials; the tag of repositories groups dependent queries."""
    gold = traced.gold
    for name in traced.measures:
        parse(name)
    rows = [
        ScoreRow(
            gold.query_ids[trial.row],
            arm.name,
            {name: score(name, trial.progress, traced.horizon) for name in traced.measures},
            tags=_tags(gold, trial.row),
            text=gold.texts[trial.row],
        )
        for arm in traced.arms
        for trial in sorted(arm.trials, key=lambda trial: trial.row)
    ]
    measures = _with_scores(rows, traced)
    rows = [row._replace(scores={name: row.scores[name] for name in measures}) for row in rows]
    return ScoreSet.of(
        rows,
        name=gold.name,
        measures=[definition(name, traced.horizon) for name in measures],
        cluster=next((tag for tag in CLUSTERS if any(tag in row.tags for row in rows)), ""),
    )


def _with_scores(rows: Sequence[ScoreRow], traced: TraceResult) -> list[str]:
    """Return the measures that some transcript has, or raise InputError."""
    known = [name for name in traced.measures if any(row.scores[name] is not None for row in rows)]
    if not known:
        raise InputError(
            f"no transcript says anything about {join_names(traced.measures)}; "
            "calls, read-tokens, found and recall are always known"
        )
    return known


def scored_arms(traced: TraceResult) -> ScoredFiles:
    """Return the arms as systems that are compared, reported and gated like others."""
    scores = score_set(traced)
    preview = f"{scores.name}: {scores.sizes}"
    scored = scored_files(ReadScores(scores, preview, tuple(remarks(traced))))
    return scored._replace(measures=tuple(map(_described, scored.measures)))


def _described(measure: Measure) -> Measure:
    """Return *measure* with a definition that says what it is of a transcript."""
    if measure.own is None:
        return measure
    return replace(measure, own=replace(measure.own, definition=meaning(measure.metric)))


def write_scores(scores: ScoreSet, path: Path) -> None:
    """Write a table with a row for each query, arm and trial, as ``karat gate`` reads it."""
    import csv
    from math import isnan

    from karat.system.files import write_text

    names = [measure.name for measure in scores.measures]
    tag = scores.cluster
    groups = scores.tags.get(tag, ("",) * len(scores.query_ids))
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["query", "system", "trial", *([tag] if tag else []), *names])
    for system in scores.systems:
        columns = [list(scores.trial_scores(system, name)) for name in names]
        for row, query in enumerate(scores.query_ids):
            for trial in range(scores.trials):
                values = [column[row][trial] for column in columns]
                if not all(map(isnan, values)):
                    cells = ["" if isnan(value) else repr(value) for value in values]
                    group = [groups[row]] if tag else []
                    table.writerow([query, system, trial + 1, *group, *cells])
    write_text(path, text.getvalue())


def understood(traced: TraceResult) -> Iterator[str]:
    """Yield how the transcripts of each arm were understood."""
    for arm in traced.arms:
        kinds = arm.kinds
        queries = len({trial.row for trial in arm.trials})
        agents = sorted({trial.transcript.agent for trial in arm.trials} - {"", *arm.readers})
        source = ", ".join((*arm.readers, *agents))
        steps = ", ".join(
            f"{kinds[kind]} {'not understood' if kind is StepKind.UNKNOWN else kind.name.lower()}"
            for kind in (*sorted(StepKind, reverse=True),)
            if kinds[kind]
        )
        yield (
            f"{arm.name}: {counted(len(arm.trials), 'transcript')} ({source}) of "
            f"{counted(queries, 'query')}; {counted(sum(kinds.values()), 'call')}: {steps}"
        )


def remarks(traced: TraceResult) -> Iterator[str]:
    """Yield what limits the numbers: transcripts without a query, leaks, unknown commands."""
    for arm in traced.arms:
        if arm.problems:
            yield f"{arm.name}: {counted(len(arm.problems), 'file')} not read: {arm.problems[0]}"
        if arm.unjoined:
            files = join_names(first_few(list(arm.unjoined)))
            yield (
                f"{arm.name}: {counted(len(arm.unjoined), 'transcript')} without a query of "
                f"{traced.gold.name} (name it with --map): {files}"
            )
        leaking = [trial for trial in arm.trials if trial.leaks]
        if arm.left_out:
            left_out = counted(arm.left_out, "transcript")
            yield f"{arm.name}: {left_out} that may have seen the fix left out"
        elif leaking:
            first = leaking[0]
            yield (
                f"{arm.name}: {counted(len(leaking), 'transcript')} may have seen the fix "
                f"(--leave-out-leaks drops them), such as {first.transcript.source}: "
                f"{first.leaks[0]}"
            )
        calls = sum(arm.kinds.values())
        if arm.kinds[StepKind.UNKNOWN] > MOST_MISSED * calls:
            few = join_names([repr(each) for each in first_few(list(arm.missed))])
            missed = arm.kinds[StepKind.UNKNOWN]
            yield f"{arm.name}: {missed} of {calls} calls not understood: {few}"
