"""Score a vector search, compare it with a weaker one, and let readers choose between the two.

Run it as it is: python examples/ndcg.py
"""

from karat import verdict
from karat.ndcg import (
    InterleavedSearch,
    NDCGEvaluator,
    StreamingEvaluator,
    create_synthetic_evaluation_data,
    get_vector_backend,
)

QUERIES = 30


def main() -> None:
    """Index made-up items, search them in full and with only the first half of each embedding."""
    backend = get_vector_backend({"type": "in_memory", "metrics_callback": None})
    evaluator = NDCGEvaluator(k_values=[1, 10])
    full, short, judgments = [], [], []
    for seed in range(QUERIES):
        data = create_synthetic_evaluation_data(200, 32, 10, seed=seed)
        halves = {item["key"]: item["embedding"][:16] for item in data.items}
        backend.upsert(f"full-{seed}", data.items)
        backend.upsert(f"short-{seed}", halves)
        full.append(backend.query(f"full-{seed}", data.query_embedding, k=10))
        short.append(backend.query(f"short-{seed}", data.query_embedding[:16], k=10))
        judgments.append(data.judgments)

    print("One query:  ", evaluator.compare_rankings(short[0], full[0], judgments[0]))

    mean, interval = evaluator.evaluate_batch(short, judgments).means["ndcg@10"]
    print(f"All queries: ndcg@10 {mean:.3f} [{interval.low:.3f}, {interval.high:.3f}], cut in half")
    print("Verdict:    ", verdict(evaluator.compare_batch(short, full, judgments)))

    stream = StreamingEvaluator(evaluator, window=10)
    for ranking, truth in zip(short, judgments, strict=True):
        stream.add(ranking, truth)
    window = stream.summary()
    print(f"Last {window.n} of {window.seen}: ndcg@10 {window.means['ndcg@10'].mean:.3f}")

    mixed = InterleavedSearch(lambda n, _: full[n], lambda n, _: short[n], seed=1)
    for number, truth in enumerate(judgments):
        shown = mixed.search(number, k=10)
        # In place of readers: a click on whatever is relevant.
        mixed.record(shown, [key for key in shown.ranking if truth[key] > 0])
    result = mixed.result()
    print(f"Readers:     full {result.wins_a}, half {result.wins_b}, ties {result.ties}")
    print(f"             p = {result.p:.2g}")


if __name__ == "__main__":
    main()
