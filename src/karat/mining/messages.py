"""A commit message becomes the question that a developer might have typed before the change.

By rules alone: tables of what is cut off the front and what is cut out, then the first sentence,
with its verb in the imperative. Nothing here knows a particular repository.
"""

import re

from karat.mining.verbs import imperative

__all__ = ["ASIDES", "HEADS", "REFERENCES", "as_query", "opening", "query_of"]

# Standards whose names look like the ids of tickets.
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

# What is cut off the front, again and again, until none of them matches.
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
# What is cut out wherever it stands. Each pattern begins with a character that is rare in messages,
# which is what makes it fast.
ASIDES = {
    "address": r"https?://[^\s>)]+",
    "remark": rf"\((?:[^()]*{_TICKET}[^()]*|(?i:{_CREDIT})\b[^()]*)\)",
    "mark": rf"\[(?i:[^\]]*\bci\b[^\]]*|#\d+|(?:{_CREDIT})\b[^\]]*)\]",
    "thanks": r"^(?i:(?:many|much|big) )?(?i:thanks|thank you|thx|kudos)\b.*$",
    "credit": rf"[.,;!)–—-][-\s]*(?i:(?:with|also|and)\s+)?(?i:{_CREDIT})\b.*$",
}
# The same, looked for only in messages that hold a number.
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

_MERGE = re.compile(r"(?:Merge(?:d)? (?:pull request|PR|branch|remote|tag)|Automatic merge)\b")
_TRAILER = re.compile(
    r"[A-Z][A-Za-z]+(?:-[A-Za-z]+)+: |(?:Fixes|Closes|Refs|Bug|See): |git-svn-id:|darcs-hash:"
)
_BULLET = re.compile(r"\s*(?:[-*•+]|\d+[.)])\s")
# A line that ends before this column, although the next word had room, was ended on purpose.
_WRAPS_AT = 60
_LONELY_STOP = re.compile(r"\s+\.(?=\s|$)")
# An abbreviation ends no sentence.
_SENTENCE = re.compile(
    r"[.!?;](?<=[\w)\]\"'`}>].)(?<!\be\.g.)(?<!\bi\.e.)(?<!\bvs.)(?<!\betc.)(?<!\bcf.)"
    r"\s+(?=[\"'`(\[]?[A-Z]|\w+ed\b|this\b|it\b)"
)
_ROLE = re.compile(r":[a-z:]+:`~?([^`]*)`")
_MARKUP = re.compile(r"`+|\*\*+")
# The verb may come after a scope ("kubelet: ", which stays), after filling words and an adverb.
_LEAD = re.compile(
    r"((?:[\w.,/+@ -]{1,40}: +)*)(?:(?i:i|we|just|also|now|please|finally|hopefully) +)?"
    r"((?:[A-Za-z][a-z]+ly +)?)([A-Za-z][a-z]+(?:-[a-z]+)?)(?![\w.(:/-])"
)
# "Closing handles should keep the loop alive" is a sentence; its gerund is no order.
_FINITE = re.compile(
    r"\b(?:is|are|was|were|should|must|can|will|would|could|does|did|now|no longer)\b"
)
# What a reference that was cut out at the end leaves behind.
_BEFORE_REFERENCES = """
as and at by for from in of on per see the to via with
"""
_DANGLING = frozenset(_BEFORE_REFERENCES.split())
_END = " \t.,;:!-–—"


def opening(message: str) -> str:
    r"""Return the first paragraph that says something, as one line.

    Old histories wrap their subjects, so a line is not enough; a trailer, a list, a new order and
    a line that ended early end the paragraph. What a hosting service writes above the title of a
    merge is passed over.

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
        kept = [first]
        for line in lines[1:]:
            word = line.strip().partition(" ")[0]
            if len(kept[-1]) + len(word) < _WRAPS_AT or (word[:1].isupper() and imperative(word)):
                break
            if _TRAILER.match(line) or _BULLET.match(line):
                break
            kept.append(line.strip())
        return " ".join(kept)
    return ""


def query_of(message: str) -> str:
    """Return what a developer might have typed to find what *message* is about; "" for nothing.

    >>> query_of("Fixed #34000 -- Fixed numberformat.format() crash on empty strings. Thanks A.")
    'fix numberformat.format() crash on empty strings'
    >>> query_of("kubelet: Added the --max-pods option (#12)")
    'kubelet: add the --max-pods option'
    """
    return as_query(opening(message))


def as_query(text: str) -> str:
    """Return the question in *text*, the opening of a message."""
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
    # Nearly every message begins with a word, and a head that does has one of these.
    if text[:1].isalpha() and not _HEADED.search(text):
        return text
    while head := _HEAD.match(text):
        if not head.end():
            break
        text = text[head.end() :]
    return text


def _first_sentence(text: str) -> str:
    """Return the first sentence of *text*, and the next where the first has no three words."""
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
