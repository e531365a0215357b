"""The exceptions that Karat raises.

    KaratError
    ├── InputError (ValueError)        invalid input; exit code 2
    │   ├── Conflict                   valid in itself, but not in the current state
    │   │   └── TooManyJobs            the owner has reached the limit of unfinished jobs
    │   ├── FormatError                a malformed file: every problem, with file and line
    │   ├── LimitExceeded              a file or a list is larger than a setting allows
    │   ├── UnknownFormat              the format of a file cannot be detected
    │   └── UnknownName (LookupError)  a name that is not registered, with the nearest ones
    ├── MissingExtra (ImportError)     an optional dependency is not installed; exit code 2
    ├── MissingExtension (ImportError) an extension of Karat was removed; exit code 2
    ├── ProcessError (RuntimeError)    a child process could not start or failed; exit code 3
    │   └── AnalysisError              no process of the service could compute a result
    ├── StorageFull (OSError)          a disk or a database has no space left; exit code 3
    ├── StoreUnavailable               the database server does not answer; exit code 3
    └── EngineError (RuntimeError)     an engine failed, timed out or returned garbage; exit code 3

The exit code is a property of the class, so that no command decides it for itself.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from karat.installation import install_hint, package_hint

PROBLEMS_SHOWN = 20


class KaratError(Exception):
    """The base class of all errors of Karat. Exit code 3: the tool failed."""

    exit_code = 3


class InputError(KaratError, ValueError):
    """The user's input is invalid."""

    exit_code = 2


class Conflict(InputError):
    """The request conflicts with the current state, such as deleting something in use."""


class TooManyJobs(Conflict):
    """An owner has reached the limit of unfinished jobs.

    >>> print(TooManyJobs(4))
    4 jobs are not finished yet; wait for one of them
    """

    def __init__(self, most: int) -> None:
        """Name the limit *most*."""
        super().__init__(f"{most} jobs are not finished yet; wait for one of them")


class Problem(NamedTuple):
    """One problem of a source, at a line (from 1; 0 for the whole source)."""

    source: str
    line: int
    message: str

    def __str__(self) -> str:
        """Return ``source:line: message``, without the line where there is none."""
        where = f"{self.source}:{self.line}" if self.line else self.source
        return f"{where}: {self.message}"


class FormatError(InputError):
    """A source is malformed; the error carries all problems, not only the first.

    >>> print(FormatError([Problem("code.csv", 12, "grade 'x' is not a number")]))
    code.csv:12: grade 'x' is not a number
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Store *problems*; the message shows the first twenty and counts the rest.

        Problems that differ only in their line are shown once, with their number.
        """
        self.problems = tuple(problems)
        alike = Counter((problem.source, problem.message) for problem in self.problems)
        first = {(problem.source, problem.message): problem for problem in reversed(self.problems)}
        listed = list(alike.items())[:PROBLEMS_SHOWN]
        lines = [f"{first[key]}{_repeated(count)}" for key, count in listed]
        hidden = len(self.problems) - sum(count for _, count in listed)
        if hidden:
            lines.append(f"... and {hidden} more")
        super().__init__("\n".join(lines))


def _repeated(count: int) -> str:
    if count == 1:
        return ""
    return f" (and on {count - 1:,} more line{'s' if count > 2 else ''})"


class UnknownFormat(InputError):
    """The format of a file cannot be detected.

    >>> print(UnknownFormat("a.txt", "is unknown", ["trec-run", "karat-run"], kind="run"))
    a.txt: the format is unknown; name one of: trec-run, karat-run
    """

    def __init__(
        self, path: str, reason: str, known: Sequence[str], *, kind: str | None, option: str = ""
    ) -> None:
        """Name the formats *known*, and the *option* of a command that chooses one."""
        self.details = (path, reason, tuple(known))
        self.kind = kind
        how = f"name it with {option}, one of" if option else "name one of"
        super().__init__(f"{path}: the format {reason}; {how}: {', '.join(known)}")

    def with_option(self, option: str) -> "UnknownFormat":
        """Return the same error with the *option* that chooses a format."""
        path, reason, known = self.details
        return UnknownFormat(path, reason, known, kind=self.kind, option=option)


class LimitExceeded(InputError):
    """A source is larger than a setting allows."""


class UnknownName(InputError, LookupError):
    """No registry entry has this name; the message offers the nearest ones."""


class MissingExtra(KaratError, ImportError):
    """An optional dependency is not installed; the message says how to install it."""

    exit_code = 2

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        """Name the missing *package*, the *extra* that brings it and what it is for.

        Without an *extra* the package is installed by its own name.
        """
        self.extra = extra
        needs = f"the extra {extra}" if extra else package
        hint = install_hint(extra) if extra else package_hint(package)
        super().__init__(f"{purpose} needs {needs}: {hint}", name=package)


class MissingExtension(KaratError, ImportError):
    """An ability belongs to an extension that this installation of Karat does not have.

    >>> print(MissingExtension("karat.trec_eval", "trec_eval"))
    karat.trec_eval needs Karat's extension trec_eval, which is not installed here
    """

    exit_code = 2

    def __init__(self, purpose: str, extension: str) -> None:
        """Name the missing *extension*, and what it is needed for."""
        super().__init__(
            f"{purpose} needs Karat's extension {extension}, which is not installed here",
            name=f"karat.extensions.{extension}",
        )


class ProcessError(KaratError, RuntimeError):
    """A child process could not start, took too long or printed more than allowed."""


class AnalysisError(ProcessError):
    """No process of the service could compute a result: it died, or took too long."""


class StorageFull(KaratError, OSError):
    """A disk or a database has no space left; everything that was stored before is complete."""


class StoreUnavailable(KaratError, ConnectionError):
    """The database server does not answer, perhaps because it is restarting; retry later."""


class EngineError(KaratError, RuntimeError):
    """An engine failed, timed out or returned an unreadable answer; the message names it."""
