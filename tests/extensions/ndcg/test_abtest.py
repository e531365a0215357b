import pytest

from karat.errors import InputError
from karat.extensions.ndcg.evaluator import RankedItems
from karat.ndcg import InterleavedSearch, create_synthetic_evaluation_data, get_vector_backend


def good(query: str, k: int) -> RankedItems:
    return [{"key": key} for key in "abcdef"][:k]


def bad(query: str, k: int) -> RankedItems:
    return [{"key": key} for key in "uvwxyz"][:k]


def test_clicks_find_the_better_search() -> None:
    mixed = InterleavedSearch(good, bad, seed=5)
    for number in range(20):
        answer = mixed.search(f"query {number}", k=4)
        assert len(answer.ranking) == 4
        mixed.record(answer, [key for key in answer.ranking if key in "abc"])
    preference = mixed.result()
    assert (preference.wins_a, preference.wins_b, preference.ties) == (20, 0, 0)
    assert preference.p == pytest.approx(2 / 2**20)


def test_the_same_seed_gives_the_same_answers() -> None:
    def answers(seed: int) -> list[tuple[str, ...]]:
        mixed = InterleavedSearch(good, bad, seed=seed)
        return [mixed.search("q", 6).ranking for _ in range(10)]

    assert answers(3) == answers(3) != answers(4)


def test_no_click_is_a_tie() -> None:
    mixed = InterleavedSearch(good, bad)
    assert mixed.record(mixed.search("q"), []).winner is None
    assert mixed.result().ties == 1


def test_what_is_refused() -> None:
    mixed = InterleavedSearch(good, bad)
    with pytest.raises(InputError, match="k is 0"):
        mixed.search("q", 0)
    answer = mixed.search("q")
    with pytest.raises(InputError, match="clicked is 'a', a string"):
        mixed.record(answer, "a")
    with pytest.raises(InputError, match="'nowhere' was clicked but is not in the ranking"):
        mixed.record(answer, ["nowhere"])
    assert mixed.result().ties == 0


def test_two_vector_back_ends_as_they_are() -> None:
    items, query, judgments = create_synthetic_evaluation_data(seed=1)
    backend = get_vector_backend({"type": "in_memory"})
    backend.upsert("all", items)
    backend.upsert("half", items[::2])

    mixed: InterleavedSearch[list[float]] = InterleavedSearch(
        lambda embedding, k: backend.query("all", embedding, k),
        lambda embedding, k: backend.query("half", embedding, k),
    )
    answer = mixed.search(query, k=5)
    earned = mixed.record(answer, [key for key in answer.ranking if judgments[key] > 0])
    assert earned.a + earned.b > 0
