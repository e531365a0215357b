"""Loss reasons of a finished benchmark: computed once, stored, and read back for its report."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from karat.model import Target
from karat.model.fate import Fate
from karat.report.findings import Findings
from karat.report.findings.ranks import BY_RANK, fate_of
from karat.service.store.judgments import LossRecord

__all__ = ["losses_of", "with_kept_losses"]

Place = tuple[str, int, int, str]


def losses_of(findings: Findings) -> Iterator[list[LossRecord]]:
    """Yield for each run of *findings* the targets of which it is known why they were lost."""
    gold = findings.gold
    found: list[list[LossRecord]] = [[] for _ in findings.runs]
    for (run, row, number), fate in findings.losses.items():
        target = gold.targets(row)[number]
        found[run].append(LossRecord(gold.query_ids[row], *_place(target), fate))
    yield from found


def with_kept_losses(findings: Findings, kept: Sequence[Iterable[LossRecord]]) -> Findings:
    """Return *findings* with the reasons that were *kept* of each run.

    Judgments may have changed since: a target that has another place now, or that a run has found
    by now, has no kept reason.
    """
    rows = {query_id: row for row, query_id in enumerate(findings.gold.query_ids)}
    losses: dict[tuple[int, int, int], Fate] = {}
    for run, lost in enumerate(kept):
        known = {each[:-1]: each.fate for each in lost}
        for query_id in dict.fromkeys(query for query, *_ in known):
            row = rows[query_id]
            for number, target in enumerate(findings.gold.targets(row)):
                fate = known.get((query_id, *_place(target)))
                if fate is not None and fate_of(findings, run, row, number) in BY_RANK:
                    losses[run, row, number] = fate
    return replace(findings, losses=losses)


def _place(target: Target) -> Place:
    return target.path, target.start_line, target.end_line, target.symbol
