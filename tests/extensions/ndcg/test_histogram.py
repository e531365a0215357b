import sys
from threading import Thread

import pytest
from prometheus_client import REGISTRY, CollectorRegistry, Counter, generate_latest

from karat.errors import InputError, MissingExtra
from karat.ndcg import BUCKETS, NDCGEvaluator, StreamingEvaluator, vector_ndcg_avg


def recorded(registry: CollectorRegistry, k: int, le: str) -> float | None:
    return registry.get_sample_value("vector_ndcg_avg_bucket", {"k": str(k), "le": le})


def test_buckets_from_0_to_1_in_tenths() -> None:
    assert BUCKETS == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    registry = CollectorRegistry()
    vector_ndcg_avg(registry).labels(k="1").observe(1.0)
    text = generate_latest(registry).decode()
    ends = [line.split('le="')[1].split('"')[0] for line in text.splitlines() if "_bucket{" in line]
    assert ends == [*map(str, BUCKETS), "+Inf"]


def test_every_evaluation_is_recorded_by_cut_off() -> None:
    registry = CollectorRegistry()
    evaluator = NDCGEvaluator([1, 3], registry=registry)
    evaluator.evaluate_ranking([{"key": "b"}, {"key": "a"}], {"a": 1.0, "b": 0.5})
    assert recorded(registry, 1, "0.4") == 0
    assert recorded(registry, 1, "0.5") == 1
    assert recorded(registry, 3, "0.8") == 0
    assert recorded(registry, 3, "0.9") == 1
    evaluator.compare_rankings([{"key": "x"}], [{"key": "a"}], {"a": 1.0})
    assert recorded(registry, 1, "0.0") == 1
    assert recorded(registry, 1, "1.0") == 3
    evaluator.evaluate_batch([[{"key": "a"}]] * 2, {"a": 1.0})
    StreamingEvaluator(evaluator).add([{"key": "a"}], {"a": 1.0})
    assert recorded(registry, 1, "+Inf") == 6
    # Without anything relevant there is no score to watch.
    evaluator.evaluate_ranking([{"key": "a"}], {"a": 0.0})
    assert recorded(registry, 1, "+Inf") == 6


def test_never_registered_twice() -> None:
    registry = CollectorRegistry()
    histograms = []
    threads = [
        Thread(target=lambda: histograms.append(vector_ndcg_avg(registry))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(histograms) == 8
    assert len(set(map(id, histograms))) == 1
    assert vector_ndcg_avg() is vector_ndcg_avg(REGISTRY)
    assert vector_ndcg_avg() is not histograms[0]


def test_a_name_that_is_taken() -> None:
    registry = CollectorRegistry()
    Counter("vector_ndcg_avg", "Another.", registry=registry)
    with pytest.raises(InputError, match="the registry has another metric named vector_ndcg_avg"):
        NDCGEvaluator(registry=registry)


def test_off_means_off() -> None:
    registry = CollectorRegistry()
    NDCGEvaluator([1], prometheus=False, registry=registry).evaluate_ranking(
        [{"key": "a"}], {"a": 1.0}
    )
    assert generate_latest(registry) == b""


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    assert NDCGEvaluator([1]).evaluate_ranking([{"key": "a"}], {"a": 1.0}) == {"ndcg@1": 1.0}
    with pytest.raises(MissingExtra, match=r"needs the extra \w+: pip install .*\[prom"):
        NDCGEvaluator(prometheus=True)
