"""Karat measures how good a search is."""

from typing import TYPE_CHECKING

from karat.exports import exports, extension_name

if TYPE_CHECKING:
    from karat.api import compare, evaluate, load, run, write_report
    from karat.corpus import Corpus, GitRepository, from_beir, from_folder, from_git, from_texts
    from karat.errors import EngineError, FormatError, InputError, KaratError, Problem
    from karat.experiments.executors import open_executor
    from karat.experiments.matrix import Matrix
    from karat.extensions.analyze.index import index_health
    from karat.extensions.mining.generate import generate, write_gold
    from karat.extensions.mining.questions.generate import QuestionRecipe, generate_questions
    from karat.extensions.mining.recipe import MiningRecipe
    from karat.extensions.scores.api import compare_scores
    from karat.extensions.scores.readers import ScoreFile, ScoreReader
    from karat.extensions.scores.record import ScoreMeasure, ScoreRow
    from karat.extensions.trec_eval.evaluation import TrecSettings, trec_eval
    from karat.formats import Format
    from karat.installation import __version__
    from karat.model import Answer, Dataset, Hit, JudgedQuery, Query, Run, Target
    from karat.scoring.metrics import metric
    from karat.scoring.stats.verdict import verdict

__all__ = [
    "Answer",
    "Corpus",
    "Dataset",
    "EngineError",
    "Format",
    "FormatError",
    "GitRepository",
    "Hit",
    "InputError",
    "JudgedQuery",
    "KaratError",
    "Matrix",
    "MiningRecipe",
    "Problem",
    "Query",
    "QuestionRecipe",
    "Run",
    "ScoreFile",
    "ScoreMeasure",
    "ScoreReader",
    "ScoreRow",
    "Target",
    "TrecSettings",
    "__version__",
    "compare",
    "compare_scores",
    "evaluate",
    "from_beir",
    "from_folder",
    "from_git",
    "from_texts",
    "generate",
    "generate_questions",
    "index_health",
    "load",
    "metric",
    "open_executor",
    "run",
    "trec_eval",
    "verdict",
    "write_gold",
    "write_report",
]

__getattr__ = exports(
    __name__,
    {
        "api": "compare evaluate load run write_report",
        "extensions.analyze.index": "index_health",
        "extensions.mining.generate": "generate write_gold",
        "extensions.mining.questions.generate": "QuestionRecipe generate_questions",
        "extensions.mining.recipe": "MiningRecipe",
        "extensions.scores.api": "compare_scores",
        "extensions.scores.readers": "ScoreFile ScoreReader",
        "extensions.scores.record": "ScoreMeasure ScoreRow",
        "extensions.trec_eval.evaluation": "TrecSettings trec_eval",
        "corpus": "Corpus GitRepository from_beir from_folder from_git from_texts",
        "errors": "EngineError FormatError InputError KaratError Problem",
        "formats": "Format",
        "installation": "__version__",
        "scoring.metrics": "metric",
        "model": "Answer Dataset Hit JudgedQuery Query Run Target",
        "scoring.stats": "verdict",
        "experiments.executors": "open_executor",
        "experiments.matrix": "Matrix",
    },
    fallback=extension_name,
)
