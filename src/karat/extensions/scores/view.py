"""What is said about compared scores beside the common tables."""

from collections.abc import Callable, Iterator

from karat.app.score_files import ScoreView
from karat.extensions.scores.record import ScoreSet
from karat.extensions.scores.trials import trial_notes
from karat.model.evaluation import ComparisonResult
from karat.scoring.settings import Confidence


def viewer(scores: ScoreSet) -> Callable[[ComparisonResult, Confidence], ScoreView]:
    """Return the function that explains a comparison of *scores*."""

    def view(contest: ComparisonResult, _confidence: Confidence) -> ScoreView:
        return ScoreView(notes=tuple(_notes(scores, contest.comparison.metrics[0])))

    return view


def _notes(scores: ScoreSet, lead: str) -> Iterator[str]:
    yield from trial_notes(scores, lead)
