"""Whether a short text is English: by its letters and by small words, without a model."""

import re

from karat.mining.words import FUNCTION_WORDS

__all__ = ["is_english"]

# Small words of languages that are written in Latin letters; none of them is an English word.
_SMALL_WORDS = """
aber au auch auf aux avec bei cette che como cuando da dans das de del dem der du een ein eine einen
ele em essa est esta este et für gli het il isso ist la le les leur los mais mit muy más nach nas
nella nicht niet non nos não ou par para pas pela pelo pero por pour quando que qui sem sin sobre
sono sont sur são uma un una und une van von voor wenn wird zu zum zur
"""
_FOREIGN = frozenset(_SMALL_WORDS.split())
_LETTERS = re.compile(r"[^\W\d_]")
_WORDS = re.compile(r"[^\W\d_]+")
_LEAST_ASCII = 0.8


def is_english(text: str) -> bool:
    """Say whether *text* may be English.

    Most letters are ASCII, and small words of other languages do not outnumber the English ones.
    One foreign word alone says nothing: it may be quoted.

    >>> is_english("fix the encoding of naïve dates"), is_english("修复 bug")
    (True, False)
    >>> is_english("corrige le bug dans les formulaires")
    False
    """
    if not text.isascii():
        letters = _LETTERS.findall(text)
        if sum(letter.isascii() for letter in letters) < _LEAST_ASCII * len(letters):
            return False
    words = _WORDS.findall(text.lower())
    if _FOREIGN.isdisjoint(words):
        return True
    foreign = sum(word in _FOREIGN for word in words)
    return foreign < 2 or foreign <= sum(word in FUNCTION_WORDS for word in words)
