"""Findings: all data of a report, from which its views are made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from karat.model import Dataset
from karat.model.comparison import Comparison
from karat.model.evaluation import ComparisonResult, Summary
from karat.model.judged import Trace
from karat.model.timings import RunResult
from karat.report.section import ReportSection
from karat.scoring.loss_reasons import LossReason
from karat.scoring.matching.modes import MATCHERS, relevant_targets
from karat.scoring.metrics import Measure, parse

DEFAULT_K = 10


class Curve(NamedTuple):
    """A metric at growing cut-offs: ``means[run][i]`` at ``ks[i]``."""

    metric: str
    ks: tuple[int, ...]
    means: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a report; a digest is empty without a file.

    *records* hold all that it takes to get each run again, as JSON; none for run files.
    """

    made_at: str
    version: str
    python: str
    platform: str
    gold_digest: str
    run_digests: tuple[str, ...]
    records: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedMeans:
    """The means without *missing* targets, which are in no tree searched.

    *queries* have another target, and are left to be scored.
    """

    comparison: Comparison
    missing: int
    queries: int


@dataclass(frozen=True, slots=True)
class Findings:
    """One run or several on a gold set; each sequence of runs has the order of *contest*.

    The first measure leads, and the first run with a mean of it is the baseline.
    ``traces[run][query]`` holds the hits, ``f1[run][query]`` the F1 of everything returned.
    *latency* compares the runs with times, None without any; *settings* are those of scoring and
    confidence, by name; *level* is the lowest relevant grade, 0 for any above 0. *losses* has the
    loss reason by run, query and target, where it was requested. *remarks* are sentences on runs
    that are the same, or nearly empty. *resolved* is None where all targets are in the trees
    searched. Queries that share a label in *clusters* were drawn together; None where each was
    drawn by itself. *groups* has the queries of each value of each tag. Runs with the same entry in
    *rankings* returned the same hits in the same order; *run_remarks* holds the sentences on each
    run. *title* replaces the dataset's name. *engines* has the options that give the engine of each
    run, such as ``-e 'bm25(k1=2)' -k 10``; "" where its name is that already. *measures* has those
    of a score file by their names, and *sections* are further ones of the report.
    """

    gold: Dataset
    runs: tuple[RunResult, ...]
    contest: ComparisonResult
    traces: tuple[tuple[Trace, ...], ...]
    curves: tuple[Curve, ...]
    f1: tuple[tuple[float, ...], ...]
    latency: Comparison | None
    origin: Origin
    settings: Mapping[str, object] = field(default_factory=dict)
    level: float = 0.0
    losses: Mapping[tuple[int, int, int], LossReason] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    resolved: ResolvedMeans | None = None
    clusters: tuple[str, ...] | None = None
    groups: Mapping[str, Mapping[str, Sequence[int]]] = field(default_factory=dict)
    rankings: tuple[str, ...] = ()
    run_remarks: tuple[tuple[str, ...], ...] = ()
    title: str = ""
    engines: tuple[str, ...] = ()
    measures: Mapping[str, Measure] = field(default_factory=dict)
    sections: tuple[ReportSection, ...] = ()

    def measure(self, name: str) -> Measure:
        """Return the measure called *name*: one of a score file, or one of Karat."""
        return self.measures.get(name) or parse(name)

    @property
    def has_hits(self) -> bool:
        """Return whether the scores were computed from hits; those of a file have none."""
        return self.contest.evaluations[0].notes.has_hits

    @property
    def heading(self) -> str:
        """Return what the report is called: its title, or the name of the dataset."""
        return self.title or self.gold.name

    @property
    def names(self) -> tuple[str, ...]:
        """Return what the runs are called."""
        return self.contest.comparison.systems

    @property
    def about(self) -> str:
        """Return a line on how much was compared with what, and when."""
        runs = len(self.names)
        what = f"{len(self.gold):,} queries, {runs} run{'' if runs == 1 else 's'}"
        if runs > 1:
            what += f", baseline {self.baseline}"
        return f"{what}. {self.origin.made_at}"

    def labelled(self) -> "Findings":
        """Return the findings with measures named as they were typed, for tables and texts."""
        resolved = self.resolved
        if resolved is not None:
            resolved = replace(resolved, comparison=resolved.comparison.labelled())
        return replace(self, contest=self.contest.labelled(), resolved=resolved)

    @property
    def lead(self) -> str:
        """Return the measure that the report is led by."""
        return self.contest.comparison.metrics[0]

    @property
    def baseline(self) -> str:
        """Return the run that the others are compared with."""
        return self.contest.comparison.baseline

    @property
    def change_of(self) -> str:
        """Return the measure of changes: the lead where any run has a mean of it.

        Otherwise it is the first measure that the baseline has a mean of.
        """
        comparison = self.contest.comparison
        known = (
            name
            for name in comparison.metrics
            if comparison.mean(self.baseline, name).mean is not None
        )
        return next(known, self.lead)

    @property
    def k(self) -> int:
        """Return the rank down to which a reader is taken to look: the lead's cut-off, or 10."""
        return self.measure(self.lead).k or DEFAULT_K

    @property
    def lower_is_better(self) -> bool:
        """Return whether less is better on the leading measure."""
        return self.lead in self.contest.comparison.lower_is_better

    def relevant(self, query: int) -> tuple[bool, ...]:
        """Return which targets of the query at *query* count and are relevant."""
        match = getattr(self.settings.get("scoring"), "match", None) or self.gold.match
        matcher = MATCHERS.get(match)()
        return relevant_targets(self.gold.targets(query), matcher, level=self.level)

    def searched(self, run: int, query: int, target: int) -> bool:
        """Return whether the files that a run searched hold a target, as far as is known.

        Its notes name the targets that do not exist, and those that exist and were left out.
        """
        path, measured = self.gold.targets(query)[target].path, self.runs[run]
        missing = measured.missing.get(self.gold.query_ids[query], ())
        return path not in measured.left_out and path not in missing

    def scores(self, run: int, measure: str | None = None) -> list[float]:
        """Return the scores of the run at *run*, one per query; of the lead without *measure*."""
        return list(self.contest.evaluations[run].table.columns[measure or self.lead])

    def summaries(self, run: int) -> list[Summary]:
        """Return the means of the run at *run*, each with its interval where it has one."""
        comparison, name = self.contest.comparison, self.names[run]
        return [
            replace(summary, interval=comparison.mean(name, summary.measure).interval)
            if summary.measure in comparison.metrics
            else summary
            for summary in self.contest.evaluations[run].summaries
        ]
