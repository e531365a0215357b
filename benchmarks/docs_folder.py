"""Choice of the factor for documents outside of the main folder of documentation.

    python benchmarks/docs_folder.py --tree FOLDER [--profiles fast] [--factors 1 .9 .8]

FOLDER has one bare repository per project, named ``owner+name/repo`` or ``owner+name``. Questions
are masked headings. Questions about the main folder are asked of that folder alone and of all
documentation of the tree; differences are paired, with 95 % intervals. Questions about other
documents show what the factor costs there.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

# This folder's statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

from question_sets import below, repository, run_of  # noqa: E402

import karat  # noqa: E402
from karat.corpus import Corpus, FileSelection, from_git, main_docs_folder  # noqa: E402
from karat.corpus.snapshot import mask_corpus, masks_from  # noqa: E402
from karat.engines import builtin  # noqa: E402
from karat.engines.registry import PROFILES  # noqa: E402
from karat.extensions.mining.questions.generate import QuestionRecipe, generate_questions  # noqa: E402

MEASURES = ["hit@5", "mrr", "ndcg@10"]
# None of them is in docs/, whose questions must not choose anything.
COMMITS = {
    "encode/httpx": "ae1b9f66238f",
    "pydantic/pydantic": "2151025aa512",
    "vitejs/vite": "a98c8d95d552",
    "traefik/traefik": "fd5a576df2e8",
    "rust-lang/cargo": "af373f761aa4",
    "eslint/eslint": "c27bc926e496",
    "zed-industries/zed": "7eec89207ccf",
    "grafana/loki": "65e30f8488e8",
    "jj-vcs/jj": "9d905d543286",
    "PrefectHQ/prefect": "ce79dd3d6cfa",
}
INSIDE, OUTSIDE = 100, 60


def questions(
    project: str, trees: Path
) -> tuple[Corpus, str, list[karat.Query], list[karat.Query]]:
    """Return the masked documentation, its main folder, and questions inside and outside of it."""
    place, commit = repository(trees, project), COMMITS[project]
    gold, _ = generate_questions(place, QuestionRecipe("headings", commit))
    chosen = FileSelection("docs").apply(from_git(place, commit))
    folder = main_docs_folder(chosen)
    docs = mask_corpus(chosen, masks_from(gold.metadata.get("masks"), name=project))
    paths = {document.path for document in docs}
    queries = [query for query in gold.queries() if {t.path for t in query.targets} <= paths]
    Random(1).shuffle(queries)

    def with_targets(*, inside: bool) -> Iterator[karat.Query]:
        for query in queries:
            if all(t.path.startswith(f"{folder}/") == inside for t in query.targets):
                yield query._replace(id=f"{project}:{query.id}")

    return (
        docs,
        folder,
        list(with_targets(inside=True))[:INSIDE],
        list(with_targets(inside=False))[:OUTSIDE],
    )


def main() -> None:
    """Print what each factor changes inside and outside of the main folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--profiles", nargs="+", choices=PROFILES, default=["fast"])
    parser.add_argument("--projects", nargs="+", choices=COMMITS, default=list(COMMITS))
    parser.add_argument("--factors", nargs="+", type=float, default=[1, 0.95, 0.9, 0.85, 0.8])
    arguments = parser.parse_args()
    sets = [questions(project, arguments.tree) for project in arguments.projects]
    within = karat.Dataset.of([q for _, _, own, _ in sets for q in own], match="lines")
    without = karat.Dataset.of([q for _, _, _, own in sets for q in own], match="lines")
    print(f"{len(within)} questions inside, {len(without)} outside")
    for profile in arguments.profiles:
        spec = dict(PROFILES[profile])

        def answers(
            corpus: Corpus, queries: list[karat.Query], spec: dict[str, object] = spec
        ) -> list[karat.Answer]:
            asked = karat.Dataset.of(queries, match="lines")
            return list(run_of(spec, corpus, asked, "lines").answers()) if queries else []

        alone = [a for docs, folder, own, _ in sets for a in answers(below(docs, folder), own)]
        for factor in arguments.factors:
            builtin.OUTSIDE = factor
            inside = [a for docs, _, own, _ in sets for a in answers(docs, own)]
            outside = [a for docs, _, _, own in sets for a in answers(docs, own)]
            runs = [karat.Run.of(alone, name="folder"), karat.Run.of(inside, name=f"{factor}")]
            differences = ", ".join(
                f"{each.metric} {each.difference:+.4f} "
                f"[{each.interval.low:+.4f}, {each.interval.high:+.4f}]"
                for each in karat.compare(within, runs, MEASURES).comparison.differences
            )
            found = karat.evaluate(without, karat.Run.of(outside), MEASURES, confidence=None)
            means = ", ".join(f"{measure} {found[measure]:.3f}" for measure in MEASURES)
            print(f"{profile} {factor} inside {differences}; outside {means}", flush=True)


if __name__ == "__main__":
    main()
