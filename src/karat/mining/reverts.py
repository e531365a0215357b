"""Which commits a later one took back, as messages say it."""

import re
from collections.abc import Sequence

from karat.mining.candidates import Candidate
from karat.mining.commits import Commit
from karat.mining.messages import opening

__all__ = ["Reverts"]

_IDS = re.compile(r"(?i:revert\w*|back(?:ed|s)? out|undo\w*)[\s\w:,]*?\b([0-9a-f]{7,40})\b")
_TITLE = re.compile(r"(?:\[[^\]]*\] *)?(?i:revert\w*|back(?:ed)? out)[\s:]+[\"“'](.+)[\"”']")


class Reverts:
    """Collects what commits say that they take back; commits may come in any order."""

    def __init__(self) -> None:
        """Start with nothing taken back."""
        self._ids: set[str] = set()
        self._lengths: set[int] = set()
        self._titles: dict[str, int] = {}

    def note(self, commit: Commit) -> None:
        """Remember what *commit* takes back, if it does."""
        message = commit.message
        if not ("evert" in message or "ndo" in message or ("ack" in message and " out" in message)):
            return
        for found in _IDS.findall(message):
            self._ids.add(found)
            self._lengths.add(len(found))
        title = _TITLE.match(message)
        if title:
            self._titles[title[1]] = max(commit.time, self._titles.get(title[1], 0))

    def without_reverted(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return those of *candidates* that no commit seen so far takes back."""
        return [candidate for candidate in candidates if not self.took_back(candidate.commit)]

    def took_back(self, commit: Commit) -> bool:
        """Say whether one seen so far takes *commit* back: by its id, or later by its title."""
        if any(commit.id[:length] in self._ids for length in self._lengths):
            return True
        return self._titles.get(opening(commit.message), -1) >= commit.time
