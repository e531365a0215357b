"""What the extension adds: the readers of score files."""

from karat.extension import Extension

FOLDER = "karat.extensions.scores"

EXTENSION = Extension(
    "scores",
    "Compare the scores of any evaluation: tables of systems, queries and scores.",
    adds={
        "score_reader": {"score-table": f"{FOLDER}.table:READER"},
        "score_source": {"scores": f"{FOLDER}.source:SOURCE"},
        "router": {"scores": f"{FOLDER}.routes:router"},
    },
    names={
        "compare_scores": f"{FOLDER}.api:compare_scores",
        "ScoreFile": f"{FOLDER}.readers:ScoreFile",
        "ScoreMeasure": f"{FOLDER}.record:ScoreMeasure",
        "ScoreReader": f"{FOLDER}.readers:ScoreReader",
        "ScoreRow": f"{FOLDER}.record:ScoreRow",
    },
)
