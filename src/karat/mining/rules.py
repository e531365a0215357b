"""Rules that drop commits: a table of named rules, each of which can be turned off.

Each rule looks at one commit. They are applied in this order, the cheap ones first.
"""

import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

from karat.mining.drafts import Draft, Role
from karat.mining.variants import without_paths
from karat.mining.words import FUNCTION_WORDS, LEAST_WORDS, Reason, content_words

__all__ = ["MERGE", "NO_TARGET", "CaseLimits", "Rule", "is_english", "rules"]

# Function words of other languages in Latin script; none of them is an English word.
_SMALL_WORDS = """
aber au auch auf aux avec bei cette che como cuando da dans das de del dem der du een ein eine einen
ele em essa est esta este et für gli het il isso ist la le les leur los mais mit muy más nach nas
nella nicht niet non nos não ou par para pas pela pelo pero por pour quando que qui sem sin sobre
sono sont sur são uma un una und une van von voor wenn wird zu zum zur
"""
_FOREIGN = frozenset(_SMALL_WORDS.split())
_LETTERS = re.compile(r"[^\W\d_]")
_WORDS = re.compile(r"[^\W\d_]+")
_LEAST_ASCII = 0.8


def is_english(text: str) -> bool:
    """Return whether *text* may be English.

    Most letters must be ASCII, and function words of other languages must not outnumber English
    ones. A single foreign word is not evidence: it may be quoted.

    >>> is_english("fix the encoding of naïve dates"), is_english("修复 bug")
    (True, False)
    >>> is_english("corrige le bug dans les formulaires")
    False
    """
    if not text.isascii():
        letters = _LETTERS.findall(text)
        if sum(letter.isascii() for letter in letters) < _LEAST_ASCII * len(letters):
            return False
    words = _WORDS.findall(text.lower())
    if _FOREIGN.isdisjoint(words):
        return True
    foreign = sum(word in _FOREIGN for word in words)
    return foreign < 2 or foreign <= sum(word in FUNCTION_WORDS for word in words)


# The only rule that cannot be turned off: a query without a target cannot be scored.
NO_TARGET = "no-target"
MERGE = "merge"


class Rule(NamedTuple):
    """One reason to drop a commit; *why* completes "it is dropped because ...".

    The other fields let the filter skip rules: a *targetless* rule drops no commit that has a
    target, a rule with a *role* drops only commits whose files all have that role, and a rule with
    a *reason* only commits whose message has that reason.
    """

    name: str
    why: str
    drops: Callable[[Draft], bool]
    targetless: bool = False
    role: Role | None = None
    reason: Reason | None = None


class CaseLimits(NamedTuple):
    """Limits on the number of target files and on the number of content words in the query."""

    min_files: int = 1
    max_files: int = 10
    min_words: int = LEAST_WORDS
    max_words: int = 30


# A cheap test for a text that the slow pattern needs. In lower case, because a pattern that ignores
# case takes three times as long.
_BOT = re.compile(
    r"\bbot\b|_bot\b|robot|dependabot|renovate|greenkeeper|pre-commit-ci|github-actions|pyup|weblate"
    r"|transifex|semantic-release|snyk|\bci@|\bautomation\b"
)
_BOT_SIGNS = (
    *("bot", "ci@", "automation", "renovate", "greenkeeper", "pre-commit-ci", "github-actions"),
    *("pyup", "weblate", "transifex", "semantic-release", "snyk"),
)
_ONLY = (
    Role.TEST,
    Role.DOCS,
    Role.EXAMPLE,
    Role.BUILD,
    Role.CONFIG,
    Role.LOCK,
    Role.GENERATED,
    Role.VENDORED,
)
_SAID = {
    Reason.REVERT: "it reverts another commit",
    Reason.BUMP: "it changes a version number",
    Reason.LAYOUT: "it changes layout, spelling or licences",
    Reason.MAINTENANCE: "it is about documentation, tests, types or refactoring",
    Reason.DISTANT: "its message refers to another commit",
    Reason.VAGUE: "its message is too vague",
    Reason.TANGLED: "it makes two changes at once",
}


def rules(limits: CaseLimits) -> tuple[Rule, ...]:
    """Return every rule that looks at one commit, in order of application."""
    return (
        Rule(MERGE, "it is a merge", _is_merge),
        Rule("root", "it has no parent, so there is nothing to search", _is_root),
        Rule("bot", "a bot wrote it", _by_bot),
        *map(_only_rule, _ONLY),
        Rule("no-source", "it changes no source file", _no_source, targetless=True),
        Rule("added-only", "all of its files are new", _added_only, targetless=True),
        Rule("moved-only", "it moves files without changing them", _moved_only),
        Rule("few-files", "it changes too few files", partial(_few_files, limits.min_files)),
        Rule("many-files", "it changes too many files", partial(_many_files, limits.max_files)),
        Rule(NO_TARGET, "none of its files existed before it", _no_target, targetless=True),
        *(_said_rule(reason, why) for reason, why in _SAID.items()),
        Rule("short", "its query has too few words", partial(_short, limits.min_words)),
        Rule("long", "its query has too many words", partial(_long, limits.max_words)),
        Rule("foreign", "its message is not English", _foreign),
        Rule("path-only", "its message has only paths", _path_only),
    )


def _only_rule(role: Role) -> Rule:
    why = f"it changes only {str(role).removesuffix('s')} files"
    return Rule(f"{role}-only", why, partial(_only, role), targetless=True, role=role)


def _said_rule(reason: Reason, why: str) -> Rule:
    return Rule(reason.value, why, partial(_says, reason), reason=reason)


def _is_merge(draft: Draft) -> bool:
    return len(draft.commit.parents) > 1


def _is_root(draft: Draft) -> bool:
    return not draft.commit.parents


def _by_bot(draft: Draft) -> bool:
    return _names_bot(draft.commit.author, draft.commit.email)


@lru_cache(maxsize=1 << 14)
def _names_bot(author: str, email: str) -> bool:
    by = f"{author} {email}".lower()
    return any(sign in by for sign in _BOT_SIGNS) and _BOT.search(by) is not None


def _only(role: Role, draft: Draft) -> bool:
    files = draft.files
    return files.sole is role and not files.targets and not files.added


def _no_source(draft: Draft) -> bool:
    return not draft.files.targets and not draft.files.added


def _added_only(draft: Draft) -> bool:
    return not draft.files.targets and draft.files.added > 0


def _moved_only(draft: Draft) -> bool:
    targets = draft.files.targets
    return bool(targets) and all(change.old_blob == change.new_blob for change in targets)


def _few_files(least: int, draft: Draft) -> bool:
    return len(draft.files.targets) < least


def _many_files(most: int, draft: Draft) -> bool:
    return len(draft.files.targets) > most


def _no_target(draft: Draft) -> bool:
    return not draft.files.targets


def _says(reason: Reason, draft: Draft) -> bool:
    return reason in draft.text.reasons


def _short(least: int, draft: Draft) -> bool:
    return len(content_words(draft.text.query)) < least


def _long(most: int, draft: Draft) -> bool:
    return draft.text.query.count(" ") >= most


def _foreign(draft: Draft) -> bool:
    return not is_english(draft.text.query)


def _path_only(draft: Draft) -> bool:
    query = draft.text.query
    if "." not in query and "/" not in query:
        return False
    paths = tuple(change.old_path for change in draft.files.targets)
    masked = without_paths(query, paths)
    return masked != query and len(content_words(masked)) < LEAST_WORDS
