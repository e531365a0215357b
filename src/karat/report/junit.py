"""A gate as JUnit XML, which every continuous integration reads."""

from xml.etree import ElementTree as ET

from karat.model.gate import Decision, Gate
from karat.report.display import printable
from karat.report.gate_view import headline, rule_text

__all__ = ["junit_xml"]

SUITE = "karat gate"


def junit_xml(gate: Gate) -> str:
    """Return one test case per check: failed ones as failures, inconclusive ones as skipped.

    In a strict gate inconclusive ones are failures too, so that the file agrees with the exit code.
    """
    failures = sum(gate.fails(check.decision) for check in gate.checks)
    passed = sum(check.decision is Decision.PASSED for check in gate.checks)
    tests = len(gate.checks)
    skipped = tests - failures - passed
    counts = {"tests": tests, "failures": failures, "errors": 0, "skipped": skipped}
    attributes = {name: str(count) for name, count in counts.items()}
    root = ET.Element("testsuites", {"name": SUITE, **attributes})
    suite = ET.SubElement(root, "testsuite", {"name": printable(gate.name), **attributes})
    for check in gate.checks:
        case = ET.SubElement(
            suite,
            "testcase",
            {"classname": f"{SUITE}.{check.rule}", "name": rule_text(check), "time": "0"},
        )
        why = printable(check.why)
        if gate.fails(check.decision):
            kind = check.decision.value
            ET.SubElement(case, "failure", {"message": why, "type": kind}).text = why
        elif check.decision is not Decision.PASSED:
            ET.SubElement(case, "skipped", {"message": f"inconclusive: {why}"})
    lines = [headline(gate), gate.verdict, *gate.notes]
    ET.SubElement(suite, "system-out").text = "\n".join(map(printable, filter(None, lines)))
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return f"{text.decode()}\n"
