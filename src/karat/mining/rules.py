"""Why a commit is no case: a table of named rules, each of which can be turned off.

A rule here looks at one commit. They are asked in this order, the cheap ones first.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from karat.mining.drafts import Draft, Files
from karat.mining.english import is_english
from karat.mining.hardness import without_paths
from karat.mining.roles import Role
from karat.mining.wording import Reason
from karat.mining.words import LEAST_WORDS, content_words

__all__ = ["NO_TARGET", "Chains", "Limits", "Rule", "rules"]

# The one rule that cannot be turned off: without a target there is nothing to score.
NO_TARGET = "no-target"


class Rule(NamedTuple):
    """One reason to drop a commit; *why* completes "it is no case, because ...".

    A rule that is *targetless* drops no commit that has a target, and one with a *role* only those
    all whose files have it; others need not be asked.
    """

    name: str
    why: str
    drops: Callable[[Draft], bool]
    targetless: bool = False
    role: Role | None = None


class Chains:
    """The rules that may drop a commit, in their order, by what its files are."""

    def __init__(self, asked: Sequence[Rule]) -> None:
        """Sort out which of the rules *asked* may drop which commits."""
        self._found = [(rule.name, rule.drops) for rule in asked if not rule.targetless]
        self._not_found = {
            sole: [(rule.name, rule.drops) for rule in asked if rule.role in {None, sole}]
            for sole in (None, *Role)
        }

    def of(self, files: Files) -> list[tuple[str, Callable[[Draft], bool]]]:
        """Return names and tests for a commit with *files*."""
        return self._found if files.targets else self._not_found[files.sole]


class Limits(NamedTuple):
    """How many target files a case may have, and how many words of content its question needs."""

    min_files: int = 1
    max_files: int = 10
    min_words: int = LEAST_WORDS
    max_words: int = 30


# What a slow pattern needs is looked for first. In lower case, since a pattern that ignores case
# takes three times as long.
_BOT = re.compile(
    r"\bbot\b|_bot\b|robot|dependabot|renovate|greenkeeper|pre-commit-ci|github-actions|pyup|weblate"
    r"|transifex|semantic-release|snyk|\bci@|\bautomation\b"
)
_BOT_SIGNS = (
    *("bot", "ci@", "automation", "renovate", "greenkeeper", "pre-commit-ci", "github-actions"),
    *("pyup", "weblate", "transifex", "semantic-release", "snyk"),
)
_DIGIT = re.compile(r"\d")
_SHA = re.compile(r"\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,40}\b|\br\d{3,6}\b|\[\d{3,6}\]")
# "1.2", "2013.06.13, Version 0.10.11", "update Werkzeug to 2.3.7".
_VERSION = re.compile(
    r"v?\d+\.\d+\S*$|(?:[\d.]+,? )?version v?\d|(?:bump|pin|require|release|set|update|use|version)"
    r" (?:\S+ ){0,4}v?\d+(?:\.\w+)+\.?$",
    re.IGNORECASE,
)
# The kinds of Conventional Commits whose word alone would not tell: "build" is also a verb.
_UPKEEP = re.compile(r"(?i:chore|style|ci|build|deps|types?|typing)(?:\([^)]*\))?!?: ")
_RENAMES = re.compile(r"\w\S* (?:->|=>|→) \S*\w")
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


def rules(limits: Limits) -> tuple[Rule, ...]:
    """Return every rule that looks at one commit, in the order in which they are asked."""
    return (
        Rule("merge", "it only joins two lines of work", _is_merge),
        Rule("root", "nothing lies before it that could be searched", _is_root),
        Rule("bot", "a program wrote it", _by_bot),
        *map(_only_rule, _ONLY),
        Rule("no-source", "it changes no source file", _no_source, targetless=True),
        Rule("added-only", "its files did not exist before it", _added_only, targetless=True),
        Rule("moved-only", "it moves files and changes none", _moved_only),
        Rule("few-files", "it changes too few files", partial(_few_files, limits.min_files)),
        Rule("many-files", "it changes too many files", partial(_many_files, limits.max_files)),
        Rule(NO_TARGET, "none of its files can be found before it", _no_target, targetless=True),
        Rule("revert", "it takes back another commit", partial(_says, Reason.REVERT)),
        Rule("bump", "it raises a version", _is_bump),
        Rule("layout", "it changes layout, spelling or licences", partial(_says, Reason.LAYOUT)),
        Rule(
            "maintenance",
            "it is about documentation, tests, types or the shape of the code",
            _is_maintenance,
        ),
        Rule("distant", "its message needs another commit to be understood", _refers),
        Rule("vague", "its message says nothing particular", partial(_says, Reason.VAGUE)),
        Rule("tangled", "it does two things at once", partial(_says, Reason.TANGLED)),
        Rule("short", "too few words are left", partial(_short, limits.min_words)),
        Rule("long", "no one would type so many words", partial(_long, limits.max_words)),
        Rule("foreign", "its message is not English", _foreign),
        Rule("path-only", "without paths nothing is left of its message", _path_only),
    )


def _only_rule(role: Role) -> Rule:
    why = f"it changes only files of the kind: {role}"
    return Rule(f"{role}-only", why, partial(_only, role), targetless=True, role=role)


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


def _is_bump(draft: Draft) -> bool:
    return _says(Reason.BUMP, draft) or _VERSION.match(draft.text.query) is not None


def _is_maintenance(draft: Draft) -> bool:
    return (
        _says(Reason.MAINTENANCE, draft)
        or _UPKEEP.match(draft.commit.message) is not None
        or _renames(draft.text.query)
    )


def _renames(query: str) -> bool:
    return (">" in query or "→" in query) and _RENAMES.search(query) is not None


def _refers(draft: Draft) -> bool:
    return _says(Reason.DISTANT, draft) or _names_commit(draft.text.query)


def _names_commit(query: str) -> bool:
    return _DIGIT.search(query) is not None and _SHA.search(query) is not None


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
