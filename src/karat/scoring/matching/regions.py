"""Judge hits that point into files: lines, symbols, or paths matched by a rule.

Each target is credited once, at the first rank that matches it. A hit that matches several open
targets takes the highest grade and leaves the others open for gain, while recall counts all of them
as found. A hit that matches only an evidence symbol is credited for one open target.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import isfinite, isnan
from typing import NamedTuple

from karat.errors import InputError
from karat.model import Credits, Hit, JudgedQuery, Sizes, Target
from karat.scoring.matching.modes import (
    MATCHERS,
    Matcher,
    QueryTargets,
    as_float32,
    cut_path,
    query_targets,
)


def max_credits(counted: QueryTargets, matcher: Matcher) -> list[float]:
    """Return the maximum credit of each target.

    A symbol raises one target to full credit; targets with the highest grades come first.
    """
    pairs = zip(_ceilings(counted, matcher), counted.targets, strict=True)
    return [ceiling * target.grade for ceiling, target in pairs]


def _ceilings(counted: QueryTargets, matcher: Matcher) -> list[float]:
    ceilings = [matcher.ceiling(target) for target in counted.targets]
    below = [
        index
        for index, target in enumerate(counted.targets)
        if ceilings[index] < 1.0 and target.grade > 0
    ]
    below.sort(key=lambda index: counted.targets[index].grade, reverse=True)
    for index in below[: len(counted.symbols)]:
        ceilings[index] = 1.0
    return ceilings


class CreditLedger:
    """Credits each target once and uses each symbol once, hit by hit in rank order."""

    def __init__(self, counted: QueryTargets, matcher: Matcher) -> None:
        """Start with all targets of one query open."""
        self._targets = counted.targets
        self._plain = [matcher.ceiling(target) for target in counted.targets]
        self._open = [True] * len(counted.targets)
        self._unused = [True] * len(counted.symbols)
        self._raised: set[int] = set()
        # How many targets of each grade a symbol may still raise: as many as in the ideal ranking,
        # so that no ranking earns more.
        self._room = Counter(
            target.grade
            for target, plain, ceiling in zip(
                counted.targets, self._plain, _ceilings(counted, matcher), strict=True
            )
            if ceiling > plain
        )

    def pay(
        self, own: Sequence[float], symbols: Sequence[float]
    ) -> tuple[list[float], float | None]:
        """Return the credits of the next hit with its evidence, and its gain; None for no match."""
        row = list(own)
        matched = [index for index, credit in enumerate(own) if credit]
        if not matched and not any(symbols):
            return row, None
        usable = zip(symbols, self._unused, strict=True)
        evidence = max((credit for credit, unused in usable if unused), default=0.0)
        if matched:
            payers = [index for index in matched if self._open[index]]
        else:
            payers = [
                index
                for index, target in enumerate(self._targets)
                if self._open[index] and evidence and target.grade > 0
            ]
        gain = 0.0
        if payers:
            best = max(payers, key=lambda i: (row[i] or evidence) * self._targets[i].grade)
            row[best] = self._raise(best, own[best], evidence)
            self._open[best] = False
            gain = row[best] * self._targets[best].grade
        if payers or matched:
            least = max(own) if matched else evidence
            for index, credit in enumerate(symbols):
                if credit and credit >= least:
                    self._unused[index] = False
        return row, gain

    def ceilings(self) -> list[float]:
        """Return the maximum credit of each target, given how symbols were used."""
        left = Counter(self._room)
        ceilings = []
        for index, (target, plain) in enumerate(zip(self._targets, self._plain, strict=True)):
            if index in self._raised:
                ceilings.append(1.0)
            elif left[target.grade] > 0 and plain < 1.0:
                left[target.grade] -= 1
                ceilings.append(1.0)
            else:
                ceilings.append(plain)
        return ceilings

    def _raise(self, index: int, own: float, evidence: float) -> float:
        """Return the credit for the target at *index*, with the evidence that may raise it."""
        grade = self._targets[index].grade
        credit = max(own, evidence)
        if credit > self._plain[index]:
            if not self._room[grade]:
                return max(own, min(evidence, self._plain[index]))
            self._room[grade] -= 1
            self._raised.add(index)
        return credit


Span = tuple[int, int]


def merge(spans: Iterable[Span]) -> list[Span]:
    """Return the union of *spans* as disjoint intervals in order.

    >>> merge([(5, 9), (1, 3), (4, 6)])
    [(1, 9)]
    """
    merged: list[Span] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def overlap(left: Iterable[Span], right: Iterable[Span]) -> list[Span]:
    """Return the lines that are in both unions.

    >>> overlap([(1, 9)], [(3, 4), (8, 12)])
    [(3, 4), (8, 9)]
    """
    return [(max(a, c), min(b, d)) for a, b in left for c, d in right if max(a, c) <= min(b, d)]


def size(spans: Iterable[Span]) -> int:
    """Return the number of lines in disjoint *spans*."""
    return sum(last - first + 1 for first, last in spans)


def valid_hits(
    hits: Sequence[Hit],
    invalid: "Counter[str]",
    known: Collection[str] | None = None,
    *,
    cut_at: str = "",
) -> list[Hit]:
    """Return the hits that can be judged; count the others in *invalid*, by reason.

    Scores are optional, but if one hit of an answer has a score, all must have one. *known* has the
    paths of the corpus, if there is one. Paths are cut at *cut_at* only here, because two chunks of
    one document are not duplicates.
    """
    scored = any(not isnan(hit.score) for hit in hits)
    valid: list[Hit] = []
    seen: set[tuple[str, int, int, str]] = set()
    for hit in hits:
        path = cut_path(hit.path, cut_at)
        key = (hit.path, hit.start_line, hit.end_line, hit.symbol)
        if not hit.path and not hit.symbol:
            reason = "empty path"
        elif hit.start_line < 0 or hit.end_line < 0 or (hit.end_line and not hit.start_line):
            reason = "line below 1"
        elif hit.end_line < hit.start_line:
            reason = "end before start"
        elif scored and not isfinite(hit.score):
            reason = "non-finite score"
        elif known is not None and path not in known:
            reason = "unknown file"
        elif key in seen:
            reason = "duplicate"
        else:
            seen.add(key)
            valid.append(hit if path == hit.path else hit._replace(path=path))
            continue
        invalid[reason] += 1
    return valid


def order_hits(
    hits: Sequence[Hit], values: Sequence[float], ties: str
) -> tuple[list[Hit], list[float]]:
    """Return *hits* best first by the tie policy, and the score that ranked each.

    *values* is what each hit could earn, for the policies ``best`` and ``worst``. Hits without
    scores stay in their order.
    """
    if not hits or isnan(hits[0].score):
        return list(hits), [-float(index) for index in range(len(hits))]
    scores = [as_float32(hit.score) if ties == "trec9" else hit.score for hit in hits]
    order = list(range(len(hits)))
    if ties in ("trec10", "trec9"):
        order.sort(key=lambda index: _id(hits[index]), reverse=True)
    elif ties in ("best", "worst"):
        order.sort(key=values.__getitem__, reverse=ties == "best")
    order.sort(key=scores.__getitem__, reverse=True)
    return [hits[index] for index in order], [scores[index] for index in order]


def max_gain(credits: Sequence[float], targets: Sequence[Target]) -> float:
    """Return the maximum that a hit with these *credits* could earn from any target."""
    pairs = zip(credits, targets, strict=True)
    return max((credit * target.grade for credit, target in pairs if credit), default=0.0)


def _is_judged(
    credits: Sequence[float], symbols: Sequence[float], targets: Sequence[Target]
) -> bool:
    """Return whether a hit matches a symbol, or a target with a grade of 0 or more."""
    pairs = zip(credits, targets, strict=True)
    return any(symbols) or any(credit and target.grade >= 0 for credit, target in pairs)


def _id(hit: Hit) -> tuple[str, int, int, str]:
    # The path first and as a whole: trec_eval compares ids, and "a" comes before "a0".
    return hit.path, hit.start_line, hit.end_line, hit.symbol


class RankedHits(NamedTuple):
    """The hits of one query in rank order, and what each matches.

    * ``credits``: for each hit its credit for each counted target, evidence included.
    * ``own``: the same without evidence; ``symbols``: its credit for each symbol.
    * ``gains``: what each hit earns; None where it matches nothing.
    * ``tokens``: what a reader reads up to each hit, after the one before it.
    * ``ceilings``: the most that each target can pay, as a share of its grade, in this order.
    """

    hits: list[Hit]
    credits: list[list[float]]
    own: list[list[float]]
    symbols: list[list[float]]
    gains: list[float | None]
    ceilings: list[float]
    tied: bool
    tokens: list[int]


def rank_hits(
    hits: Sequence[Hit],
    counted: QueryTargets,
    matcher: Matcher,
    *,
    ties: str,
    judged_only: bool,
    depth: int | None,
) -> RankedHits:
    """Return valid *hits* ordered by the tie policy, collapsed, cut and credited."""
    targets = counted.targets
    highest = max((target.grade for target in targets), default=0.0)
    matches = {
        id(hit): (
            [matcher.credit(hit, target) for target in targets],
            [matcher.credit(hit, symbol) for symbol in counted.symbols],
        )
        for hit in hits
    }
    values = [
        max(max_gain(own, targets), max(symbols, default=0.0) * highest)
        for own, symbols in (matches[id(hit)] for hit in hits)
    ]
    ordered, scores = order_hits(hits, values, ties)
    ranked = counted.collapsed(zip(ordered, scores, strict=True))
    first_hits = [hit for hit, _ in ranked]
    tokens = dict(zip(map(id, first_hits), _tokens_read(ordered, first_hits), strict=True))
    selected = ranked[:depth]
    if judged_only:
        # trec_eval cuts the ranking (-M) before it drops the unjudged hits (-J). Their order
        # matters only where the cut goes through a tie.
        is_cut = len(selected) < len(ranked)
        selected = [pair for pair in selected if _is_judged(*matches[id(pair[0])], targets)]
        ranked = ranked if is_cut else selected
    tied = _tie_matters([score for _, score in ranked], [matches[id(hit)] for hit, _ in ranked])
    best_first = [hit for hit, _ in selected]
    ledger = CreditLedger(counted, matcher)
    own = [matches[id(hit)][0] for hit in best_first]
    symbols = [matches[id(hit)][1] for hit in best_first]
    paid = [ledger.pay(*pair) for pair in zip(own, symbols, strict=True)]
    return RankedHits(
        best_first,
        [row for row, _ in paid],
        own,
        symbols,
        [gain for _, gain in paid],
        ledger.ceilings(),
        tied,
        [tokens[id(hit)] for hit in best_first],
    )


def judge_hits(
    hits: Sequence[Hit],
    targets: Sequence[Target],
    matcher: Matcher,
    *,
    ties: str = "trec10",
    judged_only: bool = False,
    depth: int | None = None,
    sizes: bool = False,
) -> JudgedQuery:
    """Return the judged query of one answer, whose hits are valid.

    It has sizes if a target has lines, or with *sizes*.

    >>> from karat.scoring.matching.modes import lines
    >>> hits = [Hit("c.rs", 3, 1, 10), Hit("a.rs", 2, 30, 60), Hit("b.rs", 1, 25, 35)]
    >>> truth = [Target("a.rs", 2, 10, 50), Target("b.rs", 1, 20, 30)]
    >>> judged = judge_hits(hits, truth, lines())
    >>> judged.ranks, judged.grades
    ([2, 3], [2.0, 1.0])
    """
    counted = query_targets(targets, matcher)
    ranked = rank_hits(hits, counted, matcher, ties=ties, judged_only=judged_only, depth=depth)
    if ranked.tied and ties == "expected":
        raise InputError(
            f"the mode {matcher.name!r} has no expected value under ties; "
            "expected the mode document or exact, or another tie policy"
        )
    judged = [(rank, gain) for rank, gain in enumerate(ranked.gains, 1) if gain is not None]
    payable = max_credits(counted, matcher)
    sizes = sizes or any(target.end_line for target in targets)
    return JudgedQuery(
        [rank for rank, _ in judged],
        [gain for _, gain in judged],
        ideal=sorted(payable, reverse=True),
        retrieved=len(ranked.hits),
        found=_first_ranks(ranked.credits, payable),
        tied=ranked.tied,
        sizes=_sizes(ranked, targets) if sizes else None,
        credits={grade: _credits(ranked, payable, grade) for grade in payable if grade > 0},
    )


def _tie_matters(scores: Sequence[float], matches: Sequence[object]) -> bool:
    """Return whether hits with one score differ in what they match, so that their order counts."""
    return any(
        score == following and match != next_match
        for score, following, match, next_match in zip(
            scores, scores[1:], matches, matches[1:], strict=False
        )
    )


def _first_ranks(
    rows: Sequence[Sequence[float]], payable: Sequence[float]
) -> tuple[list[int], list[float]]:
    """Return the rank at which each target is first covered, ascending, and its maximum credit."""
    pairs = sorted(
        (next(rank for rank, row in enumerate(rows, 1) if row[index]), grade)
        for index, grade in enumerate(payable)
        if any(row[index] for row in rows)
    )
    return [rank for rank, _ in pairs], [grade for _, grade in pairs]


def _credits(ranked: RankedHits, payable: Sequence[float], least: float) -> Credits:
    """Return the best credits of hits and targets, for targets whose maximum is *least* or more.

    A credit is relative to the maximum of its target, so the best answer has only 1.
    """
    relevant = [index for index, grade in enumerate(payable) if grade >= least]
    shares = [[row[i] / ranked.ceilings[i] for i in relevant] for row in ranked.credits]
    return Credits(
        [max(row) for row in shares],
        [max((row[column] for row in shares), default=0.0) for column in range(len(relevant))],
    )


def _sizes(ranked: RankedHits, targets: Sequence[Target]) -> Sizes:
    """Return how many lines and tokens each hit adds, and how many of its lines are relevant."""
    have_lines = any(target.end_line for target in targets)
    relevant: dict[str, list[Span]] = {}
    for target in targets:
        if target.grade > 0 and target.end_line:
            relevant.setdefault(target.path, []).append((target.start_line, target.end_line))
    relevant = {path: merge(spans) for path, spans in relevant.items()}
    read: dict[str, list[Span]] = {}
    lines, new_lines, found_lines = [], [], []
    for hit in ranked.hits:
        if not hit.end_line:
            lines.append(-1)
            new_lines.append(-1)
            found_lines.append(-1)
            continue
        before = read.get(hit.path, [])
        after = merge([*before, (hit.start_line, hit.end_line)])
        here = relevant.get(hit.path, [])
        lines.append(hit.end_line - hit.start_line + 1)
        new_lines.append(size(after) - size(before))
        found_lines.append(size(overlap(after, here)) - size(overlap(before, here)))
        read[hit.path] = after
    return Sizes(
        lines,
        new_lines,
        found_lines,
        ranked.tokens,
        sum(size(spans) for spans in relevant.values()) if have_lines else -1,
    )


def sizes_of_files(hits: Sequence[Hit]) -> Sizes:
    """Return the tokens of *hits* where files are ranked: for each file, up to its first hit.

    >>> hits = [Hit("a", tokens=5), Hit("a", tokens=7), Hit("b", tokens=2), Hit("a", tokens=9)]
    >>> sizes_of_files(hits).tokens
    [5, 9]
    """
    firsts: dict[str, Hit] = {}
    for hit in hits:
        firsts.setdefault(hit.path, hit)
    unknown = [-1] * len(firsts)
    return Sizes(unknown, unknown, unknown, _tokens_read(hits, list(firsts.values())), -1)


def _tokens_read(hits: Sequence[Hit], ranked: Sequence[Hit]) -> list[int]:
    """Return the tokens of each of *ranked*, and of the other *hits* after the one before it.

    *ranked* are some of *hits*, in the same order; -1 means that a hit has no number of tokens.
    """
    tokens: list[int] = []
    unread: list[int] = []
    left = iter(ranked)
    last = next(left, None)
    for hit in hits:
        unread.append(hit.tokens)
        if hit is last:
            tokens.append(-1 if min(unread) < 0 else sum(unread))
            unread = []
            last = next(left, None)
    return tokens


class Coverage:
    """Chunks in order, and which of them a matching mode credits for a target.

    >>> chunks = [Hit("a.py", start_line=1, end_line=9), Hit("a.py", start_line=10, end_line=20)]
    >>> Coverage(chunks, match="lines").of(Target("./a.py", 1.0, 8, 12))
    [0, 1]
    """

    def __init__(
        self, chunks: Iterable[Hit], *, match: str, min_overlap: float = 0.0, root: str = ""
    ) -> None:
        """Index *chunks*; the other parameters are those of ``judge``."""
        self._matcher = MATCHERS.get(match)(min_overlap=min_overlap)
        self._root = root
        self._chunks = [chunk._replace(path=self.spelled(chunk.path)) for chunk in chunks]
        self._of_path: dict[str, list[int]] = {}
        for index, chunk in enumerate(self._chunks):
            self._of_path.setdefault(chunk.path, []).append(index)

    def spelled(self, path: str) -> str:
        """Return *path* in the form that is compared."""
        return self._matcher.spelled(path, self._root)

    def of(self, target: Target) -> list[int]:
        """Return the indexes of the chunks that cover some of *target*."""
        spelled = target._replace(path=self.spelled(target.path))
        near = self._of_path.get(spelled.path)
        if near is None:
            if self._matcher.by_id:
                return []
            # A path pattern may match any file.
            near = list(range(len(self._chunks)))
        return [index for index in near if self._matcher.credit(self._chunks[index], spelled)]

    def holds(self, path: str) -> bool:
        """Return whether a chunk is in the file at *path*; no path means any file."""
        return not path or bool(self.of(Target(path)))
