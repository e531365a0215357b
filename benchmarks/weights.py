"""Choose the weight of embeddings for lines of code, by leave-one-project-out on doc comments.

Needs the repositories as bare clones, as quality.py does; all are embedded once:

    python benchmarks/weights.py --trees FOLDER

A query is the first sentence of a doc comment, its target the documented definition; the comment is
removed from the corpus. None of the projects is in a set that quality.py prints.
"""

import argparse
import operator
import random
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import NamedTuple

# This folder's statistics.py would hide the standard library's.
sys.path.pop(0)

import karat
from karat.corpus import Trait, from_git, from_texts, symbols
from karat.engines.builtin import DENSE, hybrid
from karat.engines.fusion import Weights

# The folder of the sources, and the newest commit at the time of writing.
PROJECTS = {
    "psf/requests": ("src/", "1f6589ec3a1e"),
    "encode/httpx": ("httpx/", "ae1b9f66238f"),
    "scrapy/scrapy": ("scrapy/", "11079cb1c85b"),
    "spf13/cobra": ("", "adbc8813901b"),
    "hyperium/hyper": ("src/", "8fcaf1a62787"),
    "jhy/jsoup": ("src/main/", "46b620860af9"),
    "mikel/mail": ("lib/mail/", "d645d7b5b7d0"),
    "fastify/fastify": ("lib/", "83e69762aff0"),
    "celery/celery": ("celery/", "5dc781f0bd5f"),
    "BurntSushi/ripgrep": ("crates/", "3fce3b5bb023"),
    "nodejs/undici": ("lib/", "7eb7c8ec8f23"),
}
SHARES = (0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)
MEASURES = ["hit@5", "mrr"]
QUERIES = 150
DEPTH = 50
SHORTEST, LONGEST = 4, 25

# Scores by the weight of the embeddings.
Runs = dict[float, karat.Run]

COMMENT = re.compile(r"\s*(///?|/\*\*?|\*/|\*|#(?![\[!]))\s?")
ATTRIBUTE = re.compile(r"\s*(#\[|@)")
QUOTES = re.compile(r'\s*[rRuU]?("""|\'\'\')')
MARKUP = re.compile(r"\{@\w+ |[`*{}\[\]]|<[^>]*>|:\w+:")


class Described(NamedTuple):
    """A definition and the doc comment that describes it; lines count from 0, ends excluded."""

    path: str
    definition: range
    comment: range
    sentence: str


def described(path: str, text: str, language: str) -> Iterator[Described]:
    """Yield every definition of *text* whose doc comment begins with a usable sentence."""
    lines = text.split("\n")
    for symbol in symbols(text, language):
        definition = range(symbol.start_line - 1, symbol.end_line)
        find = docstring if language == "python" else comment_above
        comment = find(lines, definition)
        sentence = first_sentence([lines[number] for number in comment], symbol.name)
        if SHORTEST <= len(sentence.split()) <= LONGEST and len(definition) > len(comment) + 1:
            yield Described(path, definition, comment, sentence)


def comment_above(lines: list[str], definition: range) -> range:
    """Return the lines of comment that end where *definition*, or its attributes, begin."""
    above = range(definition.start - 1, -1, -1)
    end = definition.start - len(list(takewhile(lambda n: ATTRIBUTE.match(lines[n]), above)))
    block = takewhile(lambda n: COMMENT.match(lines[n]), range(end - 1, -1, -1))
    return range(end - len(list(block)), end)


def docstring(lines: list[str], definition: range) -> range:
    """Return the lines of the string that is first in the body of *definition*."""
    heads = (n for n in definition if lines[n].rstrip().endswith(":"))
    start = next(heads, definition.stop) + 1
    opening = QUOTES.match(lines[start]) if start in definition else None
    if not opening:
        return range(0)
    if opening[1] in lines[start][opening.end() :]:
        return range(start, start + 1)
    ends = (n for n in range(start + 1, definition.stop) if opening[1] in lines[n])
    return range(start, next(ends, start - 1) + 1)


def first_sentence(comment: list[str], name: str) -> str:
    """Return the first sentence of *comment* without markup, nor *name* where it comes first."""
    bare = (QUOTES.sub("", COMMENT.sub("", line)).strip("\"' ") for line in comment)
    said = " ".join(takewhile(bool, dropwhile(operator.not_, bare)))
    sentence = re.split(r"(?<=[.!?])(?:\s|$)", MARKUP.sub("", said))[0]
    return " ".join(sentence.removeprefix(f"{name} ").split())


def asked(repository: str, folder: str, revision: str) -> tuple[karat.Dataset, dict[str, str]]:
    """Return some of the definitions as queries, and all texts without the comments on those."""
    corpus = from_git(repository, revision)
    kept = [d for d in corpus if d.path.startswith(folder) and Trait.TEST not in d.traits]
    texts = {document.path: corpus.read(document.path) for document in kept}
    found = [
        one
        for document in kept
        for one in described(document.path, texts[document.path], document.language)
    ]
    unique = list({one.sentence.lower(): one for one in found}.values())
    chosen = random.Random(folder).sample(unique, min(QUERIES, len(unique)))
    removed = {
        path: {n for one in chosen if one.path == path for n in one.comment} for path in texts
    }
    queries = [
        karat.Query(
            f"{one.path}:{one.definition.start}",
            one.sentence,
            (karat.Target(one.path, 1.0, *moved(one.definition, removed[one.path])),),
        )
        for one in chosen
    ]
    left = {
        path: "\n".join(line for n, line in enumerate(text.split("\n")) if n not in removed[path])
        for path, text in texts.items()
    }
    return karat.Dataset.of(queries, name=repository, match="lines"), left


def moved(definition: range, removed: set[int]) -> tuple[int, int]:
    """Return the first and the last line of *definition*, from 1, once *removed* are gone."""
    before = sum(n < definition.start for n in removed)
    within = sum(n in definition for n in removed)
    return definition.start + 1 - before, definition.stop - before - within


def searched(gold: karat.Dataset, texts: dict[str, str]) -> Runs:
    """Return the run on *gold* with each of :data:`SHARES`."""
    engine = hybrid()
    engine.index(from_texts(texts))
    runs = {}
    for share in SHARES:
        engine.weights = Weights.of_dense(code=share, other=DENSE)
        pairs = zip(gold.query_ids, gold.texts, strict=True)
        answers = [karat.Answer(query, tuple(engine.search(text, DEPTH))) for query, text in pairs]
        runs[share] = karat.Run.of(answers, name=f"{share:.2f}")
    return runs


def within(project: str, gold: karat.Dataset) -> list[karat.Query]:
    """Return the queries of *gold*, with ids that are unique across projects."""
    return [query._replace(id=f"{project}:{query.id}") for query in gold.queries()]


def answered(runs: Mapping[str, Runs], shares: Mapping[str, float]) -> karat.Run:
    """Return the answers of all projects, each with its own share."""
    answers = [
        answer._replace(query_id=f"{project}:{answer.query_id}")
        for project, share in shares.items()
        for answer in runs[project][share].answers()
    ]
    return karat.Run.of(answers, name=" ".join(map(str, shares.values())))


def show(label: str, gold: karat.Dataset, before: karat.Run, after: karat.Run) -> None:
    """Print how *after* differs from *before*."""
    contest = karat.compare(gold, {"before": before, "after": after}, MEASURES)
    for change in contest.comparison.differences:
        ends = f"[{change.interval.low:+.3f}, {change.interval.high:+.3f}]"
        print(
            f"{label:8} {change.metric:6} {change.system_mean:.3f}, {change.difference:+.3f} {ends}"
        )


def main() -> None:
    """Print the score of each share on each project, and the choice of the other projects."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trees", type=Path, required=True)
    trees = parser.parse_args().trees
    queries: list[karat.Query] = []
    runs: dict[str, Runs] = {}
    mrr: dict[str, dict[float, float]] = {}
    for project, (folder, revision) in PROJECTS.items():
        place = trees / project.replace("/", "+")
        repository = place / "repo" if (place / "repo").is_dir() else place
        gold, texts = asked(str(repository), folder, revision)
        queries += within(project, gold)
        runs[project] = searched(gold, texts)
        scores = {
            share: karat.evaluate(gold, run, MEASURES, confidence=None)
            for share, run in runs[project].items()
        }
        mrr[project] = {share: score["mrr"] for share, score in scores.items()}
        line = "  ".join(f"{share}: {s['hit@5']:.3f} {s['mrr']:.3f}" for share, s in scores.items())
        print(f"{project:18} {len(gold.query_ids):3}  {line}", flush=True)
    whole = karat.Dataset.of(queries, name="all", match="lines")
    before = answered(runs, dict.fromkeys(PROJECTS, DENSE))
    chosen = {one: best(mrr[other] for other in mrr if other != one) for one in PROJECTS}
    print("the others choose:", chosen)
    show("left out", whole, before, answered(runs, chosen))
    for share in SHARES:
        show(f"{share}", whole, before, answered(runs, dict.fromkeys(PROJECTS, share)))


def best(scores: Iterable[Mapping[float, float]]) -> float:
    """Return the share that has the highest sum of *scores*."""
    rows = list(scores)
    return max(SHARES, key=lambda share: sum(row[share] for row in rows))


if __name__ == "__main__":
    main()
