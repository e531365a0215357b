"""The same six metrics by Karat and by each peer that is installed."""

import importlib.metadata
import importlib.util
from collections.abc import Callable
from pathlib import Path

from trec_collections import Qrels, RunDict

# pytrec_eval and trec_eval have no cut-off for the reciprocal rank.
METRICS = ("ndcg@10", "mrr@10", "recall@100", "ap", "precision@10", "hit@5")
KARAT_FLAGS = [part for name in METRICS for part in ("-m", name)]
PYTREC = {"ndcg_cut.10", "recip_rank", "recall.100", "map", "P.10", "success.5"}
TREC_EVAL_FLAGS = [part for name in sorted(PYTREC) for part in ("-m", name)]
RANX = ["ndcg@10", "mrr@10", "recall@100", "map", "precision@10", "hit_rate@5"]
IR_MEASURES = ["nDCG@10", "RR", "R@100", "AP", "P@10", "Success@5"]

PACKAGES = ("karatbench", "pytrec-eval-terrier", "ranx", "ir-measures", "numpy", "polars")


def karat(qrels: Qrels, run: RunDict) -> object:
    """Evaluate with Karat, from dictionaries, without intervals, as the peers have none."""
    import karat as package

    return package.evaluate(qrels, run, METRICS, confidence=None)


def karat_with_intervals(qrels: Qrels, run: RunDict) -> object:
    """Evaluate with Karat as by default: a 95 % interval for the mean of each metric."""
    import karat as package

    return package.evaluate(qrels, run, METRICS)


def pytrec_eval(qrels: Qrels, run: RunDict) -> object:
    """Evaluate with pytrec_eval-terrier."""
    import pytrec_eval as package

    return package.RelevanceEvaluator(qrels, PYTREC).evaluate(run)


def ranx(qrels: Qrels, run: RunDict) -> object:
    """Evaluate with ranx, from dictionaries."""
    from ranx import Qrels as RanxQrels
    from ranx import Run, evaluate

    return evaluate(RanxQrels(qrels), Run(run), RANX, make_comparable=True)


def ir_measures(qrels: Qrels, run: RunDict) -> object:
    """Evaluate with ir_measures."""
    import ir_measures as package

    return package.calc([package.parse_measure(name) for name in IR_MEASURES], qrels, run)


def karat_compare(qrels: Qrels, runs: dict[str, RunDict]) -> object:
    """Compare with Karat: intervals, sign-flip tests, maxT over all pairs, evaluation included."""
    import karat as package

    return package.compare(qrels, runs, METRICS)


def ranx_compare(qrels: Qrels, runs: dict[str, RunDict]) -> object:
    """Compare with ranx's Fisher randomisation test, evaluation included."""
    from ranx import Qrels as RanxQrels
    from ranx import Run, compare

    return compare(
        RanxQrels(qrels),
        [Run(run, name=name) for name, run in runs.items()],
        RANX,
        stat_test="fisher",
        n_permutations=9_999,
        make_comparable=True,
    )


def available() -> dict[str, Callable[[Qrels, RunDict], object]]:
    """Return the candidates whose package is installed, Karat first."""
    candidates = {
        "karat": karat,
        "pytrec_eval": pytrec_eval,
        "ranx": ranx,
        "ir_measures": ir_measures,
    }
    return {
        name: function for name, function in candidates.items() if importlib.util.find_spec(name)
    }


def versions() -> str:
    """Return the installed versions."""
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{package} not installed")
    return ", ".join(found)


def script(name: str) -> str:
    """Return the path of the peer's cold script."""
    return str(Path(__file__).with_name("cold") / f"{name}.py")
