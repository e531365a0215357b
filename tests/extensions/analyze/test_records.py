"""Records of analyses can be sent to another process, and equal the original there."""

import pytest
from hypothesis import given

from karat.extensions.analyze import records
from tests.model.test_travel import FEW, check_copies, instances, records_of

RECORDS = records_of(records)


def test_every_record_is_tried() -> None:
    assert {record.__name__ for record in RECORDS} >= {"Topics", "EmbeddingQuality", "Trend"}


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_equals_its_copies(record: type) -> None:
    @FEW
    @given(instances(record))
    def check(original: object) -> None:
        check_copies(original)

    check()
