"""Whether a short text is English: by its letters and by small words, without a model."""

import re

from karat.mining.words import FUNCTION_WORDS

__all__ = ["is_english"]

# Small words of languages that are written in Latin letters; none of them is an English word.
_FOREIGN = frozenset(
    """
    aber auch auf bei das dem den der ein eine einen für ist mit nach nicht und von wenn wird zu zum
    zur au aux avec ce cette dans des du est et la le les leur mais ou par pas pour que qui sont sur
    un une con como cuando del el en esta este las los más muy para pero por se sin sobre una y com
    da do dos ele em essa isso mais na não nas nos ou pela pelo quando sem são uma che di gli il
    nella non per quando sono het een niet voor van de
    """.split()
) - {"do", "per", "se", "di", "des", "con", "ce", "com", "den", "dos", "las", "el", "en", "y", "na"}
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
    foreign = sum(word in _FOREIGN for word in words)
    return foreign < 2 or foreign <= sum(word in FUNCTION_WORDS for word in words)
