"""Turn text into terms: split identifiers (and keep them whole), drop stop words, stem the rest."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

VOWEL = re.compile("[aeiouy]")
SHORTEST = 4
ENDS_OF_SINGULARS = ("ss", "us", "is")
ENDS_THAT_TAKE_ES = ("sses", "xes", "ches", "shes", "zzes")
# Words that end in -ed or -ing without a suffix.
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
            return undouble(root)
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


def undouble(root: str) -> str:
    """Return what stands before -ing or -ed without the letter that the ending doubled.

    >>> [undouble(root) for root in ("runn", "pass", "call", "stor", "add")]
    ['run', 'pass', 'call', 'stor', 'add']
    """
    if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz":
        return root[:-1]
    return root


@cache
def stop_words() -> frozenset[str]:
    """Return the words that say nothing about what is searched."""
    from karat.system.package_data import read_words

    return frozenset(read_words("karat.engines.lexical", "word_lists/stop_words.txt"))


# Longer runs are hashes and encoded data; no one searches for them.
LONGEST_TERM = 64

PARTS = re.compile(
    r"[A-Z]{2,}s(?![a-z])"  # URLs, IDs
    r"|[A-Z]+(?=[A-Z][a-z])"  # the HTTP of HTTPServer
    r"|[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
)
# Kana, unified ideographs with extension A and the compatibility block, Hangul syllables.
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
SCRIPTS = re.compile(rf"[{CJK}]+|[A-Za-z0-9_]+|[^\W{CJK}A-Za-z0-9_]+")
IDEOGRAPH = re.compile(f"[{CJK}]")
ACCENTS = re.compile("[\u0300-\u036f]")

# Every byte but an ASCII letter, digit or underscore ends a word. Bytes past ASCII stay, so that
# one translate and one split do for UTF-8; what they mean is looked at once per word.
SEPARATORS = bytes(
    byte if byte >= 0x80 or chr(byte).isalnum() or byte == ord("_") else ord(" ")
    for byte in range(256)
)


def raw_words(text: str) -> list[bytes]:
    """Return the words of *text* as UTF-8, unsplit; lone surrogates count as separators.

    >>> raw_words("a.getUser(x_1)")
    [b'a', b'getUser', b'x_1']
    """
    return text.encode("utf-8", "replace").translate(SEPARATORS).split()


@dataclass(frozen=True, slots=True)
class TokenRules:
    """How words become terms. All four are on by default; each can be switched off to measure it.

    *split* cuts identifiers at case, digits and underscores, *whole* keeps the unsplit identifier
    as a term as well (without its underscores, so that ``user_name`` finds ``userName``).

    >>> TokenRules().terms("How does getUserName parse URLs?")
    ['getusername', 'get', 'user', 'nam', 'pars', 'url']
    >>> TokenRules(split=False, stem=False).terms("getUserName")
    ['getusername']
    """

    split: bool = True
    whole: bool = True
    stop_words: bool = True
    stem: bool = True

    def terms(self, text: str) -> list[str]:
        """Return the terms of *text* in order, repeated ones included."""
        return [term for word in raw_words(text) for term in self.of_word(word)]

    def of_word(self, raw: bytes) -> tuple[str, ...]:
        """Return the terms of one word of :func:`raw_words`.

        >>> TokenRules().of_word("日本語".encode()), TokenRules().of_word("Café".encode())
        (('日本', '本語'), ('caf',))
        """
        if raw.isascii():
            return self._identifier(raw.decode("ascii"))
        text = strip_accents(raw.decode("utf-8", "replace"))
        return tuple(term for piece in SCRIPTS.findall(text) for term in self._piece(piece))

    def _piece(self, piece: str) -> tuple[str, ...]:
        if piece.isascii():
            return self._identifier(piece)
        if IDEOGRAPH.match(piece):
            return bigrams(piece)
        return (piece.casefold(),) if len(piece) <= LONGEST_TERM else ()

    def _identifier(self, word: str) -> tuple[str, ...]:
        parts = PARTS.findall(word) if self.split else [word.replace("_", "")]
        terms = []
        if len(parts) > 1:
            whole = "".join(parts).lower()
            if self.whole and len(whole) <= LONGEST_TERM:
                terms.append(whole)
            # One letter out of an identifier (the x of x_max) says nothing by itself.
            parts = [part for part in parts if len(part) > 1]
        for part in parts:
            term = plain(part, self.stop_words, self.stem)
            if term:
                terms.append(term)
        return tuple(terms)


@lru_cache(maxsize=1 << 16)
def plain(word: str, stop: bool, stemmed: bool) -> str:
    """Return the term of an ASCII *word* that needs no splitting, empty where it is none."""
    word = word.lower()
    if len(word) > LONGEST_TERM or (stop and word in stop_words()):
        return ""
    return stem(word) if stemmed else word


def strip_accents(text: str) -> str:
    """Return *text* in compatibility form without accents; Hangul stays composed.

    >>> strip_accents("Ünïcode ﬁle 한국")
    'Unicode file 한국'
    """
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", ACCENTS.sub("", decomposed))


def bigrams(run: str) -> tuple[str, ...]:
    """Return each two neighbours of a *run* of CJK characters; a single one stands for itself.

    >>> bigrams("検索語"), bigrams("語")
    (('検索', '索語'), ('語',))
    """
    return tuple(map("".join, pairwise(run))) or (run,)
