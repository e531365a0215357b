"""Quality of the built-in profiles on two public sets of questions about code.

Needs the data beside the checkout (``../shared/data``) and the repositories as bare clones:

    python benchmarks/quality.py --trees FOLDER [--profiles keyword fast balanced]

FOLDER holds one bare repository per project, named ``owner+name/repo`` or ``owner+name``. One
configuration per profile serves all projects; the unit judged (lines or files) is the gold set's.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter

# This folder's statistics.py would hide the standard library's.
sys.path.pop(0)

import karat
from karat.corpus import Corpus, from_git
from karat.engines.profiles import PROFILES
from karat.engines.spec import build

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
OCTOCODE = ("Muvon/octocode", "b1771ba48214ce7404ad7158e277eb60680912b4")
DEPTH = 100
MEASURES = ["hit@1", "hit@5", "hit@10", "mrr", "ndcg@10", "recall@10"]


def repository(trees: Path, project: str) -> str:
    """Return the place of *project*'s repository below *trees*."""
    folder = trees / project.replace("/", "+")
    return str(folder / "repo" if (folder / "repo").is_dir() else folder)


def below(corpus: Corpus, folder: str | None, suffix: str = "") -> Corpus:
    """Return the documents of *corpus* below *folder*, with *suffix*."""
    start = f"{folder}/" if folder else ""
    kept = [d for d in corpus if d.path.startswith(start) and d.path.endswith(suffix)]
    return replace(corpus, documents=tuple(kept))


def run_of(profile: str, corpus: Corpus, gold: karat.Dataset, unit: str) -> karat.Run:
    """Return what *profile* finds for every query of *gold*."""
    engine = build({**PROFILES[profile], "unit": unit})
    start = perf_counter()
    engine.index(corpus)
    print(
        f"    {corpus.name}: {len(corpus)} documents in {perf_counter() - start:.1f} s", flush=True
    )
    return karat.Run.of(
        [
            karat.Answer(query_id, tuple(engine.search(text, DEPTH)))
            for query_id, text in zip(gold.query_ids, gold.texts, strict=True)
        ],
        name=profile,
    )


def octocode(profile: str, trees: Path) -> None:
    """Print the scores on octocode's 127 questions, lines judged, each target credited once."""
    gold = karat.load(DATA / "octocode" / "code.csv", format="octocode")
    corpus = below(from_git(repository(trees, OCTOCODE[0]), OCTOCODE[1]), None, ".rs")
    assert isinstance(gold, karat.Dataset)
    evaluation = karat.evaluate(gold, run_of(profile, corpus, gold, "lines"), MEASURES)
    for summary in evaluation.summaries:
        interval = summary.interval
        ends = f"[{interval.low:.3f}, {interval.high:.3f}]" if interval and interval.low else ""
        print(f"  octocode {summary.measure:10} {summary.mean:.3f} {ends}", flush=True)


def semble(profile: str, trees: Path) -> None:
    """Print NDCG@10 on semble's repositories, files judged, and the mean over repositories."""
    scores = []
    for entry in json.loads((DATA / "semble" / "repos.json").read_text(encoding="utf-8")):
        gold = karat.load(
            DATA / "semble" / "annotations" / f"{entry['name']}.json", format="semble"
        )
        assert isinstance(gold, karat.Dataset)
        whole = from_git(repository(trees, entry["snapshot"]), entry["revision_used"])
        corpus = below(whole, entry["benchmark_root"])
        unit = "lines" if gold.match == "lines" else "file"
        evaluation = karat.evaluate(
            gold, run_of(profile, corpus, gold, unit), ["ndcg@10"], confidence=None
        )
        scores.append(evaluation["ndcg@10"])
        print(f"  semble {entry['name']:10} ndcg@10 {scores[-1]:.3f}", flush=True)
    print(
        f"  semble mean over {len(scores)} repositories: {sum(scores) / len(scores):.3f}",
        flush=True,
    )


def main() -> None:
    """Measure the profiles asked for on both sets."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--profiles", nargs="+", choices=PROFILES, default=list(PROFILES))
    parser.add_argument("--only", choices=["octocode", "semble"])
    arguments = parser.parse_args()
    for profile in arguments.profiles:
        print(f"{profile}: {dict(PROFILES[profile])}")
        if arguments.only != "semble":
            octocode(profile, arguments.trees)
        if arguments.only != "octocode":
            semble(profile, arguments.trees)


if __name__ == "__main__":
    main()
