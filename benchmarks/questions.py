"""Whether gold sets made from docstrings, tests and headings rank engines like written questions.

Code: twelve repositories with written questions (support/two_truths.py), judged by files, beside
the cases mined from their history. Documentation: the questions in ``docs/``, judged by lines.
Results are cached in the folder ``--work``, which may be that of ``validity.py``.

    python benchmarks/questions.py --trees FOLDER --work /tmp/validity
    python benchmarks/questions.py --trees FOLDER --work /tmp/validity --only flask gin
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path[0] = str(FOLDER / "support")
sys.path.append(str(FOLDER))

import numpy as np  # noqa: E402
import rankings  # noqa: E402
from question_sets import DEPTH, DOCS, below, repository  # noqa: E402
from rankings import Side  # noqa: E402
from two_truths import (  # noqa: E402
    Pair,
    Scored,
    _file_name,
    _scored,
    generated_scores,
    pairs,
    scores,
)
from validity import DRAWS, ENGINES, PRIMARY, SEED, Found, agreement_table, mined, written  # noqa: E402

from karat.corpus import Corpus, GitRepository  # noqa: E402
from karat.corpus.snapshot import mask_corpus, masks_from  # noqa: E402
from karat.engines.spec import build, parse_spec  # noqa: E402
from karat.experiments.plan import with_unit  # noqa: E402
from karat.extensions.mining.questions.generate import QuestionRecipe, generate_questions  # noqa: E402
from karat.formats import read_dataset, write  # noqa: E402
from karat.model import Answer, Dataset, Run  # noqa: E402
from karat.model.dataset import MASKS  # noqa: E402

CODE = (("docstrings", "all"), ("docstrings", "queries"), ("tests", "all"))
PROJECTS = {"flask": "pallets/flask", "uv": "astral-sh/uv", "neovim": "neovim/neovim"}
LIMIT = 200


def side(scored: Sequence[Scored]) -> Side:
    """Return ``[engine, query]`` of one repository."""
    return [np.array([list(one[PRIMARY].values()) for one in scored])]


def code_rows(found: Sequence[Found], work: Path, engines: Sequence[str]) -> dict[str, Side]:
    """Return the side of each kind of gold set over all repositories."""
    sides: dict[str, Side] = {"mined": mined(found, PRIMARY)}
    for made_from, masked in CODE:
        tables = []
        for one in found:
            project = one.pair.project
            tables += side(generated_scores(project, made_from, masked, engines, work))
            print(project.name, made_from, masked, "done", file=sys.stderr, flush=True)
        sides[f"{made_from}, mask {masked}"] = tables
    return sides


def answered(engine: str, corpus: Corpus, gold: Dataset) -> Run:
    """Return the run of *engine* on all queries of *gold*, by lines."""
    built = build(with_unit(parse_spec(engine), "lines"))
    built.index(corpus)
    texts = zip(gold.query_ids, gold.texts, strict=True)
    answers = [Answer(query, tuple(built.search(text, DEPTH))) for query, text in texts]
    return Run.of(answers, name=engine)


def documentation(name: str, trees: Path, work: Path, engines: Sequence[str]) -> Mapping[str, Side]:
    """Return the sides of written questions and of headings about one documentation."""
    gold = read_dataset(DOCS / f"{name}.json", format="gold")
    folder, suffix = str(gold.metadata["folder"]), str(gold.metadata["suffix"])
    revision = str(gold.metadata["revision"])
    place = repository(trees, PROJECTS[name])
    with GitRepository(place) as opened:
        corpus = below(opened.corpus(revision), folder, suffix)
    sets: dict[str, Dataset] = {"written": gold}
    for masked in ("all", "queries"):
        outside = ("*", f"!/{folder}/**/*{suffix}")
        recipe = QuestionRecipe("headings", revision, LIMIT, SEED, masked, outside)
        path = work / "gold" / f"{name}-headings-{masked}.json"
        if not path.exists():
            write(generate_questions(place, recipe)[0], path, format="gold")
        sets[f"headings, mask {masked}"] = read_dataset(path, format="gold")
    sides = {}
    for label, asked in sets.items():
        cached = work / "docs" / f"{name}-{label.replace(', ', '-').replace(' ', '-')}"
        cached.mkdir(parents=True, exist_ok=True)
        searched = mask_corpus(corpus, masks_from(asked.metadata.get(MASKS), name=label))
        table = []
        for engine in engines:
            file = cached / _file_name(engine)
            if not file.exists():
                run = answered(engine, searched, asked)
                file.write_text(json.dumps(_scored(asked, run)), encoding="utf-8")
            table.append(json.loads(file.read_text(encoding="utf-8")))
        print(name, label, "done", file=sys.stderr, flush=True)
        sides[label] = side(table)
    return sides


def scores_table(sides: Mapping[str, Side], engines: Sequence[str]) -> Iterator[str]:
    """Yield the mean score of each engine on each kind of gold set, the best first."""
    columns = {label: rankings.means(one) for label, one in sides.items()}
    yield f"| engine | {' | '.join(columns)} |"
    yield "|---|" + "---|" * len(columns)
    first = next(iter(columns.values()))
    for place in np.argsort(-first):
        cells = " | ".join(f"{column[place]:.3f}" for column in columns.values())
        yield f"| `{engines[place]}` | {cells} |"


def compared(sides: Mapping[str, Side]) -> dict[str, tuple[Side, Side]]:
    """Return the comparisons of the first side with the others."""
    (first, base), *others = sides.items()
    return {f"{first}, {label}": (base, other) for label, other in others}


def halves_line(label: str, one: Side, other: Side) -> str:
    """Return how well halves of a side agree with each other."""
    several = [table for table in one if table.shape[1] > 1]
    split = rankings.halves(several, other, draws=1000, seed=SEED)
    return f"Half of the {label} queries: tau {split.itself:.2f} with the other half."


def show_code(found: Sequence[Found], work: Path, engines: Sequence[str]) -> None:
    """Print the tables on code: all repositories, then each of them."""
    sides = {"written": written(found, PRIMARY), **code_rows(found, work, engines)}
    print(f"Code, {PRIMARY}, {len(found)} repositories, {DRAWS:,} draws\n")
    print(*scores_table(sides, engines), "", *agreement_table(compared(sides)), "", sep="\n")
    for label, one in sides.items():
        print(halves_line(label, one, sides["written"]))
    for index, one in enumerate(found):
        own = {label: [tables[index]] for label, tables in sides.items()}
        print("", one.pair.project.name, "", *agreement_table(compared(own)), sep="\n")


def opened(pair: Pair, engines: Sequence[str], work: Path) -> Found:
    """Return the scores on the written and the mined set of one repository."""
    return Found(pair, *scores(pair, engines, work))


def main() -> None:
    """Judge the engines on all kinds of gold sets, as far as not done before, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="keeps what was computed")
    parser.add_argument("--only", nargs="+", default=(), help="names of repositories")
    parser.add_argument("--docs", nargs="*", choices=PROJECTS, default=list(PROJECTS))
    parser.add_argument("--engines", nargs="+", default=ENGINES, help="specifications")
    arguments = parser.parse_args()
    work, engines = arguments.work, arguments.engines
    found = [opened(one, engines, work) for one in pairs(arguments.trees, work, arguments.only)]
    show_code(found, work, engines)
    pages: dict[str, dict[str, Side]] = {}
    for name in arguments.docs:
        pages[name] = dict(documentation(name, arguments.trees, work, engines))
    if not pages:
        return
    together = {
        label: [table for one in pages.values() for table in one[label]]
        for label in next(iter(pages.values()))
    }
    print(f"\nDocumentation, {PRIMARY} by lines, {', '.join(pages)}\n")
    print(*scores_table(together, engines), "", sep="\n")
    print(*agreement_table(compared(together)), "", sep="\n")
    for name, own in pages.items():
        print(name, "", *agreement_table(compared(own)), "", sep="\n")


if __name__ == "__main__":
    main()
