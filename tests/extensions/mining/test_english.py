import pytest

from karat.extensions.mining.filters import is_english


@pytest.mark.parametrize(
    "text",
    [
        "fix the crash",
        "handle naïve dates and façade names",
        "",
        "12 -> 13",
        "add la Réunion to the list of regions",
        "url_for",
    ],
)
def test_english(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "修复登录错误",
        "исправить ошибку входа",
        "corrige le bug dans les formulaires",
        "Fehler in der Anmeldung und beim Export behoben, wenn nicht alles da ist",
        "corrige el error cuando los datos no son válidos para una consulta",
    ],
)
def test_other_languages(text: str) -> None:
    assert not is_english(text)
