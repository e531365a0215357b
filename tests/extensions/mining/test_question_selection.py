"""Which questions are chosen: distinct ones, spread over files, the same for the same seed."""

from collections import Counter
from itertools import combinations

from karat.corpus.snapshot import Mask
from karat.extensions.mining.questions.selection import (
    masks_by_path,
    overlap_tier,
    query_of,
    select_questions,
)
from karat.extensions.mining.questions.wording import Finding, Question
from karat.model import Target

WORDS = (
    *("amber", "beacon", "candle", "dragon", "engine", "falcon", "garden", "hammer", "island"),
    *("jacket", "kettle", "ladder", "magnet", "needle", "orange", "pepper", "quartz", "rocket"),
    *("saddle", "temple", "urchin", "violet", "walnut", "yellow", "zipper", "anchor", "basket"),
)


def question(text: str, path: str = "a.py", line: int = 1, **fields: object) -> Question:
    target = Target(path, 1.0, line, line + 3, "f")
    made = Question(text, (target,), "docstring", "python", (path, line))
    return made._replace(**fields)  # type: ignore[arg-type]


def distinct(count: int, path: str) -> list[Question]:
    triples = list(combinations(WORDS, 3))[len(path) :: 13]
    start = 50 * ("b" in path) + 100 * ("short" in path)
    return [question(" ".join(triples[start + n]), path, n * 10 + 1) for n in range(count)]


def chosen(*questions: Question, limit: int = 0, seed: int = 0) -> tuple[list[str], dict[str, int]]:
    sample = select_questions(questions, limit=limit, seed=seed, excluded=lambda p: p == "x.py")
    dropped = {step.rule: step.dropped for step in sample.waterfall.steps if step.dropped}
    assert sample.waterfall.kept == len(sample.questions)
    return [one.text for one in sample.questions], dropped


def test_reasons_are_counted() -> None:
    texts, dropped = chosen(
        question("amber beacon candle"),
        question("dragon", reason="too-short", line=5),
        question("engine falcon garden", "x.py"),
    )
    assert texts == ["amber beacon candle"]
    assert dropped == {"excluded": 1, "too-short": 1}


def test_the_same_text_in_few_places_has_several_targets() -> None:
    same = [question("Amber, beacon candle!", line=line) for line in (1, 10, 20)]
    sample = select_questions(same, limit=0, seed=0, excluded=lambda _: False)
    (one,) = sample.questions
    assert [target.start_line for target in one.targets] == [1, 10, 20]
    assert sample.waterfall.kept == 1


def test_the_same_text_in_many_places_is_ambiguous() -> None:
    same = [question("amber beacon candle", line=line) for line in (1, 10, 20, 30)]
    texts, dropped = chosen(*same, question("dragon engine falcon", line=50))
    assert (texts, dropped) == (["dragon engine falcon"], {"ambiguous": 4})


def test_nearly_the_same_words_are_dropped_on_both_sides() -> None:
    first = "amber beacon candle dragon engine"
    texts, dropped = chosen(
        question(first),
        question(f"{first} falcon", line=9),
        question("garden hammer island", line=20),
    )
    assert (texts, dropped) == (["garden hammer island"], {"near-duplicate": 2})


def test_a_limit_spreads_over_files_and_depends_on_the_seed() -> None:
    many = [*distinct(40, "a/long.py"), *distinct(40, "b/long.py"), *distinct(4, "a/short.py")]
    first, dropped = chosen(*many, limit=12, seed=1)
    assert dropped["not-drawn"] == len(many) - dropped.get("near-duplicate", 0) - 12
    assert chosen(*reversed(many), limit=12, seed=1)[0] == first, "order does not matter"
    assert chosen(*many, limit=12, seed=2)[0] != first
    sample = select_questions(many, limit=12, seed=1, excluded=lambda _: False)
    files = Counter(one.targets[0].path for one in sample.questions)
    assert files["a/short.py"] >= 2, "files take turns, so that a short one is not lost"
    assert files["b/long.py"] >= 4


def test_masks_of_all_texts_or_of_the_chosen() -> None:
    first, second = question("amber", line=1), question("beacon", line=5)
    findings = {"a.py": Finding((first, second), ((Mask(1, 2),), (Mask(5, 6),)))}
    assert masks_by_path(findings, None) == {"a.py": (Mask(1, 2), Mask(5, 6))}
    assert masks_by_path(findings, [second]) == {"a.py": (Mask(5, 6),)}
    assert masks_by_path(findings, []) == {}


def test_tags_and_id() -> None:
    one = question("parse the cookies of visitors", "src/cookies.py")
    made = query_of(one, lambda _: "def parse(cookies)", candidates=5, extra={"base_commit": "c"})
    again = query_of(one, lambda _: "", candidates=5, extra={})
    assert made.id == again.id
    assert made.id.startswith("docstring-")
    assert made.tags["leak"] == "stem"
    assert (made.tags["kind"], made.tags["language"]) == ("docstring", "python")
    assert (made.tags["overlap"], again.tags["overlap"]) == ("most", "few")
    assert made.extra == {"query_status": "docstring", "base_commit": "c"}
    assert [overlap_tier(share) for share in (0.0, 0.5, 1.0)] == ["few", "some", "most"]
