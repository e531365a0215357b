"""Topics of the queries, and those on which a run is weak."""

from collections import Counter
from collections.abc import Sequence
from math import isnan

import numpy as np
from numpy.typing import NDArray

from karat.engines.embedding import DEFAULT_EMBEDDER, create_embedder
from karat.engines.lexical.tokens import TokenRules
from karat.errors import InputError, MissingExtra
from karat.extensions.analyze.records import Topic, Topics, TopicScore
from karat.extensions.analyze.scores import lead_scores, mean_interval
from karat.extensions.analyze.stats.topics import group_directions, weak_groups
from karat.model import Dataset
from karat.model.timings import RunResult
from karat.scoring.metrics import Measure, average
from karat.scoring.score import cluster_labels
from karat.scoring.settings import Confidence, Scoring
from karat.scoring.whole_files import judge_whole_files

Vectors = NDArray[np.float64]
# Instead of a model: the similarity of queries by shared words.
WORDS = "words"
MOST_TERMS = 4_096
WORDS_SHOWN = 3
READABLE = TokenRules(whole=False, stem=False)


def query_topics(
    gold: Dataset,
    runs: Sequence[RunResult],
    *,
    model: str | None = None,
    topics: int | None = None,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
) -> Topics:
    """Return the topics that the queries of *gold* fall into, with the score of each run on each.

    Queries are alike by their embeddings: those of *model*, or of the packaged one, or by their
    words (``words``), which also serve where the extra ``dense`` is missing. There are as many
    topics as *topics* says, or as many as separate best. A topic is weak where one of its size is
    as bad by chance in less than 5 % of cases, corrected for the number of topics.
    """
    if not runs:
        raise InputError("no run to analyze; expected one or more")
    scoring, confidence = scoring or Scoring(), confidence or Confidence()
    similar, rows = _directions(gold.texts, model)
    labels = group_directions(rows, groups=topics, seed=confidence.seed)
    lead = scoring.parsed(gold)[0]
    scoring = judge_whole_files(gold, {run.name: run.run for run in runs}, scoring)
    columns = [lead_scores(gold, run, lead, scoring) for run in runs]
    clusters = cluster_labels(gold, confidence.cluster)
    sign = 1.0 if lead.definition.higher_is_better else -1.0
    chances = [
        weak_groups(
            [sign * score for score in column],
            labels.tolist(),
            draws=confidence.draws,
            seed=confidence.seed,
            clusters=clusters,
        )
        for column in columns
    ]
    scored_topics = []
    for label in range(int(labels.max(initial=-1)) + 1):
        members = np.flatnonzero(labels == label)
        own = None if clusters is None else [clusters[row] for row in members]
        scores = [
            _score(
                [column[row] for row in members], chance.get(label), lead, confidence, clusters=own
            )
            for column, chance in zip(columns, chances, strict=True)
        ]
        scored_topics.append(
            Topic(
                _telling_words(gold.texts, members),
                gold.texts[_central(rows, members)],
                tuple(gold.query_ids[row] for row in members),
                tuple(scores),
            )
        )
    scored_topics.sort(key=lambda topic: sign * (topic.scores[-1].mean or 0.0))
    return Topics(
        str(lead),
        similar,
        tuple(run.name for run in runs),
        tuple(average(column) for column in columns),
        tuple(scored_topics),
        int((labels < 0).sum()),
        tuple(len(set(gold.query_ids) - set(run.run.query_ids)) for run in runs),
    )


def _directions(texts: Sequence[str], model: str | None) -> tuple[str, Vectors]:
    """Return the name of the model or method, and a vector for each text."""
    if model != WORDS:
        try:
            embedder = create_embedder(model or DEFAULT_EMBEDDER)
            return embedder.name, embedder.embed(texts, "query").astype(np.float64)
        except MissingExtra:
            if model is not None:
                raise
    return WORDS, _word_rows(texts)


def _word_rows(texts: Sequence[str]) -> Vectors:
    """Return how often each text has each term, the rarer terms counting more."""
    terms = [Counter(TokenRules().terms(text)) for text in texts]
    queries = Counter(term for counts in terms for term in counts)
    shared = [term for term, count in queries.most_common(MOST_TERMS) if count > 1]
    columns = {term: number for number, term in enumerate(shared)}
    rows = np.zeros((len(texts), len(shared)))
    for row, counts in enumerate(terms):
        for term, count in counts.items():
            if term in columns:
                rows[row, columns[term]] = count * np.log(len(texts) / queries[term])
    return rows


def _score(
    values: Sequence[float],
    p: float | None,
    lead: Measure,
    confidence: Confidence,
    *,
    clusters: Sequence[str] | None,
) -> TopicScore:
    interval = mean_interval(values, lead, confidence, clusters)
    mean = average(values)
    weak = p is not None and p <= round(1.0 - confidence.level, 12)
    return TopicScore(None if isnan(mean) else mean, interval, p, weak)


def _telling_words(texts: Sequence[str], members: NDArray[np.intp]) -> tuple[str, ...]:
    """Return the words that queries of a topic have more often than others do."""
    inside, outside = Counter[str](), Counter[str]()
    own = set(members.tolist())
    for row, text in enumerate(texts):
        (inside if row in own else outside).update(set(READABLE.terms(text)))
    others = max(len(texts) - len(own), 1)
    telling = {word: count / len(own) - outside[word] / others for word, count in inside.items()}
    return tuple(sorted(telling, key=lambda word: (-telling[word], word))[:WORDS_SHOWN])


def _central(rows: Vectors, members: NDArray[np.intp]) -> int:
    own = rows[members]
    return int(members[(own @ own.sum(axis=0)).argmax()])
