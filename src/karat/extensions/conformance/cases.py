"""The cases of the conformance kit, worked out by hand."""

from karat.extensions.conformance.case import ALL, ERROR, NOTHING, Case, Expectation, Reading


def _expect(measure: str, query: str, *readings: tuple[str, str, str]) -> Expectation:
    return Expectation(measure, query, tuple(Reading(*each) for each in readings))  # type: ignore[arg-type]


def _ranked(*documents: str, query: str = "1") -> tuple[tuple[str, str, float], ...]:
    """Return hits with descending scores."""
    return tuple(
        (query, document, float(len(documents) - place)) for place, document in enumerate(documents)
    )


DROPPED = "left out of the mean"
ZERO = "counts 0"
IDEAL_321 = "(3 + 2/log2(3) + 1/log2(4))"
IDEAL_211 = "(2 + 1/log2(3) + 1/log2(4))"

# Seven equal scores; the relevant document is third by descending id.
TIED_RANKS = (
    ("by id, descending, as trec_eval", "1/3", "usual"),
    ("as in the file", "1/2", "other"),
    ("by id, ascending", "1/5", "other"),
    ("in reverse order of the file", "1/6", "other"),
    ("the mean over all orders", "(1 + 1/2 + 1/3 + 1/4 + 1/5 + 1/6 + 1/7) / 7", "other"),
    ("relevant last", "1/7", "other"),
    ("relevant first: equal scores for all are perfect", "1", "wrong"),
)

ORDER = (
    Case(
        "ties",
        "In which order are hits with equal scores?",
        "A rule by id gives one ranking in every program. trec_eval takes the descending id.",
        {"1": {"e": 1}},
        tuple(("1", document, 1.0) for document in "ceagbdf"),
        (
            _expect("mrr", "1", *TIED_RANKS),
            _expect("mrr@7", "1", *TIED_RANKS),
            _expect(
                "ndcg@7",
                "1",
                ("by id, descending, as trec_eval", "1/log2(4)", "usual"),
                ("as in the file", "1/log2(3)", "other"),
                ("by id, ascending", "1/log2(6)", "other"),
                ("in reverse order of the file", "1/log2(7)", "other"),
                (
                    "the mean over all orders",
                    "(1 + 1/log2(3) + 1/log2(4) + 1/log2(5) + 1/log2(6) + 1/log2(7) + 1/log2(8))"
                    " / 7",
                    "other",
                ),
                ("relevant last", "1/log2(8)", "other"),
                ("relevant first: equal scores for all are perfect", "1", "wrong"),
            ),
        ),
    ),
    Case(
        "close-scores",
        "Are scores compared as 64-bit numbers?",
        "Scores may differ by less than a 32-bit number can tell; trec_eval 10 compares 64 bits, "
        "trec_eval 9 compared 32.",
        {"1": {"m": 1}},
        (("1", "a", 1.0), ("1", "m", 1.00000001), ("1", "z", 1.0)),
        (
            _expect(
                "mrr",
                "1",
                ("64 bits", "1", "usual"),
                ("32 bits, as trec_eval 9", "1/2", "other"),
                ("32 bits, the mean over all orders", "(1 + 1/2 + 1/3) / 3", "other"),
            ),
        ),
    ),
    Case(
        "score-and-rank",
        "Does the score decide, or the order of the file?",
        "trec_eval reads the score and ignores the rank column.",
        {"1": {"c": 1}},
        (("1", "a", 1.0), ("1", "b", 3.0), ("1", "c", 2.0)),
        (
            _expect(
                "mrr",
                "1",
                ("the score", "1/2", "usual"),
                ("the rank column, or the order of the file", "1/3", "other"),
            ),
        ),
    ),
    Case(
        "negative-scores",
        "Are hits with scores below 0 ranked like others?",
        "Log probabilities and distances are below 0.",
        {"1": {"a": 1}},
        (("1", "a", -1.0), ("1", "b", -2.0)),
        (
            _expect(
                "mrr",
                "1",
                ("the higher score first", "1", "usual"),
                ("the lower score first", "1/2", "wrong"),
                ("dropped", "0", "wrong"),
            ),
        ),
    ),
)

QUERIES = (
    Case(
        "missing-query",
        "What does a judged query count that the run does not answer?",
        "Left out, a run that answers only easy queries wins. trec_eval counts 0 with -c only.",
        {"1": {"a": 1}, "2": {"b": 1}},
        _ranked("a"),
        (
            _expect(
                "mrr",
                ALL,
                (ZERO, "(1 + 0) / 2", "usual"),
                (f"{DROPPED}, as trec_eval without -c", "1", "other"),
                ("an error", ERROR, "other"),
            ),
        ),
    ),
    Case(
        "unknown-query",
        "What does a query of the run count that nobody judged?",
        "Nothing is known about it.",
        {"1": {"a": 1}},
        (*_ranked("a"), *_ranked("b", query="9")),
        (
            _expect(
                "mrr",
                ALL,
                (DROPPED, "1", "usual"),
                (ZERO, "(1 + 0) / 2", "wrong"),
                ("an error", ERROR, "other"),
            ),
        ),
    ),
    Case(
        "nothing-relevant",
        "What does a query without a relevant document count?",
        "No run can score on it, so it only lowers all means. trec_eval counts 0.",
        {"1": {"a": 1}, "2": {"b": 0}},
        (*_ranked("x", "a"), *_ranked("b", query="2")),
        (
            _expect(
                "mrr",
                ALL,
                (DROPPED, "1/2", "usual"),
                (f"{ZERO}, as trec_eval", "(1/2 + 0) / 2", "usual"),
                ("counts 1", "(1/2 + 1) / 2", "other"),
                ("no number", NOTHING, "other"),
                ("an error", ERROR, "other"),
            ),
        ),
    ),
    Case(
        "mean",
        "Is the mean over queries, or over all documents together?",
        "Every query counts alike, however many relevant documents it has.",
        {"1": {"a": 1}, "2": {"b": 1, "c": 1, "d": 1, "e": 1}},
        (*_ranked("a"), *_ranked("b", query="2")),
        (
            _expect(
                "recall@1",
                ALL,
                ("over queries", "(1/1 + 1/4) / 2", "usual"),
                ("over the documents of all queries", "(1 + 1) / (1 + 4)", "wrong"),
                ("over queries, by what was returned only", "(1/1 + 1/1) / 2", "wrong"),
            ),
        ),
    ),
    Case(
        "empty-run",
        "What is the score of a run without any hit?",
        "It found nothing; an error is as good.",
        {"1": {"a": 1}},
        (),
        (
            _expect(
                "mrr",
                ALL,
                ("0", "0", "usual"),
                ("an error", ERROR, "usual"),
                ("no number", NOTHING, "other"),
            ),
        ),
    ),
)

DOCUMENTS = (
    Case(
        "duplicates",
        "What does a document count that is twice in a list?",
        "Such a run is broken. trec_eval refuses it; a second gain could lift nDCG above 1.",
        {"1": {"a": 2, "b": 1, "c": 1}},
        (("1", "a", 0.9), ("1", "b", 0.85), ("1", "a", 0.8), ("1", "c", 0.7)),
        (
            _expect(
                "ndcg@4",
                "1",
                ("an error, as trec_eval", ERROR, "usual"),
                (
                    "the first one counts, the second is dropped",
                    f"{IDEAL_211} / {IDEAL_211}",
                    "usual",
                ),
                (
                    "the last score counts",
                    f"(1 + 2/log2(3) + 1/log2(4)) / {IDEAL_211}",
                    "other",
                ),
                (
                    "the second one takes a rank and gains nothing",
                    f"(2 + 1/log2(3) + 1/log2(5)) / {IDEAL_211}",
                    "other",
                ),
                (
                    "both gain, in the ideal list too",
                    "(2 + 1/log2(3) + 2/log2(4) + 1/log2(5))"
                    " / (2 + 2/log2(3) + 1/log2(4) + 1/log2(5))",
                    "wrong",
                ),
                (
                    "both gain: the score can exceed 1",
                    f"(2 + 1/log2(3) + 2/log2(4) + 1/log2(5)) / {IDEAL_211}",
                    "wrong",
                ),
            ),
        ),
    ),
    Case(
        "ids",
        "Are ids compared as text, character by character?",
        "Tables read 007 as the number 7, and case is a part of a path.",
        {"1": {"007": 1}, "2": {"Doc": 1}},
        (*_ranked("7", "007"), *_ranked("doc", "Doc", query="2")),
        (
            _expect(
                "mrr",
                "1",
                ("as text", "1/2", "usual"),
                ("as numbers: 7 is 007", "1", "wrong"),
                ("another id is expected", "0", "wrong"),
            ),
            _expect(
                "mrr",
                "2",
                ("as text", "1/2", "usual"),
                ("without case", "1", "wrong"),
            ),
        ),
    ),
    Case(
        "unjudged",
        "What does a hit count that nobody judged?",
        "Not relevant, as in trec_eval; condensed lists favour runs with few judged hits.",
        {"1": {"a": 1}},
        _ranked("u", "a"),
        (
            _expect(
                "ndcg@2",
                "1",
                ("not relevant", "1/log2(3)", "usual"),
                ("dropped: a condensed list", "1", "other"),
            ),
        ),
    ),
)

GRADES = (
    Case(
        "judged-not-relevant",
        "Is a document with grade 0 relevant?",
        "Grade 0 says that somebody looked and found it not relevant.",
        {"1": {"z": 0, "a": 1}},
        _ranked("z", "a"),
        (
            _expect(
                "mrr",
                "1",
                ("no", "1/2", "usual"),
                ("yes: every judged document is", "1", "wrong"),
            ),
            _expect(
                "recall@2",
                "1",
                ("no", "1/1", "usual"),
            ),
            _expect(
                "recall@1",
                "1",
                ("no", "0", "usual"),
                ("yes: every judged document is", "1/2", "wrong"),
            ),
        ),
    ),
    Case(
        "negative-grades",
        "What is the gain of a grade below 0?",
        "In trec_eval such a document was pooled and not judged.",
        {"1": {"n": -2, "a": 1}},
        _ranked("n", "a"),
        (
            _expect(
                "ndcg@2",
                "1",
                ("none", "1/log2(3)", "usual"),
                ("an error", ERROR, "other"),
                ("a loss: the score can be below 0", "-2 + 1/log2(3)", "wrong"),
                (
                    "a loss, in the ideal list too",
                    "(-2 + 1/log2(3)) / (1 - 2/log2(3))",
                    "wrong",
                ),
            ),
            _expect(
                "precision@1",
                "1",
                ("none", "0", "usual"),
                ("an error", ERROR, "other"),
                ("every judged document is relevant", "1", "wrong"),
            ),
        ),
    ),
    Case(
        "level",
        "From which grade on is a document relevant, for measures without grades?",
        "Any grade above 0, as in trec_eval.",
        {"1": {"a": 1, "b": 3}},
        _ranked("a", "b"),
        (
            _expect(
                "mrr",
                "1",
                ("any above 0", "1", "usual"),
                ("from 2 on", "1/2", "other"),
            ),
        ),
    ),
    Case(
        "gain",
        "What is the gain of a grade in nDCG, and how is it discounted?",
        "trec_eval takes the grade, web search 2^grade - 1: a paper must say which.",
        {"1": {"a": 1, "b": 3, "c": 2}},
        _ranked("a", "b", "c"),
        (
            _expect(
                "ndcg@3",
                "1",
                ("the grade", f"(1 + 3/log2(3) + 2/log2(4)) / {IDEAL_321}", "usual"),
                (
                    "2^grade - 1",
                    "(1 + 7/log2(3) + 3/log2(4)) / (7 + 3/log2(3) + 1/log2(4))",
                    "other",
                ),
                (
                    "the grade, without discount at rank 2 (2002)",
                    "(1 + 3/1 + 2/log2(3)) / (3 + 2/1 + 1/log2(3))",
                    "other",
                ),
                ("1 for any grade", "1", "other"),
            ),
        ),
    ),
    Case(
        "err",
        "What is the highest grade in ERR?",
        "Definitions take that of the scale, which a file does not say.",
        {"1": {"a": 2}, "2": {"b": 3}},
        (*_ranked("a"), *_ranked("b", query="2")),
        (
            _expect(
                "err@1",
                "1",
                ("that of the query", "(2**2 - 1) / 2**2", "usual"),
                ("that of all judgments", "(2**2 - 1) / 2**3", "usual"),
                ("always 4, as gdeval", "(2**2 - 1) / 2**4", "other"),
            ),
        ),
    ),
)

CUT_OFFS = (
    Case(
        "ideal",
        "Is the ideal made of all judgments, or of what was returned?",
        "A run that returns one good document of many is not perfect.",
        {"1": {"a": 3, "b": 2, "c": 1}},
        _ranked("c", "x"),
        (
            _expect(
                "ndcg@2",
                "1",
                ("the best k of all judgments", "1 / (3 + 2/log2(3))", "usual"),
                ("all judgments, beyond the cut-off too", f"1 / {IDEAL_321}", "other"),
                ("only what was returned", "1 / 1", "wrong"),
            ),
            _expect(
                "recall@2",
                "1",
                ("the best k of all judgments", "1/3", "usual"),
                ("at most k relevant documents", "1/2", "other"),
                ("only what was returned", "1/1", "wrong"),
            ),
        ),
    ),
    Case(
        "average-precision",
        "What is average precision divided by?",
        "By all relevant documents, as in trec_eval: what is not found counts 0.",
        {"1": {"a": 1, "b": 1, "c": 1, "d": 1}},
        _ranked("a", "x", "b", "y"),
        (
            _expect(
                "ap",
                "1",
                ("all relevant documents", "(1 + 2/3) / 4", "usual"),
                ("the relevant documents returned", "(1 + 2/3) / 2", "wrong"),
            ),
            _expect(
                "ap@3",
                "1",
                ("all relevant documents", "(1 + 2/3) / 4", "usual"),
                ("at most the cut-off", "(1 + 2/3) / 3", "other"),
                ("the relevant documents returned", "(1 + 2/3) / 2", "wrong"),
            ),
        ),
    ),
    Case(
        "short-list",
        "What is precision divided by where a list is shorter than the cut-off?",
        "By k, as in trec_eval: a list of one hit would have precision 1 at any cut-off.",
        {"1": {"a": 1, "b": 1, "c": 1}},
        _ranked("a", "x"),
        (
            _expect(
                "precision@5",
                "1",
                ("the cut-off", "1/5", "usual"),
                ("the number of hits", "1/2", "other"),
                ("an error", ERROR, "other"),
            ),
            _expect(
                "r-precision",
                "1",
                ("the cut-off", "1/3", "usual"),
                ("the number of hits", "1/2", "other"),
                ("the relevant documents returned", "1/1", "wrong"),
            ),
        ),
    ),
    Case(
        "cut-off",
        "Does the cut-off hold for reciprocal rank?",
        "MRR@10 is a measure of the first page; with RR under its name, later hits count.",
        {"1": {"a": 1}},
        _ranked("w", "x", "y", "a"),
        (
            _expect(
                "mrr@3",
                "1",
                ("yes", "0", "usual"),
                ("no, it is ignored", "1/4", "wrong"),
            ),
        ),
    ),
    Case(
        "bpref",
        "What are the judged documents above a relevant one divided by, in bpref?",
        "By the smaller of both numbers, as in trec_eval since 2005.",
        {"1": {"a": 1, "b": 1, "n": 0}},
        _ranked("a", "n", "b"),
        (
            _expect(
                "bpref",
                "1",
                ("the smaller of both numbers", "(1 + (1 - 1/1)) / 2", "usual"),
                ("the relevant documents", "(1 + (1 - 1/2)) / 2", "other"),
            ),
        ),
    ),
    Case(
        "bpref-alone",
        "What is bpref where no judged document is not relevant?",
        "Nothing that was judged stands above: trec_eval gives 1 for each relevant hit.",
        {"1": {"a": 1}},
        _ranked("x", "a"),
        (_expect("bpref", "1", ("1", "1", "usual"), ("no number", NOTHING, "other")),),
    ),
)

CASES = (*ORDER, *QUERIES, *DOCUMENTS, *GRADES, *CUT_OFFS)
