"""The reasons for lost targets survive the store, and judgments that were made since."""

from karat.app.report import report
from karat.extensions.service.results import losses_of, with_stored_losses
from karat.extensions.service.store.datasets import LossRecord
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.timings import RunResult
from karat.report.findings import Findings, Origin
from karat.report.findings.loss_reasons import loss_reason_of
from karat.scoring.loss_reasons import LossReason
from karat.scoring.settings import Confidence, Scoring

QUERIES = [
    Query("q1", "log in", (Target("auth.py", 2.0, 1, 9), Target("auth.py", 1.0, symbol="login"))),
    Query("q2", "send", (Target("mail.py"), Target("post.py"))),
]
RUNS = {
    "words": [Answer("q1", (Hit("mail.py", 1.0),)), Answer("q2", (Hit("mail.py", 1.0),))],
    "meaning": [Answer("q1", ()), Answer("q2", (Hit("post.py", 1.0),))],
}


def reported(queries: list[Query]) -> Findings:
    runs = [RunResult(Run.of(answers), None, "", name) for name, answers in RUNS.items()]
    return report(
        Dataset.of(queries, match="lines"),
        runs,
        origin=Origin("", "", "", "", "", ("", "")),
        scoring=Scoring(("hit@5",)),
        confidence=Confidence(draws=99),
    )


LOSSES = {
    (0, 0, 0): LossReason.NO_CHUNK,
    (0, 0, 1): LossReason.FUSION,
    (0, 1, 1): LossReason.RERANKER,
    (1, 1, 0): LossReason.NOT_IN_CORPUS,
}


def test_they_come_back() -> None:
    words, meaning = losses_of(reported(QUERIES).gold, LOSSES, 2)
    assert words[1] == LossRecord("q1", "auth.py", 0, 0, "login", LossReason.FUSION)
    assert meaning == [LossRecord("q2", "mail.py", 0, 0, "", LossReason.NOT_IN_CORPUS)]
    assert with_stored_losses(reported(QUERIES), [words, meaning]).losses == LOSSES
    assert with_stored_losses(reported(QUERIES), [[], []]).losses == {}


def test_judgments_may_have_changed_since() -> None:
    stored = losses_of(reported(QUERIES).gold, LOSSES, 2)
    first, second = QUERIES
    changed = reported(
        [
            # The first target is gone, the second has another grade, and there is a new one.
            first._replace(targets=(Target("auth.py", 3.0, symbol="login"), Target("key.py"))),
            # What the first run was said to have missed, it has found under another name.
            second._replace(targets=(Target("post.py"), Target("mail.py"))),
        ]
    )
    findings = with_stored_losses(changed, stored)
    assert findings.losses == {
        (0, 0, 0): LossReason.FUSION,
        (0, 1, 0): LossReason.RERANKER,
        (1, 1, 1): LossReason.NOT_IN_CORPUS,
    }
    assert loss_reason_of(findings, 0, 0, 1) is LossReason.NOT_RETRIEVED


def test_what_was_found_has_no_reason() -> None:
    stale = [LossRecord("q2", "mail.py", 0, 0, "", LossReason.FUSION)]
    findings = with_stored_losses(reported(QUERIES), [stale, stale])
    assert findings.losses == {(1, 1, 0): LossReason.FUSION}
    assert loss_reason_of(findings, 0, 1, 0) is LossReason.FOUND
