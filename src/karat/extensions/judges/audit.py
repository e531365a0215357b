"""Audit a gold set with chat models: list doubtful labels, and apply what a person decides."""

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from karat.app.pooling import PooledHit, matcher_of
from karat.corpus.chunkers.base import lines_of
from karat.errors import EngineError, FormatError, InputError, Problem
from karat.extensions.judges.by_model import (
    GradingOptions,
    HitPassage,
    JudgeEstimate,
    JudgeProgress,
    SkippedPassage,
    make_tasks,
    missing_lines,
    require_texts,
    spent,
)
from karat.extensions.judges.gold_file import GoldFile
from karat.extensions.judges.prompts import (
    InvalidAnswer,
    ModelGrade,
    RangeGrade,
    RelevanceTask,
    ask_all,
    cut_excerpt,
    range_prompts,
    read_range,
)
from karat.extensions.judges.sources import Code
from karat.extensions.llm.batch import Spend
from karat.extensions.llm.client import ChatModel, Prompt
from karat.formats import DEFAULT
from karat.formats.records import read_rows, render_rows
from karat.formats.source import read_text
from karat.model import Dataset, Query, Target
from karat.model.judgments import JudgmentRecord, judgments_of, time_text, with_judgments
from karat.scoring.labels import is_judged, scaled_grade, top_grade
from karat.system.files import write_text

ACCEPT, KEEP, SKIP = "accept", "keep", "skip"
NOTE = "audit:"
# Lines around a target that a model may choose a better range from.
AROUND = 30
# A range is listed if it shares less than that with the lines of the target.
SAME_RANGE = 0.8
# A hit that is not a target is listed from this grade on.
MISSING_GRADE = 2


class TargetPassage(NamedTuple):
    """A target with its text; a part of a file is numbered, and *visible* are its shown lines."""

    row: int
    target: Target
    task: RelevanceTask
    visible: tuple[int, int]
    lines: Sequence[str]
    hidden: int = 0

    @property
    def has_range(self) -> bool:
        """Return whether the target is a range of lines."""
        return self.target.end_line > 0


def target_passages(
    data: Dataset, code: Code, hits: Iterable[PooledHit] = ()
) -> tuple[list[TargetPassage], list[SkippedPassage]]:
    """Return the targets of *data* with their text, and those without one.

    Of a long file, the part that the first of *hits* names is shown. Targets that a person has
    decided in an earlier audit are left out.
    """
    hit_lines: dict[tuple[int, str], tuple[int, int]] = {}
    for item in hits:
        lines = (item.hit.start_line, item.hit.end_line)
        hit_lines.setdefault((item.row, item.hit.path), lines if all(lines) else (1, 1))
    passages: list[TargetPassage] = []
    skipped: list[SkippedPassage] = []
    for row, query in enumerate(data.queries()):
        decided = {
            _location(record.target)
            for record in judgments_of(query)
            if record.note.startswith(NOTE)
        }
        for target in query.targets:
            if target.grade < 0 or _location(target) in decided:
                continue
            content = code(row, target.path)
            text = lines_of(content.text)
            reason = _unreadable(target, text, content.reason)
            if reason:
                skipped.append(SkippedPassage(query.id, target, reason))
                continue
            passages.append(_target_passage(row, query, target, text, hit_lines))
    require_texts(passages, skipped, "labels")
    return passages, skipped


def unjudged(data: Dataset, hits: Iterable[PooledHit]) -> list[PooledHit]:
    """Return those of *hits* that no target judges."""
    matcher = matcher_of(data)
    return [item for item in hits if not is_judged(item.hit, data.targets(item.row), matcher)]


def _unreadable(target: Target, lines: Sequence[str], reason: str) -> str:
    if target.ref != "path":
        return f"the target is a {target.ref}, not a path; karat resolve finds the path"
    return reason or missing_lines(target, lines)


def _target_passage(
    row: int,
    query: Query,
    target: Target,
    lines: Sequence[str],
    hits: Mapping[tuple[int, str], tuple[int, int]],
) -> TargetPassage:
    if target.end_line:
        start, end = target.start_line, min(target.end_line, len(lines))
        excerpt = cut_excerpt(lines, start, end, context=AROUND, numbered=True)
    else:
        start, end = hits.get((row, target.path)) or _symbol_lines(target.symbol, lines)
        start, end = min(start, len(lines)), min(end, len(lines))
        excerpt = cut_excerpt(lines, start, end, context=None)
    task, _, hidden = make_tasks(query.text, target.path, target.symbol, excerpt)
    return TargetPassage(row, target, task, (excerpt.first, excerpt.last), lines, hidden)


def _symbol_lines(symbol: str, lines: Sequence[str]) -> tuple[int, int]:
    """Return where *symbol* seems to be defined, else first named, else the first line."""
    name = re.escape(re.split(r"[.:#]+", symbol)[-1])
    patterns = (rf"\b(?:\w+\s+)?(?:def|class|fn|func|function|struct|type|interface)\s+{name}\b",)
    for pattern in (*patterns, rf"\b{name}\b") if symbol else ():
        for number, line in enumerate(lines, 1):
            if re.search(pattern, line):
                return number, number
    return 1, 1


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One doubtful label.

    *problem* is ``grade``, ``range`` or ``missing``. *target* is the label as it is; a missing one
    has the grade NaN; *suggested* is what accepting makes of it. *model_grade* is the vote on
    the scale 0 to 3. *size* is the difference in grades, or the share of lines that differ.
    """

    query_id: str
    text: str
    problem: str
    target: Target
    model_grade: int
    suggested: Target
    reason: str
    models: str
    size: float
    decision: str = ""


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The doubtful labels, the largest difference first, and what could not be checked."""

    rows: Sequence[AuditRow]
    checked: int
    invalid: Sequence[SkippedPassage]
    failed: Sequence[SkippedPassage]
    left: int
    spends: Mapping[str, Spend]


class _Vote(NamedTuple):
    judge: str
    grade: int
    reason: str
    lines: tuple[int, int] = (0, 0)


class LabelAudit:
    """Lets *models* grade the *targets* of *data*, and *hits* that are not targets."""

    def __init__(
        self,
        data: Dataset,
        models: Mapping[str, ChatModel],
        targets: Sequence[TargetPassage],
        hits: Sequence[HitPassage],
        *,
        options: GradingOptions,
    ) -> None:
        """Prepare the prompts."""
        self._data = data
        self._scale = _Scale(top_grade(data))
        self._models = models
        self._ranges = [each for each in targets if each.has_range]
        self._wholes = [each for each in targets if not each.has_range]
        self._items: list[TargetPassage | HitPassage] = [*self._ranges, *self._wholes, *hits]
        self._options = options
        self._tasks = [*(each.task for each in self._wholes), *(each.task for each in hits)]
        self._range_prompts = range_prompts(
            [each.task for each in self._ranges], max_tokens=options.max_tokens
        )

    def __len__(self) -> int:
        return len(self._items)

    @property
    def example(self) -> Prompt | None:
        """Return the first prompt that would be sent."""
        return next(iter(self._prompts()), None)

    def _prompts(self) -> list[Prompt]:
        return [*self._range_prompts, *self._options.prompts(self._tasks)]

    def estimates(self) -> dict[str, JudgeEstimate]:
        """Return the largest cost of each model."""
        return {
            name: JudgeEstimate(len(self), self._options.estimate(model, self._prompts()))
            for name, model in self._models.items()
        }

    def run(self, progress: JudgeProgress | None = None) -> AuditResult:
        """Ask the models and return the doubtful labels; nothing is changed."""
        votes: list[list[_Vote]] = [[] for _ in range(len(self))]
        spends: dict[str, Spend] = {}
        invalid: list[SkippedPassage] = []
        failed: list[SkippedPassage] = []
        left = 0
        for name, model in self._models.items():
            before = spent(spends.values())
            spends[name] = spend = self._options.spend(spends.values())
            answered = 0
            for number, outcome in self._options.while_reachable(self._ask(model, spend)):
                answered += 1
                if isinstance(outcome, RangeGrade):
                    votes[number].append(
                        _Vote(
                            *(name, outcome.grade, outcome.reason),
                            (outcome.first_line, outcome.last_line),
                        )
                    )
                elif isinstance(outcome, ModelGrade):
                    votes[number].append(_Vote(name, outcome.grade, outcome.reason))
                elif isinstance(outcome, InvalidAnswer):
                    invalid.append(self._skipped(number, outcome.problem))
                else:
                    failed.append(self._skipped(number, str(outcome)))
                if progress:
                    progress(name, answered, len(self), before + spent([spend]))
            left += len(self) - answered
        rows = [
            row
            for number, each in enumerate(votes)
            if each
            for row in self._audit_rows(number, each)
        ]
        order = {query_id: row for row, query_id in enumerate(self._data.query_ids)}
        rows.sort(key=lambda row: (-row.size, order[row.query_id], row.target.path))
        return AuditResult(rows, sum(map(bool, votes)), invalid, failed, left, spends)

    def _ask(
        self, model: ChatModel, spend: Spend
    ) -> Iterator[tuple[int, RangeGrade | ModelGrade | InvalidAnswer | EngineError]]:
        options = self._options
        yield from ask_all(
            model,
            self._range_prompts,
            read_range,
            spend=spend,
            cache=options.cache,
            workers=options.workers,
        )
        after = len(self._ranges)
        for number, outcome in options.grade(model, self._tasks, spend):
            yield after + number, outcome

    def _skipped(self, number: int, reason: str) -> SkippedPassage:
        item = self._items[number]
        return SkippedPassage(self._data.query_ids[item.row], item.target, reason)

    def _audit_rows(self, number: int, votes: Sequence[_Vote]) -> Iterator[AuditRow]:
        item = self._items[number]
        # The lower middle grade, as for the labels of several models.
        vote = sorted(votes, key=lambda each: each.grade)[(len(votes) - 1) // 2]
        scale = self._scale
        hidden = f"(injection: {item.hidden} hidden) " if item.hidden else ""
        row = AuditRow(
            query_id=self._data.query_ids[item.row],
            text=self._data.texts[item.row],
            problem="missing",
            target=item.target._replace(grade=math.nan)
            if isinstance(item, HitPassage)
            else item.target,
            model_grade=vote.grade,
            suggested=Target(""),
            reason=f"{hidden}{vote.reason}",
            models=", ".join(f"{each.judge} {each.grade}" for each in votes),
            size=float(vote.grade),
        )
        grade = scale.suggested(vote.grade)
        if isinstance(item, HitPassage):
            if vote.grade >= MISSING_GRADE:
                yield replace(row, suggested=item.target._replace(grade=grade))
            return
        if size := scale.distance(item.target.grade, vote.grade):
            part = "" if item.has_range else _visible_part(item)
            yield replace(
                row,
                problem="grade",
                suggested=item.target._replace(grade=grade),
                reason=part + row.reason,
                size=size,
            )
        if (lines := _better_range(item, vote)) and grade > 0:
            start, end = lines
            yield replace(
                row,
                problem="range",
                suggested=item.target._replace(start_line=start, end_line=end),
                size=1 - _overlap(item.target, start, end),
            )


def _visible_part(item: TargetPassage) -> str:
    first, last = item.visible
    total = len(item.lines)
    return "" if last - first + 1 == total else f"(model saw lines {first}-{last} of {total}) "


def _better_range(item: TargetPassage, vote: _Vote) -> tuple[int, int] | None:
    """Return the lines that the model suggests if the source has them and they differ."""
    start, end = vote.lines
    first, last = item.visible
    # Lines that are labelled as not relevant stay where they are.
    if not (item.has_range and item.target.grade > 0 and first <= start <= end <= last):
        return None
    numbers = [n for n in range(start, end + 1) if item.lines[n - 1].strip()]
    if not numbers or _overlap(item.target, numbers[0], numbers[-1]) >= SAME_RANGE:
        return None
    return numbers[0], numbers[-1]


def _overlap(target: Target, start: int, end: int) -> float:
    """Return the lines that both ranges share, as a share of all their lines."""
    shared = max(0, min(target.end_line, end) - max(target.start_line, start) + 1)
    return shared / ((target.end_line - target.start_line + 1) + (end - start + 1) - shared)


class _Scale(NamedTuple):
    """The grades of a gold set; *top* is its highest, None without one. Models use 0 to 3."""

    top: float | None

    def distance(self, label: float, grade: int) -> int:
        """Return how far *grade* is from the nearest grade of a model that agrees with *label*.

        A grade agrees if `scaled_grade` makes it the label. A scale above 3 is reduced to 3.

        >>> _Scale(1).distance(1, 0), _Scale(1).distance(0, 3), _Scale(3).distance(3, 1)
        (2, 2, 2)
        >>> _Scale(2).distance(2, 3), _Scale(2).distance(2, 2), _Scale(10).distance(5, 2)
        (0, 1, 0)
        """
        label = max(label / self._stretch, 0.0)
        low, high = math.floor(label), math.ceil(label)
        return min(
            abs(grade - other) for other in range(4) if low <= scaled_grade(other, self.top) <= high
        )

    def suggested(self, grade: int) -> float:
        """Return *grade* on the scale of the gold set.

        >>> _Scale(1).suggested(1), _Scale(2).suggested(2), _Scale(10).suggested(3)
        (0.0, 1.0, 10.0)
        """
        return float(round(scaled_grade(grade, self.top) * self._stretch))

    @property
    def _stretch(self) -> float:
        """Return the factor from the scale of models to a scale above 3."""
        return max(self.top or 0.0, 3.0) / 3


COLUMNS = (
    *("query", "text", "problem", "path", "start_line", "end_line", "symbol", "label"),
    *("model_grade", "suggested_grade", "suggested_start_line", "suggested_end_line"),
    *("reason", "models", "decision"),
)
# Columns that an edited file must still have.
_NEEDED = tuple(name for name in COLUMNS if name not in ("text", "reason", "models", "decision"))


def audit_json(rows: Sequence[AuditRow]) -> list[dict[str, object]]:
    """Return *rows* as JSON values; the label of a missing target is None."""
    return [dict(zip(COLUMNS, _cells(row), strict=True)) for row in rows]


def _cells(row: AuditRow) -> tuple[str | float | None, ...]:
    target, suggested = row.target, row.suggested
    return (
        *(row.query_id, row.text, row.problem),
        *(target.path, target.start_line, target.end_line, target.symbol),
        None if math.isnan(target.grade) else target.grade,
        *(row.model_grade, suggested.grade, suggested.start_line, suggested.end_line),
        *(row.reason, row.models, row.decision),
    )


def write_audit(rows: Sequence[AuditRow], path: str | os.PathLike[str]) -> None:
    """Write *rows* as CSV or JSON, by the ending of *path*; a person fills in the decisions."""
    check_ending(path)
    if Path(path).suffix.lower() == ".json":
        value = {"format": "karat-audit", "version": 1, "rows": audit_json(rows)}
        write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    else:
        write_text(path, render_rows([COLUMNS, *map(_cells, rows)]))


def check_ending(path: str | os.PathLike[str]) -> None:
    """Raise InputError if *path* does not name a CSV or JSON file."""
    if Path(path).suffix.lower() not in (".csv", ".json"):
        raise InputError(f"{os.fspath(path)}: expected a name that ends in .csv or .json")


def read_audit(path: str | os.PathLike[str]) -> list[AuditRow]:
    """Return the rows of a file that :func:`write_audit` wrote; all problems at once."""
    records = _read_json(path) if Path(path).suffix.lower() == ".json" else _read_csv(path)
    rows: list[AuditRow] = []
    problems: list[Problem] = []
    for line, record in records:
        try:
            rows.append(_row(record))
        except (KeyError, TypeError, ValueError) as error:
            said = f"no column {error}" if isinstance(error, KeyError) else str(error)
            problems.append(Problem(os.fspath(path), line, said))
    if problems:
        raise FormatError(problems)
    return rows


def _read_json(path: str | os.PathLike[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        value = json.loads(read_text(path, limit=DEFAULT.json_bytes, setting="json_bytes"))
        rows = list(value["rows"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FormatError(
            [Problem(os.fspath(path), 1, "not an audit file; karat judge --audit -o writes one")]
        ) from error
    yield from enumerate(rows, 1)


def _read_csv(path: str | os.PathLike[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    header: list[str] = []
    for line, cells in read_rows(path, limit=DEFAULT.csv_bytes):
        if not header:
            header = cells
            if missing := [name for name in _NEEDED if name not in header]:
                said = f"no column {missing[0]!r}; expected a file of karat judge --audit -o"
                raise FormatError([Problem(os.fspath(path), line, said)])
            continue
        yield line, dict(zip(header, cells, strict=False))


def _row(record: Mapping[str, Any]) -> AuditRow:
    label = record["label"]
    numbers = {
        name: int(record[name] or 0)
        for name in ("start_line", "end_line", "suggested_start_line", "suggested_end_line")
    }
    target = Target(
        str(record["path"]),
        math.nan if label in (None, "") else float(label),
        numbers["start_line"],
        numbers["end_line"],
        str(record["symbol"] or ""),
    )
    problem = str(record["problem"])
    if problem not in ("grade", "range", "missing"):
        raise ValueError(f"problem {problem!r} is not grade, range or missing")
    return AuditRow(
        query_id=str(record["query"]),
        text=str(record.get("text") or ""),
        problem=problem,
        target=target,
        model_grade=int(record["model_grade"]),
        suggested=target._replace(
            grade=float(record["suggested_grade"]),
            start_line=numbers["suggested_start_line"],
            end_line=numbers["suggested_end_line"],
        ),
        reason=str(record.get("reason") or ""),
        models=str(record.get("models") or ""),
        size=0.0,
        decision=checked_decision(str(record.get("decision") or "")),
    )


def checked_decision(text: str) -> str:
    """Return a decision: accept, keep, a grade, or "" for none; ValueError for anything else.

    >>> checked_decision(" Accept "), checked_decision("2"), checked_decision("skip")
    ('accept', '2', '')
    """
    word = text.strip().lower()
    if word in ("", SKIP):
        return ""
    if word in (ACCEPT, KEEP) or re.fullmatch(r"\d{1,3}(?:\.\d+)?", word):
        return word
    raise ValueError(f"decision {text!r} is not accept, keep, skip or a grade such as 2")


class AppliedDecisions(NamedTuple):
    """The number of recorded decisions, those that no longer fit, and how many kept a label."""

    changed: int
    stale: Sequence[AuditRow]
    kept: int = 0


class AuditDecisions:
    """Applies decisions of *judge* to the gold set *path*; each is recorded with its reason."""

    def __init__(
        self,
        data: Dataset,
        path: str | os.PathLike[str],
        *,
        judge: str,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Start from *data*; InputError if the result could not be saved."""
        self._file = GoldFile(data, path)
        self.path = path
        self._judge = judge
        self._clock = clock

    @property
    def data(self) -> Dataset:
        """Return the gold set with the decisions that were applied."""
        return self._file.data

    def is_open(self, row: AuditRow) -> bool:
        """Return whether the label is still as the audit found it."""
        targets = self._file.targets(row.query_id)
        return targets is not None and self._position(row, targets) is not None

    def apply(self, rows: Sequence[AuditRow]) -> AppliedDecisions:
        """Apply the decisions of *rows* and save once; one that was applied before is skipped."""
        # A label is graded first, since a new range would hide it from the other row.
        ordered = sorted(rows, key=lambda row: row.problem == "range")
        final: dict[tuple[object, ...], Target] = {}
        by_query: dict[str, list[int]] = {}
        for number, row in enumerate(ordered):
            final[_label(row)] = _outcome(row, final.get(_label(row)))
            by_query.setdefault(row.query_id, []).append(number)
        changed = kept = 0
        stale = set(range(len(ordered)))

        def decide(query: Query) -> Query:
            nonlocal changed, kept
            for number in by_query[query.id]:
                row = ordered[number]
                decided = self._decided(query, row, final[_label(row)])
                if decided is not None:
                    stale.discard(number)
                    if decided is not query:
                        changed += 1
                        kept += row.decision == KEEP
                    query = decided
            return query

        self._file.change(dict.fromkeys(by_query, decide))
        return AppliedDecisions(changed, [ordered[number] for number in sorted(stale)], kept)

    def _decided(self, query: Query, row: AuditRow, final: Target) -> Query | None:
        """Return *query* after the decision, None if its label changed since the audit.

        *final* is what all decisions about the label make of it.
        """
        targets = list(query.targets)
        position = self._position(row, targets)
        old = targets[position] if position is not None and position < len(targets) else None
        new = _outcome(row, old)
        is_recorded = any(
            record.target in (new, final) and record.note.startswith(NOTE)
            for record in judgments_of(query)
        )
        if is_recorded:
            return query
        if position is None:
            return None
        targets[position : position + 1] = [new]
        at = time_text(self._clock())
        said = f"; {row.models}: {row.reason}" if row.models or row.reason else ""
        records = judgments_of(query)
        older = [each for each in records if old and _location(each.target) == _location(old)]
        note = f"{NOTE} {_was(old, row, older)}{said}"
        # A changed label replaces the judgments of the old one, which no longer hold.
        remaining = records if new == old else [each for each in records if each not in older]
        record = JudgmentRecord(new, self._judge, at, note)
        return with_judgments(query._replace(targets=tuple(targets)), [*remaining, record])

    def _position(self, row: AuditRow, targets: Sequence[Target]) -> int | None:
        """Return the index of the label of *row*; the number of targets if it is to be added."""
        label = _location(row.target)
        same = [number for number, target in enumerate(targets) if _location(target) == label]
        if row.problem == "missing":
            return None if same else len(targets)
        # A grade may have been decided just before the range of the same target.
        fitting = [
            number
            for number in same
            if row.problem == "range" or targets[number].grade == row.target.grade
        ]
        return fitting[0] if fitting else None


def _outcome(row: AuditRow, old: Target | None) -> Target:
    """Return the target that the decision of *row* makes of *old*."""
    target = old or (row.suggested if row.problem == "missing" else row.target)
    if row.decision == KEEP:
        # A hit that does not become a target is not relevant.
        return target._replace(grade=0.0) if row.problem == "missing" else target
    if row.decision != ACCEPT:
        return target._replace(grade=float(row.decision))
    if row.problem == "range":
        start, end = row.suggested.start_line, row.suggested.end_line
        return target._replace(start_line=start, end_line=end)
    return target._replace(grade=row.suggested.grade)


def _was(old: Target | None, row: AuditRow, older: Sequence[JudgmentRecord]) -> str:
    if row.decision == KEEP:
        return "confirmed" if old else "not relevant"
    if old is None:
        return "added"
    lines = f", lines {old.start_line}-{old.end_line}" if old.end_line else ""
    judge = f" by {older[-1].judge}" if older else ""
    return f"was grade {old.grade:g}{lines}{judge}"


def _label(row: AuditRow) -> tuple[object, ...]:
    return row.query_id, _location(row.target)


def _location(target: Target) -> tuple[str, int, int, str]:
    return target.path, target.start_line, target.end_line, target.symbol
