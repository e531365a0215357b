"""What the look of a message says of its commit, whatever its words mean."""

import re

from karat.mining.wording import Reason

__all__ = ["signs"]

# What a slow pattern needs is looked for first.
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


def signs(message: str, query: str) -> set[Reason]:
    """Return what a *message* tells by its look, and the *query* that was made of it.

    >>> signs("build: copy the images", "copy the images")
    {<Reason.MAINTENANCE: 'maintenance'>}
    >>> signs("Fix the crash since 3c7ed2b", "fix the crash since 3c7ed2b")
    {<Reason.DISTANT: 'distant'>}
    """
    found = set()
    if _DIGIT.search(query):
        if _VERSION.match(query):
            found.add(Reason.BUMP)
        if _SHA.search(query):
            found.add(Reason.DISTANT)
    if ":" in message and _UPKEEP.match(message):
        found.add(Reason.MAINTENANCE)
    if (">" in query or "→" in query) and _RENAMES.search(query):
        found.add(Reason.MAINTENANCE)
    return found
