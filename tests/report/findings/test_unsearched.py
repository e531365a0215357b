"""Targets that no run could return: they do not exist, or were left out of the search."""

from collections.abc import Callable
from dataclasses import replace

from karat.model.timings import RunResult
from karat.report.findings import Findings
from karat.report.findings.loss_reasons import loss_reason_of
from karat.scoring.loss_reasons import LossReason
from tests.report.conftest import NEW, OLD, measured


def noted(run: RunResult) -> RunResult:
    """Return *run* as on a corpus without e.py, which left c.py out as a test."""
    notes = {
        "unresolved": {"q4": ["e.py"]},
        "left_out": {"c.py": "a test; --candidates all includes it"},
    }
    return replace(run, notes=notes)


def test_a_target_that_does_not_exist_is_never_called_not_retrieved(
    make: Callable[..., Findings],
) -> None:
    new = {**NEW, "q2": ("z.py",)}
    plain, known = (
        make([measured("old", OLD), run])
        for run in (measured("new", new), noted(measured("new", new)))
    )
    lost = (LossReason.NOT_RETRIEVED, LossReason.NOT_IN_CORPUS)
    assert (loss_reason_of(plain, 1, 3, 0), loss_reason_of(known, 1, 3, 0)) == lost
    assert (loss_reason_of(plain, 1, 1, 0), loss_reason_of(known, 1, 1, 0)) == lost
    assert loss_reason_of(known, 1, 0, 0) is LossReason.FOUND
    # The query of e.py failed in the other run, which is the nearer reason.
    assert loss_reason_of(known, 0, 3, 0) is LossReason.UNANSWERED


def test_a_report_names_them(make: Callable[..., Findings]) -> None:
    findings = make([noted(measured("old", OLD)), noted(measured("new", NEW))])
    assert findings.remarks == (
        "1 target file does not exist and counts as missed: e.py (query q4)",
        "not searched although it exists: c.py is a test; --candidates all includes it",
    )
    assert findings.resolved is not None
    assert (findings.resolved.missing, findings.resolved.queries) == (1, 3)
