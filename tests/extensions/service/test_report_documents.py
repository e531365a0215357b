"""The documents of a report have the shape that the API promises."""

from typing import Any

import pytest

from karat.extensions.service.schemas import results
from karat.report.findings import Findings
from karat.report.page.file import blocks
from karat.report.page.queries import Subject, subject_of
from tests.report.conftest import alone, findings, make

__all__ = ["alone", "findings", "make"]


@pytest.fixture(scope="module")
def subject(findings: Findings) -> Subject:
    return subject_of(findings)


def test_every_document_has_the_shape_of_the_api(subject: Subject, alone: Findings) -> None:
    schemas: dict[str, Any] = {
        "results": results.Results,
        "details": results.Details,
        "definitions": results.Definitions,
        "runs": results.QueryResults,
        "queries": results.Drilldown,
        "curves": results.Curves,
        "comparison": results.Comparison,
        "matrix": results.ScoreMatrix,
        "slices": results.Slices,
    }
    for each in (subject, subject_of(alone)):
        seen = set()
        for block in blocks(each):
            for key, document in block.items():
                kind = key.partition("?")[0].removeprefix(f"/benchmarks/{each.id}").split("/")[1]
                schemas[kind].model_validate(document)
                seen.add(kind)
        assert seen >= set(schemas) - {"comparison"}
