"""A light English stemmer: plurals, -ing and -ed fold into one stem; nothing else is touched."""

import re

__all__ = ["stem"]

VOWEL = re.compile("[aeiouy]")
SHORTEST = 4
ENDS_OF_SINGULARS = ("ss", "us", "is")
ENDS_THAT_TAKE_ES = ("sses", "xes", "ches", "shes", "zzes")
# Their -ed and -ing are no endings.
WHOLE = frozenset({"embed", "hundred", "nothing", "something", "anything", "everything", "during"})


def stem(word: str) -> str:
    """Return the stem of a lower-case *word*; words under four letters and words with digits stay.

    Weaker than Porter's on purpose: in code *operator* and *operate* are different things.

    >>> [stem(word) for word in ("indexes", "indexing", "indexed", "queries", "caches", "caching")]
    ['index', 'index', 'index', 'query', 'cach', 'cach']
    >>> [stem(word) for word in ("status", "class", "running", "string", "cache", "speed")]
    ['status', 'class', 'run', 'string', 'cach', 'speed']
    """
    if len(word) < SHORTEST or not word.isalpha():
        return word
    word = singular(word)
    if word in WHOLE or len(word) < SHORTEST:
        return word
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 3 and root[-1] != "e" and VOWEL.search(root):
            return undoubled(root)
    return word[:-1] if word.endswith("e") and not word.endswith("ee") else word


def singular(word: str) -> str:
    """Return *word* without a plural's ending.

    >>> [singular(word) for word in ("entries", "boxes", "names", "bus", "analysis")]
    ['entry', 'box', 'name', 'bus', 'analysis']
    """
    if not word.endswith("s") or word.endswith(ENDS_OF_SINGULARS):
        return word
    if word.endswith("ies") and len(word) > SHORTEST:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(ENDS_THAT_TAKE_ES) else word[:-1]


def undoubled(root: str) -> str:
    """Return what stands before -ing or -ed without the letter that the ending doubled.

    >>> [undoubled(root) for root in ("runn", "pass", "call", "stor", "add")]
    ['run', 'pass', 'call', 'stor', 'add']
    """
    if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz":
        return root[:-1]
    return root
