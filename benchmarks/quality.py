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
from dataclasses import replace
from pathlib import Path

# This folder's statistics.py would hide the standard library's.
sys.path.pop(0)

import karat
from karat.corpus import Corpus, from_git
from karat.engines.base import Engine
from karat.engines.registry import PROFILES
from karat.engines.spec import build, parse_spec
from karat.experiments.run import judged_units
from karat.model.evaluation import Evaluation

DOCS = Path(__file__).resolve().parent / "docs"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
OCTOCODE = ("Muvon/octocode", "b1771ba48214ce7404ad7158e277eb60680912b4")
DEPTH = 100
MEASURES = ["hit@1", "hit@5", "hit@10", "mrr", "ndcg@10", "recall@10"]


def repository(trees: Path, project: str) -> str:
    """Return the path of *project*'s repository below *trees*."""
    folder = trees / project.replace("/", "+")
    return str(folder / "repo" if (folder / "repo").is_dir() else folder)


def below(corpus: Corpus, folder: str | None, suffix: str = "") -> Corpus:
    """Return the documents of *corpus* below *folder*, with *suffix*."""
    start = f"{folder}/" if folder else ""
    kept = [d for d in corpus if d.path.startswith(start) and d.path.endswith(suffix)]
    return replace(corpus, documents=tuple(kept))


def engine_for(spec: Mapping[str, object], unit: str) -> Engine:
    """Return the engine of *spec*, with the judged *unit* if it takes one."""
    over = spec.get("over")
    if over is not None:
        return build({**spec, "over": {**described(str(over)), "unit": unit}})
    return build({**spec, "unit": unit})


def described(text: str) -> dict[str, object]:
    """Return the specification *text* as a mapping."""
    spec = parse_spec(text)
    return {"engine": spec.name, **spec.params}


def run_of(spec: Mapping[str, object], corpus: Corpus, gold: karat.Dataset, unit: str) -> karat.Run:
    """Return the run of the engine of *spec* on all queries of *gold*."""
    engine = engine_for(spec, unit)
    engine.index(corpus)
    return karat.Run.of(
        [
            karat.Answer(query_id, tuple(engine.search(text, DEPTH)))
            for query_id, text in zip(gold.query_ids, gold.texts, strict=True)
        ],
        name=engine.name,
    )


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
