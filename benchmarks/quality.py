"""Quality of the built-in profiles: two public sets about code, and ours about documentation.

Needs the data beside the checkout (``../shared/data``) and the repositories as bare clones:

    python benchmarks/quality.py --trees FOLDER [--profiles lexical fast balanced quality]
    python benchmarks/quality.py --trees FOLDER --engines "rerank(over=balanced)" --only docs

FOLDER has one bare repository per project, named ``owner+name/repo`` or ``owner+name``. One
configuration per profile is used for all projects; engines get the unit of most queries of a gold
set. Karat caches the vectors, so a second run is fast.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

# This folder's statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

from question_sets import DOCS, below, described, repository, run_of  # noqa: E402

import karat  # noqa: E402
from karat.corpus import from_git  # noqa: E402
from karat.engines.registry import PROFILES  # noqa: E402
from karat.experiments.plan import judged_units  # noqa: E402
from karat.model.evaluation import Evaluation  # noqa: E402

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
OCTOCODE = ("Muvon/octocode", "b1771ba48214ce7404ad7158e277eb60680912b4")
MEASURES = ["hit@1", "hit@5", "hit@10", "mrr", "ndcg@10", "recall@10"]


def show(label: str, evaluation: Evaluation) -> None:
    """Print every measure with its interval."""
    for summary in evaluation.summaries:
        interval = summary.interval
        ends = f"[{interval.low:.3f}, {interval.high:.3f}]" if interval and interval.low else ""
        print(f"  {label} {summary.measure:10} {summary.mean:.3f} {ends}", flush=True)


def octocode(spec: Mapping[str, object], trees: Path) -> None:
    """Print the scores on octocode's 127 questions, lines judged, each target credited once."""
    gold = karat.load(DATA / "octocode" / "code.csv", format="octocode")
    corpus = below(from_git(repository(trees, OCTOCODE[0]), OCTOCODE[1]), None, ".rs")
    assert isinstance(gold, karat.Dataset)
    show("octocode", karat.evaluate(gold, run_of(spec, corpus, gold, "lines"), MEASURES))


def docs(spec: Mapping[str, object], trees: Path) -> None:
    """Print the scores on our questions about the documentation of three projects."""
    queries: list[karat.Query] = []
    answers: list[karat.Answer] = []
    for path in sorted(DOCS.glob("*.json")):
        gold = karat.load(path, format="gold")
        assert isinstance(gold, karat.Dataset)
        place = {key: str(value) for key, value in gold.metadata.items()}
        project = place["repository"].removeprefix("https://github.com/")
        corpus = below(
            from_git(repository(trees, project), place["revision"]),
            place["folder"],
            place["suffix"],
        )
        run = run_of(spec, corpus, gold, "lines")
        evaluation = karat.evaluate(gold, run, MEASURES, confidence=None)
        print(
            f"  docs {path.stem:10} hit@5 {evaluation['hit@5']:.3f} mrr {evaluation['mrr']:.3f}",
            flush=True,
        )
        queries += [query._replace(id=f"{path.stem}:{query.id}") for query in gold.queries()]
        answers += [
            answer._replace(query_id=f"{path.stem}:{answer.query_id}") for answer in run.answers()
        ]
    whole = karat.Dataset.of(queries, name="docs", match="lines")
    show("docs", karat.evaluate(whole, karat.Run.of(answers, name="docs"), MEASURES))


def semble(spec: Mapping[str, object], trees: Path) -> None:
    """Print NDCG@10 on semble's repositories, files judged, and the mean over repositories."""
    scores = []
    for entry in json.loads((DATA / "semble" / "repos.json").read_text(encoding="utf-8")):
        gold = karat.load(
            DATA / "semble" / "annotations" / f"{entry['name']}.json", format="semble"
        )
        assert isinstance(gold, karat.Dataset)
        whole = from_git(repository(trees, entry["snapshot"]), entry["revision_used"])
        corpus = below(whole, entry["benchmark_root"])
        run = run_of(spec, corpus, gold, judged_units(gold, gold.match).most)
        evaluation = karat.evaluate(gold, run, ["ndcg@10"], confidence=None)
        scores.append(evaluation["ndcg@10"])
        print(f"  semble {entry['name']:10} ndcg@10 {scores[-1]:.3f}", flush=True)
    print(
        f"  semble mean over {len(scores)} repositories: {sum(scores) / len(scores):.3f}",
        flush=True,
    )


SETS = {"octocode": octocode, "semble": semble, "docs": docs}


def main() -> None:
    """Measure the selected profiles on every set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--profiles", nargs="*", choices=PROFILES, default=None)
    parser.add_argument("--engines", nargs="*", default=[], help="specifications beside them")
    parser.add_argument("--only", nargs="+", choices=SETS, default=list(SETS))
    arguments = parser.parse_args()
    profiles = arguments.profiles
    if profiles is None:
        profiles = [] if arguments.engines else list(PROFILES)
    specs = [dict(PROFILES[name]) for name in profiles] + list(map(described, arguments.engines))
    for label, spec in zip([*profiles, *arguments.engines], specs, strict=True):
        print(f"{label}: {spec}")
        for name in arguments.only:
            SETS[name](spec, arguments.trees)


if __name__ == "__main__":
    main()
