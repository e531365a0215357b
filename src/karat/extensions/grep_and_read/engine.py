"""The engine ``grep-and-read``: what an agent with grep and a file viewer finds without a model.

It greps each word of the query, opens the files that hold the rarest and the most words, and reads
windows around the matches. What grep prints is read as well: its tokens are those of the hit that
follows it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import log
from typing import NamedTuple

from karat.corpus import Corpus
from karat.corpus.chunkers.base import lines_of
from karat.engines.adapters.external import ExternalReply
from karat.engines.hit_tokens import tokens
from karat.engines.keyword import KeywordEngine, KeywordLine, keywords
from karat.engines.registry import EngineInfo
from karat.errors import InputError
from karat.model import Hit

INFO = EngineInfo(
    name="grep-and-read",
    factory="karat.extensions.grep_and_read.engine:GrepAndRead",
    summary="A deterministic agent: greps the words, opens the best files, reads around matches.",
)
# What a viewer of grep's output cuts a line to.
LINE_WIDTH = 200


class GrepLine(NamedTuple):
    """A line of a file that holds *words*; *text* is what grep prints of it."""

    number: int
    words: frozenset[str]
    text: str


class GrepOutput(NamedTuple):
    """What the agent knows after its first greps: files, best first, and what it has read."""

    files: tuple[str, ...]
    weights: Mapping[str, float]
    text: str


class ReadWindow(NamedTuple):
    """Lines *first* to *last* of a file, counted from 1 and included."""

    first: int
    last: int


class GrepAndRead(KeywordEngine):
    """A deterministic agent without a model: grep, open the best files, read around the matches.

    For each word of the query it reads the *listed* files with the most matching lines, as of
    ``grep --count``. A file weighs as much as the words that it was listed for, rare words more. It
    opens one file after the other, greps all words in it, of which it reads the first *matches*
    lines, and then up to *windows* windows of *context* lines before and after a match, those with
    the rarest words first. Further windows follow when all files have been opened. The tokens of
    a hit include the output of grep that was read since the hit before.
    """

    def __init__(
        self, *, context: int = 10, listed: int = 5, matches: int = 10, windows: int = 1
    ) -> None:
        """Look for ripgrep; nothing is read yet."""
        for option, value, least in (
            ("context", context, 0),
            ("listed", listed, 1),
            ("matches", matches, 1),
            ("windows", windows, 1),
        ):
            if value < least:
                raise InputError(
                    f"grep-and-read: {option} is {value}; expected a number from {least} up"
                )
        super().__init__()
        self.matches = matches
        self.name = INFO.name
        self.context = context
        self.listed = listed
        self.windows = windows

    def _ask(self, query: str, k: int) -> ExternalReply:
        words = keywords(query)
        matches = matched_lines(self._scan(words), words)
        hits = tuple(islice(read(self._corpus, matches, words, agent=self), k))
        return ExternalReply(hits, metadata={"tokens": sum(hit.tokens for hit in hits)})


def matched_lines(lines: Iterable[KeywordLine], words: Sequence[str]) -> dict[str, list[GrepLine]]:
    """Return the *lines* that hold one of *words* by path, in the order of the files.

    >>> matched_lines([KeywordLine("a.py", 3, "def Login(user):")], ["login", "mail"])
    {'a.py': [GrepLine(number=3, words=frozenset({'login'}), text='def Login(user):')]}
    """
    matches: dict[str, list[GrepLine]] = defaultdict(list)
    for line in lines:
        lowered = line.text.lower()
        # ripgrep's equal letters are a few more than Python's.
        if held := frozenset(word for word in words if word in lowered):
            matches[line.path].append(GrepLine(line.number, held, line.text[:LINE_WIDTH]))
    return dict(matches)


def grep_files(
    matches: Mapping[str, Sequence[GrepLine]],
    words: Sequence[str],
    *,
    documents: int,
    listed: int,
) -> GrepOutput:
    r"""Return the files to open, best first, by one grep for each of *words*.

    >>> login = GrepLine(1, frozenset({"login"}), "login")
    >>> both = GrepLine(2, frozenset({"login", "mail"}), "mail the login")
    >>> output = grep_files({"a": [login], "b": [both]}, ["login", "mail"], documents=9, listed=5)
    >>> output.files, output.text
    (('b', 'a'), 'a:1\nb:1\nb:1\n')
    """
    scores: defaultdict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    weights = {}
    text = []
    for word in words:
        lines_of_file = {
            path: count
            for path, lines in matches.items()
            if (count := sum(word in line.words for line in lines))
        }
        if not lines_of_file:
            continue
        weights[word] = log(1 + documents / len(lines_of_file))
        best = sorted(lines_of_file.items(), key=lambda pair: (-pair[1], pair[0]))[:listed]
        for path, count in best:
            scores[path] += weights[word]
            counts[path] += count
            text.append(f"{path}:{count}\n")
    files = sorted(scores, key=lambda path: (-scores[path], -counts[path], path))
    return GrepOutput(tuple(files), weights, "".join(text))


def windows_around(
    lines: Sequence[GrepLine], weights: Mapping[str, float], *, context: int, last: int
) -> Iterator[ReadWindow]:
    """Yield disjoint windows around *lines*, those with the heaviest words first.

    *last* is the last line of the file.

    >>> near, far = (GrepLine(n, frozenset({"x"}), "x") for n in (2, 90))
    >>> list(windows_around([near, far], {"x": 1.0}, context=3, last=91))
    [ReadWindow(first=1, last=5), ReadWindow(first=87, last=91)]
    """
    left = list(lines)
    before: list[ReadWindow] = []
    while left:
        centre = max(left, key=lambda line: _weight_near(line, left, weights, context))
        number = centre.number
        first = max([1, number - context, *(w.last + 1 for w in before if w.last < number)])
        end = min([last, number + context, *(w.first - 1 for w in before if w.first > number)])
        window = ReadWindow(first, end)
        before.append(window)
        yield window
        left = [line for line in left if not first <= line.number <= end]


def _weight_near(
    centre: GrepLine, lines: Iterable[GrepLine], weights: Mapping[str, float], context: int
) -> float:
    """Return the weight of the words in the window around *centre*."""
    near = (line.words for line in lines if abs(line.number - centre.number) <= context)
    return sum(weights.get(word, 0.0) for word in sorted(frozenset().union(*near)))


def read(
    corpus: Corpus,
    matches: Mapping[str, Sequence[GrepLine]],
    words: Sequence[str],
    *,
    agent: GrepAndRead,
) -> Iterator[Hit]:
    """Yield the windows that *agent* reads, each with the tokens of all that it read for it."""
    output = grep_files(matches, words, documents=len(corpus), listed=agent.listed)
    visits = [_visits(corpus, path, matches[path], output.weights, agent) for path in output.files]
    unread = output.text
    while visits:
        left = []
        for visit in visits:
            if (hits := next(visit, None)) is None:
                continue
            left.append(visit)
            for hit, text in hits:
                yield hit._replace(tokens=tokens(unread + text))
                unread = ""
        visits = left


def _visits(
    corpus: Corpus,
    path: str,
    matches: Sequence[GrepLine],
    weights: Mapping[str, float],
    agent: GrepAndRead,
) -> Iterator[list[tuple[Hit, str]]]:
    """Yield for each visit of a file the hits in it, with all the text that is read for each."""
    seen = matches[: agent.matches]
    lines = lines_of(corpus.read(path))
    printed = "".join(f"{line.number}:{line.text}\n" for line in seen)
    windows = windows_around(seen, weights, context=agent.context, last=len(lines))
    while some := list(islice(windows, agent.windows)):
        visit = []
        for first, last in some:
            text = "".join(lines[first - 1 : last])
            visit.append((Hit(path, start_line=first, end_line=last), printed + text))
            printed = ""
        yield visit
