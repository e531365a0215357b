"""How a run did on single queries: where each target was ranked or lost, and the best hits."""

from contextlib import ExitStack
from dataclasses import dataclass
from math import inf, isnan
from typing import NamedTuple

from karat.app.loss_reasons import check_same, where_of
from karat.app.report import ReportInputs, make_findings
from karat.corpus import Corpus
from karat.corpus.chunkers.base import lines_of
from karat.engines.lexical.tokens import TokenRules
from karat.errors import InputError
from karat.experiments.run_records import SAMPLE
from karat.model import Dataset, Hit, Query, QueryStatus, Target
from karat.report.findings import Findings
from karat.report.findings.loss_reasons import first_rank, loss_reason_of
from karat.scoring.loss_reasons import LOSS_REASONS, LossReason
from karat.scoring.matching.regions import Coverage
from karat.scoring.settings import Confidence, Scoring

WORD_RULES = TokenRules(whole=False)
# Lines of a hit that are shown.
MOST_LINES = 3


class TargetOutcome(NamedTuple):
    """A target with the rank of its first hit, 0 without one, and why it was lost."""

    target: Target
    rank: int
    reason: LossReason

    @property
    def text(self) -> str:
        """Return rank and reason in words."""
        reason = LOSS_REASONS[self.reason].reason
        if not self.rank:
            return reason
        found = self.reason is LossReason.FOUND
        return f"rank {self.rank}" if found else f"rank {self.rank}, {reason}"


class HitExcerpt(NamedTuple):
    """A hit with the grade of the target that it covers, and the lines nearest to the query.

    *grade* is None where no target is covered; *lines* have their numbers.
    """

    rank: int
    hit: Hit
    grade: float | None
    lines: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class QueryInspection:
    """One query of a run: its *scores* by measure, its targets, and its first hits of *retrieved*.

    *error* is that of a query that failed. *problem* says why no hit has lines.
    """

    query: Query
    run: str
    scores: dict[str, float]
    targets: tuple[TargetOutcome, ...]
    hits: tuple[HitExcerpt, ...]
    retrieved: int
    error: str = ""
    problem: str = ""


class QueryOutcome(NamedTuple):
    """A query with its score on the leading measure, and the rank of its first relevant hit."""

    query: Query
    score: float
    rank: int
    reasons: tuple[str, ...]


class RunInspection:
    """A run whose queries are inspected one by one; *inputs* have this run alone."""

    def __init__(self, inputs: ReportInputs, scoring: Scoring) -> None:
        """Score the run."""
        self._scoring = scoring
        self._findings: Findings = make_findings(inputs, scoring, Confidence(), by=())
        self._queries = list(self._findings.gold.queries())

    @property
    def name(self) -> str:
        """Return the name of the run."""
        return self._findings.names[0]

    @property
    def gold(self) -> Dataset:
        """Return the gold set."""
        return self._findings.gold

    @property
    def lead(self) -> str:
        """Return the leading measure."""
        return self._findings.lead

    def worst(self) -> list[QueryOutcome]:
        """Return the queries that have a score, the worst first, by score and then by rank.

        The queries of the gold set that a sample lacks are left out.
        *reasons* are those of its relevant targets that were lost.
        """
        findings = self._findings
        sign = -1.0 if findings.lower_is_better else 1.0
        statuses = findings.contest.evaluations[0].table.statuses
        is_sample = SAMPLE in findings.runs[0].run.metadata
        outcomes = []
        for row, score in enumerate(findings.scores(0)):
            relevant = findings.relevant(row)
            if isnan(score) or (is_sample and statuses[row] is QueryStatus.MISSING):
                continue
            lost = [
                LOSS_REASONS[reason].reason
                for number, counts in enumerate(relevant)
                if counts and (reason := loss_reason_of(findings, 0, row, number))
            ]
            rank = first_rank(findings.traces[0][row], relevant)
            outcomes.append(
                QueryOutcome(self._queries[row], score, rank, tuple(dict.fromkeys(lost)))
            )
        return sorted(outcomes, key=lambda one: (sign * one.score, -(one.rank or inf)))

    def query(self, query: Query, *, hits: int) -> QueryInspection:
        """Return how the run did on *query*, with its first *hits*."""
        findings = self._findings
        row = findings.gold.query_ids.index(query.id)
        trace = findings.traces[0][row]
        table = findings.contest.evaluations[0].table
        with ExitStack() as stack:
            corpus, problem = self._open(query, stack)
            excerpts = tuple(
                HitExcerpt(
                    rank,
                    hit,
                    query.targets[covered].grade if covered >= 0 else None,
                    _nearest_lines(query.text, hit, corpus) if corpus else (),
                )
                for rank, (hit, covered) in enumerate(
                    list(zip(trace.hits, trace.matched, strict=True))[:hits], 1
                )
            )
            searched = self._coverage(corpus) if corpus else None
            targets = tuple(
                TargetOutcome(target, trace.ranks[number], self._reason(row, number, searched))
                for number, target in enumerate(query.targets)
            )
        return QueryInspection(
            query,
            self.name,
            {name: column[row] for name, column in table.columns.items()},
            targets,
            excerpts,
            trace.retrieved,
            self._error(query.id),
            problem,
        )

    def _reason(self, row: int, number: int, searched: Coverage | None) -> LossReason:
        """Return the loss reason of a target; the documents decide where the run does not know."""
        reason = loss_reason_of(self._findings, 0, row, number)
        path = self._findings.gold.targets(row)[number].path
        if reason is LossReason.NOT_RETRIEVED and searched and path and not searched.holds(path):
            return LossReason.NOT_IN_CORPUS
        return reason

    def _coverage(self, corpus: Corpus) -> Coverage:
        return Coverage(
            [Hit(document.path) for document in corpus],
            match=self._scoring.match or self._findings.gold.match,
            min_overlap=self._scoring.min_overlap,
            root=self._scoring.root,
        )

    def _error(self, query_id: str) -> str:
        run = self._findings.runs[0].run
        if query_id not in run.query_ids:
            return "the run has no answer"
        return str(run.extras[run.query_ids.index(query_id)].get("error") or "")

    def _open(self, query: Query, stack: ExitStack) -> tuple[Corpus | None, str]:
        """Return the documents that *query* searched, open until *stack* ends, and a remark.

        None where they cannot be read; the remark says why.
        """
        gold = self._findings.gold
        part = gold.with_queries([query])
        try:
            where = where_of(self._findings).of_part(part, gold)
        except InputError:
            return None, "the run does not say which documents it searched, so hits have no text"
        try:
            corpus, _, _ = next(iter(stack.enter_context(where.snapshots(part, seed=0))))
        except InputError as error:
            return None, str(error)
        return corpus, self._difference(corpus)

    def _difference(self, corpus: Corpus) -> str:
        """Return that *corpus* has changed since the run, "" if it has not."""
        try:
            check_same(corpus, self._findings.runs)
        except InputError:
            return f"{corpus.name} has changed since the run, so lines may have moved"
        return ""


def _nearest_lines(query: str, hit: Hit, corpus: Corpus) -> tuple[tuple[int, str], ...]:
    """Return the lines of *hit* with most words of *query*, in their order; else its first one."""
    if hit.path not in corpus.by_path:
        return ()
    lines = [line.strip() for line in lines_of(corpus.read(hit.path))]
    first, last = (hit.start_line, hit.end_line) if hit.end_line else (1, len(lines))
    numbered = [
        (number, line) for number, line in enumerate(lines[first - 1 : last], first) if line
    ]
    words = set(WORD_RULES.terms(query))
    counts = {number: len(words & set(WORD_RULES.terms(line))) for number, line in numbered}
    best = sorted(counts, key=lambda number: (-counts[number], number))[:MOST_LINES]
    chosen = {number for number in best if counts[number]} or set(best[:1])
    return tuple((number, line) for number, line in numbered if number in chosen)
