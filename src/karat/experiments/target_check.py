"""Which targets of a gold set are in the searched snapshots, and hints on those that are not."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property
from hashlib import sha256
from itertools import compress, islice
from operator import and_
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import NamedTuple

from karat.corpus import (
    Corpus,
    FileSelection,
    page_lines,
    skipped_by_reason,
    skipped_text,
    split_page,
)
from karat.corpus.files.selection import LEFT_OUT
from karat.errors import InputError
from karat.experiments.snapshots import (
    NOWHERE_ELSE,
    TAG,
    Snapshots,
    check_names,
    clones,
    corpus_snapshots,
    history_snapshots,
    selected_files,
    suggested_kind,
)
from karat.experiments.workers import SnapshotQueries
from karat.experiments.workers.sources import check_selected
from karat.model import Dataset, Hit, Query, Target
from karat.model.coverage import CorpusCoverage
from karat.model.timings import RunResult
from karat.scoring.matching.modes import (
    MATCHERS,
    Matcher,
    counted_targets,
    is_suffix,
    normalise,
    relevant_targets,
)
from karat.system.words import first_few, join_names

# Similar names are searched among so many paths, and for so many missing ones: it is slow.
MOST_KNOWN, MOST_ASKED = 10_000, 50
# The least similarity of a name, from 0 to 1.
SIMILAR = 0.8
FILE = re.compile(r".+\.[A-Za-z]\w{0,7}")
SEPARATE = "separate documents with | or ;"
# Modes that ignore the lines of a target.
WHOLE_FILES = ("document", "exact", "suffix")
# Modes that compare whole paths, for which --root and --match suffix are of use.
SPELLED = ("exact", "lines", "directory", "symbol")
# Modes whose targets are patterns, not names of files.
PATTERNS = ("substring", "akashic", "graded")
MOST_SUGGESTIONS = 20
# Missing targets that a report names.
SHOWN_MISSING = 3


class PathHints:
    """Hints on paths that are not among the *known* ones.

    >>> hints = PathHints(["warranty.md", "app.md", "errors.md", "grinder.md"])
    >>> [hints.suggestion(path) for path in ("waranty.md", "App.md", "errors", "other.md")]
    ['did you mean warranty.md?', 'did you mean app.md?', 'did you mean errors.md?', '']
    >>> PathHints(["start/install.md", "pip/install.md"]).suggestion("docs/start/install.md")
    'did you mean start/install.md?'
    >>> hints.suggestion("errors.md,grinder.md")
    'separate documents with | or ;'
    >>> hints.option(["docs/app.md", "docs/errors.md", "x.md"])
    '2 of them exist without docs/: add --root docs'
    """

    def __init__(self, known: Collection[str]) -> None:
        """Take the paths of a corpus."""
        self._known = frozenset(known)
        self._asked = 0

    def option(
        self, missing: Sequence[str], *, present: Collection[str] = (), suffix: bool = True
    ) -> str:
        """Return the option with which most of the *missing* paths exist, "" without one.

        It was tried on them and on the *present* paths, which must not become missing. *suffix*
        says whether the targets are whole files, so that ``--match suffix`` loses no lines.
        """
        paths = dict.fromkeys(normalise(path) for path in missing)
        roots = Counter(root for path in paths for root in self._roots(path))
        root, count = max(roots.items(), key=lambda pair: pair[1], default=("", 0))
        if any(normalise(path, root) not in self._known for path in present if root):
            count = 0
        ends = sum(bool(self._ending(path)) for path in paths)
        if count and count >= ends:
            return f"{self._count(count, paths)} without {root}/: add --root {quote(root)}"
        if present:
            suffix_option = f"{self._count(ends, paths)} in another folder: add --match suffix"
            return suffix_option if ends and suffix else ""
        folders = Counter(folder for path in paths for folder in self._above(path))
        for folder, below in folders.most_common(1):
            return f"{below} of them are below {folder}/: search that folder, or add --match suffix"
        return ""

    def is_elsewhere(self, path: str) -> bool:
        """Return whether *path* is the end of a known path, or a known path its end."""
        return bool(self._ending(normalise(path)))

    def suggestion(self, path: str) -> str:
        """Return the document that *path* probably means, in words, "" without one."""
        parts = [part.strip() for part in path.split(",")]
        if len(parts) > 1 and all(part in self._known or FILE.fullmatch(part) for part in parts):
            return SEPARATE
        document, page = split_page(path)
        if page and document in self._known:
            return f"{document} has no page {page}"
        near = self._near(normalise(path))
        return f"did you mean {near}?" if near else ""

    def _count(self, count: int, paths: Collection[str]) -> str:
        if count == len(paths) == 1:
            return "it exists"
        if count == 1 < len(paths):
            return "1 of them exists"
        return f"{'all' if count == len(paths) else count} of them exist"

    def _roots(self, path: str) -> Iterable[str]:
        """Yield the folders without which *path* is known."""
        parts = path.split("/")
        for length in range(1, len(parts)):
            root = "/".join(parts[:length])
            if root and "/".join(parts[length:]) in self._known:
                yield root

    def _above(self, path: str) -> Iterable[str]:
        """Yield the folders below which *path* is known."""
        for known in self._ending(path):
            if known.endswith(f"/{path}"):
                yield known.removesuffix(f"/{path}")

    def _ending(self, path: str) -> list[str]:
        named = self._by_name.get(_name(path).lower(), ())
        return [known for known in named if path and is_suffix(known, path)]

    def _near(self, path: str) -> str:
        lower = path.lower()
        named = self._by_name.get(_name(lower), ())
        for alike in (
            [known for known in named if known.lower() == lower],
            [known for known in self._by_stem.get(_name(lower), ()) if _stem(known) == lower],
            self._ending(path),
            named,
        ):
            if len(alike) == 1:
                return alike[0]
        self._asked += 1
        if len(self._known) > MOST_KNOWN or self._asked > MOST_ASKED:
            return ""
        return next(iter(get_close_matches(path, self._sorted, n=1, cutoff=SIMILAR)), "")

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._known)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        paths: dict[str, list[str]] = defaultdict(list)
        for path in self._sorted:
            paths[_name(path).lower()].append(path)
        return paths

    @cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        paths: dict[str, list[str]] = defaultdict(list)
        for path in self._sorted:
            paths[_name(_stem(path))].append(path)
        return paths


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _stem(path: str) -> str:
    """Return *path* in lower case without the ending of its file.

    >>> _stem("docs/App.md"), _stem("v1.2/app")
    ('docs/app', 'v1.2/app')
    """
    folder, slash, name = path.lower().rpartition("/")
    return f"{folder}{slash}{name.rpartition('.')[0] or name}"


class TargetCheck(NamedTuple):
    """Which targets of a gold set are in the snapshots that its queries are searched on.

    *resolved* is the gold set without missing targets. *snapshots* are the snapshots with their
    queries, as other processes open them, and *digests* are the hashes of their documents.
    """

    searched: CorpusCoverage
    resolved: Dataset
    snapshots: tuple[SnapshotQueries, ...]
    digests: tuple[str, ...]


def check_snapshots(
    gold: Dataset, snapshots: Snapshots, *, match: str, root: str = "", strict: bool = True
) -> TargetCheck:
    """Look for every target of *gold* in the snapshot of its query, by the paths that *match* uses.

    A symbol without a path counts as present, and so do lines of a file that is present: they may
    have moved. A target that exists and is not searched stays, and is counted apart. If *strict*,
    InputError is raised if a corpus that the user named has none of the targets: it is probably the
    wrong corpus.
    """
    matcher = MATCHERS.get(match)()
    queries: list[Query] = list(gold.queries())
    before = list(queries)
    sizes: list[int] = []
    checked: list[SnapshotQueries] = []
    digests: list[str] = []
    known: Set[str] = frozenset()
    skipped: dict[str, str] = {}
    reasons: dict[str, str] = {}
    left_out = other_kind = 0
    chosen = snapshots.kind_from
    suggested = "" if chosen else suggested_kind(gold)
    wider = FileSelection(suggested or "all")
    for corpus, snapshot, whole in snapshots:
        check_selected(corpus, whole, snapshots.selection)
        checked.append(snapshot)
        digests.append(corpus.snapshot)
        sizes.append(len(corpus))
        skipped |= whole.skipped_files
        count = corpus.skipped.get("other-kind", 0)
        if suggested:
            count = sum(bool(wider.reason(document)) for document in corpus)
        other_kind = max(other_kind, count)
        known = {matcher.spelled(document.path) for document in corpus}
        outside = _Outside(corpus, whole, snapshots.selection, matcher)
        for row in snapshot.rows:
            targets = queries[row].targets
            there = [_is_present(target, known, matcher, root) for target in targets]
            relevant_here = relevant_targets(targets, matcher)
            for number, target in enumerate(targets):
                if not there[number] and (why := outside.reason(target, root)):
                    there[number] = True
                    if relevant_here[number]:
                        left_out += 1
                        reasons[target.path] = why
            queries[row] = _with_targets(queries[row], there, matcher)
    relevant = [sum(relevant_targets(query.targets, matcher)) for query in before]
    left = [sum(relevant_targets(query.targets, matcher)) for query in queries]
    searched = CorpusCoverage(
        snapshot=snapshots.snapshot,
        place=snapshots.place,
        candidates=snapshots.candidates,
        trees=len(sizes),
        fewest=min(sizes, default=0),
        most=max(sizes, default=0),
        targets=sum(relevant),
        unresolved=sum(relevant) - sum(left),
        lost_queries=sum(1 for was, now in zip(relevant, left, strict=True) if was and not now),
        revision=snapshots.revision,
        masked=bool(snapshots.masks),
        # A kind that leaves out nothing is not worth a word.
        kind=snapshots.selection.kind if other_kind or chosen != "dataset" else "all",
        kind_from=chosen if chosen == "option" or other_kind else "",
        suggested_kind=suggested if other_kind else "",
        other_kind=other_kind,
        include=snapshots.selection.include,
        exclude=snapshots.selection.exclude,
        skipped=skipped_text(skipped),
        skipped_files=skipped_by_reason(skipped),
        skipped_targets=reasons,
        left_out=left_out,
    )
    if snapshots.snapshot == "corpus" and searched.unresolved:
        searched = _with_hints(searched, before, queries, known=known, matcher=matcher, root=root)
    else:
        gone = islice(_missing(before, queries), SHOWN_MISSING + 1)
        searched = replace(searched, missing=tuple(gone))
    if (
        strict
        and searched.snapshot == "corpus"
        and 0 < searched.targets == searched.unresolved + left_out
    ):
        raise InputError(_none_searched(gold, searched))
    resolved = gold.with_queries(queries)
    return TargetCheck(searched, resolved, tuple(checked), tuple(digests))


def _none_searched(gold: Dataset, searched: CorpusCoverage) -> str:
    """Return why no target of *gold* is searched: left out, not in the corpus, or both."""
    none, corpus = f"none of the {searched.targets:,} targets of {gold.name} is", searched.place
    if not searched.left_out:
        return f"{none} in {corpus}; {_hint(gold, searched)}"
    if searched.unresolved:
        counts = f": {searched.left_out:,} left out, {searched.unresolved:,} not in {corpus}"
    else:
        counts = f", although all exist in {corpus}"
    reasons = searched.skipped_targets.items()
    return f"{none} searched{counts}" + next((f"; {path} is {why}" for path, why in reasons), "")


def _missing(before: Sequence[Query], after: Sequence[Query]) -> Iterable[str]:
    """Return the paths of relevant targets that exist nowhere."""
    return dict.fromkeys(
        target.path
        for was, now in zip(before, after, strict=True)
        if len(was.targets) > len(now.targets)
        for target in was.targets
        if target.grade > 0 and target not in now.targets
    )


def _with_hints(
    searched: CorpusCoverage,
    before: Sequence[Query],
    after: Sequence[Query],
    *,
    known: Set[str],
    matcher: Matcher,
    root: str,
) -> CorpusCoverage:
    """Return *searched* with missing targets, the option that finds them, and similar names.

    Targets with a similar name come first, and those that the option finds last.
    """
    missing = list(_missing(before, after))
    hints = PathHints(known)
    option = ""
    if matcher.name in SPELLED and not root:
        present = {t.path for query in after for t in query.targets if t.path}
        spelled = {matcher.spelled(path) for path in present}
        option = hints.option(missing, present=spelled, suffix=matcher.name == "exact")
    suggestions = {}
    if matcher.name not in PATTERNS:
        single = (path for path in missing if not (option and hints.is_elsewhere(path)))
        suggestions = {path: text for path in single if (text := hints.suggestion(path))}
        named = {target.path: query.id for query in reversed(before) for target in query.targets}
        for path, text in suggestions.items():
            if split_page(path)[1]:
                suggestions[path] = f"{text} (query {named[path]})"
    missing.sort(key=lambda path: (path not in suggestions, suggestions.get(path) != SEPARATE))
    return replace(
        searched,
        missing=tuple(missing[: SHOWN_MISSING + 1]),
        hint=option,
        suggestions=dict(islice(suggestions.items(), MOST_SUGGESTIONS)),
    )


def _hint(gold: Dataset, searched: CorpusCoverage) -> str:
    """Return what may help if no target of *gold* is in the corpus."""
    others = set(gold.refs.names) - {"path"}
    if others:
        return f"karat resolve maps each {min(others)} to a document"
    if any(query.extra.get("base_commit") for query in gold.queries()):
        return "it was mined from Git: omit --corpus to search the version before each change"
    if searched.hint:
        return searched.hint
    for path, text in searched.suggestions.items():
        return f"{path}: {text}"
    return "are these the documents that it was made for?"


class _Outside:
    """The documents of a snapshot that exist and are not searched, each with the reason."""

    def __init__(
        self, corpus: Corpus, whole: Corpus, selection: FileSelection, matcher: Matcher
    ) -> None:
        self._corpus = corpus
        self._whole = whole
        self._selection = selection
        self._matcher = matcher

    @cached_property
    def _reasons(self) -> Mapping[str, str]:
        """The reasons by path; most snapshots need none of them."""
        searched = self._corpus.by_path
        outside = (document for document in self._whole if document.path not in searched)
        reasons = {
            document.path: self._selection.reason(document) or "test" for document in outside
        }
        return {
            self._matcher.spelled(path): LEFT_OUT.get(why, why.replace("-", " "))
            for path, why in {**self._whole.skipped_files, **reasons}.items()
        }

    def reason(self, target: Target, root: str) -> str:
        """Return why *target*, which is not searched, is left out; "" if it does not exist."""
        path = self._matcher.spelled(target.path, root)
        if path in self._reasons:
            return self._reasons[path]
        if above := self._above(path):
            return above
        if self._matcher.by_id:
            return ""
        as_target = Target(path)
        credit = self._matcher.credit
        return next((why for p, why in self._reasons.items() if credit(Hit(p), as_target)), "")

    def _above(self, path: str) -> str:
        """Return why a folder above the file *path* is left out as a whole, "" for none."""
        if self._whole.folder is None:
            return ""
        folders = map(str, PurePosixPath(path).parents)
        why = next((self._reasons[name] for name in folders if name in self._reasons), "")
        return why if why and (self._whole.folder / path).is_file() else ""


def _with_targets(query: Query, there: list[bool], matcher: Matcher) -> Query:
    """Return *query* with those of its targets that are *there*.

    If all files of a query are missing, a symbol that was evidence for them is not a target either.
    """
    targets = query.targets
    if not any(map(and_, relevant_targets(targets, matcher), there)):
        there = list(map(and_, counted_targets(targets, matcher), there))
    return query._replace(targets=tuple(compress(targets, there)))


def _is_present(target: Target, known: Set[str], matcher: Matcher, root: str) -> bool:
    path = matcher.spelled(target.path, root)
    if not path or path in known:
        return True
    located = Target(path)
    return not matcher.by_id and any(matcher.credit(Hit(other), located) for other in known)


def missing_paths(gold: Dataset, resolved: Dataset) -> dict[str, list[str]]:
    """Return, by query, the paths of relevant targets of *gold* that *resolved* lacks."""
    missing = {}
    for before, after in zip(gold.queries(), resolved.queries(), strict=True):
        left = {target.path for target in after.targets}
        gone = [t.path for t in before.targets if t.grade > 0 and t.path not in left]
        if gone:
            missing[before.id] = list(dict.fromkeys(gone))
    return missing


def resolved_for(gold: Dataset, runs: Sequence[RunResult]) -> Dataset | None:
    """Return *gold* without the targets that were missing in the snapshots that *runs* searched.

    None if no target was missing, if no other is left, or if the notes of the runs differ.
    """
    first, *others = (run.missing for run in runs)
    if not first or any(other != first for other in others):
        return None
    queries = [
        query._replace(
            targets=tuple(t for t in query.targets if t.path not in first.get(query.id, ()))
        )
        for query in gold.queries()
    ]
    if not any(target.grade > 0 for query in queries for target in query.targets):
        return None
    return gold.with_queries(queries)


# Fields of Where that only say how its repositories are found.
UNRECORDED = frozenset({"clones", "only_given"})


class Where(NamedTuple):
    """The snapshots to search, in the words of :mod:`karat.experiments.snapshots`.

    Without a *corpus* they are those of the repositories that the gold set was mined from. A
    *revision* needs a corpus; *repositories* and *snapshot* exclude one. *kind* (``docs``, ``code``
    or ``all``), *include* and *exclude* select files, see
    :class:`karat.corpus.files.selection.FileSelection`; without a kind, that of the gold set.
    *clones* is a folder of repositories, which :meth:`with_clones` looks up; with *only_given*,
    cases whose repository is not there are left out. These two are not recorded.
    """

    repositories: Mapping[str, str] = NOWHERE_ELSE
    corpus: str | None = None
    revision: str | None = None
    snapshot: str | None = None
    candidates: str | None = None
    kind: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    clones: str | None = None
    only_given: bool = False

    @classmethod
    def from_json(cls, recorded: Mapping[str, object]) -> "Where":
        """Return the selection in a record; records without a kind searched all kinds."""
        fields = [name for name in cls._fields if name not in UNRECORDED]
        first = set(fields) - {"kind", "include", "exclude"}
        if not first <= recorded.keys() <= set(fields):
            raise InputError(
                f"the searched corpus is recorded as {dict(recorded)}; expected {', '.join(fields)}"
            )
        lists = {name: recorded.get(name, ()) for name in ("include", "exclude")}
        words = [v for name, v in recorded.items() if name not in {"repositories", *lists}]
        if not all(isinstance(value, str | None) for value in words) or not all(
            isinstance(value, list | tuple) for value in lists.values()
        ):
            raise InputError(f"the searched corpus is recorded as {dict(recorded)}; expected texts")
        patterns = {name: tuple(map(str, value)) for name, value in lists.items()}  # type: ignore[call-overload]
        return cls(**{"kind": "all", **recorded, **patterns})  # type: ignore[arg-type]

    def to_json(self) -> dict[str, object]:
        """Return what :meth:`from_json` reads, with absolute paths.

        A selection of all files is left out, as in records of earlier versions.
        """
        own = {name: each for name, each in self._asdict().items() if name not in UNRECORDED}
        kind, include, exclude = (own.pop(name) for name in ("kind", "include", "exclude"))
        selection = FileSelection(kind or "all", include, exclude)
        return {
            **own,
            **selection.to_json(),
            "repositories": {
                name: str(Path(folder).resolve()) for name, folder in self.repositories.items()
            },
            "corpus": None if self.corpus is None else str(Path(self.corpus).resolve()),
        }

    def with_clones(self, gold: Dataset) -> "Where":
        """Return the selection with the repositories of *gold* that *clones* has.

        Those that are named one by one come first. If none is there, InputError is raised.
        """
        if self.clones is None:
            return self
        repositories = {**clones(gold, self.clones), **self.repositories}
        if not repositories:
            names = sorted({*gold.tags.get(TAG, ())} - {""}) or [gold.name]
            raise InputError(f"{self.clones}: no clone of {join_names(first_few(names))} in there")
        return self._replace(repositories=repositories, clones=None)

    def of_part(self, part: Dataset, whole: Dataset) -> "Where":
        """Return the selection for *part* of a gold set, without repositories that it lacks.

        A name that the *whole* set does not have raises InputError.
        """
        check_names(whole, self.repositories)
        unused = set(whole.tags.get(TAG, ())) - set(part.tags.get(TAG, ())) - {""}
        used = {name: folder for name, folder in self.repositories.items() if name not in unused}
        return self._replace(repositories=used)

    @contextmanager
    def snapshots(self, gold: Dataset, *, seed: int) -> Iterator[Snapshots]:
        """Open the snapshots; *seed* shuffles the queries on each of them."""
        selected = selected_files(gold, self.kind, self.include, self.exclude)
        if self.corpus is None:
            if self.revision is not None:
                raise InputError(f"revision {self.revision!r} needs a corpus")
            with history_snapshots(
                gold,
                self.repositories,
                snapshot=self.snapshot or "parent",
                candidates=self.candidates,
                selected=selected,
                seed=seed,
            ) as opened:
                yield opened
            return
        if self.repositories or self.snapshot is not None:
            raise InputError(
                f"corpus {self.corpus} is searched in place of the trees of a repository; expected "
                "neither repositories nor a snapshot beside it"
            )
        yield corpus_snapshots(
            gold,
            self.corpus,
            revision=self.revision,
            candidates=self.candidates,
            selected=selected,
            seed=seed,
        )


def located_page(target: Target, corpus: Corpus) -> Target:
    """Return *target* with the lines of the page that it names, if it names one.

    A document that is not in *corpus* stays as it is, and so does a page that it lacks: no path of
    the corpus has the name of a page, so that the target counts as missing.
    """
    path, page = split_page(target.path)
    if not page or target.path in corpus.by_path or path not in corpus.by_path:
        return target
    lines = page_lines(corpus.read(path), page)
    if lines is None:
        return target
    return target._replace(path=path, start_line=lines[0], end_line=lines[1])


def locate_pages(gold: Dataset, where: Where) -> Dataset:
    """Return *gold* with the lines of targets that name a page, ``manual.pdf#page=3``.

    Hits are then matched by lines, unless *gold* has another mode that uses them.
    """
    if not any(split_page(path)[1] for path in gold.paths.names):
        return gold
    queries = list(gold.queries())
    with where.snapshots(gold, seed=0) as snapshots:
        for corpus, searched, _ in snapshots:
            for row in searched.rows:
                targets = tuple(located_page(target, corpus) for target in queries[row].targets)
                queries[row] = queries[row]._replace(targets=targets)
    located = gold.with_queries(queries)
    return replace(located, match="lines") if gold.match in WHOLE_FILES else located


def check_targets(
    gold: Dataset, where: Where, *, match: str, root: str = "", seed: int = 0
) -> TargetCheck:
    """Open the snapshots of *where*, and check which targets of *gold* they hold."""
    with where.snapshots(gold, seed=seed) as snapshots:
        return check_snapshots(gold, snapshots, match=match, root=root)


def corpus_digest(check: TargetCheck) -> str:
    """Return the hash of all that is searched: that of one snapshot, or one over several."""
    if len(check.digests) == 1:
        return check.digests[0]
    return sha256("\n".join(check.digests).encode()).hexdigest()
