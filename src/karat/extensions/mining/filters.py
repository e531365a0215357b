"""Rules that drop commits, and a waterfall of how many each has dropped.

Each rule of the table looks at one commit and can be turned off; they are applied in this order,
the cheap ones first. One pass over the history stores only commits that no rule drops. Two rules
need the whole history and come last: reverted commits, and commits with the same query as another.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache, partial
from typing import NamedTuple

from karat.errors import InputError, UnknownName
from karat.extensions.mining.commits import Candidate, Commit
from karat.extensions.mining.drafts import Draft, FileClassifier, Role, opening
from karat.extensions.mining.variants import without_paths
from karat.extensions.mining.words import (
    LEAST_WORDS,
    Reason,
    content_words,
    function_words,
    word_list,
)

_LETTERS = re.compile(r"[^\W\d_]")
_WORDS = re.compile(r"[^\W\d_]+")
_LEAST_ASCII = 0.8


@cache
def _foreign_words() -> frozenset[str]:
    return word_list("foreign_words")


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
    if _foreign_words().isdisjoint(words):
        return True
    foreign = sum(word in _foreign_words() for word in words)
    return foreign < 2 or foreign <= sum(word in function_words() for word in words)


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


class Chains:
    """Rules, grouped by the commits that they may drop."""

    def __init__(self, active: Sequence[Rule]) -> None:
        """Apply *active* rules in this order: rules about files, then reasons, then the others."""
        self._reasons = [(rule.reason, rule.name) for rule in active if rule.reason]
        positions = [index for index, rule in enumerate(active) if rule.reason]
        # Without rules about reasons, the first chain has all rules.
        files, text = (
            (active[: positions[0]], active[positions[-1] + 1 :]) if positions else (active, ())
        )
        self._with_targets = [(rule.name, rule.drops) for rule in files if not rule.targetless]
        self._without_targets = {
            sole: [(rule.name, rule.drops) for rule in files if rule.role in {None, sole}]
            for sole in (None, *Role)
        }
        self._text = [(rule.name, rule.drops) for rule in text]

    def first(self, draft: Draft) -> str:
        """Return the name of the first rule that drops *draft*, "" if none does."""
        files = draft.files
        for name, drops in (
            self._with_targets if files.targets else self._without_targets[files.sole]
        ):
            if drops(draft):
                return name
        said = draft.text.reasons
        if said:
            for reason, name in self._reasons:
                if reason in said:
                    return name
        for name, drops in self._text:
            if drops(draft):
                return name
        return ""


class FilterStep(NamedTuple):
    """One rule, and how many of the commits that reached it were dropped."""

    rule: str
    why: str
    dropped: int


class FilterWaterfall(NamedTuple):
    """How *total* commits were reduced to *kept* cases.

    >>> fall = FilterWaterfall(10, (FilterStep("merge", "it only joins two lines of work", 4),))
    >>> fall.kept, fall.then("code-equal", "it changes no code", 1).kept
    (6, 5)
    """

    total: int
    steps: tuple[FilterStep, ...]

    @property
    def kept(self) -> int:
        """The number of commits that no rule dropped."""
        return self.total - sum(step.dropped for step in self.steps)

    def then(self, rule: str, why: str, dropped: int) -> "FilterWaterfall":
        """Return the waterfall with one more rule at its end."""
        return self._replace(steps=(*self.steps, FilterStep(rule, why, dropped)))

    def with_merges(self, skipped: int) -> "FilterWaterfall":
        """Return the waterfall with *skipped* merges that were not read, as its first step."""
        if not skipped:
            return self
        rest = (step for step in self.steps if step.rule != MERGE)
        first = FilterStep(MERGE, rule_table()[MERGE], skipped)
        return FilterWaterfall(self.total + skipped, (first, *rest))

    def rows(self) -> Iterator[tuple[str, int, int]]:
        """Yield each rule with the number it dropped and the number left after it."""
        left = self.total
        for step in self.steps:
            left -= step.dropped
            yield step.rule, step.dropped, left


_IDS = re.compile(r"(?i:revert\w*|back(?:ed|s)? out|undo\w*)[\s\w:,]*?\b([0-9a-f]{7,40})\b")
_TITLE = re.compile(r"(?:\[[^\]]*\] *)?(?i:revert\w*|back(?:ed)? out)[\s:]+[\"“'](.+)[\"”']")


class Reverts:
    """Collects which commits are reverted by others; commits may come in any order."""

    def __init__(self) -> None:
        """Start empty."""
        self._ids: set[str] = set()
        self._lengths: set[int] = set()
        self._titles: dict[str, int] = {}

    def note(self, commit: Commit) -> None:
        """Record which commits *commit* reverts, if any."""
        message = commit.message
        if not ("evert" in message or "ndo" in message or ("ack" in message and " out" in message)):
            return
        for commit_id in _IDS.findall(message):
            self._ids.add(commit_id)
            self._lengths.add(len(commit_id))
        title = _TITLE.match(message)
        if title:
            self._titles[title[1]] = max(commit.time, self._titles.get(title[1], 0))

    def without_reverted(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return those of *candidates* that no recorded commit reverts."""
        return [candidate for candidate in candidates if not self.took_back(candidate.commit)]

    def took_back(self, commit: Commit) -> bool:
        """Return whether a recorded commit reverts *commit*: by its id, or later by its title."""
        if any(commit.id[:length] in self._ids for length in self._lengths):
            return True
        return self._titles.get(opening(commit.message), -1) >= commit.time


DUPLICATE = "duplicate"

WHOLE_HISTORY = {
    "reverted": "a later commit reverts it",
    DUPLICATE: "another commit has the same query",
}
# This rule reads files, so it is applied only to sampled commits.
CODE_EQUAL = "code-equal"
_WORD = re.compile(r"\w+")


class Filters(NamedTuple):
    """Which rules and limits decide about a commit.

    *off* has the names of rules that are turned off. With a rule such as ``docs-only`` off, files
    of that role may be targets. *exclude* has patterns as in ``.gitignore``: matching files are
    never targets, and a commit that changes nothing else is dropped.
    """

    limits: CaseLimits = CaseLimits()
    off: frozenset[str] = frozenset()
    exclude: tuple[str, ...] = ()

    @property
    def roles(self) -> list[Role]:
        """The roles of files that may be targets."""
        return [Role.SOURCE, *(role for role in Role if f"{role}-only" in self.off)]


_ALL = Filters()


class Selection(NamedTuple):
    """The candidates in the order of the history, and the waterfall that led to them."""

    candidates: list[Candidate]
    waterfall: FilterWaterfall


def rule_table() -> dict[str, str]:
    """Return every rule that can be turned off, with its reason, in order of application."""
    one_commit = {rule.name: rule.why for rule in rules(CaseLimits()) if rule.name != NO_TARGET}
    changed = {CODE_EQUAL: "it changes only comments, docstrings or layout"}
    return one_commit | WHOLE_HISTORY | changed


def select(commits: Iterable[Commit], filters: Filters = _ALL) -> Selection:
    """Return the candidates among *commits*, which may come in any order."""
    _check_names(filters.off)
    active = [rule for rule in rules(filters.limits) if rule.name not in filters.off]
    chains = Chains(active)
    sort = FileClassifier(filters.roles, _excluder(filters.exclude)).sort
    dropped: Counter[str] = Counter()
    reverts = Reverts()
    candidates: list[Candidate] = []
    total = 0
    for commit in commits:
        total += 1
        reverts.note(commit)
        draft = Draft(commit, sort(commit.changes))
        if dropping := chains.first(draft):
            dropped[dropping] += 1
        else:
            candidates.append(draft.candidate())
    fall = FilterWaterfall(
        total, tuple(FilterStep(name, why, dropped[name]) for name, why, *_ in active)
    )
    for name, narrow in (("reverted", reverts.without_reverted), (DUPLICATE, _distinct)):
        if name not in filters.off:
            fewer = narrow(candidates)
            fall = fall.then(name, WHOLE_HISTORY[name], len(candidates) - len(fewer))
            candidates = fewer
    return Selection(candidates, fall)


def _check_names(off: Collection[str]) -> None:
    known = rule_table()
    for name in sorted(off):
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise UnknownName(f"no rule named {name!r}; {hint}")


def _excluder(patterns: Sequence[str]) -> Callable[[str], bool] | None:
    if not patterns:
        return None
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns).match_file
    except ValueError as error:
        raise InputError(f"{error}; expected patterns as in .gitignore") from error


def oldest_commits(queries: Iterable[tuple[Candidate, str]]) -> set[str]:
    """Return the ids of the commits that remain if each query may occur once.

    Case and punctuation are ignored. The oldest commit of each query remains, because a
    cherry-picked copy is younger.
    """
    first: dict[str, Candidate] = {}
    for candidate, query in queries:
        key = " ".join(_WORD.findall(query.lower()))
        known = first.setdefault(key, candidate)
        if known is not candidate and _age(candidate) < _age(known):
            first[key] = candidate
    return {candidate.commit.id for candidate in first.values()}


def _distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    oldest = oldest_commits((candidate, candidate.query) for candidate in candidates)
    return [candidate for candidate in candidates if candidate.commit.id in oldest]


def _age(candidate: Candidate) -> tuple[int, str]:
    return candidate.commit.time, candidate.commit.id
