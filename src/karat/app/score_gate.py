"""karat gate and karat baseline for files of scores: one system against stored scores."""

from datetime import UTC, datetime
from pathlib import Path

from karat.app.baseline import (
    BaselineUpdate,
    RankedRun,
    baseline_of,
    read_baseline,
    replace_baseline,
)
from karat.app.gate import GatedRun, GateRules, allowed_losses, check_scored
from karat.app.score_files import ScoredFiles, score_system
from karat.errors import InputError
from karat.installation import __version__
from karat.model.gate import Baseline, Gate
from karat.model.run import AS_RETURNED
from karat.scoring.settings import Confidence, Scoring

# Scores that are given depend on no setting.
AS_GIVEN = Scoring(ties=AS_RETURNED)
NO_INTERVALS = Confidence(draws=0)


def gate_scores(
    scored: ScoredFiles,
    system: str,
    rules: GateRules,
    *,
    baseline: Baseline | None = None,
    confidence: Confidence | None = None,
    allow_changed: bool = False,
) -> Gate:
    """Return the outcome of each of *rules* for one *system* of a score file, "" for the only one.

    Without a rule about losses, each measure of the *baseline* between 0 and 1 has its tolerance.
    """
    confidence = confidence or Confidence()
    chosen = scored.measures if scored.chosen else ()
    limits = allowed_losses(rules, baseline, chosen, scored.measure)
    if rules.latencies_ms:
        raise InputError("--max-latency needs a run; of scores, name a measure in --max-regression")
    if not rules.minimums and not limits:
        raise InputError("nothing to check; give --min or --baseline")
    return check_scored(
        GatedRun(scored.gold, _ranked(scored, system, confidence)),
        rules,
        limits,
        baseline=baseline,
        scoring=AS_GIVEN,
        confidence=confidence,
        allow_changed=allow_changed,
    )


def update_score_baseline(scored: ScoredFiles, system: str, path: str) -> BaselineUpdate:
    """Write the scores of one *system* of a score file, "" for the only one, to the file *path*."""
    before = read_baseline(path) if Path(path).exists() else None
    baseline = baseline_of(
        scored.gold,
        _ranked(scored, system, None),
        scored.measures,
        scoring=AS_GIVEN,
        made_at=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        version=__version__,
    )
    return replace_baseline(baseline, path, before)


def _ranked(scored: ScoredFiles, system: str, confidence: Confidence | None) -> RankedRun:
    """Return the scores of a system with intervals; there are no hits to rank."""
    evaluation = score_system(scored, system, confidence=confidence or NO_INTERVALS)
    nothing = (None,) * len(scored.gold)
    return RankedRun(evaluation, nothing, nothing)
