"""Names of trec_eval and pytrec_eval: as requested, ``iprec_at_recall.0.5``, and as printed."""

import re

from karat.errors import InputError
from karat.extensions.trec_eval.names import MEASURES, NICKNAMES, values
from karat.system.words import join_names

# What follows a name: cut-offs, points, or pairs such as p=0.8,1=3.
PARAMETERS = re.compile(r"([._][-+.,=pe\d]+)?")
NOT_A_NUMBER = {
    "runid": "the tag of the run, which is not a number",
    "relstring": "the grades of the first hits as text; karat score --per-query shows ranks",
}


def translate(text: str) -> str | None:
    """Return Karat's measure for *text*, None if trec_eval has no such name.

    >>> translate("iprec_at_recall_0.50"), translate("rbp.p=0.8"), translate("Rprec_mult_0.20")
    ('iprec(recall=0.5)', 'rbp-graded(p=0.8)', 'r-precision-mult(times=0.2)')
    >>> translate("nDCG@10") is None
    True
    """
    if text in NICKNAMES:
        raise InputError(
            f"{text} is a set of measures of trec_eval: karat trec-eval -m {text}, or name each one"
        )
    # The longest name first: ndcg_cut_10 is not ndcg.
    for name in sorted(MEASURES, key=len, reverse=True):
        rest = text.removeprefix(name)
        if rest != text and PARAMETERS.fullmatch(rest):
            return _measure(text, name, rest[1:])
    return None


def _measure(text: str, name: str, parameters: str) -> str | None:
    if name in NOT_A_NUMBER:
        raise InputError(f"{text}: {NOT_A_NUMBER[name]}")
    needs = MEASURES[name].needs
    kind = "qrels" if needs == "any" else needs
    given = values([f"{name}.{parameters}" if parameters else name], judgments=kind)
    meant = [str(value.measure) for value in given]
    if len(meant) > 1 and not parameters:
        return None  # the error about the missing cut-off is enough
    if len(meant) > 1:
        some = join_names([*meant[:3], "..."] if len(meant) > 3 else meant)
        raise InputError(f"{text} is {len(meant)} measures of trec_eval; name each one: {some}")
    return meant[0]
