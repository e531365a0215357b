"""Intervals, paired tests and their corrections, over plain float arrays; chance is a seed."""

from karat.scoring.stats.bootstrap import Bounds, bootstrap_intervals
from karat.scoring.stats.compare import LetterMark, compare, significance_letters
from karat.scoring.stats.interleaving import (
    Credit,
    InterleavedRanking,
    credit,
    interleaving_test,
    team_draft,
)
from karat.scoring.stats.maxt import benjamini_hochberg, holm
from karat.scoring.stats.mcnemar import McNemar, mcnemar
from karat.scoring.stats.moments import (
    WinTieLoss,
    detectable_difference,
    known_percentiles,
    paired_effect,
    percentiles,
    queries_needed,
    relative_improvement,
    win_tie_loss,
)
from karat.scoring.stats.sequential import ConfidenceSequence, confidence_sequence
from karat.scoring.stats.signflip import FlipTest, sign_flip
from karat.scoring.stats.tests import (
    Anova,
    TTest,
    Wilcoxon,
    paired_t,
    randomised_tukey,
    two_way_anova,
    wilcoxon,
)
from karat.scoring.stats.verdict import verdict

__all__ = [
    "Anova",
    "Bounds",
    "ConfidenceSequence",
    "Credit",
    "FlipTest",
    "InterleavedRanking",
    "LetterMark",
    "McNemar",
    "TTest",
    "Wilcoxon",
    "WinTieLoss",
    "benjamini_hochberg",
    "bootstrap_intervals",
    "compare",
    "confidence_sequence",
    "credit",
    "detectable_difference",
    "holm",
    "interleaving_test",
    "known_percentiles",
    "mcnemar",
    "paired_effect",
    "paired_t",
    "percentiles",
    "queries_needed",
    "randomised_tukey",
    "relative_improvement",
    "sign_flip",
    "significance_letters",
    "team_draft",
    "two_way_anova",
    "verdict",
    "wilcoxon",
    "win_tie_loss",
]
