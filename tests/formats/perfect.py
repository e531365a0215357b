"""The run that returns just the targets of a gold set, and its scores."""

from karat.model import Answer, Dataset, Hit, Query, Run
from karat.scoring.matching import judge
from karat.scoring.metrics import evaluate, parse

MEASURES = [parse(name) for name in ("ndcg", "ap", "recall", "set-f1")]


def perfect(query: Query) -> Answer:
    """Return the targets as hits, the best first; a symbol comes with a file where there is one."""
    relevant = sorted((t for t in query.targets if t.grade > 0), key=lambda t: -t.grade)
    files = [target for target in relevant if target.path]
    names = [target.symbol for target in relevant if not target.path]
    hits = [Hit(t.path, -rank, t.start_line, t.end_line, t.symbol) for rank, t in enumerate(files)]
    for rank, name in enumerate(names):
        if not files:
            hits.append(Hit("any.cpp", -rank, symbol=name))
        elif rank < len(hits):
            hits[rank] = hits[rank]._replace(symbol=name)
    return Answer(query.id, tuple(dict.fromkeys(hits)))


def scores_of_the_targets(gold: Dataset, match: str | None) -> set[float]:
    """Return the different scores of such a run."""
    run = Run.of(map(perfect, gold.queries()))
    table = evaluate(judge(gold, run, match=match), MEASURES)
    return {round(score, 12) for column in table.columns.values() for score in column}


MODES = (None, "exact", "suffix", "substring", "directory", "lines", "graded")
