"""The records of Karat: frozen values that all other packages use."""

from karat.model.dataset import Dataset, Query, Target
from karat.model.evaluation import QueryStatus, ScoreTable
from karat.model.judged import Credits, JudgedQuery, JudgedRun, Sizes
from karat.model.run import Answer, Hit, Outcome, Run

__all__ = [
    "Answer",
    "Credits",
    "Dataset",
    "Hit",
    "JudgedQuery",
    "JudgedRun",
    "Outcome",
    "Query",
    "QueryStatus",
    "Run",
    "ScoreTable",
    "Sizes",
    "Target",
]
