"""Loss by searching a whole repository instead of its documentation folder, on 216 questions.

    python benchmarks/whole_tree.py --tree FOLDER [--profiles lexical fast]

FOLDER has one bare repository per project of ``docs/``, named ``owner+name/repo`` or
``owner+name``. Each engine answers the same questions on the folder of documentation, on the whole
tree with the kind of file that Karat derives from the targets, and on the whole tree with
``--kind all``. Differences are paired by question, with 95 % intervals.
"""

import argparse
import sys
from pathlib import Path

# This folder's statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

from question_sets import DOCS, below, repository, run_of  # noqa: E402

import karat  # noqa: E402
from karat.corpus import Corpus, from_git  # noqa: E402
from karat.engines.registry import PROFILES  # noqa: E402
from karat.experiments.snapshots import selected_files  # noqa: E402

MEASURES = ["hit@5", "mrr", "ndcg@10"]
FOLDER = "folder"


def corpora(gold: karat.Dataset, trees: Path) -> dict[str, Corpus]:
    """Return the documentation folder of *gold*, and its whole tree in two selections."""
    place = {key: str(value) for key, value in gold.metadata.items()}
    project = place["repository"].removeprefix("https://github.com/")
    whole = from_git(repository(trees, project), place["revision"])
    return {
        FOLDER: below(whole, place["folder"], place["suffix"]),
        "automatic": selected_files(gold, None).selection.apply(whole),
        "all": whole,
    }


def main() -> None:
    """Print the means of each selection, and their differences to the folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--profiles", nargs="+", choices=PROFILES, default=["lexical", "fast"])
    parser.add_argument(
        "--only", nargs="+", choices=["automatic", "all"], default=["automatic", "all"]
    )
    arguments = parser.parse_args()
    for profile in arguments.profiles:
        queries: list[karat.Query] = []
        answers: dict[str, list[karat.Answer]] = {FOLDER: []}
        for path in sorted(DOCS.glob("*.json")):
            gold = karat.load(path, format="gold")
            assert isinstance(gold, karat.Dataset)
            queries += [query._replace(id=f"{path.stem}:{query.id}") for query in gold.queries()]
            for name, corpus in corpora(gold, arguments.tree).items():
                if name not in (FOLDER, *arguments.only):
                    continue
                run = run_of(dict(PROFILES[profile]), corpus, gold, "lines")
                found = karat.evaluate(gold, run, MEASURES, confidence=None)
                means = ", ".join(f"{measure} {found[measure]:.3f}" for measure in MEASURES)
                print(
                    f"{profile} {path.stem:7} {name:9} {len(corpus):6,} documents: {means}",
                    flush=True,
                )
                answers.setdefault(name, []).extend(
                    answer._replace(query_id=f"{path.stem}:{answer.query_id}")
                    for answer in run.answers()
                )
        every = karat.Dataset.of(queries, name="docs", match="lines")
        runs = {name: karat.Run.of(own, name=name) for name, own in answers.items()}
        for name in arguments.only:
            compared = karat.compare(every, [runs[FOLDER], runs[name]], MEASURES)
            for each in compared.comparison.differences:
                low, high = each.interval.low, each.interval.high
                print(
                    f"{profile} {name} - {FOLDER} {each.metric}: {each.difference:+.4f} "
                    f"[{low:+.4f}, {high:+.4f}]",
                    flush=True,
                )


if __name__ == "__main__":
    main()
