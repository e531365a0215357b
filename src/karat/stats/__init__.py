"""Intervals, paired tests and their corrections, over plain float arrays; chance is a seed."""

from karat.stats.anova import Anova, two_way_anova
from karat.stats.bootstrap import Bounds, bootstrap_intervals
from karat.stats.compare import compare
from karat.stats.correction import benjamini_hochberg, holm
from karat.stats.effect import WinTieLoss, paired_effect, relative_improvement, win_tie_loss
from karat.stats.interleaving import Credit, Interleaved, credit, interleaving_test, team_draft
from karat.stats.letters import Marked, significance_letters
from karat.stats.mcnemar import McNemar, mcnemar
from karat.stats.percentile import known_percentiles, percentiles
from karat.stats.power import detectable_difference, queries_needed
from karat.stats.sequential import ConfidenceSequence, confidence_sequence
from karat.stats.signflip import FlipTest, sign_flip
from karat.stats.student import TTest, paired_t
from karat.stats.tukey import randomised_tukey
from karat.stats.verdict import verdict
from karat.stats.wilcoxon import Wilcoxon, wilcoxon

__all__ = [
    "Anova",
    "Bounds",
    "ConfidenceSequence",
    "Credit",
    "FlipTest",
    "Interleaved",
    "Marked",
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
