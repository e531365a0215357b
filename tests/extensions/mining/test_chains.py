"""Asking fewer rules finds the same one as asking all of them."""

from hypothesis import given
from hypothesis import strategies as st

from karat.extensions.mining.commits import Change, Commit
from karat.extensions.mining.drafts import Draft, FileClassifier
from karat.extensions.mining.filters import NO_TARGET, CaseLimits, Chains, Filters, rules

NAMES = [rule.name for rule in rules(CaseLimits()) if rule.name != NO_TARGET]
PATHS = (
    *("src/a.py", "src/b.go", "tests/a.py", "docs/a.md", "examples/a.py", "setup.py", "tox.ini"),
    *("uv.lock", "a_pb2.py", "vendor/a.c", "logo.png"),
)
MESSAGES = (
    *("Keep the session cookie of anonymous visitors", "Revert the last change", "Bump to 1.2.3"),
    *("build: copy the images of all users", "foo -> bar in every template", "Fix whitespace"),
    *(
        "Fix the crash since 3c7ed2b in forms",
        "Misc stuff",
        "Fix it",
        "Corrige le bug dans les cas",
    ),
    *("Fix the parser and add an option", "src/a.py", "word " * 40),
)

changes = st.builds(
    lambda status, path, same, mode: Change(
        status, path, path, "a" * 40, ("a" if same else "b") * 40, mode, "100644"
    ),
    st.sampled_from("AMDT"),
    st.sampled_from(PATHS),
    st.booleans(),
    st.sampled_from(("100644", "120000")),
)
commits = st.builds(
    lambda parents, author, message, changed: Commit(
        "c" * 40, ("d" * 40,) * parents, 1, author, "a@b.c", message, tuple(changed)
    ),
    st.integers(0, 2),
    st.sampled_from(("Ada", "dependabot[bot]")),
    st.sampled_from(MESSAGES),
    st.lists(changes, max_size=4),
)


@given(commits, st.sets(st.sampled_from(NAMES)), st.integers(1, 3))
def test_the_first_rule_is_the_first_of_all(commit: Commit, off: set[str], most: int) -> None:
    filters = Filters(CaseLimits(max_files=most), frozenset(off))
    asked = [rule for rule in rules(filters.limits) if rule.name not in off]
    draft = Draft(commit, FileClassifier(filters.roles).sort(commit.changes))
    dropping = next((rule.name for rule in asked if rule.drops(draft)), "")
    assert Chains(asked).first(draft) == dropping
