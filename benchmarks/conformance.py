"""Score the conformance cases by other packages, for `karat conformance check`.

    karat conformance export /tmp/cases
    python -P benchmarks/conformance.py /tmp/cases ranx > ranx.csv
    karat conformance check ranx.csv

Each package reads the files by its own reader where it has one. scikit-learn and torchmetrics have
no ids: they get the scores and grades of the hits, and what was not returned they cannot know.
Measures that a package lacks are left out; `error` stands for any exception.
"""

import argparse
import csv
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

ALL = "all"
# The measure and the query (or ALL) -> value; None where the package has no such measure.
Score = Callable[[str, str], float | None]


class Given(NamedTuple):
    """A case as it is in cases.json, and the folder with its files."""

    document: Mapping[str, Any]
    folder: Path

    @property
    def qrels(self) -> str:
        """Return the path of the judgments."""
        return str(self.folder / "qrels.txt")

    @property
    def run(self) -> str:
        """Return the path of the run."""
        return str(self.folder / "run.txt")

    def hits(self, query: str) -> tuple[list[float], list[int]]:
        """Return the scores of the hits of a query, and their grades; an unjudged hit has 0."""
        grades = self.document["qrels"].get(query, {})
        hits = self.document["run"].get(query, [])
        return [score for _, score in hits], [grades.get(document, 0) for document, _ in hits]


def split(measure: str) -> tuple[str, int | None]:
    """Return the metric and the cut-off of a measure."""
    name, _, k = measure.partition("@")
    return name, int(k) if k else None


def karat(case: Given) -> Score:
    """Score by Karat, from the files."""
    import karat as package

    def score(measure: str, query: str) -> float:
        evaluation = package.evaluate(case.qrels, case.run, [measure], confidence=None)
        return evaluation[measure] if query == ALL else evaluation.query(query)[measure]

    return score


def ranx(case: Given) -> Score:
    """Score by ranx, from the files; without make_comparable, as by default."""
    from ranx import Qrels, Run, evaluate

    names = {"ap": "map", "hit": "hit_rate"}

    def score(measure: str, query: str) -> float | None:
        name, k = split(measure)
        if name == "err":
            return None
        qrels = Qrels.from_file(case.qrels, kind="trec")
        run = Run.from_file(case.run, kind="trec")
        full = names.get(name, name) + (f"@{k}" if k else "")
        if query == ALL:
            return float(evaluate(qrels, run, full))
        evaluate(qrels, run, full)
        return float(run.scores[full][query])

    return score


def ir_measures(case: Given) -> Score:
    """Score by ir_measures, from the files."""
    import ir_measures as package

    names = {"mrr": "RR", "ndcg": "nDCG", "precision": "P", "recall": "R", "ap": "AP"}
    names |= {"r-precision": "Rprec", "bpref": "Bpref", "err": "ERR"}

    def score(measure: str, query: str) -> float:
        name, k = split(measure)
        wanted = package.parse_measure(names[name] + (f"@{k}" if k else ""))
        qrels = list(package.read_trec_qrels(case.qrels))
        run = list(package.read_trec_run(case.run))
        if query == ALL:
            return float(package.calc_aggregate([wanted], qrels, run)[wanted])
        found = {each.query_id: each.value for each in package.iter_calc([wanted], qrels, run)}
        return float(found[query])

    return score


def pytrec_eval(case: Given) -> Score:
    """Score by pytrec_eval; the mean is over the queries in its result."""
    import pytrec_eval as package

    names = {"mrr": "recip_rank", "ndcg": "ndcg_cut", "precision": "P", "ap": "map"}
    names |= {"ap@3": "map_cut", "r-precision": "Rprec", "recall": "recall", "bpref": "bpref"}

    def score(measure: str, query: str) -> float | None:
        name, k = split(measure)
        if name == "err" or (name == "mrr" and k):
            return None
        full = names.get(measure, names[name])
        with Path(case.qrels).open() as stream:
            qrels = package.parse_qrel(stream)
        with Path(case.run).open() as stream:
            run = package.parse_run(stream)
        asked = {f"{full}.{k}" if k else full}
        results = package.RelevanceEvaluator(qrels, asked).evaluate(run)
        values = {each: scores[f"{full}_{k}" if k else full] for each, scores in results.items()}
        if query != ALL:
            return values[query]
        return sum(values.values()) / len(values) if values else nan

    return score


def sklearn(case: Given) -> Score:
    """Score by scikit-learn: nDCG, and average precision of the hits."""
    from sklearn.metrics import average_precision_score, ndcg_score

    def score(measure: str, query: str) -> float | None:
        name, k = split(measure)
        if query == ALL or (measure != "ap" and name != "ndcg"):
            return None
        scores, grades = case.hits(query)
        if name == "ndcg":
            return float(ndcg_score([grades], [scores], k=k))
        return float(average_precision_score([grade > 0 for grade in grades], scores))

    return score


def torchmetrics(case: Given) -> Score:
    """Score by the retrieval measures of torchmetrics."""
    import torch
    from torchmetrics import retrieval

    classes = {
        "mrr": retrieval.RetrievalMRR,
        "ndcg": retrieval.RetrievalNormalizedDCG,
        "precision": retrieval.RetrievalPrecision,
        "recall": retrieval.RetrievalRecall,
        "ap": retrieval.RetrievalMAP,
        "r-precision": retrieval.RetrievalRPrecision,
    }

    def score(measure: str, query: str) -> float | None:
        name, k = split(measure)
        if name not in classes:
            return None
        limit = {"top_k": k} if k else {}
        metric = classes[name](**limit)
        scores: list[float] = []
        grades: list[int] = []
        indexes: list[int] = []
        # Nobody has grades for a query without judgments.
        judged = [each for each in case.document["run"] if each in case.document["qrels"]]
        for number, each in enumerate(judged):
            if query in (ALL, each):
                own_scores, own_grades = case.hits(each)
                scores += own_scores
                grades += own_grades
                indexes += [number] * len(own_scores)
        target = torch.tensor(grades)
        if name != "ndcg":
            target = target > 0
        return float(metric(torch.tensor(scores), target, indexes=torch.tensor(indexes)))

    return score


PACKAGES = {
    each.__name__: each for each in (karat, ranx, ir_measures, pytrec_eval, sklearn, torchmetrics)
}


def rows(folder: Path, package: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the value of every measure of every case."""
    for case in json.loads((folder / "cases.json").read_text()):
        score = PACKAGES[package](Given(case, folder / "cases" / case["case"]))
        for each in case["expected"]:
            try:
                value = score(each["measure"], each["query"])
                text = "" if value is None else f"{value:.6f}"
            except Exception as error:  # noqa: BLE001 - whatever the package raises
                print(f"{case['case']}: {type(error).__name__}: {error}", file=sys.stderr)
                text = "error"
            yield case["case"], each["query"], each["measure"], text


def main() -> None:
    """Write the results of one package as CSV."""
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of karat conformance export")
    parser.add_argument("package", choices=PACKAGES)
    arguments = parser.parse_args()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("case", "query", "measure", "value"))
    writer.writerows(rows(arguments.folder, arguments.package))


if __name__ == "__main__":
    main()
