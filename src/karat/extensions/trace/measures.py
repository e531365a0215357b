"""When an agent has seen the targets of its query, and what it took until then.

A target is seen when the result of a tool call has text of it; its name alone does not count. A run
that never sees a target counts as the horizon, so the mean over runs is the restricted mean, and
giving up early earns nothing.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isnan, nan
from typing import NamedTuple

from karat.errors import InputError
from karat.extensions.scores.record import ScoreMeasure
from karat.extensions.trace.paths import Root, same_file
from karat.extensions.trace.record import Step, Transcript
from karat.extensions.trace.steps import steps_of
from karat.model import Target

RESOURCES = ("tokens", "read-tokens", "calls", "seconds", "cost")
LINES = "line-"
BUDGETS = (1000, 2000, 4000, 8000, 16000, 32000)
NAME = re.compile(
    r"(?P<lines>line-)?(?:(?P<all>all-)?(?P<resource>tokens|read-tokens|calls|seconds|cost)|"
    r"(?P<share>found|recall|wasted|unused)|recall@(?P<budget>\d+)(?P<unit>tok|calls))"
)


class Progress(NamedTuple):
    """What one transcript has seen and used after each of its calls.

    *recall* and *line_recall* are the shares of targets, and of their lines, that were seen until
    then; *hit* says whether the result had text of a target. *line_recall* is empty if no target
    has lines.
    """

    recall: tuple[float, ...]
    line_recall: tuple[float, ...]
    hit: tuple[bool, ...]
    used: Mapping[str, tuple[float, ...]]
    totals: Mapping[str, float]
    seen: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()

    def shares(self, *, lines: bool) -> tuple[float, ...]:
        """Return the recall after each call."""
        return self.line_recall if lines else self.recall


def progress(
    transcript: Transcript, targets: Sequence[Target], steps: Sequence[Step] | None = None
) -> Progress:
    """Return what *transcript* has seen of the relevant *targets* after each call."""
    steps = steps_of(transcript) if steps is None else steps
    relevant = [target for target in targets if target.grade > 0 and target.path]
    files = list(dict.fromkeys(target.path for target in relevant))
    wanted = {
        path: {
            line
            for target in relevant
            if target.path == path and target.start_line
            for line in range(target.start_line, (target.end_line or target.start_line) + 1)
        }
        for path in files
    }
    whole = {path for path in files if not wanted[path]}
    has_lines = len(whole) < len(files)
    root = Root.of(transcript.folder, (part.path for step in steps for part in step.parts), files)
    left = {path: set(lines) for path, lines in wanted.items()}
    total_lines = sum(map(len, wanted.values())) + len(whole)
    seen: dict[str, None] = {}
    recall, line_recall, hit = [], [], []
    for step in steps:
        touched = False
        for part in step.parts:
            for path in files:
                if not same_file(part.path, path, root):
                    continue
                touched = True
                seen[path] = None
                if part.has_lines:
                    left[path] = _unseen(left[path], part.start, part.end)
        hit.append(touched)
        recall.append(len(seen) / len(files) if files else nan)
        if has_lines:
            unseen = sum(map(len, left.values())) + len(whole - seen.keys())
            line_recall.append(1 - unseen / total_lines)
    edited = tuple(
        path
        for path in files
        if any(same_file(name, path, root) for step in steps for name in step.edited)
    )
    any_edit = any(step.edited for step in steps)
    return Progress(
        tuple(recall),
        tuple(line_recall),
        tuple(hit),
        _used(transcript, steps),
        _totals(transcript, steps),
        tuple(seen),
        edited if any_edit else ("",),
    )


def _unseen(lines: set[int], start: int, end: int) -> set[int]:
    if start == 0:
        return set()
    return {line for line in lines if not start <= line <= end}


def _used(transcript: Transcript, steps: Sequence[Step]) -> dict[str, tuple[float, ...]]:
    read, sums = 0, []
    for step in steps:
        read += step.read
        sums.append(float(read))
    return {
        "tokens": tuple(call.tokens for call in transcript.calls),
        "read-tokens": tuple(sums),
        "calls": tuple(float(number) for number in range(1, len(steps) + 1)),
        "seconds": tuple(call.at_s for call in transcript.calls),
        "cost": tuple(call.cost for call in transcript.calls),
    }


def _totals(transcript: Transcript, steps: Sequence[Step]) -> dict[str, float]:
    return {
        "tokens": transcript.tokens,
        "read-tokens": float(sum(step.read for step in steps)),
        "calls": float(len(steps)),
        "seconds": transcript.seconds,
        "cost": transcript.cost,
    }


def until(known: Progress, resource: str, *, all_targets: bool, lines: bool) -> float | None:
    """Return what was used until a target, or all, had been seen.

    Infinity stands for never, None for a transcript that does not say.
    """
    used = known.used[resource]
    if any(map(isnan, used)) or (not used and isnan(known.totals[resource])):
        return None
    least = 1 - 1e-12 if all_targets else 1e-12
    at = next((n for n, share in enumerate(known.shares(lines=lines)) if share >= least), None)
    return inf if at is None else used[at]


def at_budget(known: Progress, budget: float, *, unit: str, lines: bool) -> float:
    """Return the recall of the calls whose results fit into *budget*, tokens read or calls."""
    used = known.used["read-tokens" if unit == "tok" else "calls"]
    shares = known.shares(lines=lines)
    fitting = [share for share, spent in zip(shares, used, strict=True) if spent <= budget]
    return fitting[-1] if fitting else 0.0


def wasted(known: Progress) -> float | None:
    """Return the share of the tokens read that was in results without text of a target."""
    total = known.totals["read-tokens"]
    if not total:
        return None
    spent, before = 0.0, 0.0
    for hit, read in zip(known.hit, known.used["read-tokens"], strict=True):
        spent += 0.0 if hit else read - before
        before = read
    return spent / total


def unused(known: Progress) -> float | None:
    """Return the share of the seen target files that the agent did not edit; None if it edits none.

    >>> unused(Progress((), (), (), {}, {}, ("a.py", "b.py"), ("a.py",)))
    0.5
    """
    if not known.seen or known.edited == ("",):
        return None
    return sum(path not in known.edited for path in known.seen) / len(known.seen)


def horizons(
    all_known: Iterable[Progress], names: Iterable[str], given: Mapping[str, float]
) -> dict[str, float]:
    """Return what a run counts that never sees a target, for each measure of *names* that needs it.

    That is the most that any run has used until it did, or in all if none did, or the number
    *given* for its resource.
    """
    if unknown := set(given) - set(RESOURCES):
        raise InputError(
            f"no resource is called {min(unknown)!r}; expected one of {', '.join(RESOURCES)}"
        )
    known = list(all_known)
    return {
        name: given.get(form["resource"]) or _longest(known, form)
        for name in names
        if (form := parse(name))["resource"]
    }


def _longest(all_known: Sequence[Progress], form: "re.Match[str]") -> float:
    options = {"all_targets": bool(form["all"]), "lines": bool(form["lines"])}
    times = [until(known, form["resource"], **options) for known in all_known]
    seen = [time for time in times if time is not None and time < inf]
    totals = (known.totals[form["resource"]] for known in all_known)
    return max(seen or [total for total in totals if not isnan(total)], default=nan)


def score(name: str, known: Progress, horizon: Mapping[str, float]) -> float | None:
    """Return the measure *name* of one transcript, None if it is not known."""
    form = parse(name)
    lines = bool(form["lines"])
    if lines and not known.line_recall and known.totals["calls"]:
        return None
    if resource := form["resource"]:
        value = until(known, resource, all_targets=bool(form["all"]), lines=lines)
        return None if value is None else min(value, horizon[name])
    if form["budget"]:
        return at_budget(known, float(form["budget"]), unit=form["unit"], lines=lines)
    if form["share"] in ("found", "recall"):
        last = (known.shares(lines=lines) or (0.0,))[-1]
        return float(last > 0) if form["share"] == "found" else last
    return wasted(known) if form["share"] == "wasted" else unused(known)


def parse(name: str) -> "re.Match[str]":
    """Return the parts of the name of a measure, or raise InputError."""
    if match := NAME.fullmatch(name):
        return match
    known = ", ".join(
        ("found", "recall", *RESOURCES, "all-calls", "recall@2000tok", "recall@5calls")
    )
    raise InputError(
        f"no measure of transcripts is called {name!r}; expected {known}, wasted or unused; "
        f"{LINES}NAME is the same for the lines of targets"
    )


def meaning(name: str) -> str:
    """Return what a measure says of a transcript.

    >>> print(meaning("line-tokens"))
    tokens used until lines of the first target had been seen
    >>> print(meaning("recall@2000tok"))
    share of targets seen within 2000 tokens read
    """
    form = parse(name)
    of = "lines of " if form["lines"] else ""
    if resource := form["resource"]:
        which = "all targets" if form["all"] else "the first target"
        return f"{resource} used until {of}{which} had been seen"
    if form["budget"]:
        what = "tokens read" if form["unit"] == "tok" else "calls"
        return f"share of {of}targets seen within {form['budget']} {what}"
    return {
        "found": f"whether {of}any target had been seen at the end",
        "recall": f"share of {of}targets seen at the end",
        "wasted": "share of the tokens read in results without text of a target",
        "unused": "share of the targets seen that the agent did not change",
    }[form["share"]]


def definition(name: str, horizon: Mapping[str, float]) -> ScoreMeasure:
    """Return the range and the direction of a measure."""
    form = parse(name)
    if form["resource"]:
        return ScoreMeasure(name, "bounded", 0.0, horizon[name], lower_is_better=True)
    low = form["share"] in ("wasted", "unused")
    if form["share"] == "found":
        return ScoreMeasure(name, "binary", 0.0, 1.0)
    return ScoreMeasure(name, "bounded", 0.0, 1.0, lower_is_better=low)


def default_names(all_known: Sequence[Progress]) -> list[str]:
    """Return the measures that are shown by default: those that some transcript can have.

    The first is the one of the verdict: tokens until the first target.
    """
    lines = any(each.line_recall for each in all_known)
    known = [
        resource
        for resource in RESOURCES
        if all(
            until(each, resource, all_targets=False, lines=False) is not None for each in all_known
        )
    ]
    lead = [known[0]] if known else []
    names = [*lead, "found", "recall", *known[1:]]
    return [*names, f"{LINES}found", f"{LINES}recall"] if lines else names
