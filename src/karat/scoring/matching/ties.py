"""Tie policies: how equal scores are ordered.

* ``trec10``: scores as float64, equal ones by document id, descending (trec_eval 10; the default)
* ``trec9``: the same with scores rounded to float32 (trec_eval up to 9, pytrec_eval, BEIR, MTEB)
* ``order``: equal scores keep the order in which they were returned
* ``expected``: the mean over all orders of the tied hits, in closed form
* ``best`` and ``worst``: the luckiest and the unluckiest order
"""

from array import array

from karat.errors import UnknownName

__all__ = ["TIE_POLICIES", "as_float32", "check_policy"]

TIE_POLICIES = ("trec10", "trec9", "order", "expected", "best", "worst")


def check_policy(name: str) -> str:
    """Return *name* if it is a tie policy.

    >>> check_policy("trec9")
    'trec9'
    """
    if name not in TIE_POLICIES:
        raise UnknownName(f"no tie policy named {name!r}; known: {', '.join(TIE_POLICIES)}")
    return name


def as_float32(score: float) -> float:
    """Return *score* rounded as trec_eval 9 stores it.

    >>> as_float32(0.1) == 0.1
    False
    """
    return array("f", (score,))[0]
