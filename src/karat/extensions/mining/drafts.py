"""Drafts: commits under examination, with classified files and the query of their message.

A query is what a developer might have typed before the change. It is made only by rules: tables of
prefixes and asides to remove, then the first sentence, with its verb in the imperative. No rule is
specific to one repository.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from typing import NamedTuple

from karat.corpus.files.traits import Trait, classify
from karat.extensions.mining.commits import Candidate, Change, Commit
from karat.extensions.mining.words import PACKAGE, Reason, content_words, parts, reasons, word_list
from karat.system.package_data import read_lines, read_words

# Verbs whose last consonant is doubled.
_DOUBLING = """
cut defer drop emit get log map omit permit pin prefer put run set skip split stop strip swap trim
wrap
"""
_DOUBLED = frozenset(_DOUBLING.split())

_IRREGULAR_BASES = (
    "bring build choose do find forbid get give hide keep let make put run send set show speed "
    "take teach throw write"
)

# A cheap test for a character that the slow pattern needs.
_DIGIT = re.compile(r"\d")
_SHA = re.compile(r"\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,40}\b|\br\d{3,6}\b|\[\d{3,6}\]")
# "1.2", "2013.06.13, Version 0.10.11", "update Werkzeug to 2.3.7".
_VERSION = re.compile(
    r"v?\d+\.\d+\S*$|(?:[\d.]+,? )?version v?\d|(?:bump|pin|require|release|set|update|use|version)"
    r" (?:\S+ ){0,4}v?\d+(?:\.\w+)+\.?$",
    re.IGNORECASE,
)
# Conventional Commits types whose word alone is ambiguous: "build" is also a verb.
_UPKEEP = re.compile(r"(?i:chore|style|ci|build|deps|types?|typing)(?:\([^)]*\))?!?: ")
_RENAMES = re.compile(r"\w\S* (?:->|=>|→) \S*\w")


def _forms(verb: str) -> tuple[str, str, str]:
    """Return the past, the gerund and the third person of a regular *verb*."""
    if verb.endswith("e"):
        return f"{verb}d", f"{verb[:-1]}ing", f"{verb}s"
    if verb.endswith("y") and verb[-2] not in "aeo":
        return f"{verb[:-1]}ied", f"{verb}ing", f"{verb[:-1]}ies"
    third = f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z")) else f"{verb}s"
    stem = verb + verb[-1] if verb in _DOUBLED else verb
    return f"{stem}ed", f"{stem}ing", third


@cache
def _bases() -> Mapping[str, str]:
    """Return the verb of each form that may open a message."""
    verbs = read_words(PACKAGE, "word_lists/verbs.txt")
    nouns = word_list("nouns")
    irregular = _IRREGULAR_BASES.split()
    bases = {form: verb for verb in verbs for form in _forms(verb) if form not in nouns}
    bases |= {_forms(verb)[1]: verb for verb in irregular}
    bases |= {verb: verb for verb in (*verbs, *irregular)}
    for line in read_lines(PACKAGE, "word_lists/irregular_verbs.txt"):
        form, verb = line.split()
        bases[form] = verb
    return bases


_BRITISH = re.compile(r"is(e[sd]?|ing)$")


def imperative(word: str) -> str:
    """Return the base form of the verb *word*, or "" if it is not a verb that opens a message.

    >>> imperative("Fixed"), imperative("Stopped"), imperative("Made"), imperative("Adding")
    ('fix', 'stop', 'make', 'add')
    >>> imperative("Logging"), imperative("Nested"), imperative("HTTP")
    ('', '', '')
    """
    lower = word.lower()
    bases = _bases()
    return bases.get(lower) or bases.get(_BRITISH.sub(r"iz\1", lower), "")


# Standards whose names look like ticket ids.
_STANDARD = r"(?!(?:UTF|ISO|SHA|RFC|AES|MD|PEP|CP|KOI|IPV|HTTP|TLS|ES|MP|UCS|GB|IEEE|X|RS|BASE)-\d)"
_TICKET = (
    r"(?:(?i:issues?|tickets?|bugs?|pr|pull request|gh|bpo|bz)[\s:-]*#?\d+"
    rf"|\#\d+|CVE-\d+-\d+|\b{_STANDARD}[A-Z][A-Z0-9]+-\d+)(?![\w.]*\w)"
)
_TICKETS = rf"{_TICKET}(?:(?:\s*(?:,|&|/|\+)\s*|\s+)(?:(?i:and|or)\s+)?{_TICKET})*"
_SOLVES = (
    r"(?i:fix(?:e[sd])?|fixing|close[sd]?|resolve[sd]?|refs?|references?|see|re|addresses"
    r"|related to|towards?|part of|follow[ -]?up (?:to|for|of)|issue)"
)
_KIND = (
    r"(?i:feat|feature|fix(?:e[sd])?|fixup|bug|bugfix|hotfix|perf|refactor|docs?|tests?|chore|style"
    r"|ci|build|deps|types?|typing|security|wip|enhancement|backport|added|changed)"
)

# Prefixes; removed repeatedly until none matches.
HEADS = {
    "tag": r"\[[^\]]{1,60}\]\s*(?:[:-]\s*|(?=\s|[A-Z#]))",
    "emoji": r":[a-z][a-z0-9_+-]+:\s*|[^\w\s!-~«»“”’]+\s*",
    "kind": rf"{_KIND}(?:\([^)]*\))?!?[:;]\s+",
    "solved": (
        rf"{_SOLVES}\s*:?\s*{_TICKETS}\s*(?:\((?i:again|\d+)\)\s*)?"
        r"(?:--+|[—–:,;.-])?\s*(?:(?i:by)\s+(?=\w+ing\b))?"
    ),
    "misspelled": r"#?\w+ #?\d{2,}\s+--\s+",
    "version": r"(?:[\w-]+:)?v?\d+(?:\.\d+)+:\s+",
    "ticket": rf"\(?{_TICKETS}\)?\s*(?:--+|[—–:,-])\s*|#\d+\s+",
    "dash": r"(?:--+|[—–:.,*])\s+",
}
_HEAD = re.compile("|".join(f"(?:{pattern})" for pattern in HEADS.values()))
_HEADED = re.compile(r"[\d:;]")


_CREDIT = (
    r"many thanks|much thanks|big thanks|thanks|thank you|thx|props to|kudos|patch by|patch from"
    r"|patches by|based on (?:a |the )?(?:\w+ )?(?:patch|work)|(?:original|initial) (?:patch|work)"
    r"|reported by|report by|review by|reviewed by|pointed out by|suggested by|spotted by"
    r"|noticed by|found by|contributed by|courtesy of|with help from|as suggested by|credit"
    r"|backport of|backported from|cherry[- ]picked"
)
# Removed anywhere in the text. Each pattern begins with a character that is rare in messages,
# which makes it fast.
ASIDES = {
    "address": r"https?://[^\s>)]+",
    "remark": rf"\((?:[^()]*{_TICKET}[^()]*|(?i:{_CREDIT})\b[^()]*)\)",
    "mark": rf"\[(?i:[^\]]*\bci\b[^\]]*|#\d+|(?:{_CREDIT})\b[^\]]*)\]",
    "thanks": r"^(?i:(?:many|much|big) )?(?i:thanks|thank you|thx|kudos)\b.*$",
    "credit": rf"[.,;!)–—-][-\s]*(?i:(?:with|also|and)\s+)?(?i:{_CREDIT})\b.*$",
}
# The same, applied only to messages that contain a number.
REFERENCES = {
    "solves": (
        r"(?:^|[.,;:–—-]*\s+|\()"
        r"(?:(?i:and|which|also|this|it|should|may|might|commit|partially|patch)\s+)*"
        rf"{_SOLVES}\s*:?\s*(?i:also\s+)?{_TICKETS}\)?\.?"
    ),
    "ticket": (
        r"(?:\s+(?i:for|in|from|of|per|with|on|via|by|and))?[\s,;:–—-]+"
        rf"\(?{_TICKETS}\)?(?=[\s.,;:!)]|$)"
    ),
}
_ASIDES = [re.compile(pattern) for pattern in ASIDES.values()]
_REFERENCES = [re.compile(pattern) for pattern in REFERENCES.values()]
_NUMBER = re.compile(r"[#\s:-]\d")

_MERGE = re.compile(
    r"(?:[Mm]erged? (?:pull request|PR|branch|remote|tag|heads?|upstream|mainline|trunk|"
    r"with (?:upstream|mainline|trunk|main|master|\w+://|git@))|[Aa]utomat(?:ic|ed) merge)(?!\w)"
)
_TRAILER = re.compile(
    r"[A-Z][A-Za-z]+(?:-[A-Za-z]+)+: |(?:Fixes|Closes|Refs|Bug|See): |git-svn-id:|darcs-hash:"
)
_BULLET = re.compile(r"\s*(?:[-*•+]|\d+[.)])\s")
# A line that ends before this column, although the next word would fit, was ended on purpose.
_WRAPS_AT = 60
_LONELY_STOP = re.compile(r"\s+\.(?=\s|$)")
# An abbreviation does not end a sentence.
_SENTENCE = re.compile(
    r"[.!?;](?<=[\w)\]\"'`}>].)(?<!\be\.g.)(?<!\bi\.e.)(?<!\bvs.)(?<!\betc.)(?<!\bcf.)"
    r"\s+(?=[\"'`(\[]?[A-Z]|\w+ed\b|this\b|it\b)"
)
_ROLE = re.compile(r":[a-z:]+:`~?([^`]*)`")
_MARKUP = re.compile(r"`+|\*\*+")
# The verb may come after a scope ("kubelet: ", which stays), after filler words and an adverb.
_LEAD = re.compile(
    r"((?:[\w.,/+@ -]{1,40}: +)*)(?:(?i:i|we|just|also|now|please|finally|hopefully) +)?"
    r"((?:[A-Za-z][a-z]+ly +)?)([A-Za-z][a-z]+(?:-[a-z]+)?)(?![\w.(:/-])"
)
# "Closing handles should keep the loop alive" is a sentence; its gerund is not an imperative.
_FINITE = re.compile(
    r"\b(?:is|are|was|were|should|must|can|will|would|could|does|did|now|no longer)\b"
)
# Words that dangle at the end after a reference was removed.
_BEFORE_REFERENCES = """
as and at by for from in of on per see the to via with
"""
_DANGLING = frozenset(_BEFORE_REFERENCES.split())
_END = " \t.,;:!-–—"


def opening(message: str) -> str:
    r"""Return the first paragraph with content, as one line.

    Old histories wrap their subjects, so one line is not enough. A trailer, a list, a new
    imperative or a line that ends early ends the paragraph. The line that a hosting service writes
    above the title of a merge is skipped.

    >>> opening("Merge pull request #7 from a/b\n\nSort routes by weight\n* and by name")
    'Sort routes by weight'
    """
    for paragraph in message.replace("\r", "").split("\n\n"):
        lines = paragraph.strip("\n").split("\n")
        first = lines[0].strip()
        if not first or _MERGE.match(first):
            continue
        if len(lines) == 1:
            return first
        wrapped = [first]
        for line in lines[1:]:
            word = line.strip().partition(" ")[0]
            if len(wrapped[-1]) + len(word) < _WRAPS_AT or (
                word[:1].isupper() and imperative(word)
            ):
                break
            if _TRAILER.match(line) or _BULLET.match(line):
                break
            wrapped.append(line.strip())
        return " ".join(wrapped)
    return ""


def query_of(message: str) -> str:
    """Return the query for *message*, as a developer might type it; "" if it has none.

    >>> query_of("Fixed #34000 -- Fixed numberformat.format() crash on empty strings. Thanks A.")
    'fix numberformat.format() crash on empty strings'
    >>> query_of("kubelet: Added the --max-pods option (#12)")
    'kubelet: add the --max-pods option'
    """
    return as_query(opening(message))


def as_query(text: str) -> str:
    """Return the query for *text*, the opening of a message."""
    text = _without_heads(text)
    for pattern in (*_ASIDES, *_REFERENCES) if _NUMBER.search(text) else _ASIDES:
        text = pattern.sub(" ", text)
    if " ." in text:
        text = _LONELY_STOP.sub(".", text)
    text = _first_sentence(text)
    if "`" in text or "**" in text:
        text = _MARKUP.sub("", _ROLE.sub(r"\1", text))
    text = " ".join(_without_heads(text).split()).strip(_END)
    while (last := text.rpartition(" "))[2] in _DANGLING:
        text = last[0].rstrip(_END)
    return _as_order(text)


def _without_heads(text: str) -> str:
    # Nearly every message begins with a word; a prefix that begins with a word has one of these.
    if text[:1].isalpha() and not _HEADED.search(text):
        return text
    while head := _HEAD.match(text):
        if not head.end():
            break
        text = text[head.end() :]
    return text


def _first_sentence(text: str) -> str:
    """Return the first sentence of *text*, and the next if the first has fewer than three words."""
    for end in _SENTENCE.finditer(text):
        if text.count(" ", 0, end.start()) >= 2:
            return text[: end.start()]
    return text


def _as_order(text: str) -> str:
    lead = _LEAD.match(text)
    if not lead:
        return text
    scope, adverb, word = lead.groups()
    verb = imperative(word)
    if not verb or (word.endswith("ing") and _FINITE.search(text)):
        return text
    return f"{scope}{adverb.lower()}{verb}{text[lead.end() :]}"


# A scope, or several: "printer: ", "ignore/types, globset: ".
_SCOPE = re.compile(r"([\w./+@-]{1,40}(?:, ?[\w./+@-]{1,40})*): +")


def without_scope(query: str, targets: Iterable[Change]) -> str:
    """Return *query* without leading scopes that are part of the path of a target.

    Who searches does not know the file yet. A scope with another word stays.

    >>> change = Change("M", "crates/globset/src/lib.rs", "crates/globset/src/lib.rs", *"abcd")
    >>> without_scope("globset: escape the backslash", [change])
    'escape the backslash'
    >>> without_scope("windows: escape the backslash", [change])
    'windows: escape the backslash'
    """
    known: set[str] | None = None
    while scope := _SCOPE.match(query):
        if known is None:
            known = {part for target in targets for part in parts(target.old_path)}
        if not known.issuperset(parts(scope[1])):
            break
        query = query[scope.end() :]
    return query


# What is left of a query without these words and without versions is its content.
_RELEASE_WORDS = """
again alpha another begin beta bump candidate continue cut cycle dev development final first follow
following milestone minor major next number pre prepare preparing publish pypi rc ready
release released releases releasing second ship start tag today towards upload version versions
"""
_RELEASING = frozenset(_RELEASE_WORDS.split())
_RELEASE = re.compile(r"\b(?:releas(?:e[ds]?|ing)|versions?)\b|\bv?\d+(?:\.\d+)+", re.IGNORECASE)


def _is_release(query: str) -> bool:
    """Return whether *query* is about a release or a version and nothing else."""
    words = content_words(query) if _RELEASE.search(query) else set()
    return not words.isdisjoint(_RELEASING) and len(words - _RELEASING) < 2


def signs(message: str, query: str) -> set[Reason]:
    """Return the reasons that the form of a *message* and of its *query* gives to drop it.

    >>> signs("build: copy the images", "copy the images")
    {<Reason.MAINTENANCE: 'maintenance'>}
    >>> signs("Fix the crash since 3c7ed2b", "fix the crash since 3c7ed2b")
    {<Reason.DISTANT: 'distant'>}
    """
    reasons = set()
    if _is_release(query):
        reasons.add(Reason.BUMP)
    if _DIGIT.search(query):
        if _VERSION.match(query):
            reasons.add(Reason.BUMP)
        if _SHA.search(query):
            reasons.add(Reason.DISTANT)
    if ":" in message and _UPKEEP.match(message):
        reasons.add(Reason.MAINTENANCE)
    if (">" in query or "→" in query) and _RENAMES.search(query):
        reasons.add(Reason.MAINTENANCE)
    return reasons


class Role(StrEnum):
    """The role of a file; the first role that applies, in this order, wins.

    VENDORED and GENERATED come first, because a vendored test is not a test of this project. OTHER
    are files that no code search returns: images, binaries, unknown names.
    """

    VENDORED = "vendored"
    GENERATED = "generated"
    LOCK = "lock"
    TEST = "tests"
    DOCS = "docs"
    CONFIG = "config"
    EXAMPLE = "examples"
    BUILD = "build"
    SOURCE = "source"
    OTHER = "other"


_BY_TRAIT = (
    (Trait.VENDORED, Role.VENDORED),
    (Trait.GENERATED | Trait.MINIFIED, Role.GENERATED),
    (Trait.LOCK, Role.LOCK),
    (Trait.TEST, Role.TEST),
    (Trait.DOCS, Role.DOCS),
    (Trait.CONFIG, Role.CONFIG),
)
# Searchable code that is never the subject of a change: examples and build scripts.
_EXAMPLES = re.compile(r"(?i)(?:^|/)(?:examples?|samples?|demos?|tutorials?|benchmarks?)(?:/|$)")
_BUILD_FOLDER = re.compile(r"(?i)(?:^|/)\.(?:github|ci)(?:/|$)|^(?:scripts?|hack)(?:/|$)")
_BUILD_FILE = re.compile(
    r"(?i)(?:setup\.py|noxfile\.py|fabfile\.py|gulpfile\.[a-z]+|gruntfile\.[a-z]+|rakefile|gemfile"
    r"|build\.rs|.*\.(?:gemspec|gradle\.kts|cmake|gypi?)|[\w.-]+\.config\.[cm]?[jt]s)$"
)


def role_of(path: str) -> Role:
    """Return the role of the file at *path*.

    >>> [role_of(path).value for path in ("a.py", "tests/a.py", "vendor/a_test.go", ".ci/run.sh")]
    ['source', 'tests', 'vendored', 'other']
    """
    if path.startswith(".") or "/." in path:
        # A corpus leaves out hidden files.
        return Role.OTHER
    language, traits = classify(path)
    if traits:
        return _by_traits(traits)
    if not language:
        return Role.OTHER
    folder, _, name = path.rpartition("/")
    role = _in_folder(folder)
    return Role.BUILD if role is Role.SOURCE and _BUILD_FILE.match(name) else role


# Joining flags is slow, and few combinations occur.
@cache
def _by_traits(traits: Trait) -> Role:
    return next(role for trait, role in _BY_TRAIT if trait & traits)


# A history has thousands of files in each folder.
@lru_cache(maxsize=1 << 14)
def _in_folder(folder: str) -> Role:
    if _EXAMPLES.search(folder):
        return Role.EXAMPLE
    return Role.BUILD if _BUILD_FOLDER.search(folder) else Role.SOURCE


_FILE_MODES = ("100644", "100755")
_PUNCTUATION = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
# As bytes: translating bytes takes a quarter of the time.
_SEPARATORS = bytes.maketrans(_PUNCTUATION, b" " * len(_PUNCTUATION))


class ChangedFiles(NamedTuple):
    """The relevant changes of a commit, by role.

    *sole* is the role of all its files, if they share one.
    """

    targets: tuple[Change, ...]
    tests: tuple[Change, ...]
    added: int
    sole: Role | None


class FileClassifier:
    """Classifies the files of commits, with a cache of the role of each path.

    *roles* are the roles that may be targets; paths that *excluded* matches are never targets.
    """

    def __init__(
        self,
        roles: Collection[Role] = (Role.SOURCE,),
        excluded: Callable[[str], bool] | None = None,
    ) -> None:
        """Use *roles* as targets and skip *excluded* paths."""
        self._target_roles = frozenset(roles)
        self._excluded = excluded
        self._roles: dict[str, Role] = {}

    def sort(self, changes: Sequence[Change]) -> ChangedFiles:
        """Return the files that a search before the change could return, and count the others.

        Changes of mode only, links and submodules are not targets.
        """
        targets = []
        tests = []
        seen = set()
        added = 0
        known, target_roles, test = self._roles, self._target_roles, Role.TEST
        for change in changes:
            path = change.old_path
            role = known.get(path)
            if role is None:
                role = known[path] = self._role(path)
            seen.add(role)
            if role in target_roles:
                if change.status == "A":
                    added += 1
                elif change.old_mode in _FILE_MODES and not _only_mode(change):
                    targets.append(change)
            elif role is test:
                tests.append(change)
        sole = seen.pop() if len(seen) == 1 else None
        return ChangedFiles(tuple(targets), tuple(tests), added, sole)

    def _role(self, path: str) -> Role:
        if self._excluded is not None and self._excluded(path):
            return Role.OTHER
        return role_of(path)


def _only_mode(change: Change) -> bool:
    return change.old_blob == change.new_blob and change.old_path == change.path


class ParsedMessage(NamedTuple):
    """The parsed message: its query and the reasons to drop the commit."""

    query: str
    reasons: set[Reason]


class Draft:
    """A commit under examination; its message is parsed on first use."""

    __slots__ = ("_text", "commit", "files")

    def __init__(self, commit: Commit, files: ChangedFiles) -> None:
        """Examine *commit*, whose changes are classified as *files*."""
        self.commit = commit
        self.files = files
        self._text: ParsedMessage | None = None

    @property
    def text(self) -> ParsedMessage:
        """The parsed message."""
        if self._text is None:
            subject = opening(self.commit.message)
            query = without_scope(as_query(subject), self.files.targets)
            said = reasons(_words(subject), _lead(query))
            self._text = ParsedMessage(query, said | signs(self.commit.message, query))
        return self._text

    def candidate(self) -> Candidate:
        """Return the candidate that remains if no rule drops the commit."""
        return Candidate(self.commit, self.files.targets, self.files.tests, self.text.query)


def _lead(query: str) -> str:
    """Return the first word of *query* after its scope, which is one or two words and a colon."""
    scope, _, rest = query.partition(": ")
    text = rest if rest and scope.count(" ") < 2 else query
    return text.partition(" ")[0].lower()


def _words(text: str) -> list[str]:
    raw = text.lower().encode("utf-8", "replace")
    return raw.translate(_SEPARATORS).decode("utf-8", "replace").split()
