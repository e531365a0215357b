"""The schema in the package is that of the service."""

from karat.service.api.openapi import FILE, schema_text


def test_the_schema_is_current() -> None:
    assert FILE.read_text(encoding="utf-8") == schema_text(), (
        "run: python -m karat.service.api.openapi"
    )
