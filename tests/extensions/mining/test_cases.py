"""A commit becomes queries: metadata, hardness levels, attacks."""

from dataclasses import replace

from karat.corpus import Symbol
from karat.extensions.mining.cases import cases
from karat.extensions.mining.commits import Candidate, Change, Commit, Region
from karat.extensions.mining.file_counts import FileCount
from karat.extensions.mining.recipe import MiningRecipe
from karat.extensions.mining.sampling import MinedCase
from karat.extensions.mining.targets import Grain, TargetFile
from karat.extensions.mining.variants import Level, RewriteStatus, RewrittenQuery
from karat.model import Query, Target

QUERY = "fix crash of getUser() with blank password in src/users.py"


def change(path: str, status: str = "M") -> Change:
    return Change(status, path, path, "a" * 40, "b" * 40, "100644", "100644")


TESTS = (change("tests/test_users.py"), change("tests/test_new.py", "A"), change("tests/\udcff.py"))
COMMIT = Commit("c" * 40, ("p" * 40, "q" * 40), 86_400, "Ada", "a@b", QUERY, ())
LOGIN = Symbol("getUser", "method", 3, 9, "Users")
FILE = TargetFile(
    "src/users.py",
    "a" * 40,
    "M",
    "src/users.py",
    (Region(1, 2, 1, ()), Region(5, 5, 2, (LOGIN,))),
)
FOUND = MinedCase(Candidate(COMMIT, (change("src/users.py"),), TESTS, QUERY), (FILE,))


def made(recipe: MiningRecipe, text: str = QUERY) -> list[Query]:
    asked = RewrittenQuery(text, RewriteStatus.RULES)
    return list(cases(FOUND, asked, recipe, searched=FileCount(40, 60)))


def test_what_is_recorded() -> None:
    assert made(MiningRecipe()) == [
        Query(
            "c" * 12,
            QUERY,
            (Target("src/users.py", 2),),
            {
                "category": "error_search",
                "complexity": "low",
                "difficulty": "easy",
                "leak": "path",
                "identifier": "yes",
                "hardness": "cleaned",
            },
            {
                "base_commit": "p" * 40,
                "commit_hash": "c" * 40,
                "query_status": "rules",
                "timestamp": "1970-01-02T00:00:00Z",
                "files": [
                    {
                        "path": "src/users.py",
                        "blob": "a" * 40,
                        "status": "M",
                        "new_path": "src/users.py",
                        "grade": 2,
                        "regions": ["1-2:1", "5-5:2 Users.getUser"],
                    }
                ],
                "related_tests": ["tests/test_users.py"],
                "candidates": {"production": 40, "all": 60},
            },
        )
    ]


def test_the_grain_decides_the_targets_alone() -> None:
    (by_file,), (by_symbol,) = made(MiningRecipe()), made(MiningRecipe(grain=Grain.SYMBOL))
    assert by_symbol.targets == (Target("src/users.py", 2, 3, 9, "getUser"),)
    assert by_symbol._replace(targets=by_file.targets) == by_file


def test_where_trees_could_not_be_counted() -> None:
    (case,) = cases(
        FOUND, RewrittenQuery(QUERY, RewriteStatus.RULES), MiningRecipe(), searched=None
    )
    assert case.extra["candidates"] is None


def test_every_hardness_is_a_case_of_its_own() -> None:
    cases = made(MiningRecipe(hardness=tuple(Level)))
    assert [(case.id, case.tags["leak"], case.tags["identifier"]) for case in cases] == [
        ("cccccccccccc-cleaned", "path", "yes"),
        ("cccccccccccc-masked", "stem", "yes"),
        ("cccccccccccc-words", "stem", "no"),
        ("cccccccccccc-dropped", "none", "no"),
    ]
    assert {case.tags["category"] for case in cases} == {"error_search"}
    assert cases[-1].text == "fix crash with blank password"
    assert {case.tags["commit"] for case in cases} == {"c" * 12}


def test_a_hardness_that_changes_nothing_asks_nothing() -> None:
    cases = made(MiningRecipe(hardness=tuple(Level)), "fix crash of getUser() with blank password")
    assert [case.tags["hardness"] for case in cases] == ["cleaned", "words", "dropped"]
    assert len({case.text for case in cases}) == len(cases)
    worse = made(
        MiningRecipe(hardness=tuple(Level), adversarial=True), "fix crash with blank password"
    )
    assert [case.tags["attack"] for case in worse] == ["none", "typo", "negated-distractor"]


def test_a_hardness_that_leaves_too_little_is_left_out() -> None:
    recipe = MiningRecipe(hardness=(Level.DROPPED,))
    assert [case.id for case in made(recipe)] == ["cccccccccccc"]
    assert made(recipe, "fix getUser() of userName") == []
    assert recipe.fits(FOUND.candidate)
    assert not recipe.fits(FOUND.candidate._replace(query="fix getUser() of userName"))
    assert MiningRecipe(hardness=tuple(Level)).fits(FOUND.candidate._replace(query=""))


def test_made_worse_by_the_seed_and_the_commit_alone() -> None:
    recipe = MiningRecipe(adversarial=True, seed=1)
    cases = made(recipe)
    assert [case.tags["attack"] for case in cases] == [
        *("none", "typo", "negated-distractor"),
    ]
    assert [case.id.removeprefix("c" * 12) for case in cases] == [
        *("", "-typo", "-negated-distractor"),
    ]
    assert cases == made(recipe)
    others = {made(replace(recipe, seed=seed))[1].text for seed in range(9)}
    assert len(others) > 1
